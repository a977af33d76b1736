"""Prompts: shared words, the agent's own words and the generated context.

Each part is known by its hash, so that every call can be rebuilt later: its recipe
names the parts by hash, and the parts are in the ledger's blobs.
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
_LONGEST_NAME: Final = 200
_NOT_PLAIN: Final = re.compile(r"[^\w ./:@#()+,-]+")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a prompt, with the name it goes by."""

    voice: Voice
    name: str
    text: str
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        object.__setattr__(self, "sha256", digest)

    def entry(self) -> JsonObject:
        """Return the part as a recipe names it."""
        return {
            "voice": self.voice,
            "name": self.name,
            "sha256": self.sha256,
        }


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that a model is given in a call, before its first word."""

    parts: tuple[Part, ...]

    @property
    def system(self) -> str:
        """Who the model is, and which rules it follows."""
        return self._voiced("system")

    @property
    def user(self) -> str:
        """What the model has to do, and what it may know."""
        return self._voiced("user")

    @property
    def text(self) -> str:
        """Both together, for agents that take a single text."""
        texts = [text for text in (self.system, self.user) if text]
        return "\n\n".join(texts)

    @property
    def sha256(self) -> str:
        """The hash of the whole: prompts with equal hashes have equal texts."""
        lines = [f"{part.voice} {part.sha256}" for part in self.parts]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def recipe(self) -> JsonObject:
        """Return the parts with their hashes, as plain JSON."""
        parts = [part.entry() for part in self.parts]
        return {"sha256": self.sha256, "parts": parts}

    def _voiced(self, voice: Voice) -> str:
        own_parts = [part for part in self.parts if part.voice == voice]
        texts = [part.text.strip("\n") for part in own_parts]
        return "\n\n".join(texts)


def rebuild(recipe: Mapping[str, Any], text_of: Callable[[str], str]) -> Prompt:
    """Return the prompt of a recipe. `text_of` fetches a part by its hash."""
    parts = []
    for entry in recipe["parts"]:
        text = text_of(entry["sha256"])
        parts.append(Part(entry["voice"], entry["name"], text))
    return Prompt(tuple(parts))


def prompt_of(shared: Part, agent: Part, context: Sequence[Part]) -> Prompt:
    """Return a prompt: shared words, then the agent's, then those for this call."""
    return Prompt((shared, agent, *context))


def fenced(name: str, text: str) -> str:
    """Mark content from elsewhere as data.

    The mark is made from the content, so the content cannot close its own fence.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    mark = hashlib.sha256(encoded).hexdigest()[:MARK_DIGITS]
    return f'<data name="{plain(name)}" mark="{mark}">\n{text}\n</data mark="{mark}">'


def plain(name: str) -> str:
    """Return a name that fits into a line, without characters that could end it."""
    words = _NOT_PLAIN.sub(" ", name).split()
    return " ".join(words)[:_LONGEST_NAME]
