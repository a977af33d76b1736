"""Prompts: shared words, the agent's own words and the generated context, each known by its hash.

A call can be rebuilt for ever: its recipe names every part by hash, and the parts lie in the ledger's blobs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from accordance.contracts.jsonpath import JsonObject

Voice: TypeAlias = Literal["system", "user"]
MARK_DIGITS: Final = 16
_NOT_PLAIN: Final = re.compile(r"[^\w ./:@#()+,-]+")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a prompt, with the name it goes by."""

    voice: Voice
    name: str
    text: str
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "sha256", hashlib.sha256(self.text.encode()).hexdigest()
        )


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that a model is told in one call, before it has said anything."""

    parts: tuple[Part, ...]

    @property
    def system(self) -> str:
        """Whom it is speaking as, and by which rules."""
        return self._voiced("system")

    @property
    def user(self) -> str:
        """What it has to do, and what it may know."""
        return self._voiced("user")

    @property
    def text(self) -> str:
        """Both, for agents that take one text."""
        return "\n\n".join(text for text in (self.system, self.user) if text)

    @property
    def sha256(self) -> str:
        """Of the whole: two prompts with the same hash say the same."""
        spelled = "\n".join(f"{part.voice} {part.sha256}" for part in self.parts)
        return hashlib.sha256(spelled.encode()).hexdigest()

    def recipe(self) -> JsonObject:
        """What it is made of, as plain JSON."""
        parts = [
            {"voice": part.voice, "name": part.name, "sha256": part.sha256}
            for part in self.parts
        ]
        return {"sha256": self.sha256, "parts": parts}

    def _voiced(self, voice: Voice) -> str:
        return "\n\n".join(
            part.text.strip("\n") for part in self.parts if part.voice == voice
        )


def rebuild(recipe: Mapping[str, Any], text_of: Callable[[str], str]) -> Prompt:
    """The prompt a recipe describes, with its parts fetched by their hashes."""
    return Prompt(
        tuple(
            Part(part["voice"], part["name"], text_of(part["sha256"]))
            for part in recipe["parts"]
        )
    )


def prompt_of(shared: Part, agent: Part, context: Sequence[Part]) -> Prompt:
    """Shared words first, then the agent's, then what was generated for this call."""
    return Prompt((shared, agent, *context))


def fenced(name: str, text: str) -> str:
    """Content from elsewhere, marked as data. The mark is made from the content, so the content cannot close its own fence."""
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[
        :MARK_DIGITS
    ]
    return f'<data name="{plain(name)}" mark="{mark}">\n{text}\n</data mark="{mark}">'


def plain(name: str) -> str:
    """A name that can stand in a line: what could end it or begin another is left out."""
    return " ".join(_NOT_PLAIN.sub(" ", name).split())[:200]
