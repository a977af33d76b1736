"""What agents do wrong and where, what they cost, and how long things take."""

from __future__ import annotations

import re
import statistics as figures
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accordance.domain.chain import ChainEntry
from accordance.domain.records import MessageRecord, PlanRecord, VerdictRecord
from accordance.domain.spending import Spending, total
from accordance.service.project import Project, find_plan
from accordance.service.views.statistics import (
    FailureCountView,
    OutcomeCountView,
    SpendingByView,
    StatisticsView,
    TimesView,
)
from accordance.store.ledger import Transaction
from accordance.work.lease_times import seconds_between
from accordance.work.run_log import PROMPTED, RAN, spending_of

_ITEM: Final = re.compile(r"\[\d+\]")
_MOST: Final = 200  # rows of a table
Who = tuple[str | None, str | None]
_NOBODY: Final[Who] = (None, None)


def statistics_of(project: Project, plan: str | None = None) -> StatisticsView:
    """Return the statistics of a plan, or of all. Raises NotFound."""
    counted = Counted()
    with project.ledger.read() as tx:
        plans = [find_plan(tx, plan)] if plan is not None else tx.plans()
        for record in plans:
            counted.add_plan(tx, record)
    return counted.view(len(plans))


@dataclass
class Counted:
    """What was counted so far."""

    messages: int = 0
    rejected: int = 0
    failures: Counter[tuple[str | None, str | None, str, str, str]] = field(
        default_factory=Counter
    )
    outcomes: Counter[tuple[str | None, str | None, str, str]] = field(
        default_factory=Counter
    )
    spent: dict[Who, list[tuple[Spending, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add_plan(self, tx: Transaction, plan: PlanRecord) -> None:
        """Count what happened in a plan."""
        workers = self.read_events(tx.entries(plan.plan_id))
        messages = tx.find(MessageRecord, plan_id=plan.plan_id)
        by_id = {message.message_id: message for message in messages}
        for message in messages:
            who = workers.get((message.subject, message.attempt), _NOBODY)
            self._message(message, who)
        for verdict in tx.find(VerdictRecord, plan_id=plan.plan_id):
            message = by_id[verdict.message_id]
            who = workers.get((message.subject, message.attempt), _NOBODY)
            self.outcomes[(*who, verdict.outcome, verdict.reason_code)] += 1

    def _message(self, message: MessageRecord, who: Who) -> None:
        self.messages += 1
        self.rejected += not message.accepted
        violations = message.answer.get("violations")
        for violation in violations if isinstance(violations, list) else ():
            path = without_numbers(str(violation.get("path", "$")))
            code = str(violation.get("code", ""))
            self.failures[(*who, message.kind, code, path)] += 1

    def read_events(self, entries: Iterable[ChainEntry]) -> dict[tuple[str, int], Who]:
        """Count times and costs; return who made each attempt at each task."""
        workers: dict[tuple[str, int], Who] = {}
        attempts: Counter[str] = Counter()
        claimed: dict[str, str] = {}
        asked: dict[str, str] = {}
        begun: dict[tuple[str, str], tuple[Who, str]] = {}
        for entry in entries:
            task = entry.task_id or ""
            payload = entry.payload
            run = (task, str(payload.get("kind")))
            if entry.kind == "CLAIMED":
                attempts[task] += 1
                holder = _name_in(payload, "holder")
                workers[task, attempts[task]] = (holder, None)
                claimed[task] = entry.at
            elif entry.kind == PROMPTED:
                who = _who(payload)
                begun[run] = who, entry.at
                attempt = int(str(payload.get("attempt", 0)))
                workers[task, attempt] = who
            elif entry.kind == RAN:
                who, since = begun.pop(run, (_NOBODY, entry.at))
                seconds = seconds_between(since, entry.at)
                self.spent[who].append((spending_of(payload), seconds))
            elif entry.kind == "ASKED_A_PERSON":
                asked[task] = entry.at
            elif entry.kind == "QUESTION_ANSWERED" and task in asked:
                seconds = seconds_between(asked.pop(task), entry.at)
                self.times["answer of a person"].append(seconds)
            if payload.get("to") == "DONE" and task in claimed:
                seconds = seconds_between(claimed.pop(task), entry.at)
                self.times["task, from its last claim to done"].append(seconds)
        return workers

    def view(self, plans: int) -> StatisticsView:
        """Show what was counted."""
        failures = self.failures.most_common(_MOST)
        outcomes = self.outcomes.most_common(_MOST)
        return StatisticsView(
            plans=plans,
            messages=self.messages,
            rejected=self.rejected,
            failures=tuple(
                FailureCountView(
                    agent=agent,
                    model=model,
                    kind=kind,
                    code=code,
                    path=path,
                    count=n,
                )
                for (agent, model, kind, code, path), n in failures
            ),
            outcomes=tuple(
                OutcomeCountView(
                    agent=agent,
                    model=model,
                    outcome=outcome,
                    reason_code=code,
                    count=n,
                )
                for (agent, model, outcome, code), n in outcomes
            ),
            spending=tuple(_spending(self.spent)),
            times=tuple(
                _times(what, took) for what, took in sorted(self.times.items())
            ),
        )


def without_numbers(path: str) -> str:
    """Return the path of a field whatever the number of its item is."""
    return _ITEM.sub("[*]", path)


def _who(payload: Mapping[str, Any]) -> Who:
    return _name_in(payload, "executor"), _name_in(payload, "model")


def _name_in(payload: Mapping[str, Any], key: str) -> str | None:
    name = payload.get(key)
    return str(name) if name else None


def _spending(spent: Mapping[Who, list[tuple[Spending, float]]]) -> Iterator[Any]:
    for (agent, model), runs in spent.items():
        whole = total([spending for spending, _ in runs])
        yield SpendingByView(
            agent=agent,
            model=model,
            runs=len(runs),
            tokens=whole.tokens,
            cost=whole.cost,
            seconds=sum(seconds for _, seconds in runs),
        )


def _times(what: str, took: list[float]) -> TimesView:
    ordered = sorted(took)
    return TimesView(
        what=what,
        count=len(ordered),
        mean=figures.fmean(ordered),
        median=figures.median(ordered),
        p95=ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))],
        longest=ordered[-1],
    )
