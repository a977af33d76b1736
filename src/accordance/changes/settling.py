"""Settling a judged change: the verdict, the patch as a product, the plan's new head.

The verdict was reached while no transaction was open; here it only takes effect. All
that it rests on lies in a bundle, whose manifest the chain of events names. So `verify`
can reach the verdict again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Accepted
from accordance.domain.findings import listed
from accordance.domain.lifecycle import TERMINAL, Event, State
from accordance.domain.patch_content import has_same_content
from accordance.domain.records import MessageRecord
from accordance.domain.retrying import feedback_for
from accordance.domain.verdict import Outcome, Verdict
from accordance.judging.rejudging import rejudge
from accordance.project.home import Home
from accordance.store.ledger import Transaction
from accordance.work.arrivals import (
    ArrivedMessage,
    arrive,
)
from accordance.work.inputs import supply_from_artifact
from accordance.work.intake import (
    history_of,
    judge_arrived,
    refuse,
    settle,
)
from accordance.work.kept_evidence import evidence_of, kept_file
from accordance.work.landing import (
    APPROVAL,
    Approval,
    landing_of,
    open_checks,
)
from accordance.work.message_kinds import JudgedMessage
from accordance.work.plan_head import landed_since, lands_on_head
from accordance.work.products import Product, store_product
from accordance.work.receipts import Receipt
from accordance.work.reviewing import approve_product
from accordance.workspace.bundle import MANIFEST
from accordance.workspace.errors import BundleBroken

JUDGED: Final = "JUDGED"
"""The event that names the evidence of a change."""
_PATCH: Final = "patch.diff"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedChange:
    """The judgement of an attempt to change a repository."""

    verdict: Verdict
    bundle: str  # its evidence, below the project folder
    manifest: str  # the hash of its manifest
    base: str  # the commit it began from
    commit: str | None = None  # the change on top of it, if it passed
    written: str | None = None  # where its evidence lies until it counts
    printed: str = ""  # by failed tests, as far as the next attempt may see it
    executor: str | None = None  # that made it
    model: str | None = None
    rebased: JsonObject | None = None
    """The earlier change that it is on the plan's new head, by `Landing.to_json`."""

    def to_json(self) -> JsonObject:
        """The judgement as plain JSON."""
        document: JsonObject = _adapter().dump_python(self, mode="json")
        return document

    def where(self) -> JsonObject:
        """Where its evidence and its commit are, once it counts."""
        where: JsonObject = {
            "bundle": self.bundle,
            "manifest": self.manifest,
            "base": self.base,
            "commit": self.commit,
        }
        if self.rebased is not None:
            where["rebased"] = self.rebased
        return where

    def maker(self) -> JsonObject:
        """Who made it, for the case that it is rebased."""
        return {"executor": self.executor, "model": self.model}


@cache
def _adapter() -> TypeAdapter[JudgedChange]:
    return TypeAdapter(JudgedChange)


def change_in(
    tx: Transaction,
    home: Home,
    raw: bytes,
    task_id: str,
    attempt: int,
    judged: JsonObject,
) -> Receipt:
    """Let the verdict on a change take effect, in a transaction of the caller's."""
    arrived = arrive(tx, task_id, "SUBMISSION", raw)
    is_in_progress = arrived.task.progress.state is State.IN_PROGRESS
    if not is_in_progress or arrived.attempt != attempt:
        return refuse(tx, arrived, f"attempt {attempt} of task {task_id} is over")

    change = _adapter().validate_python(judged)
    approval = _standing_approval(tx, home, arrived, change)
    case = _case_of(tx, arrived, change, approval)
    message = judge_arrived(arrived, case, verdict=change.verdict)

    def act() -> dict[str, Any]:
        extra = _take_effect(tx, home, arrived, change, message)
        if approval is not None:
            _complete_checks(tx, arrived, approval)
        return extra

    return settle(tx, arrived, message, case, act)


def _case_of(
    tx: Transaction,
    arrived: ArrivedMessage,
    change: JudgedChange,
    approval: Approval | None,
) -> JsonObject:
    """All that counts for the ruling on a change beside its verdict."""
    task = arrived.task
    approved = approval.checks if approval else ()
    checks = open_checks(tx, task.task_id, approved)
    lands = lands_on_head(tx, task.plan_id, change.base)
    history = replace(
        history_of(tx, task, len(checks)),
        is_overtaken=not lands,
        is_rebase=change.rebased is not None,
    )
    case = {"task": history.to_json(), "maker": change.maker(), **change.where()}
    if approval is not None:
        case[APPROVAL] = approval.to_json()
    return case


def _standing_approval(
    tx: Transaction,
    home: Home,
    arrived: ArrivedMessage,
    change: JudgedChange,
) -> Approval | None:
    """The approval of the change that was rebased, if it is still the same change."""
    if change.rebased is None or change.verdict.outcome is not Outcome.DONE:
        return None
    landing = landing_of(tx, arrived.task)
    approval = landing.approval if landing else None
    if approval is None:
        return None

    approved = tx.blob(approval.product)
    is_same = has_same_content(approved, _patch_of(tx, home, arrived, change))
    return approval if is_same else None


def _patch_of(
    tx: Transaction,
    home: Home,
    arrived: ArrivedMessage,
    change: JudgedChange,
) -> bytes:
    """The patch of a change whose evidence may not have its name yet.

    The ledger has it; so has the machine that judged it. Raises BundleBroken.
    """
    task_id = arrived.task.task_id
    kept = kept_file(tx, task_id, change.manifest, _PATCH)
    if kept is not None:
        return kept
    for name in (change.written, change.bundle):
        patch = home.root / str(name) / _PATCH
        if name is not None and patch.is_file():
            return patch.read_bytes()
    raise _not_here(change)


