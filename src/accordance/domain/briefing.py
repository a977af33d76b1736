"""The briefing: an assignment turned into pieces of context, each with its weight. What comes from elsewhere is data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from accordance.contracts.catalogue.edits import EDITS
from accordance.domain.context_pack import ESSENTIAL, Piece

_WEIGHTS: Final[Mapping[str, int]] = MappingProxyType(
    {"last_errors": 95, "last_review": 90, "answers": 85, "inputs": 70, "dependencies": 60, "goals": 40}
)
"""What is kept longest when room is short; the task, its contract and what is reviewed are never cut."""


def briefing(
    assignment: Mapping[str, Any], inputs: Mapping[str, str] | None = None, *, with_schema: bool = True
) -> tuple[Piece, ...]:
    """The pieces, in the order they are told. `inputs` are the texts of input files by their references."""
    return tuple(
        piece
        for piece in (
            _task(assignment),
            *_change(assignment.get("change"), assignment["contract"]["schema_version"]),
            *_contract(assignment["contract"], with_schema=with_schema),
            *_context(assignment.get("context", {})),
            *_inputs(assignment.get("context", {}).get("inputs", ()), inputs or {}),
        )
        if piece.text
    )


def _task(assignment: Mapping[str, Any]) -> Piece:
    task = assignment["task"]
    lines = [
        f"# Task {task['task_id']}",
        f"Title: {task['title']}",
        *(f"Goal: {text}" for text in (task.get("goal_statement"),) if text),
        *(f"Why: {text}" for text in (task.get("rationale"),) if text),
        *(f"Tags: {', '.join(tags)}" for tags in (task.get("tags"),) if tags),
        f"Attempt: {assignment.get('attempt', 1)}",
    ]
    return Piece("task", "\n".join(lines), ESSENTIAL, is_data=False)


def _change(change: Mapping[str, Any] | None, answered_by: str) -> Iterator[Piece]:
    """The task of whoever changes a repository: its pins, its tests, and for those who work in it where evidence goes."""
    if change is None:
        return
    evidence = _evidence(f"artifacts/{change['task_id']}") if answered_by != EDITS.version else ()
    yield Piece("change", "\n".join(("# The change", _json(change), *evidence)), ESSENTIAL, is_data=False)


def _evidence(folder: str) -> tuple[str, ...]:
    return (
        "Leave your evidence in the repository; it is no part of the change:",
        f"- {folder}/report.md: what you did",
        f"- {folder}/selftest.log: each test command and what it printed; the last line is EXIT_CODE=<number>",
        f"- {folder}/patch.diff: your change as `git diff --binary` shows it, new files included",
        f"- {folder}/evidence/: a folder for anything else",
        f"- {folder}/submit.json: your answer",
    )


def _contract(contract: Mapping[str, Any], *, with_schema: bool) -> Iterator[Piece]:
    named = next(name for name in ("task_id", "plan_id") if name in contract)
    lines = [
        "# Your answer",
        f"Exactly one JSON object with schema_version {contract['schema_version']!r} and {named} {contract[named]!r}.",
    ]
    if with_schema:
        lines += ["It must honour this JSON Schema:", _json(contract["schema"])]
    yield Piece("contract", "\n".join(lines), ESSENTIAL, is_data=False)


def _context(context: Mapping[str, Any]) -> Iterator[Piece]:
    if reviewed := context.get("reviewed_task"):
        yield Piece("the task whose product you review", _json(reviewed), ESSENTIAL)
    if rubric := context.get("rubric"):
        yield Piece("rubric", f"# Rubric\n{_json(rubric)}", ESSENTIAL, is_data=False)
    if product := context.get("product"):
        yield _artifact("the product you review", product, ESSENTIAL)
    if errors := context.get("last_errors"):
        text = "\n".join(f"- {error}" for error in errors)
        yield Piece("why your last message was not taken", text, _WEIGHTS["last_errors"])
    if review := context.get("last_review"):
        yield Piece("the last review", _json(review), _WEIGHTS["last_review"])
    for one in context.get("answers", ()):
        yield Piece(f"answer to: {one['question']}", _json(one["answer"]), _WEIGHTS["answers"])
    for one in context.get("dependencies", ()):
        if one.get("artifact"):
            yield _artifact(f"product of {one['title']}", one["artifact"], _WEIGHTS["dependencies"])
    if goals := context.get("goals"):
        text = "\n".join(f"- {goal}" for goal in goals)
        yield Piece("the goals this serves, the nearest first", text, _WEIGHTS["goals"])


def _artifact(what: str, artifact: Mapping[str, Any], weight: int) -> Piece:
    cut = " (only its beginning)" if artifact.get("is_cut") else ""
    return Piece(f"{what}: {artifact['path']}{cut}", artifact["content"], weight)


def _inputs(inputs: Any, texts: Mapping[str, str]) -> Iterator[Piece]:
    for one in inputs:
        reference = str(one["reference"])
        text = texts.get(reference, f"[not shown; it lies at {reference}]")
        yield Piece(f"input {one['name']}: {reference}", text, _WEIGHTS["inputs"])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
