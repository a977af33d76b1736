"""The briefing: an assignment turned into pieces of context, each with its weight. What comes from elsewhere is data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from accordance.contracts.catalogue.edits import EDITS
from accordance.domain.context_pack import ESSENTIAL, Excerpt, Piece

_WEIGHTS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "last_errors": 95,
        "last_review": 90,
        "answers": 85,
        "history": 80,
        "inputs": 70,
        "handed_over": 65,
        "dependencies": 60,
        "further": 45,
        "goals": 40,
        "map_summary": 35,
    }
)
"""What is kept longest when room is short; the task, its contract and what is reviewed are never cut."""
_BOUNDS: Final = (
    "You see the part of the repository that this task may read; the rest of it exists and is withheld. Do not put other "
    "files in its place. Tests are run on the whole repository."
)


def briefing(
    assignment: Mapping[str, Any],
    inputs: Mapping[str, Excerpt] | None = None,
    *,
    with_schema: bool = True,
) -> tuple[Piece, ...]:
    """The pieces, in the order they are told. `inputs` are the texts of input files by their references."""
    return tuple(
        piece
        for piece in (
            _task(assignment),
            *_constraints(assignment.get("plan", {}).get("constraints")),
            *_change(
                assignment.get("change"), assignment["contract"]["schema_version"]
            ),
            *_research(assignment.get("research")),
            *_contract(assignment["contract"], with_schema=with_schema),
            *_context(assignment.get("context", {})),
            *_inputs(assignment.get("context", {}).get("inputs", ()), inputs or {}),
            *_further(assignment["task"].get("further")),
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
        *_criteria(task.get("acceptance_criteria")),
        *(
            f"Deliverable: {_words(spec)}"
            for spec in (task.get("deliverable_spec"),)
            if spec
        ),
        f"Attempt: {assignment.get('attempt', 1)}",
    ]
    return Piece("task", "\n".join(lines), ESSENTIAL, is_data=False)


def _criteria(criteria: object) -> Iterator[str]:
    """By what the product is accepted: a line each, where they are listed."""
    if not criteria:
        return
    yield "Acceptance criteria:"
    for criterion in criteria if isinstance(criteria, list) else [criteria]:
        yield f"- {_words(criterion)}"


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _constraints(constraints: Mapping[str, Any] | None) -> Iterator[Piece]:
    """What holds for every task of the plan."""
    if constraints:
        text = f"# Constraints of the plan\n{_json(constraints)}"
        yield Piece("constraints", text, ESSENTIAL, is_data=False)


def _further(further: Mapping[str, Any] | None) -> Iterator[Piece]:
    if further:
        yield Piece(
            "what else the plan says about this task",
            _json(further),
            _WEIGHTS["further"],
        )


def _change(change: Mapping[str, Any] | None, answered_by: str) -> Iterator[Piece]:
    """The task of whoever changes a repository: its pins, its tests, and for those who work in it where evidence goes."""
    if change is None:
        return
    evidence = (
        _evidence(f"artifacts/{change['task_id']}")
        if answered_by != EDITS.version
        else ()
    )
    lines = ("# The change", _json(change), _BOUNDS, *evidence)
    yield Piece("change", "\n".join(lines), ESSENTIAL, is_data=False)


def _evidence(folder: str) -> tuple[str, ...]:
    return (
        "Leave your evidence in the repository; it is no part of the change:",
        f"- {folder}/report.md: what you did",
        f"- {folder}/selftest.log: each test command and what it printed; the last line is EXIT_CODE=<number>",
        f"- {folder}/patch.diff: your change as `git diff --binary` shows it, new files included",
        f"- {folder}/evidence/: a folder for anything else",
        f"- {folder}/submit.json: your answer",
    )


def _research(research: Mapping[str, Any] | None) -> Iterator[Piece]:
    """Who the agent is that answers, and how it finds its answer."""
    if research is not None:
        text = f"# How to find your answer\n{research['instructions']}"
        yield Piece("research", text, ESSENTIAL, is_data=False)


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
    yield from _to_review(context)
    yield from _listed(context, "last_errors", "why your last message was not taken")
    if review := context.get("last_review"):
        yield Piece("the last review", _json(review), _WEIGHTS["last_review"])
    yield from _listed(
        context, "history", "what was decided about this task, the last at the end"
    )
    for one in context.get("answers", ()):
        yield Piece(
            f"answer to: {one['question']}", _json(one["answer"]), _WEIGHTS["answers"]
        )
    for agent, answer in context.get("handed_over", {}).items():
        yield Piece(
            f"handed over: the answer of {agent}",
            _json(answer),
            _WEIGHTS["handed_over"],
        )
    for one in context.get("dependencies", ()):
        if one.get("artifact"):
            yield _artifact(
                f"product of {one['title']}", one["artifact"], _WEIGHTS["dependencies"]
            )
    yield from _listed(context, "goals", "the goals this serves, the nearest first")
    if code := context.get("map_summary"):
        yield Piece(
            "map of the code you may change",
            "\n".join(_map_lines(code)),
            _WEIGHTS["map_summary"],
        )


def _to_review(context: Mapping[str, Any]) -> Iterator[Piece]:
    """What a reviewer needs: the task, the change, the rubric, the product."""
    if reviewed := context.get("reviewed_task"):
        yield Piece("the task whose product you review", _json(reviewed), ESSENTIAL)
    if change := context.get("reviewed_change"):
        yield Piece(
            "the change you review: its task, its tests, its author's report",
            _json(change),
            ESSENTIAL,
        )
    if rubric := context.get("rubric"):
        yield Piece("rubric", f"# Rubric\n{_json(rubric)}", ESSENTIAL, is_data=False)
    if product := context.get("product"):
        yield _artifact("the product you review", product, ESSENTIAL)


def _map_lines(code: Mapping[str, Any]) -> Iterator[str]:
    """A file to a line, with what it defines."""
    for path, names in code["files"].items():
        yield f"{path}: {'; '.join(names)}" if names else path
    if more := code.get("left_out"):
        yield f"[and {more:,} more files]"


def _listed(context: Mapping[str, Any], key: str, name: str) -> Iterator[Piece]:
    """Lines, if there are any."""
    if lines := context.get(key):
        yield Piece(name, "\n".join(f"- {line}" for line in lines), _WEIGHTS[key])


def _artifact(what: str, artifact: Mapping[str, Any], weight: int) -> Piece:
    whole = artifact["bytes"] if artifact.get("is_cut") else 0
    return _excerpt(
        f"{what}: {artifact['path']}", Excerpt(artifact["content"], whole), weight
    )


def _inputs(inputs: Any, texts: Mapping[str, Excerpt]) -> Iterator[Piece]:
    for one in inputs:
        reference = str(one["reference"])
        excerpt = texts.get(reference, Excerpt(f"[not shown; it lies at {reference}]"))
        yield _excerpt(f"input {one['name']}: {reference}", excerpt, _WEIGHTS["inputs"])


def _excerpt(name: str, excerpt: Excerpt, weight: int) -> Piece:
    mark = " (only its beginning)" if excerpt.whole else ""
    return Piece(f"{name}{mark}", excerpt.text, weight, whole=excerpt.whole)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
