"""The files of an attempt: its change, its logs, and where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.changes.kept_work import recall_work
from accordance.changes.project_repository import repository_of
from accordance.domain.patch import read_patch
from accordance.domain.records import ArtifactRecord, MessageRecord, TaskRecord
from accordance.domain.scope import PathScope
from accordance.errors import EvidenceGone, NoEvidence
from accordance.project.home import Home
from accordance.service.attempt_evidence import Bundle
from accordance.service.project import Project, find_task
from accordance.service.task_stories import bundle_of
from accordance.service.views.stories import (
    AttemptPatchView,
    AttemptPlaceView,
    ChangedPathView,
)
from accordance.service.views.tasks import artifact_path
from accordance.store.ledger import Transaction
from accordance.work.coding_keys import TAG
from accordance.work.fetched_files import fetch_file
from accordance.work.kept_evidence import fetch_evidence
from accordance.work.kept_logs import fetch_logs
from accordance.work.run_log import KeptAnswers, RunKey

LARGEST_PATCH: Final = 8 << 20
"""Bytes of a change that are shown."""


@dataclass(frozen=True, slots=True)
class FiledAttempt:
    """An attempt to show, and what decided it."""

    home: Home
    task: TaskRecord
    number: int
    message: MessageRecord | None  # that was judged by its evidence
    product: ArtifactRecord | None

    @property
    def name(self) -> str:
        """The attempt, for an error."""
        return f"attempt {self.number} of {self.task.title!r}"

    @property
    def bundle(self) -> Bundle | None:
        """Its evidence, whether or not the folder is still there."""
        return bundle_of(self.home, self.message) if self.message else None

    @property
    def kind(self) -> str:
        """The kind of its runs."""
        return _kind_of_runs(self.task)

    def evidence(self) -> Bundle:
        """Return its evidence. Raises NoEvidence."""
        bundle = self.bundle
        if bundle is None:
            raise self._nothing_yet()
        if not bundle.is_there:
            raise EvidenceGone(
                f"the evidence of {self.name} is not at {self._relative(bundle.folder)}"
                " any more, or lies on the machine that judged it"
            )
        return bundle

    def _nothing_yet(self) -> NoEvidence:
        if TAG not in self.task.tags:
            return NoEvidence(f"{self.task.title!r} changes no repository")
        if self.task.lease is not None:
            return NoEvidence(
                f"{self.name} is still being worked on: there is no evidence yet"
            )
        return NoEvidence(f"{self.name} ended without a change that could be judged")

    def _relative(self, place: Path) -> str:
        return str(place.relative_to(self.home.root))

    def evidence_path(self) -> str | None:
        """Where its evidence lies in the project."""
        bundle = self.bundle
        if bundle is None:
            return None
        return self._relative(bundle.folder)


def _kind_of_runs(task: TaskRecord) -> str:
    return "review" if task.checks else "action"


def filed_attempt(
    tx: Transaction, home: Home, name: str, number: int | None
) -> FiledAttempt:
    """Return an attempt at a task, by default the last, with its files fetched.

    Raises NotFound for the task, NoEvidence if it had no such attempt, and BlobError.
    """
    task = find_task(tx, name)
    made = task.progress.standing.counters.attempts
    if not made:
        raise NoEvidence(f"{task.title!r} has not been tried yet")
    wanted = number or made
    if wanted > made:
        raise NoEvidence(f"there is no attempt {wanted}: {task.title!r} has had {made}")

    judged = None
    for message in tx.find(MessageRecord, subject=task.task_id, attempt=wanted):
        if "bundle" in message.case:
            judged = message
    if judged is not None:
        fetch_evidence(tx, home.root, judged)
    fetch_logs(tx, home, task.task_id, wanted, _kind_of_runs(task))

    last_product = None
    for product in tx.products(task.task_id):
        if product.attempt == wanted:
            last_product = product
    return FiledAttempt(home, task, wanted, judged, last_product)


def attempt_number(
    project: Project,
    name: str,
    number: int | None = None,
) -> tuple[str, int]:
    """Return the id of a task and the number of an attempt, by default the last."""
    with project.ledger.read() as tx:
        attempt = filed_attempt(tx, project.home, name, number)
    return attempt.task.task_id, attempt.number


def attempt_bundle(project: Project, name: str, number: int | None = None) -> Bundle:
    """Return the evidence of an attempt. Raises NoEvidence, EvidenceGone."""
    with project.ledger.read() as tx:
        return filed_attempt(tx, project.home, name, number).evidence()


# -- the change


def attempt_patch(
    project: Project,
    name: str,
    number: int | None = None,
    *,
    since_start: bool = False,
) -> AttemptPatchView:
    """Return the change of an attempt, from its evidence or from kept work.

    `since_start`: with the changes of the plan that it builds on, which the pins of
    this task cannot judge. Raises NoEvidence.
    """
    with project.ledger.read() as tx:
        attempt = filed_attempt(tx, project.home, name, number)
        start = _start_of_plan(tx, attempt.task.plan_id) if since_start else None

    scope = None
    if since_start:
        base = start
        raw = _patch_since(attempt, start)
    else:
        base, raw = _patch_of(project, attempt)
        bundle = attempt.bundle
        if bundle is not None:
            scope = bundle.scope()

    text = raw[:LARGEST_PATCH].decode("utf-8", "replace")
    return AttemptPatchView(
        task_id=attempt.task.task_id,
        attempt=attempt.number,
        base=base,
        paths=tuple(_changed_paths(text, scope)),
        patch=text,
        is_cut=len(raw) > LARGEST_PATCH,
        evidence=attempt.evidence_path(),
    )


def _patch_of(project: Project, attempt: FiledAttempt) -> tuple[str | None, bytes]:
    """Return the base and the patch of an attempt."""
    message = attempt.message
    if message is None:
        kept = _kept_work(project, attempt)
        if kept is not None:
            return kept
    patch = attempt.evidence().patch(LARGEST_PATCH + 1)
    if patch is None:
        raise EvidenceGone(f"the evidence of {attempt.name} has no patch.diff any more")
    if message is None:
        return None, patch
    return str(message.case["base"]), patch


def _kept_work(project: Project, attempt: FiledAttempt) -> tuple[str, bytes] | None:
    """Return the work of a run that was cut off before it was judged."""
    run = RunKey(
        plan_id=attempt.task.plan_id,
        task_id=attempt.task.task_id,
        kind=attempt.kind,
        attempt=attempt.number,
    )
    kept = recall_work(KeptAnswers(project.ledger, run))
    if kept is None:
        return None
    return kept.left.base, kept.left.patch


def _start_of_plan(tx: Transaction, plan_id: str) -> str | None:
    """Return the commit that the first change of a plan was made on."""
    for message in tx.find(MessageRecord, plan_id=plan_id, kind="SUBMISSION"):
        base = message.case.get("base")
        if base:
            return str(base)
    return None


def _patch_since(attempt: FiledAttempt, start: str | None) -> bytes:
    """Return everything from the start of the plan up to an attempt's commit."""
    commit = None
    if attempt.message is not None:
        commit = attempt.message.case.get("commit")
    if commit is None or start is None:
        raise NoEvidence(
            f"{attempt.name} has no commit: its change was not accepted",
            way_out="ask for the change of the attempt alone",
        )
    branch = repository_of(attempt.home).branch(attempt.task.plan_id)
    branch.must_have(str(commit))
    return branch.git("diff", "--no-ext-diff", "--no-textconv", start, str(commit))


