"""A handoff against the facts: the sender's own checks are recomputed from its answer before they count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from accordance.contracts.catalogue.answer import ANSWER
from accordance.contracts.catalogue.handoff import CHECKS, HANDOFF, Handoff
from accordance.contracts.checking import Checker
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.phases import LEVELS
from accordance.contracts.registry import Registry
from accordance.contracts.violation import (
    Accepted,
    Notice,
    Rejected,
    Violation,
    excerpt,
)
from accordance.domain.research.agents import AgentRegistry, ResearchAgent
from accordance.domain.research.comparators import Comparator, comparator, found_at
from accordance.errors import InvalidComparator

_checker: Final = Checker(Registry((ANSWER, HANDOFF)))

_FAILED_BY: Final[Mapping[str, frozenset[str]]] = {
    "required_fields_check": frozenset(("missing", "empty")),
    "schema_compliance": frozenset(
        (
            "wrong_type",
            "not_object",
            "not_in_enum",
            "out_of_range",
            "bad_format",
            "sentences",
            "not_finite",
        )
    ),
    "vs_phase_completion": frozenset(("phase_missing",)),
}


def computed_checks(answer: JsonObject) -> dict[str, bool]:
    """The three booleans of a handoff, from the sender's answer under the strict contract.

    Where there are more faults than a report lists, none of the three is taken for true.
    """
    result = _checker.check_value(answer, ANSWER)
    if isinstance(result, Accepted):
        return dict.fromkeys(CHECKS, True)
    codes = {violation.code for violation in result.violations}
    complete = result.total == len(result.violations)
    checks = {check: complete and not codes & _FAILED_BY[check] for check in CHECKS}
    checks["vs_phase_completion"] &= answer.get("vs_level") in LEVELS
    return checks


def false_claims(claimed: Mapping[str, object], answer: JsonObject) -> tuple[str, ...]:
    """The checks that are claimed to pass and do not."""
    computed = computed_checks(answer)
    return tuple(
        check for check in CHECKS if claimed.get(check) is True and not computed[check]
    )


@dataclass(frozen=True, slots=True)
class Known:
    """What a handoff is held against: the agents there are and the answers they gave, by canonical id."""

    registry: AgentRegistry
    answers: Mapping[str, JsonObject] = field(default_factory=dict)

    def answer_of(self, name: object) -> JsonObject | None:
        """The answer of an agent, by any of its names."""
        agent = self.registry.find(name)
        return self.answers.get(agent.id) if agent else None


def answers_by_agent(
    answers: list[JsonObject], registry: AgentRegistry
) -> dict[str, JsonObject]:
    """Answers under the canonical ids of their agents; the last one counts. Raises UnknownAgent."""
    return {registry.get(str(answer.get("agent_id"))).id: answer for answer in answers}


def check_handoff(raw: bytes | str, known: Known) -> Accepted[Handoff] | Rejected:
    """Check one handoff against its contract and the facts. Never raises for a bad handoff."""
    return _checker.check(raw, _held_against(known))


def _held_against(known: Known) -> Contract[Handoff]:
    def both_agents_are_registered(
        message: JsonObject, _: Context
    ) -> Iterator[Violation]:
        """from_agent and to_agent are registered, and two."""
        yield from _agents(message, known.registry)

    def claims_are_true(message: JsonObject, _: Context) -> Iterator[Violation]:
        """Each check that the sender claims also passes when recomputed from its answer."""
        yield from _claims(message, known)

    def condition_can_be_read(message: JsonObject, _: Context) -> Iterator[Violation]:
        """A condition can be evaluated. Without one a person decides; the contract warns of that."""
        yield from _condition(message)

    def condition_holds(message: JsonObject, _: Context) -> Iterator[Notice]:
        """Whether a conditional handoff is taken."""
        if not any(_condition(message)) and not is_taken(message, known):
            yield Notice(
                "handoff_not_taken",
                "$.condition",
                "does not hold for the sender's answer",
            )

    return HANDOFF.with_rules(
        both_agents_are_registered,
        claims_are_true,
        condition_can_be_read,
        condition_holds,
    )


def _agents(message: JsonObject, registry: AgentRegistry) -> Iterator[Violation]:
    found: list[ResearchAgent] = []
    for key in ("from_agent", "to_agent"):
        name = message.get(key)
        agent = registry.find(name)
        if agent is not None:
            found.append(agent)
        elif isinstance(name, str) and name.strip():
            yield Violation(
                "unknown_agent", f"$.{key}", registry.offer(name), excerpt(name)
            )
    is_spelled_alike = message.get("from_agent") == message.get(
        "to_agent"
    )  # the contract speaks of that
    if len(found) > 1 and found[0] is found[1] and not is_spelled_alike:
        yield Violation(
            "self_handoff",
            "$.to_agent",
            f"another agent than {found[0].id}",
            excerpt(message["to_agent"]),
        )


def _claims(message: JsonObject, known: Known) -> Iterator[Violation]:
    sender, validation = (
        known.registry.find(message.get("from_agent")),
        message.get("validation"),
    )
    if sender is None or not isinstance(validation, dict):
        return
    answer = known.answers.get(sender.id)
    if answer is None:
        expected = f"the answer of {sender.id}, to recompute the claims from"
        yield Violation("answer_missing", "$.from_agent", expected, "none")
        return
    for check in false_claims(validation, answer):
        expected = "false, as recomputed from the sender's answer, or an answer that passes this check"
        yield Violation("false_claim", f"$.validation.{check}", expected, "true")


def _condition(message: JsonObject) -> Iterator[Violation]:
    try:
        _read_condition(message)
    except InvalidComparator as error:
        yield Violation(
            "bad_condition", "$.condition", str(error), excerpt(message["condition"])
        )


def _read_condition(message: JsonObject) -> tuple[str, Comparator] | None:
    """Where to look and what to expect; None where there is nothing to read. Raises InvalidComparator."""
    condition = message.get("condition")
    if message.get("handoff_type") != "conditional" or not isinstance(condition, dict):
        return None
    path = condition.get("path")
    if not isinstance(path, str) or "expect" not in condition:
        return None  # the contract speaks of that
    found_at({}, path)  # says whether the path can be read
    return path, comparator(condition["expect"])


def is_taken(message: JsonObject, known: Known) -> bool:
    """Whether an accepted handoff is taken: always, unless it is conditional and its condition does not hold."""
    condition = _read_condition(message)
    if condition is None:
        return True
    answer = known.answer_of(message.get("from_agent"))
    path, expected = condition
    return answer is not None and expected.holds(found_at(answer, path))
