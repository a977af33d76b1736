"""How an assignment is printed for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from accordance.cli.clock import now
from accordance.cli.labelled import labelled, labelled_lines
from accordance.cli.showing import print_line
from accordance.rendering.durations import left

if TYPE_CHECKING:
    from accordance.service.views.tasks import AssignmentView, TaskBriefView


def print_assignment(assignment: AssignmentView) -> None:
    """Print all that is needed to do a task, and the command that hands it in."""
    task = assignment.task
    print_line(f"{task.title}  {task.node_type}, attempt {assignment.attempt}")
    print_indented(_assignment_lines(assignment))


def _assignment_lines(assignment: AssignmentView) -> Iterator[str]:
    task = assignment.task
    yield labelled("task", task.task_id)
    if task.goal_statement:
        yield labelled("goal", task.goal_statement)
    yield from requirement_lines(task, assignment.plan.constraints)
    yield from _change_lines(assignment)

    contract = assignment.contract
    contract_name = contract.scope or contract.schema_version
    yield labelled("contract", f"{contract_name} for task_id {contract.task_id}")
    yield from _context_lines(assignment.context)

    yield labelled("lease", left(assignment.lease.until, now()))
    yield labelled("hand in", " ".join(assignment.hand_in))


def print_indented(lines: Iterable[str]) -> None:
    """Print lines under a title."""
    for line in lines:
        print_line(f"  {line}")


def requirement_lines(
    task: TaskBriefView, constraints: Mapping[str, Any]
) -> Iterator[str]:
    """What the plan requires of a task beyond its goal."""
    for criterion in _criteria(task):
        yield labelled("accept", _in_one_line(criterion))

    if task.deliverable_spec:
        yield labelled("deliver", _in_one_line(task.deliverable_spec))

    further_keys = {**constraints, **task.further}
    for key, value in further_keys.items():
        yield f"{key}: {_in_one_line(value)}"


def _criteria(task: TaskBriefView) -> list[Any]:
    """The acceptance criteria as a list; a plan may write a single criterion as a text."""
    criteria = task.acceptance_criteria
    if isinstance(criteria, list):
        return criteria
    return [criteria] if criteria else []


def _in_one_line(value: object) -> str:
    if isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())


def _change_lines(assignment: AssignmentView) -> Iterator[str]:
    """The clone to change, the paths that may change, and the tests that judge it."""
    if assignment.workspace is None or assignment.change is None:
        return

    pins = assignment.change["pins"]
    allowed = ", ".join(pins["allowed_paths"])
    forbidden = ", ".join(pins.get("forbidden_paths") or ())
    yield labelled("clone", assignment.workspace)
    yield labelled("may", allowed)
    yield from labelled_lines([("may not", forbidden)])
    for test in assignment.tests:
        yield labelled("test", test)

    files = "report.md, selftest.log, patch.diff, submit.json, evidence/"
    yield labelled("evidence", f"{assignment.evidence}/ in the clone: {files}")


def _context_lines(context: Mapping[str, Any]) -> Iterator[str]:
    """What the task depends on, its inputs, and what has to be corrected."""
    for dependency in context["dependencies"]:
        title = dependency["title"]
        artifact = dependency["artifact"]
        path = artifact["path"] if artifact else "no artifact"
        yield labelled("after", f"{title}: {path}")

    for task_input in context["inputs"]:
        name = task_input["name"]
        reference = task_input["reference"]
        yield labelled("input", f"{name}: {reference}")

    product = context.get("product")
    if product:
        yield labelled("product", product["path"])

    last_review = context["last_review"] or {}
    for suggestion in last_review.get("suggestions", []):
        wish = f"{suggestion['priority']}: {suggestion['change']}"
        yield labelled("change", wish)

    for error in context.get("last_errors", []):
        yield labelled("mend", error)
