"""`agent_answer_v1`: a research agent's answer under verbalized sampling (seed 002, output schema).

Profile `strict` is the schema and the prose of the seed taken at their word; profile `seed` gives exactly the errors and
warnings of the validator printed in the seed, without its crashes (see `answer_seed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field

from accordance.contracts.catalogue.answer_seed import ANSWER_AS_THE_SEED_CHECKS_IT
from accordance.contracts.catalogue.identity import is_about_the_task
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Items, NotNull, Object, Open, Score, Text, Time
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.phase_outputs import HOME, OUTPUTS, PLACES, missing_outputs
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
ROUNDING: Final = (
    1e-6  # probabilities that add up to this much over 1 were only rounded
)


class TScore(Open):
    """How typical one option is: 1 is what everybody would say."""

    option: Text
    score: Score
    rationale: Text
    probability: Annotated[Score | None, NotNull] = (
        None  # how likely the agent would say it; never the same as the score
    )


class Selection(Open):
    """The option that was chosen."""

    option: Text
    t_score: Score
    justification: Text


class VsMetadata(Open):
    """How the answer was found."""

    phase_executed: list[Annotated[int, Field(ge=0, le=max(PHASES))]]
    modal_identified: Items
    t_scores: Annotated[list[TScore], Field(min_length=1)]
    final_selection: Selection
    # the outputs of phases for which the seed's schema has no place of their own
    context_summary: Annotated[Text | None, NotNull] = None
    alternative_directions: Annotated[Items | None, NotNull] = None
    novelty_assessment: Annotated[Text | None, NotNull] = None


class Content(Open):
    """The answer itself."""

    summary: Text
    main_output: Object
    confidence: Score


class Provenance(Open):
    """Where it comes from."""

    sources: Items
    reasoning_trace: Items
    assumptions: Items


class NextAgent(Open):
    """Who should go on."""

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
    task_id: Annotated[Text | None, NotNull] = (
        None  # of the request it answers; the seed has no place for it
    )
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
    level, executed = (
        message.get("vs_level"),
        _part(message, "vs_metadata").get("phase_executed"),
    )
    if (
        not isinstance(level, str)
        or level not in DEMANDS["contract"]
        or not isinstance(executed, list)
    ):
        return
    done = [phase for phase in executed if type(phase) is int and phase in PHASES]
    for phase in phase_completion(level, done).missing:
        expected = f"phase {phase} ({PHASES[phase]}), which {level} demands"
        yield Violation(
            "phase_missing", "$.vs_metadata.phase_executed", expected, excerpt(executed)
        )


def full_answers_criticise_themselves(
    message: JsonObject, _: Context
) -> Iterator[Violation]:
    """A Full answer has a self_critique."""
    if message.get("vs_level") == "Full" and "self_critique" not in message:
        yield Violation(
            "missing",
            "$.self_critique",
            "an object, because vs_level is Full",
            "nothing",
        )


def summary_has_one_to_three_sentences(
    message: JsonObject, _: Context
) -> Iterator[Violation]:
    """content.summary is 1 to 3 sentences."""
    summary = _part(message, "content").get("summary")
    if (
        isinstance(summary, str)
        and not is_blank(summary)
        and (count := count_sentences(summary)) > MOST_SENTENCES
    ):
        yield Violation(
            "sentences",
            "$.content.summary",
            f"1 to {MOST_SENTENCES} sentences",
            f"{count} sentences",
        )


def options_are_scored_once(message: JsonObject, _: Context) -> Iterator[Violation]:
    """No option stands twice in t_scores."""
    seen: set[str] = set()
    for at, (option, _score) in _scored(message):
        if option in seen:
            where = f"$.vs_metadata.t_scores[{at}].option"
            yield Violation(
                "duplicate_option", where, "every option once", excerpt(option)
            )
        seen.add(option)


def selection_was_scored(message: JsonObject, _: Context) -> Iterator[Violation]:
    """The final selection is one of the scored options, with the same score."""
    selection = _part(_part(message, "vs_metadata"), "final_selection")
    option, t_score = selection.get("option"), selection.get("t_score")
    scores = [score for _, (name, score) in _scored(message) if name == option]
    if not isinstance(option, str) or is_blank(option) or not any(_scored(message)):
        return
    if not scores:
        where = "$.vs_metadata.final_selection.option"
        yield Violation(
            "selection_not_listed",
            where,
            "one of the options in t_scores",
            excerpt(option),
        )
    elif (
        len(scores) == 1
        and _is_number(t_score)
        and _is_number(scores[0])
        and not _same(t_score, scores[0])
    ):
        where = "$.vs_metadata.final_selection.t_score"
        expected = f"the same score as in t_scores, which is {excerpt(scores[0])}"
        yield Violation("selection_score_mismatch", where, expected, excerpt(t_score))


def probabilities_fit_into_one(message: JsonObject, _: Context) -> Iterator[Violation]:
    """The probabilities of the options, where they are given, sum to at most 1."""
    entries = _t_scores(message)
    total = 0.0
    for entry in entries if isinstance(entries, list) else ():
        given = entry.get("probability") if isinstance(entry, dict) else None
        total += float(str(given)) if _is_number(given) else 0.0
    if total > 1 + ROUNDING:
        where = "$.vs_metadata.t_scores"
        yield Violation(
            "probabilities_over_one",
            where,
            "probabilities that sum to at most 1",
            f"a sum of {total:.4g}",
        )


def modal_options_are_identified(message: JsonObject, _: Context) -> Iterator[Notice]:
    """An empty list of modal options is legal and worth a word."""
    if _part(message, "vs_metadata").get("modal_identified") == []:
        yield Notice(
            "no_modal_option",
            "$.vs_metadata.modal_identified",
            "no modal option was identified",
        )


def lists_say_something(message: JsonObject, _: Context) -> Iterator[Notice]:
    """Empty lists of sources, reasoning or self-critique are legal; where an answer is held against its request, they are not."""
    for key, lists in _MEANT_TO_BE_FILLED.items():
        for name in lists:
            if _part(message, key).get(name) == []:
                yield Notice("empty_list", f"$.{key}.{name}", "is empty")


def phases_leave_their_outputs(message: JsonObject, _: Context) -> Iterator[Notice]:
    """A phase without its output is legal; where an answer is held against its request, it is not."""
    for phase in missing_outputs(message):
        yield Notice("phase_output_missing", HOME[phase], f"no {wanted_output(phase)}")


def wanted_output(phase: int) -> str:
    """What a phase must leave, and where it may stand."""
    return f"{OUTPUTS[phase]}, the output of phase {phase} ({PHASES[phase]}), at {PLACES[phase]}"


def _t_scores(message: JsonObject) -> object:
    return _part(message, "vs_metadata").get("t_scores")


def _scored(message: JsonObject) -> Iterator[tuple[int, tuple[str, object]]]:
    entries = _t_scores(message)
    for at, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict) and isinstance(option := entry.get("option"), str):
            yield at, (option, entry.get("score"))


def _part(message: JsonObject, key: str) -> JsonObject:
    part = message.get(key)
    return part if isinstance(part, dict) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(one: object, other: object) -> bool:
    return abs(float(str(one)) - float(str(other))) <= SAME_SCORE


ANSWER: Final = Contract(
    version="agent_answer_v1",
    name="answer",
    about="A research agent's answer: options with T-scores, the selection, its reasons, provenance and self-critique.",
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
