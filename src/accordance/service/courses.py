"""How plans went: attempts in time, verdicts and dead letters by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from accordance.domain.chain import ChainEntry
from accordance.domain.filters import Subject
from accordance.domain.lifecycle import Event, State
from accordance.domain.records import TaskRecord, VerdictRecord
from accordance.service.listing import ListQuery, all_of, filter_for
from accordance.service.project import Project, find_plan
from accordance.service.views.bulk import BulkItemView
from accordance.service.views.courses import (
    DeadLetterGroupListView,
    DeadLetterGroupView,
    ReasonListView,
    ReasonView,
    TimelineAttemptView,
    TimelineMarkView,
    TimelineView,
)
from accordance.store.listings import DEAD_LETTER_LIST
from accordance.work.run_log import PROMPTED

MOST_ATTEMPTS: Final = 5_000
_MOST_MARKS: Final = 1_000
_MOST_ITEMS: Final = 1_000
_BEGINS: Final = (Event.CLAIMED, Event.ASKED_AGAIN)
_AT_WORK: Final = State.IN_PROGRESS
_UNTOLD: Final = ("VERDICT", "MESSAGE")


# -- attempts in time


@dataclass(slots=True)
class _Run:
    """An attempt, while the events are read."""

    task_id: str
    attempt: int
    began_at: str
    holder: str | None
    executor: str | None = None
    model: str | None = None
    ended_at: str | None = None
    state: str | None = None
    outcome: str | None = None
    reason_code: str | None = None


@dataclass(slots=True)
class _Course:
    """What the events of a plan tell."""

    runs: list[_Run] = field(default_factory=list)
    marks: list[TimelineMarkView] = field(default_factory=list)
    last: dict[str, _Run] = field(default_factory=dict)
    attempts: Counter[str] = field(default_factory=Counter)

    def read(self, entries: Iterable[ChainEntry]) -> None:
        for entry in entries:
            if entry.task_id is None:
                self._mark(entry)
            elif entry.kind in _BEGINS:
                self._begin(entry.task_id, entry)
            elif entry.task_id in self.last:
                self._go_on(self.last[entry.task_id], entry)

    def _mark(self, entry: ChainEntry) -> None:
        if entry.kind not in _UNTOLD:
            self.marks.append(TimelineMarkView(at=entry.at, kind=entry.kind))

    def _begin(self, task_id: str, entry: ChainEntry) -> None:
        before = self.last.get(task_id)
        self.attempts[task_id] += 1
        holder = _text(entry.payload.get("holder"))
        if before is not None:
            before.ended_at = before.ended_at or entry.at
            holder = holder or before.holder
        run = _Run(task_id, self.attempts[task_id], entry.at, holder)
        self.last[task_id] = run
        self.runs.append(run)

    def _go_on(self, run: _Run, entry: ChainEntry) -> None:
        payload = entry.payload
        if entry.kind == PROMPTED and run.ended_at is None:
            run.executor = _text(payload.get("executor"))
            run.model = _text(payload.get("model"))
        elif entry.kind == "VERDICT":
            run.outcome = _text(payload.get("outcome"))
            run.reason_code = _text(payload.get("reason_code"))
        elif payload.get("from") == _AT_WORK and run.ended_at is None:
            run.ended_at = entry.at
            run.state = _text(payload.get("to"))


def timeline_of(project: Project, name: str | None) -> TimelineView:
    """Return the attempts of a plan in time, the newest of them."""
    course = _Course()
    with project.ledger.read() as tx:
        plan = find_plan(tx, name)
        course.read(tx.entries(plan.plan_id))
        tasks = {task.task_id: task for task in tx.tasks(plan.plan_id)}
    newest = course.runs[-MOST_ATTEMPTS:]
    return TimelineView(
        plan_id=plan.plan_id,
        items=tuple(_attempt(run, tasks.get(run.task_id)) for run in newest),
        left_out=len(course.runs) - len(newest),
        marks=tuple(course.marks[-_MOST_MARKS:]),
    )


def _attempt(run: _Run, task: TaskRecord | None) -> TimelineAttemptView:
    return TimelineAttemptView(
        task_id=run.task_id,
        title=run.task_id if task is None else task.title,
        attempt=run.attempt,
        is_review=task is not None and task.checks is not None,
        holder=run.holder,
        executor=run.executor,
        model=run.model,
        began_at=run.began_at,
        ended_at=run.ended_at,
        state=run.state,
        outcome=run.outcome,
        reason_code=run.reason_code,
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


# -- reasons


def reasons_of(project: Project, name: str | None) -> ReasonListView:
    """Return the verdicts of a plan by reason."""
    with project.ledger.read() as tx:
        plan = find_plan(tx, name)
        verdicts = tx.find(VerdictRecord, plan_id=plan.plan_id)
    by_reason: dict[tuple[str, str], list[VerdictRecord]] = {}
    for verdict in verdicts:
        key = (verdict.outcome, verdict.reason_code)
        by_reason.setdefault(key, []).append(verdict)
    most_first = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    return ReasonListView(
        plan_id=plan.plan_id,
        verdicts=len(verdicts),
        items=tuple(
            ReasonView(
                outcome=outcome,
                reason_code=code,
                verdicts=len(alike),
                tasks=len({verdict.subject for verdict in alike}),
                example=_example(alike[-1]),
            )
            for (outcome, code), alike in most_first
        ),
    )


def _example(verdict: VerdictRecord | None) -> str:
    if verdict is None or not verdict.messages:
        return ""
    return verdict.messages[0]


def dead_letter_groups(
    project: Project, query: ListQuery | None = None
) -> DeadLetterGroupListView:
    """Return all dead letters of a filter by the reason of their last verdict."""
    query = query or ListQuery()
    groups: dict[str | None, _Group] = {}
    with project.ledger.read() as tx:
        wanted = filter_for(tx, query.filter, Subject.DEAD_LETTERS)
        for task in all_of(tx, DEAD_LETTER_LIST, wanted):
            verdicts = tx.find(VerdictRecord, subject=task.task_id)
            last = verdicts[-1] if verdicts else None
            code = last.reason_code if last else None
            groups.setdefault(code, _Group()).add(task, last)
    views = sorted(_views(groups), key=lambda group: -group.count)
    return DeadLetterGroupListView(
        total=sum(group.count for group in views), groups=tuple(views)
    )


@dataclass(slots=True)
class _Group:
    """Dead letters with the same reason."""

    tasks: list[TaskRecord] = field(default_factory=list)
    example: str = ""

    def add(self, task: TaskRecord, last: VerdictRecord | None) -> None:
        self.tasks.append(task)
        self.example = _example(last) or self.example


def _views(groups: dict[str | None, _Group]) -> Iterator[DeadLetterGroupView]:
    for code, group in groups.items():
        moments = [task.updated_at for task in group.tasks]
        yield DeadLetterGroupView(
            reason_code=code,
            count=len(group.tasks),
            plans=len({task.plan_id for task in group.tasks}),
            example=group.example,
            oldest=min(moments),
            newest=max(moments),
            items=tuple(_item(task) for task in group.tasks[:_MOST_ITEMS]),
        )


def _item(task: TaskRecord) -> BulkItemView:
    return BulkItemView(
        id=task.task_id,
        title=task.title,
        state=task.progress.state,
        seen_at=task.updated_at,
    )
