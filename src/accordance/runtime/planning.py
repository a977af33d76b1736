"""A model writes a plan, which is checked, imported, reviewed and rewritten."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from accordance.api import check
from accordance.contracts.catalogue.plan import PLAN, Plan
from accordance.contracts.context import ROLES, Context
from accordance.contracts.contract import Contract, Rule
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.schemas import export_schema
from accordance.contracts.violation import Accepted, Rejected, Violation, excerpt
from accordance.domain.chain import Payload
from accordance.domain.plan_lifecycle import PlanState
from accordance.domain.records import PlanRecord, Rules
from accordance.domain.ruling import UNPARSEABLE
from accordance.domain.spending import Spending
from accordance.errors import NotFound
from accordance.executors.protocol import RunOutcome
from accordance.runtime.consulting import Consultation, ConsultingStep, Unanswered
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import check_tasks
from accordance.work.contracts_for import review_context, reviews_by
from accordance.work.importing import Source, import_plan
from accordance.work.reviewing import review_plan
from accordance.work.run_log import PLAN_WRITTEN

_SLUG_CHARACTERS: Final = 32
_NOT_WORDS: Final = re.compile(r"[^\w]+")
_FILE: Final = "tasks/plan.json"
_UNCHANGED: Final = (
    "it is the returned plan word for word; make the changes the review asks for"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningResult:
    """The result of planning."""

    plan_id: str
    plan: PlanRecord | None  # None: no message was ever a plan
    written: int  # messages of the planner
    faults: tuple[str, ...] = ()  # of its last message
    reviews: tuple[Mapping[str, Any], ...] = ()
    unanswered: RunOutcome | None = None  # the run that ended the planning
    spent: Spending = field(default_factory=Spending)


@dataclass
class Planner:
    """Has a plan written for a goal."""

    goal: str
    rules: Rules
    consultation: Consultation
    roles: Collection[str] = ROLES  # that tasks may name
    written: int = 0
    faults: tuple[str, ...] = ()
    reviews: list[Mapping[str, Any]] = field(default_factory=list)

    def create(self, rounds: int) -> PlanningResult:
        """Write, import and review a plan; rewrite it at most `rounds` times.

        Raises NoExecutor.
        """
        unanswered = None
        try:
            self._create(rounds)
        except Unanswered as error:
            unanswered = error.produced

        self.consultation.link()
        return PlanningResult(
            plan_id=self._plan_id,
            plan=self._record(),
            written=self.written,
            faults=self.faults,
            reviews=tuple(self.reviews),
            unanswered=unanswered,
            spent=self.consultation.spent,
        )

    def _create(self, rounds: int) -> None:
        for _ in range(1 + rounds):
            is_imported = self._write()
            if not is_imported:
                return
            state = self._review()
            if state is not PlanState.RETURNED:
                return

    @property
    def _plan_id(self) -> str:
        return self.consultation.plan_id

    def _record(self) -> PlanRecord | None:
        with self.consultation.ledger.read() as tx:
            try:
                return tx.plan(self._plan_id)
            except NotFound:
                return None

    # -- writing

    def _write(self) -> bool:
        """Have a plan written until it honours its contract, and import it.

        False if the attempts are used up.
        """
        contract = PLAN.in_scope(PLAN.scopes[0]).with_rules(carries(self._plan_id))
        previous = self._record()

        for _ in range(self.rules.fuses.attempts):
            self.written += 1
            assignment = self._writing_task(contract, previous)
            produced = self.consultation.ask("plan", assignment, contract)
            if produced.raw is None:
                self.faults = (f"{produced.code}: {produced.text}",)
                self._tell("rejected", self.faults[0])
                continue

            self._tell("checking")
            accepted = self._checked(produced.raw, contract)
            if accepted is not None and self._imported(accepted, produced.raw):
                self._tell("imported", f"{len(accepted.value.nodes)} nodes")
                return True
            self._tell("rejected", self.faults[0])
        return False

    def _tell(
        self,
        name: Literal["checking", "rejected", "imported", "reviewed"],
        detail: str = "",
    ) -> None:
        """Let the watcher of the consultation know what is going on."""
        tokens = self.consultation.spent.tokens
        step = ConsultingStep(
            name=name, attempt=self.written, tokens=tokens, detail=detail
        )
        self.consultation.watch(step)

    def _checked(self, raw: bytes, contract: Contract[Plan]) -> Accepted[Plan] | None:
        """Return the plan in a message, if it is good; record the message anyway."""
        result: Accepted[Plan] | Rejected = check(raw, contract)
        if isinstance(result, Rejected):
            violations = tuple(result.violations)
        else:
            violations = self._plan_violations(result.value)

        self.faults = tuple(str(violation) for violation in violations)
        self._record_message(raw)
        if violations or isinstance(result, Rejected):
            return None
        return result

    def _plan_violations(self, plan: Plan) -> tuple[Violation, ...]:
        """Return what is wrong with a plan that honours its contract."""
        with self.consultation.ledger.read() as tx:
            foreign = tuple(_foreign_tasks(tx, plan))
            return (*foreign, *check_tasks(plan, self.roles))

    def _record_message(self, raw: bytes) -> None:
        def payload(tx: Transaction) -> Payload:
            return {
                "attempt": self.written,
                "sha256": tx.keep(raw),
                "accepted": not self.faults,
                "faults": list(self.faults),
            }

        self.consultation.note(PLAN_WRITTEN, payload)
        if self.faults:
            reason = {"attempt": self.written, "why": self.faults[0]}
            self.consultation.note(UNPARSEABLE, lambda _: reason)

    def _imported(self, accepted: Accepted[Plan], raw: bytes) -> bool:
        """Import a plan; False if it is the same as before."""
        imported = import_plan(
            self.consultation.ledger,
            accepted.value,
            self.rules,
            source=Source(raw, accepted.repairs, accepted.warnings),
            roles=self.roles,
            also=self.consultation.link_in,
        )
        self.faults = () if imported.is_new else (_UNCHANGED,)
        return imported.is_new

    def _writing_task(
        self, contract: Contract[Plan], previous: PlanRecord | None
    ) -> JsonObject:
        """Return the assignment of the planner."""
        context: JsonObject = {"last_errors": list(self.faults)}
        if previous is not None:
            artifact = {"path": _FILE, "content": self._text(previous)}
            dependency = {"title": "the last round", "artifact": artifact}
            context["dependencies"] = [dependency]
            context["last_review"] = self.reviews[-1]

        return {
            "kind": "plan",
            "task": {
                "task_id": self._plan_id,
                "title": "Write a plan",
                "goal_statement": self.goal,
                "owner_agent_id": "planner",
            },
            "attempt": self.written,
            "contract": {**_described(contract), "plan_id": self._plan_id},
            "context": context,
        }

    def _text(self, record: PlanRecord) -> str:
        with self.consultation.ledger.read() as tx:
            return tx.blob(record.document).decode()

    # -- reviewing

    def _review(self) -> PlanState:
        """Have the plan reviewed until a review can be read; return its new state."""
        rubric = self.rules.plan_rubric
        contract = reviews_by(rubric, "PLAN_REVIEW")
        context = review_context(rubric, plan_id=self._plan_id)
        state = PlanState.IN_REVIEW

        for _ in range(self.rules.fuses.review_failures):
            assignment = self._review_task(contract)
            produced = self.consultation.ask("review", assignment, contract, context)
            self.consultation.link()
            if produced.raw is not None:
                state = self._apply_review(produced.raw, contract, context)
            if state is not PlanState.IN_REVIEW:
                return state
        raise Unanswered(produced)

    def _apply_review(
        self, raw: bytes, contract: Contract[Any], context: Context
    ) -> PlanState:
        receipt = review_plan(self.consultation.ledger, raw, self._plan_id)
        answer = receipt.to_json()

        review: dict[str, Any] = {}
        result = check(raw, contract, context)
        if isinstance(result, Accepted):
            review.update(result.value.model_dump(mode="json"))
        review["outcome"] = answer["outcome"]
        review["messages"] = answer["messages"]
        self.reviews.append(review)
        state = PlanState(answer["state"])
        self._tell("reviewed", state)
        return state

    def _review_task(self, contract: Contract[Any]) -> JsonObject:
        """Return the assignment of the reviewer."""
        with self.consultation.ledger.read() as tx:
            record = tx.plan(self._plan_id)
            text = tx.blob(record.document).decode()

        rubric = self.rules.plan_rubric
        plan_id = record.plan_id
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
    """Return a unique name for a new plan, which begins with words of its goal."""
    words = _NOT_WORDS.sub("-", goal.casefold()).strip("-")
    slug = words[:_SLUG_CHARACTERS].strip("-")
    return f"{slug or 'plan'}-{secrets.token_hex(3)}"


def carries(plan_id: str) -> Rule:
    """Return the rule that a plan has the id it was given."""

    def carries_the_plan_id(message: JsonObject, _: Context) -> Iterator[Violation]:
        """plan.plan_id is the id that was asked for."""
        head = message.get("plan")
        named = head.get("plan_id") if isinstance(head, dict) else None
        if isinstance(named, str) and named != plan_id:
            yield Violation(
                "wrong_task", "$.plan.plan_id", excerpt(plan_id), excerpt(named)
            )

    return carries_the_plan_id


def _foreign_tasks(tx: Transaction, plan: Plan) -> Iterator[Violation]:
    """Yield a violation for each task id that belongs to another plan."""
    for index, node in enumerate(plan.nodes):
        try:
            other = tx.task(node.task_id)
        except NotFound:
            continue
        if other.plan_id == plan.plan.plan_id:
            continue

        yield Violation(
            "duplicate_id",
            f"$.nodes[{index}].task_id",
            "an id that no task of another plan has",
            excerpt(node.task_id),
        )