def _changed_paths(patch: str, scope: PathScope | None) -> Iterator[ChangedPathView]:
    """Yield the paths of a patch; where the scope is unknown, all count as allowed."""
    for path in read_patch(patch).touched:
        rule = "allowed" if scope is None else scope.explain(path).rule
        yield ChangedPathView(
            path=path,
            is_allowed=rule == "allowed",
            why=rule,
        )


# -- places


def attempt_place(
    project: Project,
    name: str,
    number: int | None = None,
) -> AttemptPlaceView:
    """Return the folder with an attempt's evidence, else the file of its product.

    Raises NoEvidence.
    """
    with project.ledger.read() as tx:
        attempt = filed_attempt(tx, project.home, name, number)
        product = attempt.product
        if attempt.bundle is None and product is not None:
            place = project.home.root / artifact_path(project.home, product)
            if not place.is_file():
                fetch_file(tx, product.sha256, place)
    if attempt.bundle is None and product is not None:
        return _place_view(attempt, place, "product")
    return _place_view(attempt, attempt.evidence().folder, "evidence")


def _place_view(attempt: FiledAttempt, place: Path, kind: str) -> AttemptPlaceView:
    return AttemptPlaceView(
        task_id=attempt.task.task_id,
        attempt=attempt.number,
        path=str(place),
        kind=kind,
    )
