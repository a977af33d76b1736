"""Each phase of verbalized sampling leaves an output in the answer; which, and where it may stand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accordance import Accepted, Context, check
from accordance.contracts.phase_outputs import (
    FIRST_PLACE,
    OUTPUTS,
    PLACES,
    missing_outputs,
    phase_output,
)
from accordance.contracts.phases import PHASES
from tests.messages import ANSWER, Message, changed

BARE = changed(
    changed(ANSWER, "vs_metadata.context_summary", ...),
    "vs_metadata.novelty_assessment",
    ...,
)  # as the seed's own schema has it
MODAL = [{"option": "TAM", "score": 0.92, "rationale": "everybody uses it"}]


def with_outputs(message: Message, **outputs: Any) -> Message:
    """The same answer with these keys in its main_output."""
    return changed(
        message, "content.main_output", {**message["content"]["main_output"], **outputs}
    )


MISSING: list[tuple[str, Message, tuple[int, ...]]] = [
    ("a whole answer", ANSWER, ()),
    ("no main output", changed(ANSWER, "content.main_output", {}), (4,)),
    ("placeholders say nothing", changed(ANSWER, "content.main_output", {"hypotheses": ["…", " "]}), (4,)),
    ("a number says something", changed(ANSWER, "content.main_output", {"effect": 0}), ()),
    ("null says nothing", changed(ANSWER, "content.main_output", {"effect": None}), (4,)),
    ("neither context nor novelty", BARE, (0, 5)),
    ("both in the main output", with_outputs(BARE, context_summary="c", novelty_assessment={"new": "n"}), ()),
    (
        "the outputs of other phases are not the work",
        changed(BARE, "content.main_output", {"context_summary": "c", "novelty_assessment": "n"}),
        (4,),
    ),
    ("a blank in one place, a text in the other", with_outputs(changed(ANSWER, "vs_metadata.context_summary", "…"), context_summary="c"), ()),
    ("only modal options", changed(ANSWER, "vs_metadata.t_scores", MODAL), (2,)),
    ("directions under their own name", changed(changed(ANSWER, "vs_metadata.t_scores", MODAL), "vs_metadata.alternative_directions", ["d"]), ()),
    ("Enhanced needs no novelty assessment", changed(BARE, "vs_level", "Enhanced"), (0,)),
    ("Light needs only its work", changed(BARE, "vs_level", "Light"), ()),
    ("an unknown level demands nothing", changed(BARE, "vs_level", "Deep"), ()),
    ("a level that is no text", changed(BARE, "vs_level", 7), ()),
    ("where there is no main output the contract says so", changed(BARE, "content.main_output", ...), ()),
    ("where there is no metadata the contract says so", changed(BARE, "vs_metadata", None), ()),
    ("scores that are none", changed(ANSWER, "vs_metadata.t_scores", "high"), (2,)),
    ("a score that is no number", changed(ANSWER, "vs_metadata.t_scores", [{"option": "o", "score": True}, "x"]), (2,)),
]  # fmt: skip


@pytest.mark.seed("002-28", "002-32", "002-38")
@pytest.mark.parametrize(
    ("_", "message", "phases"), MISSING, ids=[row[0] for row in MISSING]
)
def test_phases_without_their_output(
    _: str, message: Message, phases: tuple[int, ...]
) -> None:
    """Those that the level demands; scores and selection are the contract's own."""
    assert missing_outputs(message) == phases


@pytest.mark.seed("002-30", "002-34", "002-36")
def test_every_phase_has_an_output_and_a_place() -> None:
    """The table is the seed's; each place that is named is where the output is found."""
    assert list(OUTPUTS) == list(PHASES) == list(PLACES) == list(FIRST_PLACE)
    assert all(PLACES[phase].startswith(FIRST_PLACE[phase]) for phase in PHASES)
    assert {OUTPUTS[phase]: phase_output(ANSWER, phase) for phase in PHASES} == {
        "context_summary": ANSWER["vs_metadata"]["context_summary"],
        "modal_options_with_t_scores": ANSWER["vs_metadata"]["t_scores"],
        "alternative_directions": ["Control-Value Theory"],
        "selected_option_with_justification": ANSWER["vs_metadata"]["final_selection"],
        "main_content": ANSWER["content"]["main_output"],
        "novelty_assessment": ANSWER["vs_metadata"]["novelty_assessment"],
    }


def test_check_warns_and_the_seed_says_nothing() -> None:
    """The message alone may lack them: the seed's schema has no place for some. Its own validator never asks."""
    raw = json.dumps(changed(BARE, "content.main_output", {}))
    result = check(raw, "agent_answer_v1")
    assert isinstance(result, Accepted)
    assert [(notice.code, notice.path) for notice in result.warnings] == [
        ("phase_output_missing", "$.vs_metadata.context_summary"),
        ("phase_output_missing", "$.content.main_output"),
        ("phase_output_missing", "$.vs_metadata.novelty_assessment"),
    ]
    assert result.warnings[0].message == (
        "no context_summary, the output of phase 0 (Context Collection), "
        "at $.vs_metadata.context_summary or $.content.main_output.context_summary"
    )
    seed = check(raw, "agent_answer_v1", Context(profile="seed"))
    assert isinstance(seed, Accepted)
    assert seed.warnings == ()
