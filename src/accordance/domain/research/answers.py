"""An answer in its context: the agent, the request, the level, the floor.

The contract `agent_answer_v1` judges the message alone; the rules here judge it against
registry and request, in the same report. Profile `seed` leaves them out: it is the
validator of seed 002 and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from accordance.contracts.catalogue.answer import (
    ANSWER,
    phases_leave_their_outputs,
    wanted_output,
)
from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.checking import Checker
from accordance.contracts.context import Context
from accordance.contracts.contract import Rule
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.phase_outputs import (
    FIRST_PLACE,
    missing_outputs,
    says_something,
)
from accordance.contracts.registry import Registry
from accordance.contracts.violation import (
    Accepted,
    Notice,
    Rejected,
    Violation,
    excerpt,
)
from accordance.domain.json_numbers import as_number
from accordance.domain.research.agents import CANDIDATES, AgentRegistry, ResearchAgent
from accordance.domain.research.floors import (
    LOW_TYPICALITY,
    Acknowledgement,
    Floor,
    floor_of,
)
from accordance.domain.research.quality import (
    Checklist,
    Profile,
    critique_quality,
    distribution,
    part,
    provenance_completeness,
)

ANSWER_TO_A_REQUEST: Final = replace(
    ANSWER,
    rules=tuple(
        rule for rule in ANSWER.rules if rule is not phases_leave_their_outputs
    ),
)
"""The contract without a warning: a rule below turns it into a violation."""

MessageRule: TypeAlias = Callable[[JsonObject, Context], Iterator[Violation]]
_checker: Final = Checker(Registry((ANSWER,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerExpectations:
    """What an answer is held against."""

    registry: AgentRegistry
    request: AgentRequest | None = None
    words: str = ""  # the goal of a task, where there is no request
    agent: str | None = None  # set if a particular agent was asked
    acknowledgement: Acknowledgement | None = None

    @property
    def quality(self) -> str:
        """The quality level of the request, standard if it names none."""
        constraints = self.request.constraints if self.request else None
        level = constraints.quality_level if constraints else None
        return level or "standard"

    def floor(self, agent: ResearchAgent) -> Floor:
        """Return the floor of an agent's answer."""
        return floor_of(agent, self.registry, self.request, self.words)


def check_answer(
    raw: bytes | str,
    expectations: AnswerExpectations,
    profile: Profile = "strict",
) -> Accepted[Any] | Rejected:
    """Check an answer, read strictly. Never raises for a bad answer."""
    if profile == "seed":
        return _checker.check(raw, ANSWER, Context(profile="seed"))

    request = expectations.request
    task_id = request.task_id if request else None
    contract = ANSWER_TO_A_REQUEST.with_rules(*rules_for(expectations))
    return _checker.check(raw, contract, Context(task_id=task_id))


def awaits_a_person(result: Accepted[Any] | Rejected) -> bool:
    """Whether the only fault is a selection below its floor.

    Such an answer waits for a person to acknowledge the selection.
    """
    if isinstance(result, Accepted):
        return False
    return all(violation.code == "below_floor" for violation in result.violations)


def rules_for(expectations: AnswerExpectations) -> tuple[Rule, ...]:
    """Return the rules that need more than the message."""

    def comes_from_the_agent_that_was_asked(
        message: JsonObject, _: Context
    ) -> Iterator[Violation]:
        """agent_id is the agent that was asked; vs_level is its registered level."""
        yield from _identity(message, expectations)

    def says_which_request_it_answers(
        message: JsonObject, context: Context
    ) -> Iterator[Notice]:
        """Where a request is known, the answer echoes its task_id."""
        if context.task_id is None or "task_id" in message:
            return
        text = f"does not say that it answers {context.task_id}"
        yield Notice("untied_answer", "$.task_id", text)

    def respects_its_floor(
        message: JsonObject, _: Context
    ) -> Iterator[Violation | Notice]:
        """The selection is not below the T-score floor, or a person has acknowledged it."""
        yield from _floor(message, expectations)

    return (
        comes_from_the_agent_that_was_asked,
        says_which_request_it_answers,
        *_quality_rules(expectations.quality),
        offers_more_than_the_obvious,
        respects_its_floor,
    )


def _quality_rules(level: str) -> tuple[Rule, ...]:
    """Return the rules of a quality level: a draft is only warned."""
    complete = (
        criticises_itself_in_earnest,
        says_where_it_comes_from,
        leaves_the_outputs_of_its_phases,
    )
    if level == "draft":
        return tuple(_as_a_warning(rule) for rule in complete)
    if level == "publication_ready":
        return (*complete, is_ready_for_publication)
    return complete


def _as_a_warning(rule: MessageRule) -> Rule:
    """Return the same rule for a draft, with warnings in the place of violations."""

    def warns(message: JsonObject, context: Context) -> Iterator[Notice]:
        for violation in rule(message, context):
            text = f"a draft may go without this: {violation.expected}"
            yield Notice(violation.code, violation.path, text)

    warns.__doc__ = rule.__doc__
    return warns


# -- the agent


def _identity(
    message: JsonObject, expectations: AnswerExpectations
) -> Iterator[Violation]:
    registry = expectations.registry
    name = message.get("agent_id")
    if not isinstance(name, str) or not name.strip():
        return

    agent = registry.find(name)
    if agent is None:
        expected = registry.offer(name)
        yield Violation(
            code="unknown_agent",
            path="$.agent_id",
            expected=expected,
            actual=excerpt(name),
        )
        return

    if expectations.agent is not None:
        wanted = registry.get(expectations.agent)
        if wanted is not agent:
            expected = excerpt(wanted.id)
            yield Violation(
                code="wrong_agent",
                path="$.agent_id",
                expected=expected,
                actual=excerpt(name),
            )

    level = message.get("vs_level")
    if isinstance(level, str) and level != agent.level:
        expected = f'"{agent.level}", the level of {agent.id}'
        yield Violation(
            code="level_mismatch",
            path="$.vs_level",
            expected=expected,
            actual=excerpt(level),
        )


