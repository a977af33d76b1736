"""From the engine's assignment to a prompt: inputs read, context packed within its budget, texts put together."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from accordance.domain.briefing import briefing
from accordance.domain.context_pack import Excerpt, Pack, Piece, Trim, budget_for, pack
from accordance.domain.prompting import Part, Prompt, prompt_of
from accordance.executors.prompt_files import SHARED, PromptFiles
from accordance.executors.run_folder import read_left

MOST_INPUT: Final = 200_000  # bytes of an input file that are told


@dataclass(frozen=True, slots=True)
class BuiltPrompt:
    """What an agent is told, and what was cut to fit."""

    prompt: Prompt
    trims: tuple[Trim, ...] = ()


def tell(
    document: Mapping[str, Any],
    name: str,
    root: Path,
    budget: int | None = None,
    more: Sequence[Piece] = (),
) -> BuiltPrompt:
    """The whole prompt for an assignment, with further pieces, and what was cut to fit. Raises ContextTooLarge or UnknownPrompt."""
    files = PromptFiles(root)
    context = packed(document, root, budget, more)
    parts = [Part("user", piece.name, piece.rendered) for piece in context.pieces]
    if context.note:
        parts.append(Part("user", "cut", context.note))
    return BuiltPrompt(
        prompt_of(files.part(SHARED), files.part(name), parts), context.trims
    )


def packed(
    document: Mapping[str, Any],
    root: Path,
    budget: int | None = None,
    more: Sequence[Piece] = (),
) -> Pack:
    """The context of an assignment within so many bytes, else within its role's budget, and what was cut."""
    role = document["task"].get("owner_agent_id") or document["task"].get("role")
    return pack(
        (*briefing(document, _inputs(document, root)), *more),
        budget_for(role) if budget is None else budget,
    )


def _inputs(document: Mapping[str, Any], root: Path) -> dict[str, Excerpt]:
    """The texts among the input files; what is no text is not shown, and the agent is told where it lies."""
    files = (
        one["reference"]
        for one in document.get("context", {}).get("inputs", ())
        if one.get("kind") == "FILE"
    )
    return {name: text for name in files if (text := _text(root, name)) is not None}


def _text(root: Path, name: str) -> Excerpt | None:
    """The beginning of a text, cut between two characters."""
    raw = read_left(root, name, MOST_INPUT)
    if raw is None:
        return None
    size = (root / name).stat().st_size
    is_cut = size > len(raw)
    try:
        text = getincrementaldecoder("utf-8")().decode(raw, final=not is_cut)
    except UnicodeDecodeError:
        return None
    return Excerpt(text, size if is_cut else 0)
