"""A model writes a plan: checked, imported, reviewed, and written again with what the review asks for."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accordance.api import check
from accordance.contracts.catalogue.plan import PLAN, Plan
from accordance.contracts.context import ROLES, Context
from accordance.contracts.contract import Contract, Rule
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.schemas import export_schema
from accordance.contracts.violation import Accepted, Rejected, Violation, excerpt
from accordance.domain.chain import Payload
from accordance.domain.plan_review import PlanState
from accordance.domain.records import PlanRecord, Rules
from accordance.domain.ruling import UNPARSEABLE
from accordance.domain.spending import Spending
from accordance.errors import NotFound
from accordance.executors.protocol import Produced
from accordance.runtime.consulting import Consultation, Unanswered
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import check_tasks
from accordance.work.contracts_for import review_context, reviews_by
from accordance.work.importing import Source, import_plan
from accordance.work.reviewing import review_plan
from accordance.work.run_log import PLAN_WRITTEN

_SLUG: Final = 32
_NOT_PLAIN: Final = re.compile(r"[^\w]+")
_FILE: Final = "tasks/plan.json"
_SAME_AGAIN: Final = "it is word for word the plan that was returned; make the changes the review asks for"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What came of it."""

    plan_id: str
    plan: PlanRecord | None  # None: no message was ever a plan
    written: int  # messages of the planner
    faults: tuple[str, ...] = ()  # what was wrong with its last one
    reviews: tuple[Mapping[str, Any], ...] = ()
    unanswered: Produced | None = None  # the run that ended it all
    spent: Spending = field(default_factory=Spending)


