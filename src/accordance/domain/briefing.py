"""The briefing: an assignment turned into pieces of context, each with its weight.

Text that comes from elsewhere is marked as data, which gives the agent no instructions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from accordance.contracts.catalogue.edits import EDITS
from accordance.domain.context_pack import ESSENTIAL, Excerpt, Piece

_Json: TypeAlias = Mapping[str, Any]

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
"""How long a piece is kept when room is short: the lowest weight is cut first.

The task, its contract and the reviewed product are never cut.
"""

_BOUNDS: Final = (
    "You see the part of the repository that this task may read; the rest of it exists"
    " and is withheld. Do not put other files in its place. Tests are run on the whole"
    " repository."
)


def briefing(
    assignment: _Json,
    inputs: Mapping[str, Excerpt] | None = None,
    *,
    with_schema: bool = True,
) -> tuple[Piece, ...]:
    """Return the pieces of an assignment, in the order of the prompt.

    `inputs` are the texts of input files, by their references.
    """
    task = assignment["task"]
    contract = assignment["contract"]
    plan = assignment.get("plan", {})
    context = assignment.get("context", {})

    pieces = [
        _task(assignment),
        *_constraints(plan.get("constraints")),
        *_change(assignment.get("change"), contract["schema_version"]),
        *_research(assignment.get("research")),
        _contract(contract, with_schema=with_schema),
        *_to_review(context),
        *_context(context),
        *_inputs(context.get("inputs", ()), inputs or {}),
        *_further(task.get("further")),
    ]
    return tuple(piece for piece in pieces if piece.text)


def _task(assignment: _Json) -> Piece:
    task = assignment["task"]
    lines = [f"# Task {task['task_id']}", f"Title: {task['title']}"]

    goal = task.get("goal_statement")
    if goal:
        lines.append(f"Goal: {goal}")
    rationale = task.get("rationale")
    if rationale:
        lines.append(f"Why: {rationale}")
    tags = task.get("tags")
    if tags:
        lines.append(f"Tags: {', '.join(tags)}")
    lines += _criteria(task.get("acceptance_criteria"))
    deliverable = task.get("deliverable_spec")
    if deliverable:
        lines.append(f"Deliverable: {_text_of(deliverable)}")

    attempt = assignment.get("attempt", 1)
    lines.append(f"Attempt: {attempt}")
    return Piece("task", "\n".join(lines), ESSENTIAL, is_data=False)


def _criteria(criteria: object) -> Iterator[str]:
    """Yield the acceptance criteria, a line each where they are a list."""
    if not criteria:
        return
    yield "Acceptance criteria:"
    listed = criteria if isinstance(criteria, list) else [criteria]
    for criterion in listed:
        yield f"- {_text_of(criterion)}"


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _constraints(constraints: _Json | None) -> Iterator[Piece]:
    """Yield what holds for every task of the plan."""
    if constraints:
        text = f"# Constraints of the plan\n{_json(constraints)}"
        yield Piece("constraints", text, ESSENTIAL, is_data=False)


def _further(further: _Json | None) -> Iterator[Piece]:
    if further:
        name = "what else the plan says about this task"
        yield Piece(name, _json(further), _WEIGHTS["further"])


def _change(change: _Json | None, contract: str) -> Iterator[Piece]:
    """Yield the task of an agent that changes a repository: its pins and its tests.

    An agent that works in the repository also learns where its evidence goes; an agent
    that answers with edits leaves none.
    """
    if change is None:
        return
    lines = ["# The change", _json(change), _BOUNDS]
    if contract != EDITS.version:
        lines += _evidence(f"artifacts/{change['task_id']}")
    yield Piece("change", "\n".join(lines), ESSENTIAL, is_data=False)


def _evidence(folder: str) -> tuple[str, ...]:
    return (
        "Leave your evidence in the repository; it is no part of the change:",
        f"- {folder}/report.md: what you did",
        (
            f"- {folder}/selftest.log: each test command and what it printed;"
            " the last line is EXIT_CODE=<number>"
        ),
        (
            f"- {folder}/patch.diff: your change as `git diff --binary` shows it,"
            " new files included"
        ),
        f"- {folder}/evidence/: a folder for anything else",
        f"- {folder}/submit.json: your answer",
    )


def _research(research: _Json | None) -> Iterator[Piece]:
    """Yield who the research agent is, and how it finds its answer."""
    if research is not None:
        text = f"# How to find your answer\n{research['instructions']}"
        yield Piece("research", text, ESSENTIAL, is_data=False)


def _contract(contract: _Json, *, with_schema: bool) -> Piece:
    version = contract["schema_version"]
    id_key = "task_id" if "task_id" in contract else "plan_id"
    subject_id = contract[id_key]
    lines = [
        "# Your answer",
        (
            f"Exactly one JSON object with schema_version {version!r}"
            f" and {id_key} {subject_id!r}."
        ),
    ]
    if with_schema:
        lines.append("It must honour this JSON Schema:")
        lines.append(_json(contract["schema"]))
    return Piece("contract", "\n".join(lines), ESSENTIAL, is_data=False)


def _to_review(context: _Json) -> Iterator[Piece]:
    """Yield what a reviewer needs: the task, the change, the rubric, the product."""
    if task := context.get("reviewed_task"):
        yield Piece("the task whose product you review", _json(task), ESSENTIAL)
    if change := context.get("reviewed_change"):
        name = "the change you review: its task, its tests, its author's report"
        yield Piece(name, _json(change), ESSENTIAL)
    if rubric := context.get("rubric"):
        yield Piece("rubric", f"# Rubric\n{_json(rubric)}", ESSENTIAL, is_data=False)
    if product := context.get("product"):
        yield _artifact("the product you review", product, ESSENTIAL)


def _context(context: _Json) -> Iterator[Piece]:
    """Yield what happened before, what others delivered, and where the task belongs."""
    yield from _list(context, "last_errors", "why your last message was not taken")
    if review := context.get("last_review"):
        yield Piece("the last review", _json(review), _WEIGHTS["last_review"])
    yield from _list(
        context, "history", "what was decided about this task, the last at the end"
    )
    yield from _answers(context)
    yield from _dependencies(context)
    yield from _list(context, "goals", "the goals this serves, the nearest first")
    if code_map := context.get("map_summary"):
        text = "\n".join(_map_lines(code_map))
        yield Piece("map of the code you may change", text, _WEIGHTS["map_summary"])


def _answers(context: _Json) -> Iterator[Piece]:
    """Yield the answers of people, and those of research agents that handed over."""
    for entry in context.get("answers", ()):
        name = f"answer to: {entry['question']}"
        yield Piece(name, _json(entry["answer"]), _WEIGHTS["answers"])
    for agent, answer in context.get("handed_over", {}).items():
        name = f"handed over: the answer of {agent}"
        yield Piece(name, _json(answer), _WEIGHTS["handed_over"])


def _dependencies(context: _Json) -> Iterator[Piece]:
    """Yield the products of the tasks that this task waited for."""
    for dependency in context.get("dependencies", ()):
        artifact = dependency.get("artifact")
        if artifact:
            name = f"product of {dependency['title']}"
            yield _artifact(name, artifact, _WEIGHTS["dependencies"])


def _map_lines(code_map: _Json) -> Iterator[str]:
    """Yield a line for each file, with the names it defines."""
    for path, names in code_map["files"].items():
        listed = "; ".join(names)
        yield f"{path}: {listed}" if names else path
    left_out = code_map.get("left_out")
    if left_out:
        yield f"[and {left_out:,} more files]"


def _list(context: _Json, key: str, name: str) -> Iterator[Piece]:
    """Yield the lines of a list, if there are any."""
    lines = context.get(key)
    if lines:
        text = "\n".join(f"- {line}" for line in lines)
        yield Piece(name, text, _WEIGHTS[key])


def _artifact(title: str, artifact: _Json, weight: int) -> Piece:
    whole = artifact["bytes"] if artifact.get("is_cut") else 0
    excerpt = Excerpt(artifact["content"], whole)
    return _excerpt(f"{title}: {artifact['path']}", excerpt, weight)


def _inputs(inputs: Any, texts: Mapping[str, Excerpt]) -> Iterator[Piece]:
    for entry in inputs:
        reference = str(entry["reference"])
        not_shown = Excerpt(f"[not shown; it lies at {reference}]")
        excerpt = texts.get(reference, not_shown)
        name = f"input {entry['name']}: {reference}"
        yield _excerpt(name, excerpt, _WEIGHTS["inputs"])


def _excerpt(name: str, excerpt: Excerpt, weight: int) -> Piece:
    mark = " (only its beginning)" if excerpt.whole else ""
    return Piece(f"{name}{mark}", excerpt.text, weight, whole=excerpt.whole)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
