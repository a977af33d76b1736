"""How often messages break a contract: by field, by agent and model, with examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from accordance.api import registry
from accordance.domain.records import MessageRecord, PlanRecord
from accordance.service.project import Project, find_plan
from accordance.service.statistics import Counted, Who, without_numbers
from accordance.service.views.contracts import (
    BrokenFieldView,
    ContractFailuresView,
    FailureExampleView,
    FailureRateView,
)
from accordance.store.ledger import Transaction
from accordance.work.contracts_for import HELD_TO

_CONTRACT_OF: Final[Mapping[str, str]] = {
    "ACTION": "xiaobo_action_v1",
    "REVIEW": "xiaojing_review_v1",
    "PLAN_REVIEW": "xiaojing_review_v1",
    "SUBMISSION": "scc.submit.v1",
}
"""What messages of a kind are held to, if their attempt is held to nothing else."""
_MOST_ROWS: Final = 100
_MOST_EXAMPLES: Final = 20
_NOBODY: Final[Who] = (None, None)


@dataclass(slots=True)
class _Failures:
    """What was counted of a contract."""

    version: str
    messages: Counter[Who] = field(default_factory=Counter)
    rejected: Counter[Who] = field(default_factory=Counter)
    fields: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: list[FailureExampleView] = field(default_factory=list)

    def add_plan(self, tx: Transaction, plan: PlanRecord) -> None:
        entries = list(tx.entries(plan.plan_id))
        workers = Counted().read_events(entries)
        held: dict[tuple[str, int], str] = {}
        attempts: Counter[str] = Counter()
        for entry in entries:
            if entry.kind == "CLAIMED" and entry.task_id:
                attempts[entry.task_id] += 1
                terms = entry.payload.get(HELD_TO)
                if isinstance(terms, Mapping):
                    contract = str(terms.get("contract", ""))
                    held[entry.task_id, attempts[entry.task_id]] = contract
        for message in tx.find(MessageRecord, plan_id=plan.plan_id):
            attempt = (message.subject, message.attempt)
            is_action = message.kind == "ACTION"
            usual = _CONTRACT_OF.get(message.kind)
            met = held.get(attempt, usual) if is_action else usual
            if met == self.version and "refused" not in message.case:
                self._message(message, workers.get(attempt, _NOBODY))

    def _message(self, message: MessageRecord, who: Who) -> None:
        self.messages[who] += 1
        violations = message.answer.get("violations")
        if message.accepted or not isinstance(violations, list):
            return
        self.rejected[who] += 1
        for violation in violations:
            path = str(violation.get("path", "$"))
            code = str(violation.get("code", ""))
            self.fields[without_numbers(path), code] += 1
        if violations and len(self.examples) < _MOST_EXAMPLES:
            self.examples.append(_example(message, violations[0], who))


def contract_failures(
    project: Project,
    name: str,
    plan: str | None = None,
) -> ContractFailuresView:
    """Return how often a contract was broken, in a plan or in all.

    Raises UnknownContract, and NotFound for the plan.
    """
    contract = registry.get(name)
    failures = _Failures(contract.version)
    with project.ledger.read() as tx:
        plans = tx.plans() if plan is None else [find_plan(tx, plan)]
        for record in plans:
            failures.add_plan(tx, record)
    return ContractFailuresView(
        version=contract.version,
        messages=failures.messages.total(),
        rejected=failures.rejected.total(),
        by_field=tuple(
            BrokenFieldView(path=path, code=code, count=count)
            for (path, code), count in failures.fields.most_common(_MOST_ROWS)
        ),
        by_agent=tuple(
            FailureRateView(
                agent=agent,
                model=model,
                messages=count,
                rejected=failures.rejected[agent, model],
            )
            for (agent, model), count in failures.messages.most_common(_MOST_ROWS)
        ),
        examples=tuple(failures.examples),
    )


def _example(
    message: MessageRecord,
    violation: Mapping[str, object],
    who: Who,
) -> FailureExampleView:
    expected = violation.get("expected", "")
    actual = violation.get("actual", "")
    return FailureExampleView(
        plan_id=message.plan_id,
        subject=message.subject,
        message_id=message.message_id,
        attempt=message.attempt,
        at=message.at,
        agent=who[0],
        model=who[1],
        path=str(violation.get("path", "$")),
        code=str(violation.get("code", "")),
        text=f"expected {expected}, got {actual}",
    )
