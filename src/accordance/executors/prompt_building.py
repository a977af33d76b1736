"""From the engine's assignment to a prompt: inputs read, context packed within its budget, texts put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from accordance.domain.briefing import briefing
from accordance.domain.context_pack import Pack, Piece, Trim, budget_for, pack
from accordance.domain.prompting import Part, Prompt, prompt_of
from accordance.executors.leftover import read_left
from accordance.executors.prompt_files import SHARED, PromptFiles

MOST_INPUT: Final = 200_000  # bytes of an input file that are told


@dataclass(frozen=True, slots=True)
class Told:
    """What an agent is told, and what was cut to fit."""

    prompt: Prompt
    trims: tuple[Trim, ...] = ()


def tell(document: Mapping[str, Any], name: str, root: Path, more: Sequence[Piece] = ()) -> Told:
    """The whole prompt for an assignment, with further pieces, cut to fit. Raises ContextTooLarge or UnknownPrompt."""
    files = PromptFiles(root)
    context = packed(document, root, more)
    parts = [Part("user", piece.name, piece.rendered) for piece in context.pieces]
    if context.note:
        parts.append(Part("user", "cut", context.note))
    return Told(prompt_of(files.part(SHARED), files.part(name), parts), context.trims)


def packed(document: Mapping[str, Any], root: Path, more: Sequence[Piece] = ()) -> Pack:
    """The context of an assignment within its role's budget, and what was cut."""
    role = document["task"].get("owner_agent_id") or document["task"].get("role")
    return pack((*briefing(document, _inputs(document, root)), *more), budget_for(role))


def _inputs(document: Mapping[str, Any], root: Path) -> dict[str, str]:
    """The texts among the input files."""
    found = {}
    for one in document.get("context", {}).get("inputs", ()):
        raw = read_left(root, one["reference"], MOST_INPUT) if one.get("kind") == "FILE" else None
        if raw is not None:
            try:
                found[one["reference"]] = raw.decode()
            except UnicodeDecodeError:
                continue  # no text; the agent is told where it lies
    return found
