"""An answer in its place: from a registered agent, to a known request, on the right level, above its floor.

The contract `agent_answer_v1` judges the message alone; the rules here judge it against registry and request, in the same
report. Profile `seed` asks nothing of this: it is the validator of seed 002 and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

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
from accordance.contracts.phase_outputs import HOME, missing_outputs, says_something
from accordance.contracts.registry import Registry
from accordance.contracts.violation import (
    Accepted,
    Notice,
    Rejected,
    Violation,
    excerpt,
)
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
    number,
    part,
    provenance_completeness,
)

ANSWER_TO_A_REQUEST: Final = replace(
    ANSWER,
    rules=tuple(
        rule for rule in ANSWER.rules if rule is not phases_leave_their_outputs
    ),
)
"""The contract without the warning that one of the rules below speaks in earnest."""
_checker: Final = Checker(Registry((ANSWER,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerExpectations:
    """What an answer is held against."""

    registry: AgentRegistry
    request: AgentRequest | None = None
    words: str = ""  # what was asked, where it was a task of a plan and no request
    agent: str | None = None  # who was asked, if somebody in particular
    acknowledgement: Acknowledgement | None = None

    @property
    def quality(self) -> str:
        """The quality level that was asked for; standard where nobody asked."""
        constraints = self.request.constraints if self.request else None
        return (constraints.quality_level if constraints else None) or "standard"

    def floor(self, agent: ResearchAgent) -> Floor:
        """The floor of an agent's answer."""
        return floor_of(agent, self.registry, self.request, self.words)


def check_answer(
    raw: bytes | str, asked: AnswerExpectations, profile: Profile = "strict"
) -> Accepted[Any] | Rejected:
    """Check one answer, read strictly. Never raises for a bad answer."""
    if profile == "seed":
        return _checker.check(raw, ANSWER, Context(profile="seed"))
    task = asked.request.task_id if asked.request else None
    contract = ANSWER_TO_A_REQUEST.with_rules(*rules_for(asked))
    return _checker.check(raw, contract, Context(task_id=task))


def awaits_a_person(result: Accepted[Any] | Rejected) -> bool:
    """Whether nothing is wrong but that the selection is below its floor and nobody has acknowledged it."""
    return isinstance(result, Rejected) and all(
        one.code == "below_floor" for one in result.violations
    )


def rules_for(asked: AnswerExpectations) -> tuple[Rule, ...]:
    """The rules that need more than the message."""

    def comes_from_the_agent_that_was_asked(
        message: JsonObject, _: Context
    ) -> Iterator[Violation]:
        """agent_id is registered, is the one that was asked, and vs_level is its level."""
        yield from _identity(message, asked)

    def says_which_request_it_answers(
        message: JsonObject, context: Context
    ) -> Iterator[Notice]:
        """Where a request is known, the answer echoes its task_id."""
        if context.task_id is not None and "task_id" not in message:
            yield Notice(
                "untied_answer",
                "$.task_id",
                f"does not say that it answers {context.task_id}",
            )

    def respects_its_floor(
        message: JsonObject, _: Context
    ) -> Iterator[Violation | Notice]:
        """The selection is not below the T-score floor, or a person has acknowledged it."""
        yield from _floor(message, asked)

    complete = (
        criticises_itself_in_earnest,
        says_where_it_comes_from,
        leaves_the_outputs_of_its_phases,
    )
    return (
        comes_from_the_agent_that_was_asked,
        says_which_request_it_answers,
        *(map(_as_a_warning, complete) if asked.quality == "draft" else complete),
        *((is_ready_for_publication,) if asked.quality == "publication_ready" else ()),
        offers_more_than_the_obvious,
        respects_its_floor,
    )


def _as_a_warning(rule: Callable[[JsonObject, Context], Iterator[Violation]]) -> Rule:
    """The same rule for a draft: what is wanting is mentioned and refuses nothing."""

    def mentions(message: JsonObject, context: Context) -> Iterator[Notice]:
        for fault in rule(message, context):
            told = f"a draft may go without this: {fault.expected}"
            yield Notice(fault.code, fault.path, told)

    mentions.__doc__ = rule.__doc__
    return mentions


def leaves_the_outputs_of_its_phases(
    message: JsonObject, _: Context
) -> Iterator[Violation]:
    """Every phase that the level demands has left its output in the answer."""
    for phase in missing_outputs(message):
        yield Violation(
            "phase_output_missing", HOME[phase], wanted_output(phase), "nothing"
        )


