"""A handoff against the facts.

The sender's own checks are recomputed from its answer before they count.
"""

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
from accordance.domain.research.agents import AgentRegistry
from accordance.domain.research.comparators import Comparator, comparator, value_at
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
"""The codes of violations that make each check fail."""


def computed_checks(answer: JsonObject) -> dict[str, bool]:
    """Return the three checks of a handoff, computed from the sender's answer.

    If there are more violations than a report lists, none of the three is taken for
    true.
    """
    result = _checker.check_value(answer, ANSWER)
    if isinstance(result, Accepted):
        return dict.fromkeys(CHECKS, True)

    codes = {violation.code for violation in result.violations}
    all_listed = result.total == len(result.violations)
    checks = {}
    for check in CHECKS:
        failures = codes & _FAILED_BY[check]
        checks[check] = all_listed and not failures

    checks["vs_phase_completion"] &= answer.get("vs_level") in LEVELS
    return checks


def false_claims(claimed: Mapping[str, object], answer: JsonObject) -> tuple[str, ...]:
    """Return the checks that are claimed to pass but do not."""
    computed = computed_checks(answer)
    claims = [check for check in CHECKS if claimed.get(check) is True]
    return tuple(check for check in claims if not computed[check])


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """The agents there are and the answers they gave, by canonical id."""

    registry: AgentRegistry
    answers: Mapping[str, JsonObject] = field(default_factory=dict)

    def answer_of(self, name: object) -> JsonObject | None:
        """Return the answer of an agent, by any of its names."""
        agent = self.registry.find(name)
        if agent:
            return self.answers.get(agent.id)
        return None


def answers_by_agent(
    answers: list[JsonObject], registry: AgentRegistry
) -> dict[str, JsonObject]:
    """Return answers under the canonical ids of their agents; the last answer counts.

    Raises UnknownAgent.
    """
    by_agent = {}
    for answer in answers:
        agent = registry.get(str(answer.get("agent_id")))
        by_agent[agent.id] = answer
    return by_agent


def check_handoff(raw: bytes | str, known: KnownFacts) -> Accepted[Handoff] | Rejected:
    """Check a handoff against its contract and the facts.

    Never raises for a bad handoff.
    """
    return _checker.check(raw, _contract_with_facts(known))


def _contract_with_facts(known: KnownFacts) -> Contract[Handoff]:
    def both_agents_are_registered(
        message: JsonObject, _: Context
    ) -> Iterator[Violation]:
        """from_agent and to_agent are registered, and two."""
        yield from _agents(message, known.registry)

    def claims_are_true(message: JsonObject, _: Context) -> Iterator[Violation]:
        """Each check that the sender claims also passes when recomputed from its answer."""
        yield from _claims(message, known)

    def condition_can_be_read(message: JsonObject, _: Context) -> Iterator[Violation]:
        """A condition can be evaluated. Without a condition a person decides."""
        yield from _condition(message)

    def condition_holds(message: JsonObject, _: Context) -> Iterator[Notice]:
        """Whether a conditional handoff is taken."""
        if any(_condition(message)) or is_taken(message, known):
            return
        text = "does not hold for the sender's answer"
        yield Notice("handoff_not_taken", "$.condition", text)

    return HANDOFF.with_rules(
        both_agents_are_registered,
        claims_are_true,
        condition_can_be_read,
        condition_holds,
    )


def _agents(message: JsonObject, registry: AgentRegistry) -> Iterator[Violation]:
    for key in ("from_agent", "to_agent"):
        name = message.get(key)
        is_name = isinstance(name, str) and bool(name.strip())
        if is_name and registry.find(name) is None:
            expected = registry.offer(str(name))
            yield Violation(
                code="unknown_agent",
                path=f"$.{key}",
                expected=expected,
                actual=excerpt(name),
            )

    from_agent, to_agent = message.get("from_agent"), message.get("to_agent")
    if from_agent == to_agent:
        return  # the contract itself refuses that

    sender, receiver = registry.find(from_agent), registry.find(to_agent)
    if sender is not None and sender is receiver:
        expected = f"another agent than {sender.id}"
        yield Violation(
            code="self_handoff",
            path="$.to_agent",
            expected=expected,
            actual=excerpt(to_agent),
        )


def _claims(message: JsonObject, known: KnownFacts) -> Iterator[Violation]:
    sender = known.registry.find(message.get("from_agent"))
    validation = message.get("validation")
    if sender is None or not isinstance(validation, dict):
        return

    answer = known.answers.get(sender.id)
    if answer is None:
        expected = f"the answer of {sender.id}, to recompute the claims from"
        yield Violation(
            code="answer_missing",
            path="$.from_agent",
            expected=expected,
            actual="none",
        )
        return

    for check in false_claims(validation, answer):
        recomputed = "false, as recomputed from the sender's answer"
        expected = f"{recomputed}, or an answer that passes this check"
        yield Violation(
            code="false_claim",
            path=f"$.validation.{check}",
            expected=expected,
            actual="true",
        )


def _condition(message: JsonObject) -> Iterator[Violation]:
    try:
        _read_condition(message)
    except InvalidComparator as error:
        actual = excerpt(message["condition"])
        yield Violation(
            code="bad_condition",
            path="$.condition",
            expected=str(error),
            actual=actual,
        )


def _read_condition(message: JsonObject) -> tuple[str, Comparator] | None:
    """Return path and expectation of a condition, None if there is none to read.

    Raises InvalidComparator.
    """
    condition = message.get("condition")
    if message.get("handoff_type") != "conditional" or not isinstance(condition, dict):
        return None

    path = condition.get("path")
    if not isinstance(path, str) or "expect" not in condition:
        return None  # the contract itself refuses that

    value_at({}, path)  # raises for a path that cannot be read
    return path, comparator(condition["expect"])


def is_taken(message: JsonObject, known: KnownFacts) -> bool:
    """Whether an accepted handoff is taken.

    It always is, unless it is conditional and its condition does not hold.
    """
    condition = _read_condition(message)
    if condition is None:
        return True

    answer = known.answer_of(message.get("from_agent"))
    if answer is None:
        return False

    path, expected = condition
    return expected.holds(value_at(answer, path))
