"""From an assignment to a prompt: read the inputs, pack the context, join the texts."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from accordance.domain.briefing import briefing
from accordance.domain.context_pack import Excerpt, Pack, Piece, Trim, budget_for, pack
from accordance.domain.prompting import Part, Prompt, prompt_of
from accordance.executors.left_files import read_file_inside
from accordance.executors.prompt_files import SHARED, PromptFiles

MOST_INPUT: Final = 200_000  # bytes of an input file that go into the prompt


@dataclass(frozen=True, slots=True)
class BuiltPrompt:
    """A prompt, and what was cut to make it fit."""

    prompt: Prompt
    trims: tuple[Trim, ...] = ()


def build_prompt(
    document: Mapping[str, Any],
    name: str,
    root: Path,
    budget: int | None = None,
    more: Sequence[Piece] = (),
) -> BuiltPrompt:
    """Build the whole prompt for an assignment, with further pieces of context.

    Raises ContextTooLarge or UnknownPrompt.
    """
    files = PromptFiles(root)
    context = packed(document, root, budget, more)

    parts = [Part("user", piece.name, piece.rendered) for piece in context.pieces]
    if context.note:
        parts.append(Part("user", "cut", context.note))

    prompt = prompt_of(files.part(SHARED), files.part(name), parts)
    return BuiltPrompt(prompt, context.trims)


def packed(
    document: Mapping[str, Any],
    root: Path,
    budget: int | None = None,
    more: Sequence[Piece] = (),
) -> Pack:
    """Pack the context of an assignment into `budget` bytes, or its role's budget."""
    if budget is None:
        task = document["task"]
        role = task.get("owner_agent_id") or task.get("role")
        budget = budget_for(role)

    pieces = briefing(document, _inputs(document, root))
    return pack((*pieces, *more), budget)


def _inputs(document: Mapping[str, Any], root: Path) -> dict[str, Excerpt]:
    """Return the texts among the input files.

    Other files are not shown; the agent learns where they are.
    """
    context = document.get("context", {})
    excerpts = {}
    for entry in context.get("inputs", ()):
        if entry.get("kind") != "FILE":
            continue
        name = entry["reference"]
        excerpt = _excerpt(root, name)
        if excerpt is not None:
            excerpts[name] = excerpt
    return excerpts


def _excerpt(root: Path, name: str) -> Excerpt | None:
    """Return the beginning of a text, cut between characters; None if not a text."""
    raw = read_file_inside(root, name, MOST_INPUT)
    if raw is None:
        return None

    size = (root / name).stat().st_size
    is_cut = size > len(raw)
    decoder = getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(raw, final=not is_cut)
    except UnicodeDecodeError:
        return None
    return Excerpt(text, size if is_cut else 0)
