"""One attempt to change a repository: a clone, an agent in it, a verdict by facts, a commit if it passed.

    [workspace]
    repo = "."        # the repository, relative to the project folder
    base = "main"     # what the first change of a plan builds on; HEAD unless something else is said

A plan's changes are made one after the other, each on the commit the one before has come to, so that every change is judged
on exactly the tree it lands on. The user's working tree and branches are never touched.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from accordance.api import check
from accordance.changes.edits import Spoken, lay_edits
from accordance.changes.kept_work import keep_work, recall_work
from accordance.changes.provisional import Opinions
from accordance.changes.settling import JudgedChange, manifest_of
from accordance.contracts.catalogue.edits import EDITS
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.serialising import dump
from accordance.contracts.violation import Accepted
from accordance.domain.case import Budget, Usage, claim_context, tests_of
from accordance.domain.faults import Fault
from accordance.domain.preflight import Start, preflight
from accordance.domain.records import TaskRecord
from accordance.domain.routing import Choice, names_of
from accordance.domain.sight import Sight
from accordance.domain.verdict import Outcome
from accordance.errors import AccordanceError, LedgerError
from accordance.executors.opinion import Opinion
from accordance.executors.protocol import Memory, NoMemory, Produced
from accordance.judging.judge import AttemptTree, JudgeOptions, judge_on
from accordance.judging.judgement import Judgement
from accordance.judging.task_input import (
    PreflightFailed,
    TaskRequest,
    left_behind,
    read_task,
)
from accordance.project.home import Home
from accordance.project.policy import Gateway, gateway_of, with_isolation
from accordance.store.ledger import Transaction
from accordance.work.contracts_for import contract_of_change
from accordance.work.landing import head_of, last_change
from accordance.workspace.branch import Branch, branch_name, lay
from accordance.workspace.bundle import bundle_folder
from accordance.workspace.clone import clone, discard
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.editing import Draft
from accordance.workspace.errors import IsolationUnavailable, WorkspaceError
from accordance.workspace.git import resolve
from accordance.workspace.isolation import Room
from accordance.workspace.leftovers import lay_again
from accordance.workspace.overlay import whole_tree
from accordance.workspace.patching import readable_patch
from accordance.workspace.runnable import why_not

Do: TypeAlias = Callable[[Path, Callable[[bytes], Opinion]], Produced]
"""Lets the executor run in a clone, with somebody who judges while it runs."""

_OUT_OF_BOUNDS: Final = frozenset(
    (
        "SCOPE_CONFLICT",
        "ROLE_POLICY_VIOLATION",
        "POLICY_VIOLATION",
        "CONSTITUTION_VIOLATION",
    )
)
"""After these the next attempt begins anew; after anything else, where the last one stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commission:
    """All that an attempt to change a repository takes from the ledger."""

    asked: TaskRequest
    title: str
    number: int  # of all attempts
    attempt: int  # of those that count
    earlier: tuple[str, ...]  # how the last ones failed, if in the same way
    head: str | None  # what the plan has come to
    start: bytes  # a patch to begin with
    branch: Branch
    gateway: Gateway
    budget: Budget = field(default_factory=Budget)

    @property
    def seconds(self) -> float:
        """How long the agent may take."""
        return (self.asked.task.timeoutMs or math.inf) / 1000


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where the changes of a project's plans are made."""

    home: Home
    repository: Path
    base: str
    isolation: str | None = (
        None  # of tests, where a person asks for another than the settings do
    )

    def commission(
        self, tx: Transaction, task: TaskRecord, change: bytes
    ) -> Commission:
        """What is to be changed. `change` is the scc.task.v1 the task carries. Raises PreflightFailed, InvalidSettings."""
        gateway = gateway_of(self.home.settings(), self.home.root)
        if self.isolation is not None:
            gateway = with_isolation(gateway, self.isolation)
        fuses = tx.plan(task.plan_id).rules.fuses
        gateway = replace(
            gateway,
            max_attempts=min(gateway.max_attempts, fuses.attempts),
            repeat_threshold=min(gateway.repeat_threshold, fuses.same_error),
        )
        counters = task.progress.standing
        return Commission(
            asked=read_task(change, gateway),
            title=task.title,
            number=counters.counters.attempts,
            attempt=counters.used.failures + counters.used.parse_failures + 1,
            earlier=(task.last_error or "",) * task.same_errors,
            head=head_of(tx, task.plan_id),
            start=self._start(tx, task),
            branch=Branch(self.repository, branch_name(task.plan_id)),
            gateway=gateway,
        )

    def _start(self, tx: Transaction, task: TaskRecord) -> bytes:
        """The change as the last attempt left it, unless that went out of bounds."""
        last = last_change(tx, task)
        if last is None or last.answer.get("reason_code") in _OUT_OF_BOUNDS:
            return b""
        patch = self.home.root / str(last.case["bundle"]) / "patch.diff"
        return patch.read_bytes() if patch.is_file() else b""

    def carry_out(
        self, job: Commission, choice: Choice, do: Do, memory: Memory | None = None
    ) -> Produced:
        """Make the attempt, judge it, write its commit. What cannot even begin is a fault, like any other.

        What the agent has left is kept in the memory before it is judged; where it has something, that is only judged.
        """
        try:
            return CodingAttempt(self, job, choice, memory or NoMemory()).go(do)
        except LedgerError:
            raise  # it says nothing about the task
        except IsolationUnavailable as error:
            return Produced(fault=Fault.NOT_ISOLATED, text=str(error))
        except (AccordanceError, OSError) as error:
            return Produced(fault=Fault.UNPREPARED, text=str(error))

    def publish(self, plan_id: str, head: str) -> str | None:
        """Let the plan's branch stand at the commit the plan has come to; why not, if it cannot."""
        try:
            Branch(self.repository, branch_name(plan_id)).move_to(head)
        except (WorkspaceError, OSError) as error:
            return str(error)
        return None