def is_ready_for_publication(message: JsonObject, _: Context) -> Iterator[Violation]:
    """Publication-ready: limitations are named, the options are many and not all obvious, the self-critique wants nothing."""
    limitations = message.get("limitations")
    if not says_something(limitations):
        actual = excerpt(limitations) if "limitations" in message else "nothing"
        yield _unready("$.limitations", "at least one limitation", actual)
    found = distribution(message)
    wanted = CANDIDATES.get(str(message.get("vs_level")), 0)
    if 0 < found.count < wanted:
        yield _unready(
            "$.vs_metadata.t_scores",
            f"at least {wanted} options",
            f"{found.count} options",
        )
    if found.count and not found.passed:
        expected = "an option below 0.6 and a selection that is not modal"
        yield _unready("$.vs_metadata.t_scores", expected, "a narrow distribution")
    critique = critique_quality(message)
    if (
        isinstance(message.get("self_critique"), dict)
        and critique.passed
        and critique.score < 1
    ):
        yield _unready(
            "$.self_critique",
            "all four parts in earnest",
            f"wanting: {_wanting(critique)}",
        )


def _unready(where: str, expected: str, actual: str) -> Violation:
    return Violation(
        "below_quality",
        where,
        f"{expected}, for quality_level publication_ready",
        actual,
    )


def _wanting(quality: Checklist) -> str:
    return ", ".join(
        name.removeprefix("has_") for name, holds in quality.checks.items() if not holds
    )


def _identity(message: JsonObject, asked: AnswerExpectations) -> Iterator[Violation]:
    name = message.get("agent_id")
    if not isinstance(name, str) or not name.strip():
        return
    agent = asked.registry.find(name)
    if agent is None:
        yield Violation(
            "unknown_agent", "$.agent_id", asked.registry.offer(name), excerpt(name)
        )
        return
    if asked.agent is not None and asked.registry.get(asked.agent) is not agent:
        wanted = asked.registry.get(asked.agent).id
        yield Violation("wrong_agent", "$.agent_id", excerpt(wanted), excerpt(name))
    level = message.get("vs_level")
    if isinstance(level, str) and level != agent.level:
        expected = f'"{agent.level}", the level of {agent.id}'
        yield Violation("level_mismatch", "$.vs_level", expected, excerpt(level))


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
        yield Violation(
            "thin_critique",
            "$.self_critique",
            expected,
            f"wanting: {_wanting(quality)}",
        )


def says_where_it_comes_from(message: JsonObject, _: Context) -> Iterator[Violation]:
    """Provenance has at least one source and one step of reasoning."""
    checks = provenance_completeness(message).checks
    for key, check in (
        ("sources", "has_sources"),
        ("reasoning_trace", "has_reasoning"),
    ):
        provenance = message.get("provenance")
        if (
            isinstance(provenance, dict)
            and isinstance(provenance.get(key), list)
            and not checks[check]
        ):
            yield Violation(
                "thin_provenance",
                f"$.provenance.{key}",
                "at least one item",
                excerpt(provenance[key]),
            )


def offers_more_than_the_obvious(message: JsonObject, _: Context) -> Iterator[Notice]:
    """Some option is off the beaten track (below 0.6), and the selection is not modal."""
    found = distribution(message)
    if found.count and not found.passed:
        told = (
            "every option is modal"
            if found.modal_only
            else "no option below 0.6, or a modal selection"
        )
        yield Notice("narrow_distribution", "$.vs_metadata.t_scores", told)


def _floor(
    message: JsonObject, asked: AnswerExpectations
) -> Iterator[Violation | Notice]:
    agent = asked.registry.find(message.get("agent_id"))
    selection, where = (
        part(part(message, "vs_metadata"), "final_selection"),
        "$.vs_metadata.final_selection.t_score",
    )
    score = number(selection.get("t_score"))
    if agent is None or score is None:
        return
    floor, given = asked.floor(agent), asked.acknowledgement
    if floor.allows(score):
        if score < LOW_TYPICALITY:
            yield Notice("low_typicality", where, f"creative: below {LOW_TYPICALITY:g}")
    elif given is not None and given.covers(
        agent, message.get("task_id"), selection.get("option"), score
    ):
        by = f"below {floor.least:g}, acknowledged by {given.acknowledged_by} at {given.acknowledged_at}"
        yield Notice("floor_acknowledged", where, by)
    else:
        expected = f"at least {floor.least:g} ({floor.source}), or a person's acknowledgement of this selection"
        yield Violation("below_floor", where, expected, excerpt(selection["t_score"]))
