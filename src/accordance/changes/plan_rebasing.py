"""Taking a new base in: the changes of a plan are replayed on it and tested there.

    replay         every change of the plan, on the new base, in a scratch clone
    test           the tests of every task, on the tree that they come to together
    move           the plan gets the new head, unless it has moved on meanwhile

Nothing is moved unless everything fits. Attempts under way land on the new head later,
like any change that the plan has overtaken.

What others have pushed to the plan's own branch is taken in by the same path. Where it
lies on top of the plan's changes, nothing is replayed: it is only tested.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from accordance.changes.attempt import CodingAttempt
from accordance.changes.lending import commission_for, outside_choice
from accordance.changes.moved_base import SHORT_ID, MovedBase
from accordance.changes.workshop import Workshop
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.chain import canonical
from accordance.domain.findings import Gate, listed
from accordance.domain.records import MessageRecord
from accordance.errors import Conflict, NotRebased
from accordance.judging.judge import judge_on
from accordance.judging.judgement import Judgement
from accordance.judging.own_submission import Claim
from accordance.store.ledger import Ledger, Transaction
from accordance.work.coding_tasks import EXTERNAL
from accordance.work.plan_head import (
    REBASE,
    LandedChange,
    changes_below_head,
    head_of,
)
from accordance.work.sweeping import kept_from_sweeping
from accordance.workspace.branch import Branch
from accordance.workspace.clone import discard
from accordance.workspace.rebasing import ReplayConflict, replay

REBASED: Final = "PLAN_REBASED"
"""The event that names the old and the new base of a plan."""
_NEW_HEAD: Final = "new-head"
_OLD_HEAD: Final = "old-head"
_CLAIM: Final = "Tested together with the other changes of its plan, on a new base."


class HeadRun(NamedTuple):
    """A test of a task that was run on the new head."""

    task_id: str
    command: str
    exit_code: int | None
    log_sha256: str


@dataclass(frozen=True, slots=True)
class CommitsOfPlan:
    """What lies between the base and the head of a plan."""

    base: str
    head: str
    changes: tuple[LandedChange, ...]
    foreign: tuple[str, ...] = ()  # commits of others among them, once taken in


@dataclass(frozen=True, slots=True, kw_only=True)
class RebasedPlan:
    """The changes of a plan on its new base, tested; nothing is moved yet."""

    base: MovedBase
    before: CommitsOfPlan
    after: CommitsOfPlan
    tests: tuple[HeadRun, ...]

    @property
    def head(self) -> str:
        """The new head."""
        return self.after.head

    def case(self) -> JsonObject:
        """What the ledger keeps of it, and goes by."""
        case: JsonObject = {
            "name": self.base.name,
            "old_base": self.base.before,
            "base": self.after.base,
            "old_head": self.base.head,
            "head": self.head,
            "changes": [list(change) for change in self.after.changes],
        }
        if self.after.foreign:
            case["foreign"] = list(self.after.foreign)
        return case

    def report(self) -> bytes:
        """All of it, as the message that is kept."""
        replayed = [list(change) for change in self.before.changes]
        tests = [test._asdict() for test in self.tests]
        document = {**self.case(), "replayed": replayed, "tests": tests}
        if self.before.foreign:
            document["replayed_foreign"] = list(self.before.foreign)
        return canonical(document).encode()


@dataclass(frozen=True, slots=True)
class PlanRebase:
    """The work of taking a new base in."""

    ledger: Ledger
    shop: Workshop
    plan_id: str
    base: MovedBase

    def prepare(self) -> RebasedPlan:
        """Replay the changes and test them. Raises NotRebased, WorkspaceError."""
        with self.ledger.read() as tx:
            changes = tuple(changes_below_head(tx, self.plan_id))
        self._branch.must_have(self.base.head)
        before = self._commits(self.base.before, self.base.head, changes)
        if self._is_on_top():
            after = self._commits(self._new_base(), self.base.now, changes)
        else:
            after = self._replayed(before)
        head = after.head
        self._branch.keep(head, _NEW_HEAD)  # git throws nothing away meanwhile
        try:
            tests = self._test_all(after.changes, head)
        except BaseException:
            self._branch.forget(head, _NEW_HEAD)
            raise
        return RebasedPlan(
            base=self.base,
            before=before,
            after=after,
            tests=tuple(tests),
        )

    @property
    def _branch(self) -> Branch:
        return self.shop.branch(self.plan_id)

    def _test_all(self, changes: tuple[LandedChange, ...], head: str) -> list[HeadRun]:
        """Run the tests of every task on the new head. Raises NotRebased."""
        runs: list[HeadRun] = []
        with kept_from_sweeping(self.shop.home):
            for change in changes:
                runs += self._tested(change.task_id, head)
        return runs

    def _commits(
        self,
        base: str,
        head: str,
        changes: tuple[LandedChange, ...],
    ) -> CommitsOfPlan:
        own = {change.commit for change in changes}
        between = self._branch.commits_since(base, head)
        foreign = [commit for commit in between if commit not in own]
        return CommitsOfPlan(base, head, changes, tuple(foreign))

    def _is_on_top(self) -> bool:
        """Whether others have only added to what the plan has come to."""
        base = self.base
        return base.is_foreign and self._branch.contains(base.now, base.head)

    def _new_base(self) -> str:
        """The commit that the plan lies on after it has taken the new base in.

        Commits of others on the plan's own branch become part of the plan: a later
        rebase replays them, too.
        """
        now = self.base.now
        if not self.base.is_foreign:
            return now
        for commit in (self.shop.source.base_commit(), self.base.before):
            if self._branch.contains(now, commit):
                return commit
        return now

    def _replayed(self, before: CommitsOfPlan) -> CommitsOfPlan:
        """Put everything between the old base and head on top of the new base.

        What others have left of it on the plan's own branch stays where it is.
        """
        shop, onto = self.shop, self.base.now
        commits = self._branch.commits_since(before.base, before.head)
        staying: dict[str, str] = {}
        if self.base.is_foreign:
            staying = {
                commit: commit
                for commit in commits
                if self._branch.contains(onto, commit)
            }
        commits = [commit for commit in commits if commit not in staying]
        replayed = shop.source.read(lambda: replay(shop.repository, commits, onto))
        if isinstance(replayed, ReplayConflict):
            raise NotRebased(
                f"{self._commit_label(before, replayed.commit)} does not apply to"
                f" {self.base.name} at {onto[:SHORT_ID]}:"
                f" {listed(list(replayed.files))}; nothing was moved",
                way_out="resolve it on that branch, or go on with the old base",
            )
        new = staying | dict(zip(commits, replayed, strict=True))
        head = replayed[-1]
        changes = [
            # a change that a merge of others brought lies below that merge
            change._replace(commit=new.get(change.commit, head))
            for change in before.changes
        ]
        return self._commits(self._new_base(), head, tuple(changes))

    def _commit_label(self, before: CommitsOfPlan, commit: str) -> str:
        for change in before.changes:
            if change.commit == commit:
                return f"the change of {self._label(change.task_id)}"
        return f"the commit {commit[:SHORT_ID]}"

    def _tested(self, task_id: str, head: str) -> list[HeadRun]:
        """Run the tests of a task on the new head. Raises NotRebased."""
        judgement = self._judged(task_id, head)
        failed = [
            finding.message
            for finding in judgement.verdict.findings
            if finding.gate is Gate.TESTS
        ]
        if failed:
            raise NotRebased(
                f"the tests of {self._label(task_id)} fail on {self.base.name} at"
                f" {self.base.now[:SHORT_ID]} with the plan's changes: {failed[0]};"
                " nothing was moved",
                way_out="mend it on that branch, or go on with the old base",
            )
        return [
            HeadRun(task_id, run.command, run.exit_code, run.log_sha256)
            for run in judgement.facts.runs
        ]

    def _judged(self, task_id: str, head: str) -> Judgement:
        """Judge the new head by a task, without any further change."""
        with self.ledger.read() as tx:
            task = tx.task(task_id)
            job = commission_for(tx, self.shop, task)
            chosen = _tests_of(tx, task_id)
        attempt = CodingAttempt(self.shop, job, outside_choice(EXTERNAL))
        claim = Claim(status="DONE", summary=_CLAIM, tests=chosen)
        options = attempt.judge.options()
        gateway = replace(options.gateway, compares_with_base=False)
        options = replace(
            options,
            gateway=gateway,
            claim=claim,
            is_rebase=True,
        )
        place = attempt.place
        try:
            tree = attempt.fresh_tree(place, head)
            return judge_on(tree, job.asked, None, options)
        finally:
            if place.exists():
                discard(place)

    def _label(self, task_id: str) -> str:
        with self.ledger.read() as tx:
            title = tx.task(task_id).title
        return f"task {task_id} ({title})"

    def drop(self, rebased: RebasedPlan) -> None:
        """Forget a new head that was only tried."""
        self._branch.forget(rebased.head, _NEW_HEAD)

    def move(self, rebased: RebasedPlan, by: str) -> None:
        """Give the plan its new head. Raises Conflict if it has moved on meanwhile.

        The old head is kept in the repository: attempts under way have begun on it.
        """
        self._branch.keep(self.base.head, _OLD_HEAD)
        with self.ledger.write() as tx:
            tx.lock(self.plan_id)
            if head_of(tx, self.plan_id) != self.base.head:
                raise Conflict(
                    "another change has landed while the plan was rebased; nothing was"
                    " moved, rebase it again"
                )
            _note(tx, self.plan_id, rebased, by)


def _tests_of(tx: Transaction, task_id: str) -> tuple[str, ...]:
    """The tests that the last submission for a task names."""
    messages = tx.find(MessageRecord, subject=task_id, kind="SUBMISSION")
    judged = [message for message in messages if message.case.get("commit")]
    submission = json.loads(tx.blob(judged[-1].sha256))
    tests: Mapping[str, Any] = submission.get("tests") or {}
    return tuple(tests.get("commands") or ())


def _note(tx: Transaction, plan_id: str, rebased: RebasedPlan, by: str) -> None:
    """Keep the rebase as a message of accordance's own, and announce it."""
    sha256 = tx.keep(rebased.report())
    number = 1 + len(tx.find(MessageRecord, plan_id=plan_id, kind=REBASE))
    message_id = f"{plan_id}:{REBASE}:{number}:{sha256}"
    case = rebased.case()

    payload = {
        "message": message_id,
        "kind": REBASE,
        "accepted": True,
    }
    entry = tx.record(plan_id, "MESSAGE", None, payload)
    tx.record(plan_id, REBASED, None, {"message": message_id, "by": by, **case})
    message = MessageRecord(
        message_id=message_id,
        plan_id=plan_id,
        subject=plan_id,
        kind=REBASE,
        attempt=number,
        sha256=sha256,
        accepted=True,
        case=case,
        answer={"status": "accepted", "plan_id": plan_id},
        seq=entry.seq,
        at=tx.now,
    )
    tx.add(message)