@dataclass
class Planner:
    """Has a plan written for a goal."""

    goal: str
    rules: Rules
    consultation: Consultation
    roles: Collection[str] = ROLES  # those that tasks may name
    written: int = 0
    faults: tuple[str, ...] = ()
    reviews: list[Mapping[str, Any]] = field(default_factory=list)

    def create(self, rounds: int) -> Planned:
        """Write, import, review; and again with the review's suggestions, at most `rounds` times. Raises NoExecutor."""
        unanswered = None
        try:
            for _ in range(1 + rounds):
                if not self._write() or self._review() is not PlanState.RETURNED:
                    break
        except Unanswered as error:
            unanswered = error.produced
        self.consultation.link()
        return Planned(
            plan_id=self.consultation.plan_id,
            plan=self._record(),
            written=self.written,
            faults=self.faults,
            reviews=tuple(self.reviews),
            unanswered=unanswered,
            spent=self.consultation.spent,
        )

    def _record(self) -> PlanRecord | None:
        with self.consultation.ledger.read() as tx:
            try:
                return tx.plan(self.consultation.plan_id)
            except NotFound:
                return None

    def _write(self) -> bool:
        """Have a plan written until one honours its contract, and import it. False: the attempts are used up."""
        contract = PLAN.in_scope(PLAN.scopes[0]).with_rules(
            carries(self.consultation.plan_id)
        )
        before = self._record()
        for _ in range(self.rules.fuses.attempts):
            self.written += 1
            produced = self.consultation.ask(
                "plan", self._task(contract, before), contract
            )
            if produced.raw is None:
                self.faults = (f"{produced.code}: {produced.text}",)
                continue
            read = self._checked(produced.raw, contract)
            if read is not None and self._imported(read, produced.raw):
                return True
        return False

    def _checked(self, raw: bytes, contract: Contract[Plan]) -> Accepted[Plan] | None:
        """The plan, if it is one; what was said is kept in any case."""
        result: Accepted[Plan] | Rejected = check(raw, contract)
        if isinstance(result, Accepted):
            with self.consultation.ledger.read() as tx:
                faults = (
                    *_foreign_tasks(tx, result.value),
                    *check_tasks(result.value, self.roles),
                )
            result = (
                Rejected(faults, len(faults), contract.version) if faults else result
            )
        self.faults = (
            tuple(map(str, result.violations)) if isinstance(result, Rejected) else ()
        )

        def written(tx: Transaction) -> Payload:
            accepted = {"accepted": not self.faults, "faults": list(self.faults)}
            return {"attempt": self.written, "sha256": tx.keep(raw), **accepted}

        self.consultation.note(PLAN_WRITTEN, written)
        if self.faults:
            why = {"attempt": self.written, "why": self.faults[0]}
            self.consultation.note(UNPARSEABLE, lambda _: why)
        return result if isinstance(result, Accepted) else None

    def _imported(self, read: Accepted[Plan], raw: bytes) -> bool:
        consultation = self.consultation
        done = import_plan(
            consultation.ledger,
            read.value,
            self.rules,
            source=Source(raw, read.repairs, read.warnings),
            roles=self.roles,
            also=consultation.link_in,
        )
        self.faults = () if done.is_new else (_SAME_AGAIN,)
        return done.is_new

    def _task(self, contract: Contract[Plan], before: PlanRecord | None) -> JsonObject:
        """What the planner is told."""
        context: JsonObject = {"last_errors": list(self.faults)}
        if before is not None:
            artifact = {"path": _FILE, "content": self._text(before)}
            context["dependencies"] = [
                {"title": "the last round", "artifact": artifact}
            ]
            context["last_review"] = self.reviews[-1]
        plan_id = self.consultation.plan_id
        return {
            "kind": "plan",
            "task": {
                "task_id": plan_id,
                "title": "Write a plan",
                "goal_statement": self.goal,
                "owner_agent_id": "planner",
            },
            "attempt": self.written,
            "contract": {**_described(contract), "plan_id": plan_id},
            "context": context,
        }

    def _text(self, record: PlanRecord) -> str:
        with self.consultation.ledger.read() as tx:
            return tx.blob(record.document).decode()

    def _review(self) -> PlanState:
        """Have the plan reviewed until a review can be read. Where it stands then."""
        rubric, plan_id = self.rules.plan_rubric, self.consultation.plan_id
        contract = reviews_by(rubric, "PLAN_REVIEW")
        context = review_context(rubric, plan_id=plan_id)
        state = PlanState.IN_REVIEW
        for _ in range(self.rules.fuses.review_failures):
            produced = self.consultation.ask(
                "review", self._review_task(contract), contract, context
            )
            self.consultation.link()
            if produced.raw is not None:
                state = self._judged(produced.raw, contract, context)
            if state is not PlanState.IN_REVIEW:
                return state
        raise Unanswered(produced)

    def _judged(
        self, raw: bytes, contract: Contract[Any], context: Context
    ) -> PlanState:
        answer = review_plan(
            self.consultation.ledger, raw, self.consultation.plan_id
        ).to_json()
        result = check(raw, contract, context)
        message = (
            result.value.model_dump(mode="json") if isinstance(result, Accepted) else {}
        )
        self.reviews.append(
            {**message, "outcome": answer["outcome"], "messages": answer["messages"]}
        )
        return PlanState(answer["state"])

    def _review_task(self, contract: Contract[Any]) -> JsonObject:
        """What the reviewer is told."""
        with self.consultation.ledger.read() as tx:
            record = tx.plan(self.consultation.plan_id)
            text = tx.blob(record.document).decode()
        rubric, plan_id = self.rules.plan_rubric, record.plan_id
        return {
            "kind": "review",
            "task": {
                "task_id": plan_id,
                "title": "Review a plan",
                "owner_agent_id": "reviewer",
            },
            "attempt": record.revision,
            "contract": {**_described(contract), "task_id": plan_id},
            "context": {
                "reviewed_task": {
                    "task_id": plan_id,
                    "title": record.title,
                    "goal_statement": self.goal,
                },
                "product": {"path": _FILE, "content": text},
                "rubric": {
                    "approve_at": rubric.approve_at,
                    "dimensions": dict(rubric.maxima),
                },
            },
        }


def _described(contract: Contract[Any]) -> JsonObject:
    return {
        "scope": contract.scope,
        "schema_version": contract.version,
        "schema": export_schema(contract).schema,
    }


def plan_name(goal: str) -> str:
    """A name for a new plan: its goal's first words, and something no other plan has."""
    slug = _NOT_PLAIN.sub("-", goal.casefold()).strip("-")[:_SLUG].strip("-")
    return f"{slug or 'plan'}-{secrets.token_hex(3)}"


def carries(plan_id: str) -> Rule:
    """The rule that a plan goes by the name it was given."""

    def carries_the_plan_id(message: JsonObject, _: Context) -> Iterator[Violation]:
        """plan.plan_id is the one that was asked for."""
        head = message.get("plan")
        named = head.get("plan_id") if isinstance(head, dict) else None
        if isinstance(named, str) and named != plan_id:
            yield Violation(
                "wrong_task", "$.plan.plan_id", excerpt(plan_id), excerpt(named)
            )

    return carries_the_plan_id


def _foreign_tasks(tx: Transaction, plan: Plan) -> Iterator[Violation]:
    """Tasks whose ids another plan in the ledger has already."""
    for at, node in enumerate(plan.nodes):
        try:
            other = tx.task(node.task_id)
        except NotFound:
            continue
        if other.plan_id != plan.plan.plan_id:
            expected = "an id that no task of another plan has"
            yield Violation(
                "duplicate_id",
                f"$.nodes[{at}].task_id",
                expected,
                excerpt(node.task_id),
            )
