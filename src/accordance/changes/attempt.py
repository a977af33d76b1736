"""An attempt to change a repository: a clone, an agent in it, a verdict, a commit.

    [workspace]
    repo = "."        # a path, relative to the project folder, or the URL of a remote
    base = "main"     # what the first change of a plan builds on; HEAD by default

Every change is judged on exactly the tree it lands on: a good change whose plan has
moved on meanwhile is applied to the new head and judged again. The user's working tree
and branches are never touched.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from accordance.changes.commission import Commission
from accordance.changes.concluding import AttemptJudge
from accordance.changes.kept_work import keep_work, recall_work
from accordance.changes.provisional import ProvisionalJudge
from accordance.changes.remote_faults import outcome_of_remote
from accordance.changes.repository_watch import RepositoryWatch, breaches_in
from accordance.contracts.serialising import dump
from accordance.contracts.violation import Accepted
from accordance.domain.case import tests_of
from accordance.domain.facts import IsolationLevel, Snapshot
from accordance.domain.faults import Fault
from accordance.domain.preflight import Start, preflight
from accordance.domain.routing import Choice
from accordance.domain.sight import Sight
from accordance.errors import AccordanceError
from accordance.executors.opinion import Opinion
from accordance.executors.protocol import Memory, NoMemory, RunOutcome
from accordance.judging.claims import is_prose
from accordance.judging.environments import environment_for
from accordance.judging.hidden_tests import why_not_hidden
from accordance.judging.judge import AttemptTree
from accordance.judging.own_submission import Claim
from accordance.judging.task_input import PreflightFailed
from accordance.workspace.branch import apply_patch
from accordance.workspace.clone import Workspace, clone, discard
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.difference import difference
from accordance.workspace.editing import Draft
from accordance.workspace.errors import (
    ForeignPush,
    RemoteUnavailable,
    WorkspaceError,
)
from accordance.workspace.evidence import evidence_folder
from accordance.workspace.isolation import Room
from accordance.workspace.leaving import tree_left
from accordance.workspace.leftovers import restore_leftovers
from accordance.workspace.runnable import why_not_runnable

if TYPE_CHECKING:
    from accordance.changes.workshop import Workshop

__all__ = [
    "CodingAttempt",
    "Commission",
    "Do",
    "FinishedWork",
]

Do: TypeAlias = Callable[[Path, Callable[[bytes], Opinion]], RunOutcome]
"""Runs the executor in a clone, with a judge to consult while it runs."""

_MAX_SUMMARY: Final = 2_000


class FinishedWork(NamedTuple):
    """The clone after the executor has run, and what the run produced."""

    tree: AttemptTree
    draft: Draft
    produced: RunOutcome


@dataclass(frozen=True, slots=True)
class CodingAttempt:
    """An attempt: run in one go, or made by an outside worker in a lent clone."""

    shop: Workshop
    job: Commission
    choice: Choice
    memory: Memory = field(default_factory=NoMemory)
    owner: str = field(default_factory=lambda: secrets.token_hex(8))
    """Names this run: others may run the same attempt."""

    @property
    def judge(self) -> AttemptJudge:
        """The judge of this attempt."""
        return AttemptJudge(self.shop.home.root, self.job, self.choice, self.owner)

    @property
    def place(self) -> Path:
        """The folder of this run alone, even if others run the same attempt."""
        task_id = self.job.asked.task.task_id
        return self.shop.home.new_clone(task_id, self.job.number, self.owner)

    def run(self, do: Do) -> RunOutcome:
        """Let the executor work in a fresh clone, and judge what it has left."""
        place = self.place
        try:
            work = self._recalled_work(place) or self.new_work(place, do)
            if not self.can_be_judged(work.produced):
                return work.produced
            try:
                return self._judged(work)
            except RemoteUnavailable as error:
                return outcome_of_remote(error, work.produced)
            except (AccordanceError, OSError) as error:
                # the work was done, and paid for
                text = f"the change could not be judged: {error}"
                fault = Fault.CRASHED
                return replace(
                    work.produced,
                    raw=None,
                    fault=fault,
                    text=text,
                )
        finally:
            if place.exists():
                discard(place)

    def can_be_judged(self, produced: RunOutcome) -> bool:
        """Whether there is a message, or an agent that left its work without any.

        An agent that has gone around the gate is judged however its run ended.
        """
        if produced.raw is not None or breaches_in(produced):
            return True
        return produced.fault is Fault.SILENT and not self.judge.takes_edits

    def new_work(self, place: Path, do: Do) -> FinishedWork:
        """Let the executor work in a new clone, and keep what it has left.

        Raises PreflightFailed, WorkspaceError.
        """
        tree = self.fresh_tree(place, self.base())
        self.check_preflight(tree)
        tree = replace(tree, has_passed_preflight=True)
        work = tree.workspace.work
        apply_patch(self.job.start, work)

        draft = Draft(work)
        judge = self.judge
        # the executor sees what tests print, so they may read no more than it does
        options = replace(judge.options(), forbids=self._sight.forbids)
        with ProvisionalJudge(tree, options, partial(judge.judge, draft)) as opinion:
            watch = RepositoryWatch.over(self.shop.repository)
            produced = watch.report_in(do(work, opinion))

        # the answers of a model are kept already, call by call
        if self.can_be_judged(produced) and not judge.takes_edits:
            # what is kept is what is judged
            tree = replace(tree, after=self._tree_left(tree))
            keep_work(self.memory, tree, produced, self.job.gateway.carry)
        return FinishedWork(tree, draft, produced)

    def _recalled_work(self, place: Path) -> FinishedWork | None:
        """The work of a run that was cut off, if it was done.

        It is judged on the commit that it was made on, wherever the plan has come to.
        """
        kept = recall_work(self.memory)
        if kept is None:
            return None

        self._check_branch()
        tree = self.fresh_tree(place, kept.left.base)
        is_same = restore_leftovers(
            kept.left,
            tree.workspace,
            tree.before,
            self.job.gateway.carry,
            (self._evidence,),
        )
        if not is_same:
            return None
        after = replace(self._tree_left(tree), left_out=kept.left.left_out)
        tree = replace(tree, after=after)
        return FinishedWork(tree, Draft(tree.workspace.work), kept.produced)

    def _tree_left(self, tree: AttemptTree) -> Snapshot:
        """Return the tree as the agent left it, without what tools left."""
        needed = (self._evidence, *self.job.gateway.carry)
        return tree_left(tree.workspace, tree.before, needed)

    @property
    def _evidence(self) -> str:
        return evidence_folder(self.job.asked.task.task_id)

    def _judged(self, work: FinishedWork) -> RunOutcome:
        judge, produced = self.judge, work.produced
        message = produced.raw
        if not judge.takes_edits:
            message = judge.message_of(work.tree.workspace.work, message)

        options = judge.options(produced)
        if message is not None and self._ended_in_prose(work, message):
            words = message.decode("utf-8", "replace").strip()
            claim = Claim(status="DONE", summary=words[:_MAX_SUMMARY])
            options = replace(options, claim=claim)
            message = None
        raw, change = judge.conclude(work.tree, work.draft, message, options)
        return replace(
            produced,
            raw=raw,
            fault=None,
            text="",
            judged=change.to_json(),
        )

    def _ended_in_prose(self, work: FinishedWork, message: bytes) -> bool:
        """Whether an agent did its work and ended in words, as most programs do.

        Its words become the summary, and accordance hands in from facts. Words without
        any work stay a broken submission.
        """
        if self.judge.takes_edits or not is_prose(message):
            return False
        tree = work.tree
        after = tree.after or self._tree_left(tree)
        return bool(difference(tree.before, after, evidence=self._evidence))

    def base(self) -> str:
        """Return the commit that the change is made on. Raises WorkspaceError."""
        self.shop.source.refresh()
        self._check_branch()
        return self.job.head or self.shop.source.base_commit()

    def _check_branch(self) -> None:
        """Check that the plan's branch is as the ledger knows it.

        Raises WorkspaceError.
        """
        head, branch = self.job.head, self.job.branch
        if head is not None:
            branch.must_have(head)

        tip = branch.tip
        if tip is None:
            return
        if head is not None and not branch.comes_before(tip, head):
            raise ForeignPush(branch.name, tip)
        if head is None:
            raise WorkspaceError(
                f"the branch {branch.name} exists, but this ledger did not make it;"
                " rename or delete it, then answer"
            )

    def fresh_tree(self, place: Path, base: str) -> AttemptTree:
        """Make a fresh clone; what this run has left there is thrown away."""
        workspace = self.shop.source.read(partial(self._cloned, place, base))
        return AttemptTree(
            workspace=workspace,
            before=base_snapshot(workspace),
            private=place / "private",
            appears_at=self.shop.repository,
        )

    def _cloned(self, place: Path, base: str) -> Workspace:
        if place.exists():
            discard(place)
        if self.shop.cache is not None:
            self.shop.cache.must_have(base)

        sight = self._sight
        return clone(
            self.shop.repository,
            place,
            base=base,
            readable=sight.readable,
            folders=sight.folders,
        )

    def check_preflight(self, tree: AttemptTree) -> None:
        """Refuse a task that could not be judged in the end.

        What its tests need is prepared now, before anybody works. Raises
        PreflightFailed, EnvironmentBroken.
        """
        task, gateway = self.job.asked.task, self.job.gateway
        environment = environment_for(tree, task, gateway)
        room = Room(tree.private, readable=gateway.readable)
        room = environment.furnished(room, IsolationLevel.BWRAP)
        tests = tests_of(task, gateway.tests)
        start = Start(
            runnable={
                test: why_not_runnable(test, tree.before, room, gateway.carry)
                for test in tests
            },
            model=self.choice.model,
            executor=self.judge.executor,
            own_tests=gateway.tests,
            chooses_tests=not self.judge.takes_edits,
            hidden_tests_missing=why_not_hidden(
                task, gateway, self.shop.repository, room
            ),
        )
        result = preflight(Accepted(task), start, gateway.roles)
        if not result:
            raise PreflightFailed(result)

    @property
    def _sight(self) -> Sight:
        """What the agent may read."""
        task = self.job.asked.task
        return Sight.of(dump(task), self.job.gateway.roles[task.role])