def workshop_of(home: Home, isolation: str | None = None) -> Workshop:
    """The workshop of a project, as `[workspace]` says. Raises InvalidSettings."""
    workspace = home.settings().workspace
    repository = (home.root / workspace.repo).resolve()
    return Workshop(home, repository, workspace.base, isolation)


class Concluded(NamedTuple):
    """What came of a judgement: the submission that counts, and the change as it takes effect."""

    raw: bytes
    change: JudgedChange


@dataclass(frozen=True, slots=True)
class CodingAttempt:
    """One attempt under way: in one go, or by somebody elsewhere who is lent the clone and hands it in later."""

    shop: Workshop
    job: Commission
    choice: Choice
    memory: Memory = field(default_factory=NoMemory)
    owner: str = field(
        default_factory=lambda: secrets.token_hex(8)
    )  # others may run the same attempt

    def go(self, do: Do) -> Produced:
        place = self.place
        try:
            ground, draft, produced = self._gone_on(place) or self._done(place, do)
            if produced.raw is None and (
                produced.fault is not Fault.SILENT or self._is_spoken
            ):
                return produced
            try:
                return self._judged(ground, draft, produced)
            except (
                AccordanceError,
                OSError,
            ) as error:  # the work was done, and paid for
                text = f"the change could not be judged: {error}"
                return replace(produced, raw=None, fault=Fault.CRASHED, text=text)
        finally:
            if place.exists():
                discard(place)

    def _done(self, place: Path, do: Do) -> tuple[AttemptTree, Draft, Produced]:
        """Let the agent work, and keep what it has left."""
        ground = self.ground(place, self.base())
        self.look_at(ground)
        ground = replace(ground, has_passed_preflight=True)
        lay(self.job.start, ground.workspace.work)
        draft = Draft(ground.workspace.work)
        how = replace(
            self.how(), forbids=self._sight.forbids
        )  # whoever asks hears what tests print
        with Opinions(ground, how, partial(self._judge, draft)) as opinion:
            produced = do(ground.workspace.work, opinion)
        is_left = produced.raw is not None or produced.fault is Fault.SILENT
        if is_left and not self._is_spoken:  # what a model said is kept, call by call
            ground = replace(
                ground, after=whole_tree(ground.workspace)
            )  # what is kept is what is judged
            keep_work(self.memory, ground, produced, self.job.gateway.carry)
        return ground, draft, produced

    def _gone_on(self, place: Path) -> tuple[AttemptTree, Draft, Produced] | None:
        """The work of a run of this attempt that was cut off, if it was done and still fits."""
        kept = recall_work(self.memory)
        if kept is None or self.job.head not in (None, kept.left.base):
            return None
        self._look_at_branch()
        ground = self.ground(place, kept.left.base)
        is_same = lay_again(
            kept.left, ground.workspace, ground.before, self.job.gateway.carry
        )
        return (
            (ground, Draft(ground.workspace.work), kept.produced) if is_same else None
        )

    @property
    def place(self) -> Path:
        """A folder for this run alone, whoever else thinks that the attempt is theirs."""
        return self.shop.home.new_clone(
            self.job.asked.task.task_id, self.job.number, self.owner
        )

    def base(self) -> str:
        """The commit that the change is made on. Raises WorkspaceError."""
        self._look_at_branch()
        return self.job.head or resolve(self.shop.repository, self.shop.base)

    def _look_at_branch(self) -> None:
        """The plan's branch is as the ledger knows it. Raises WorkspaceError."""
        head, branch = self.job.head, self.job.branch
        if head is not None:
            branch.must_have(head)
        tip = branch.tip
        if tip is not None and (head is None or not branch.contains(head, tip)):
            raise WorkspaceError(
                f"the branch {branch.name} is there and is not this ledger's; rename or delete it, then answer"
            )

    def ground(self, place: Path, base: str) -> AttemptTree:
        """A fresh clone; what this run has left there is thrown away."""
        if place.exists():
            discard(place)
        sight = self._sight
        workspace = clone(
            self.shop.repository,
            place,
            base=base,
            readable=sight.readable,
            folders=sight.folders,
        )
        return AttemptTree(
            workspace=workspace,
            before=base_snapshot(workspace),
            private=place / "private",
        )

    def look_at(self, ground: AttemptTree) -> None:
        """Preflight: a task that could not be judged in the end is not begun. Raises PreflightFailed."""
        task, gateway = self.job.asked.task, self.job.gateway
        room = Room(ground.private, readable=gateway.readable)
        tests = tests_of(task, gateway.tests)
        start = Start(
            runnable={
                command: why_not(command, ground.before, room) for command in tests
            },
            model=self.choice.model,
            executor=self._executor,
            own_tests=gateway.tests,
            chooses_tests=not self._is_spoken,
        )
        found = preflight(Accepted(task), start, gateway.roles)
        if not found:
            raise PreflightFailed(found)

    @property
    def _sight(self) -> Sight:
        """What the agent may read."""
        task = self.job.asked.task
        return Sight.of(dump(task), self.job.gateway.roles[task.role])

    @property
    def _executor(self) -> str:
        """Who does it, by the name the task allows, where it is one of theirs."""
        names = names_of(self.choice.executor, self.choice.spec)
        allowed = self.job.asked.task.allowedExecutors or ()
        return next((name for name in names if name in allowed), names[0])

    def how(self, produced: Produced | None = None) -> JudgeOptions:
        """How it is judged, after what was seen of its run."""
        usage = Usage(model=self.choice.model, executor=self._executor)
        if produced is not None:
            usage = produced.spending.usage(
                model=self.choice.model,
                executor=self._executor,
                duration_ms=produced.duration_ms,
            )
        return JudgeOptions(
            gateway=replace(
                self.job.gateway, tiers=self.choice.tiers
            ),  # what could really be asked
            attempt=self.job.attempt,
            number=self.job.number,
            earlier=self.job.earlier,
            usage=usage,
            budget=self.job.budget,
            upgrades_at_once=True,
        )

    @property
    def _is_spoken(self) -> bool:
        """Whether the change is only said, by somebody who cannot work in the clone."""
        return contract_of_change(self.choice.spec) is EDITS

    def _judge(
        self, draft: Draft, ground: AttemptTree, raw: bytes | None, how: JudgeOptions
    ) -> tuple[Judgement, Spoken | None]:
        """Judge the clone by what was handed in; edits are laid into it first, and accordance hands in for them."""
        if raw is None or not self._is_spoken:
            return judge_on(ground, self.job.asked, raw, how), None
        spoken = lay_edits(raw, claim_context(self.job.asked.task), draft)
        if spoken is None:
            return judge_on(ground, self.job.asked, raw, how), None
        return judge_on(ground, self.job.asked, None, spoken.judged(how)), spoken

    def _judged(
        self, ground: AttemptTree, draft: Draft, produced: Produced
    ) -> Produced:
        message = (
            produced.raw
            if self._is_spoken
            else self._message(ground.workspace.work, produced.raw)
        )
        raw, change = self.conclude(ground, draft, message, self.how(produced))
        return replace(produced, raw=raw, fault=None, text="", judged=change.to_json())

    def conclude(
        self,
        ground: AttemptTree,
        draft: Draft,
        message: bytes | None,
        how: JudgeOptions,
    ) -> Concluded:
        """Judge what was left, keep the evidence under a name of this run, write the commit if it passed."""
        root, task = self.shop.home.root, self.job.asked.task
        apart = replace(ground, private=ground.private / "judged")
        judgement, _ = self._judge(
            draft, apart, message, replace(how, bundles=root, owner=self.owner)
        )
        written = judgement.bundle or root
        change = JudgedChange(
            verdict=judgement.verdict,
            bundle=bundle_folder(root, task.task_id, self.job.number)
            .relative_to(root)
            .as_posix(),
            written=written.relative_to(root).as_posix(),
            manifest=manifest_of(written),
            base=ground.workspace.commit,
            commit=self._commit(ground, judgement),
        )
        return Concluded((written / "submit.json").read_bytes(), change)

    def _message(self, work: Path, said: bytes | None) -> bytes | None:
        """What the agent hands in: what honours the contract, be it said or left behind; else what it said."""
        task = self.job.asked.task
        handed_in = [
            raw
            for raw in (said, left_behind(work, task.task_id))
            if raw and raw.strip()
        ]
        if (
            not handed_in or len(set(handed_in)) == 1
        ):  # nothing to choose from: it is read when it is judged
            return handed_in[0] if handed_in else None
        honouring = (
            raw
            for raw in handed_in
            if isinstance(check(raw, SUBMIT, claim_context(task)), Accepted)
        )
        return next(honouring, handed_in[0])

    def _commit(self, ground: AttemptTree, judgement: Judgement) -> str | None:
        if judgement.outcome is not Outcome.DONE:
            return None
        change = readable_patch(ground.workspace, judgement.facts.changes)
        text = (
            f"{self.job.title}\n\nTask: {judgement.task_id}\nAttempt: {self.job.number}"
        )
        name = f"{judgement.task_id}-{self.job.number}"
        return self.job.branch.write(
            ground.workspace, change, name, text, judgement.evaluated_at
        )