def _take_effect(
    tx: Transaction,
    home: Home,
    arrived: ArrivedMessage,
    change: JudgedChange,
    message: JudgedMessage,
) -> dict[str, Any]:
    """Name the evidence, keep the patch, and move the task."""
    task_id, ruling = arrived.task.task_id, message.ruling
    where = change.where()
    _name_evidence(tx, home.root, arrived, change)
    payload = {"message": arrived.message_id, **where}
    tx.record(arrived.plan.plan_id, JUDGED, task_id, payload)

    extra: dict[str, Any] = {**where, "next_action": change.verdict.next_action}
    if ruling.outcome is Outcome.DONE:
        extra["artifact"] = _keep_patch(tx, home, arrived, change, message)
    elif change.verdict.outcome is not Outcome.DONE:
        extra["tell"] = _feedback(tx, arrived, change) + change.printed

    first_event, _ = ruling.steps[0]
    if first_event is Event.APPROVED:
        approve_product(tx, tx.task(task_id))
    tx.rule(task_id, ruling, {"message": arrived.message_id})
    if tx.progress(task_id).state is State.DONE:
        supply_from_artifact(tx, tx.task(task_id))
    return extra


def _feedback(tx: Transaction, arrived: ArrivedMessage, change: JudgedChange) -> str:
    """What the next attempt gets to know of a change that was not accepted."""
    feedback = feedback_for(change.verdict)
    if change.rebased is None:
        return feedback

    base = str(change.rebased["base"])
    titles = landed_since(tx, arrived.plan.plan_id, base)
    others = listed(titles) if titles else "the plan's new base"
    return (
        "Your change passed by itself, and it is here. Together with what has come"
        f" since ({others}) it does not pass.\n{feedback}"
    )


def _complete_checks(
    tx: Transaction,
    arrived: ArrivedMessage,
    approval: Approval,
) -> None:
    """Let the checks end whose approval stands, once their product has landed."""
    if tx.progress(arrived.task.task_id).state is not State.DONE:
        return
    why = {"message": arrived.message_id}
    for check_id in approval.checks:
        if tx.progress(check_id).state not in TERMINAL:
            tx.happen(check_id, Event.COMPLETED, why=why)


def _name_evidence(
    tx: Transaction,
    root: Path,
    arrived: ArrivedMessage,
    change: JudgedChange,
) -> None:
    """Give the evidence of a change that counts its name.

    Several runs of an attempt may have been judged: by a worker that was thought dead,
    or in a run that was cut off. Which of them counts is known here, where the plan is
    locked. Evidence that has the name already was left by another run, and is kept.
    Evidence that another machine has collected is in the ledger, and is fetched when
    it is needed.

    Raises BundleBroken if the evidence is gone.
    """
    if change.written is None:
        return

    bundle, written = root / change.bundle, root / change.written
    if _has_evidence(bundle, change):
        return  # it was named before a kill, or in a transaction that was rolled back
    if not _has_evidence(written, change):
        if evidence_of(tx, arrived.task.task_id, change.manifest) is None:
            raise _not_here(change)
        return
    if bundle.exists():
        bundle.rename(_place_aside(bundle))
    written.rename(bundle)


def _not_here(change: JudgedChange) -> BundleBroken:
    return BundleBroken(
        f"the evidence of the change is not in {change.written}:"
        " it cannot be settled here"
    )


def _place_aside(bundle: Path) -> Path:
    """The first free name for the evidence of a run that does not count."""
    for number in count(1):
        place = bundle.with_name(f"{bundle.name}-cut-{number}")
        if not place.exists():
            break
    return place


def _has_evidence(folder: Path, change: JudgedChange) -> bool:
    return (folder / MANIFEST).is_file() and manifest_of(folder) == change.manifest


def _keep_patch(
    tx: Transaction,
    home: Home,
    arrived: ArrivedMessage,
    change: JudgedChange,
    message: JudgedMessage,
) -> dict[str, Any]:
    summary = None
    if isinstance(message.result, Accepted):
        summary = message.result.value.summary
    patch = _patch_of(tx, home, arrived, change)
    product = Product("change", "diff", patch, summary)
    return store_product(tx, home, arrived.task, product)


# -- reaching a verdict again


def verdict_again(
    root: Path,
    message: MessageRecord,
    raw: bytes,
    task: bytes | None,
) -> tuple[Verdict | None, list[str]]:
    """Return the verdict that follows from a bundle, and what does not hold about it.

    `task` is the scc.task.v1 that the plan has.
    """
    folder = root / str(message.case["bundle"])
    try:
        again = rejudge(folder)
    except BundleBroken as error:
        return None, [str(error)]

    faults = [*_differences(folder, message, raw, task), *again.faults]
    verdict = again.judgement.verdict if again.judgement else None
    return verdict, faults


def _differences(
    folder: Path,
    message: MessageRecord,
    raw: bytes,
    task: bytes | None,
) -> Iterator[str]:
    """Where a bundle differs from what the ledger knows."""
    bundle = message.case["bundle"]
    if manifest_of(folder) != message.case["manifest"]:
        yield f"the manifest of {bundle} is not that of the judgement"

    for name, content in (("submit.json", raw), ("task.json", task)):
        file = folder / name
        if not file.is_file() or file.read_bytes() != content:
            yield f"{name} in {bundle} differs from the ledger's"


def manifest_of(folder: Path) -> str:
    """Return the hash of the manifest, which holds the hashes of all other files."""
    return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
