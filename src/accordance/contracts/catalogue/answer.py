"""`agent_answer_v1`: a research agent's answer under verbalized sampling (seed 002).

Profile `strict` takes the schema and the prose of the seed at their word. Profile
`seed` gives exactly the errors and warnings of the validator printed in the seed,
without its crashes (`answer_seed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import Field

from accordance.contracts.catalogue.answer_seed import ANSWER_AS_THE_SEED_CHECKS_IT
from accordance.contracts.catalogue.identity import is_about_the_task
from accordance.contracts.catalogue.versions import ANSWER_NAME, ANSWER_VERSION
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Items, NotNull, Object, Open, Score, Text, Time
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.phase_outputs import (
    FIRST_PLACE,
    OUTPUTS,
    PLACES,
    missing_outputs,
)
from accordance.contracts.phases import DEMANDS, PHASES, phase_completion
from accordance.contracts.printable import is_blank
from accordance.contracts.sentences import count_sentences
from accordance.contracts.violation import Notice, Violation, excerpt

MOST_SENTENCES: Final = 3
SAME_SCORE: Final = 1e-9
_MEANT_TO_BE_FILLED: Final = {
    "provenance": ("sources", "reasoning_trace"),
    "self_critique": ("strengths", "weaknesses", "improvement_suggestions"),
}
ROUNDING: Final = 1e-6  # a sum of probabilities this much over 1 was only rounded


class TScore(Open):
    """How typical an option is; 1 is the most typical."""

    option: Text
    score: Score
    rationale: Text
    probability: Annotated[Score | None, NotNull] = None
    """How likely the agent would say it; not the same as the score."""


class Selection(Open):
    """The option that was chosen."""

    option: Text
    t_score: Score
    justification: Text


class VsMetadata(Open):
    """How the answer was reached."""

    phase_executed: list[Annotated[int, Field(ge=0, le=max(PHASES))]]
    modal_identified: Items
    t_scores: Annotated[list[TScore], Field(min_length=1)]
    final_selection: Selection
    # outputs of phases that have no field of their own in the seed's schema
    context_summary: Annotated[Text | None, NotNull] = None
    alternative_directions: Annotated[Items | None, NotNull] = None
    novelty_assessment: Annotated[Text | None, NotNull] = None


class Content(Open):
    """The answer itself."""

    summary: Text
    main_output: Object
    confidence: Score


class Provenance(Open):
    """What the answer rests on."""

    sources: Items
    reasoning_trace: Items
    assumptions: Items


class NextAgent(Open):
    """The agent that should go on."""

    agent_id: Text
    reason: Text
    priority: Literal["required", "recommended", "optional"]


class SelfCritique(Open):
    """What the agent thinks of its own answer."""

    strengths: Items
    weaknesses: Items
    improvement_suggestions: Items
    alternative_perspectives: Annotated[Items | None, NotNull] = None


class AgentAnswer(Open):
    """An answer with the options it was chosen from."""

    schema_version: Annotated[Literal["agent_answer_v1"] | None, NotNull] = None
    task_id: Annotated[Text | None, NotNull] = None
    """The request it answers; the seed has no field for it."""
    agent_id: Text
    vs_level: Literal["Full", "Enhanced", "Light"]
    execution_timestamp: Time
    vs_metadata: VsMetadata
    content: Content
    provenance: Provenance
    next_agents: Annotated[list[NextAgent] | None, NotNull] = None
    warnings: Annotated[Items | None, NotNull] = None
    limitations: Annotated[Items | None, NotNull] = None
    self_critique: Annotated[SelfCritique | None, NotNull] = None


def executes_the_phases_of_its_level(
    message: JsonObject, _: Context
) -> Iterator[Violation]:
    """Full needs phases 0-5, Enhanced 0, 1, 2, 4, Light 1, 4."""
    level = message.get("vs_level")
    if not isinstance(level, str) or level not in DEMANDS["contract"]:
        return
    executed = _part(message, "vs_metadata").get("phase_executed")
    if not isinstance(executed, list):
        return

    numbers = [phase for phase in executed if type(phase) is int]
    phases = [phase for phase in numbers if phase in PHASES]
    for phase in phase_completion(level, phases).missing:
        yield Violation(
            "phase_missing",
            path="$.vs_metadata.phase_executed",
            expected=f"phase {phase} ({PHASES[phase]}), which {level} demands",
            actual=excerpt(executed),
        )


def full_answers_criticise_themselves(
    message: JsonObject, _: Context
) -> Iterator[Violation]:
    """A Full answer has a self_critique."""
    if message.get("vs_level") == "Full" and "self_critique" not in message:
        yield Violation(
            "missing",
            path="$.self_critique",
            expected="an object, because vs_level is Full",
            actual="nothing",
        )


def summary_has_one_to_three_sentences(
    message: JsonObject, _: Context
) -> Iterator[Violation]:
    """content.summary is 1 to 3 sentences."""
    summary = _part(message, "content").get("summary")
    if not isinstance(summary, str) or is_blank(summary):
        return

    count = count_sentences(summary)
    if count > MOST_SENTENCES:
        yield Violation(
            "sentences",
            path="$.content.summary",
            expected=f"1 to {MOST_SENTENCES} sentences",
            actual=f"{count} sentences",
        )


def options_are_scored_once(message: JsonObject, _: Context) -> Iterator[Violation]:
    """No option stands twice in t_scores."""
    seen: set[str] = set()
    for scored in _scored_options(message):
        if scored.option in seen:
            path = f"$.vs_metadata.t_scores[{scored.place}].option"
            option = excerpt(scored.option)
            yield Violation(
                "duplicate_option",
                path=path,
                expected="every option once",
                actual=option,
            )
        seen.add(scored.option)


def selection_was_scored(message: JsonObject, _: Context) -> Iterator[Violation]:
    """The final selection is among the scored options, with the same score."""
    selection = _part(_part(message, "vs_metadata"), "final_selection")
    option = selection.get("option")
    options = [*_scored_options(message)]
    if not isinstance(option, str) or is_blank(option):
        return
    if not options:
        return

    path = "$.vs_metadata.final_selection"
    scores = [scored.score for scored in options if scored.option == option]
    if not scores:
        yield Violation(
            "selection_not_listed",
            path=f"{path}.option",
            expected="one of the options in t_scores",
            actual=excerpt(option),
        )
        return

    score = scores[0]
    stated = selection.get("t_score")
    if len(scores) == 1 and _differ(stated, score):
        expected = f"the same score as in t_scores, which is {excerpt(score)}"
        t_score = excerpt(stated)
        yield Violation(
            "selection_score_mismatch",
            path=f"{path}.t_score",
            expected=expected,
            actual=t_score,
        )


def probabilities_fit_into_one(message: JsonObject, _: Context) -> Iterator[Violation]:
    """The probabilities of the options, where they are given, sum to at most 1."""
    total = 0.0
    for entry in _t_scores(message):
        probability = entry.get("probability") if isinstance(entry, dict) else None
        if _is_number(probability):
            total += float(str(probability))

    if total > 1 + ROUNDING:
        yield Violation(
            "probabilities_over_one",
            path="$.vs_metadata.t_scores",
            expected="probabilities that sum to at most 1",
            actual=f"a sum of {total:.4g}",
        )


def modal_options_are_identified(message: JsonObject, _: Context) -> Iterator[Notice]:
    """An empty list of modal options is legal, but worth a warning."""
    if _part(message, "vs_metadata").get("modal_identified") == []:
        yield Notice(
            "no_modal_option",
            path="$.vs_metadata.modal_identified",
            message="no modal option was identified",
        )


def lists_say_something(message: JsonObject, _: Context) -> Iterator[Notice]:
    """Sources, reasoning and self-critique have content; a request demands it."""
    for key, lists in _MEANT_TO_BE_FILLED.items():
        part = _part(message, key)
        for name in lists:
            if part.get(name) == []:
                yield Notice(
                    "empty_list",
                    path=f"$.{key}.{name}",
                    message="is empty",
                )


def phases_leave_their_outputs(message: JsonObject, _: Context) -> Iterator[Notice]:
    """Every executed phase should leave its output; a request demands it."""
    for phase in missing_outputs(message):
        yield Notice(
            "phase_output_missing",
            path=FIRST_PLACE[phase],
            message=f"no {wanted_output(phase)}",
        )


def wanted_output(phase: int) -> str:
    """Describe what a phase must leave, and where it may stand."""
    output = OUTPUTS[phase]
    return (
        f"{output}, the output of phase {phase} ({PHASES[phase]}), at {PLACES[phase]}"
    )


class _ScoredOption(NamedTuple):
    """An entry of t_scores whose option is a text."""

    place: int
    option: str
    score: object


def _scored_options(message: JsonObject) -> Iterator[_ScoredOption]:
    for place, entry in enumerate(_t_scores(message)):
        option = entry.get("option") if isinstance(entry, dict) else None
        if isinstance(option, str):
            yield _ScoredOption(place, option, entry.get("score"))


def _t_scores(message: JsonObject) -> list[Any]:
    entries = _part(message, "vs_metadata").get("t_scores")
    return entries if isinstance(entries, list) else []


def _part(message: JsonObject, key: str) -> JsonObject:
    """Return the object under a key, or an empty object for anything else."""
    part = message.get(key)
    return part if isinstance(part, dict) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _differ(score: object, other: object) -> bool:
    """Return whether two values are numbers that are not the same score."""
    if not _is_number(score) or not _is_number(other):
        return False
    distance = abs(float(str(score)) - float(str(other)))
    return distance > SAME_SCORE


ANSWER: Final = Contract(
    version=ANSWER_VERSION,
    name=ANSWER_NAME,
    about=(
        "A research agent's answer: options with T-scores, the selection, its reasons, "
        "provenance and self-critique."
    ),
    model=AgentAnswer,
    rules=(
        executes_the_phases_of_its_level,
        full_answers_criticise_themselves,
        summary_has_one_to_three_sentences,
        options_are_scored_once,
        selection_was_scored,
        probabilities_fit_into_one,
        is_about_the_task,
        modal_options_are_identified,
        lists_say_something,
        phases_leave_their_outputs,
    ),
    profiles={"seed": ANSWER_AS_THE_SEED_CHECKS_IT},
)
