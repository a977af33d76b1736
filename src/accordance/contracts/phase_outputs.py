"""What each phase of verbalized sampling leaves in an answer, and where it may stand.

See seed 002, "VS Phase": `output`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from accordance.contracts.jsonpath import JsonObject, without
from accordance.contracts.phases import DEMANDS

OUTPUTS: Final[Mapping[int, str]] = MappingProxyType(
    {
        0: "context_summary",
        1: "modal_options_with_t_scores",
        2: "alternative_directions",
        3: "selected_option_with_justification",
        4: "main_content",
        5: "novelty_assessment",
    }
)
PLACES: Final[Mapping[int, str]] = MappingProxyType(
    {
        0: "$.vs_metadata.context_summary or $.content.main_output.context_summary",
        1: "$.vs_metadata.t_scores, with $.vs_metadata.modal_identified",
        2: "$.vs_metadata.alternative_directions, $.content.main_output.alternative_directions, or options in t_scores that are not modal",
        3: "$.vs_metadata.final_selection",
        4: "$.content.main_output",
        5: "$.vs_metadata.novelty_assessment or $.content.main_output.novelty_assessment",
    }
)
"""Where the output of a phase may stand, in words. Prompts name the first place."""
FIRST_PLACE: Final[Mapping[int, str]] = MappingProxyType(
    {
        0: "$.vs_metadata.context_summary",
        1: "$.vs_metadata.t_scores",
        2: "$.vs_metadata.alternative_directions",
        3: "$.vs_metadata.final_selection",
        4: "$.content.main_output",
        5: "$.vs_metadata.novelty_assessment",
    }
)
"""Where the output of a phase is looked for first."""
CONTRACTED: Final = (1, 3)  # the contract asks for these outputs by itself
_MODAL_ABOVE: Final = 0.8
_NAMED: Final = (0, 2, 5)  # these stand under the name of the output itself


def phase_output(message: JsonObject, phase: int) -> object:
    """The output of a phase in an answer, which may be malformed; None if empty."""
    output = _FINDERS[phase](message)
    return output if says_something(output) else None


def missing_outputs(message: JsonObject) -> tuple[int, ...]:
    """The phases that the answer's level demands and that leave no output.

    Empty for an unknown level. Scores, a selection and a main_output are not among
    them, because the contract itself requires those.
    """
    level = message.get("vs_level")
    if not isinstance(level, str):
        return ()
    has_content = isinstance(_part(message, "content").get("main_output"), dict)
    if not has_content or not _part(message, "vs_metadata"):
        return ()

    demanded = DEMANDS["contract"].get(level, frozenset())
    to_find = sorted(demanded.difference(CONTRACTED))
    return tuple(phase for phase in to_find if phase_output(message, phase) is None)


def says_something(value: object) -> bool:
    """Whether a value has content.

    A number has, a text with a letter or a digit has, and so has a list or an object
    with an item that has.
    """
    match value:
        case None:
            return False
        case str():
            return any(character.isalnum() for character in value)
        case list():
            return any(says_something(item) for item in value)
        case dict():
            return any(says_something(item) for item in value.values())
        case _:
            return True


def _named_output(message: JsonObject, phase: int) -> object:
    """An output under its own name, in the metadata or in the main output."""
    name = OUTPUTS[phase]
    in_metadata = _part(message, "vs_metadata").get(name)
    if says_something(in_metadata):
        return in_metadata
    return _main_output(message).get(name)


def _alternatives(message: JsonObject) -> object:
    """The alternatives under their name, or else the options that are not modal."""
    named = _named_output(message, 2)
    return named if says_something(named) else _options_off_the_mode(message)


def _options_off_the_mode(message: JsonObject) -> list[object]:
    entries = _part(message, "vs_metadata").get("t_scores")
    if not isinstance(entries, list):
        return []
    scored = [entry for entry in entries if isinstance(entry, dict)]
    return [
        entry.get("option") for entry in scored if _is_off_the_mode(entry.get("score"))
    ]


def _is_off_the_mode(score: object) -> bool:
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    return is_number and float(str(score)) <= _MODAL_ABOVE


def _work(message: JsonObject) -> object:
    """The work itself, without the outputs of other phases beside it."""
    main_output = _main_output(message)
    others = {OUTPUTS[phase] for phase in _NAMED}
    return without(main_output, others)


def _main_output(message: JsonObject) -> JsonObject:
    return _part(_part(message, "content"), "main_output")


def _part(message: JsonObject, key: str) -> JsonObject:
    part = message.get(key)
    return part if isinstance(part, dict) else {}


_FINDERS: Final[Mapping[int, Callable[[JsonObject], object]]] = MappingProxyType(
    {
        0: lambda message: _named_output(message, 0),
        1: lambda message: _part(message, "vs_metadata").get("t_scores"),
        2: _alternatives,
        3: lambda message: _part(message, "vs_metadata").get("final_selection"),
        4: _work,
        5: lambda message: _named_output(message, 5),
    }
)