# -- completeness


def criticises_itself_in_earnest(
    message: JsonObject, _: Context
) -> Iterator[Violation]:
    """The self-critique of a Full answer has strengths, weaknesses, improvements and other views."""
    critique = message.get("self_critique")
    if message.get("vs_level") != "Full" or not isinstance(critique, dict):
        return

    quality = critique_quality(message)
    if not quality.passed:
        expected = "two strengths, two weaknesses, one improvement, another perspective"
        actual = f"wanting: {_missing_parts(quality)}"
        yield Violation(
            code="thin_critique",
            path="$.self_critique",
            expected=expected,
            actual=actual,
        )


def says_where_it_comes_from(message: JsonObject, _: Context) -> Iterator[Violation]:
    """Provenance has at least a source and a step of reasoning."""
    provenance = part(message, "provenance")
    checks = provenance_completeness(message).checks
    fields = {"sources": "has_sources", "reasoning_trace": "has_reasoning"}

    for key, check in fields.items():
        listed = provenance.get(key)
        if isinstance(listed, list) and not checks[check]:
            where = f"$.provenance.{key}"
            expected = "at least one item"
            yield Violation(
                code="thin_provenance",
                path=where,
                expected=expected,
                actual=excerpt(listed),
            )


def leaves_the_outputs_of_its_phases(
    message: JsonObject, _: Context
) -> Iterator[Violation]:
    """Every phase that the level demands has left its output in the answer."""
    for phase in missing_outputs(message):
        expected = wanted_output(phase)
        yield Violation(
            code="phase_output_missing",
            path=FIRST_PLACE[phase],
            expected=expected,
            actual="nothing",
        )


def is_ready_for_publication(message: JsonObject, _: Context) -> Iterator[Violation]:
    """Publication-ready: limitations are named, the options are many and not all obvious, the self-critique wants nothing."""
    yield from _unnamed_limitations(message)
    yield from _narrow_options(message)
    yield from _incomplete_critique(message)


def _unnamed_limitations(message: JsonObject) -> Iterator[Violation]:
    limitations = message.get("limitations")
    if not says_something(limitations):
        actual = excerpt(limitations) if "limitations" in message else "nothing"
        yield _unready("$.limitations", "at least one limitation", actual)


def _narrow_options(message: JsonObject) -> Iterator[Violation]:
    where = "$.vs_metadata.t_scores"
    options = distribution(message)
    if not options.count:
        return

    fewest = CANDIDATES.get(str(message.get("vs_level")), 0)
    if options.count < fewest:
        yield _unready(where, f"at least {fewest} options", f"{options.count} options")
    if not options.passed:
        expected = "an option below 0.6 and a selection that is not modal"
        yield _unready(where, expected, "a narrow distribution")


def _incomplete_critique(message: JsonObject) -> Iterator[Violation]:
    """Parts that are missing from a critique that is good enough otherwise."""
    critique = critique_quality(message)
    is_present = isinstance(message.get("self_critique"), dict)
    if is_present and critique.passed and critique.score < 1:
        actual = f"wanting: {_missing_parts(critique)}"
        yield _unready("$.self_critique", "all four parts in earnest", actual)


def _unready(where: str, expected: str, actual: str) -> Violation:
    demanded = f"{expected}, for quality_level publication_ready"
    return Violation(
        code="below_quality",
        path=where,
        expected=demanded,
        actual=actual,
    )


def _missing_parts(quality: Checklist) -> str:
    failed = [name for name, holds in quality.checks.items() if not holds]
    return ", ".join(name.removeprefix("has_") for name in failed)


# -- typicality


def offers_more_than_the_obvious(message: JsonObject, _: Context) -> Iterator[Notice]:
    """Some option is off the beaten track (below 0.6), and the selection is not modal."""
    options = distribution(message)
    if not options.count or options.passed:
        return

    text = "no option below 0.6, or a modal selection"
    if options.modal_only:
        text = "every option is modal"
    yield Notice("narrow_distribution", "$.vs_metadata.t_scores", text)


def _floor(
    message: JsonObject, expectations: AnswerExpectations
) -> Iterator[Violation | Notice]:
    where = "$.vs_metadata.final_selection.t_score"
    selection = part(part(message, "vs_metadata"), "final_selection")
    agent = expectations.registry.find(message.get("agent_id"))
    score = as_number(selection.get("t_score"))
    if agent is None or score is None:
        return

    floor = expectations.floor(agent)
    if floor.allows(score):
        if score < LOW_TYPICALITY:
            yield Notice("low_typicality", where, f"creative: below {LOW_TYPICALITY:g}")
        return

    task_id, option = message.get("task_id"), selection.get("option")
    consent = expectations.acknowledgement
    if consent is not None and consent.covers(agent, task_id, option, score):
        by = f"acknowledged by {consent.acknowledged_by} at {consent.acknowledged_at}"
        yield Notice("floor_acknowledged", where, f"below {floor.least:g}, {by}")
        return

    least = f"at least {floor.least:g} ({floor.source})"
    expected = f"{least}, or a person's acknowledgement of this selection"
    yield Violation(
        code="below_floor",
        path=where,
        expected=expected,
        actual=excerpt(selection["t_score"]),
    )
