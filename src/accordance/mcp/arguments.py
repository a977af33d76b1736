"""Whether the arguments of a call are such as the tool takes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from accordance.contracts.jsonpath import JsonObject, without_nulls
from accordance.errors import AccordanceError

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    # some clients send an object as its JSON text
    "object": (dict, str),
}
_WORDS: Final[Mapping[str, str]] = {
    "string": "a text",
    "integer": "a whole number",
    "object": "a JSON object",
}


_LONGEST: Final = 60


class BadArguments(AccordanceError):
    """A tool was called with arguments that it does not take."""

    code = "bad-arguments"


def must_fit(tool: str, takes: Mapping[str, Any], arguments: JsonObject) -> None:
    """Raise BadArguments unless a call has what the tool takes, and nothing else.

    An argument that is null counts as left out.
    """
    properties = takes["properties"]
    unknown = [name for name in arguments if name not in properties]
    if unknown:
        named = _listed(map(_shown, unknown))
        known = _listed(properties) or "nothing"
        raise BadArguments(f"{tool} takes no {named}", way_out=f"it takes {known}")

    given = without_nulls(arguments)
    missing = [name for name in takes.get("required", ()) if name not in given]
    if missing:
        about = properties[missing[0]]["description"]
        raise BadArguments(f"{tool} needs {_listed(missing)}", way_out=about)

    for name, value in given.items():
        kind = properties[name]["type"]
        if isinstance(value, bool) or not isinstance(value, _TYPES[kind]):
            raise BadArguments(
                f"{name} of {tool} is {_WORDS[kind]}, not {_shown(value)}"
            )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _shown(value: object) -> str:
    """Return a value in a text that is not too long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
