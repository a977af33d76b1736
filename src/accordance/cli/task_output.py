"""How an assignment is printed for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from accordance.cli.clock import now
from accordance.cli.showing import print_line
from accordance.rendering.durations import left

if TYPE_CHECKING:
    from accordance.service.views.tasks import AssignmentView, TaskBriefView


def print_assignment(assignment: AssignmentView) -> None:
    """Print all that is needed to do a task, and the command that hands it in."""
    task = assignment.task
    contract = assignment.contract
    contract_name = contract.scope or contract.schema_version
    hand_in = " ".join(assignment.hand_in)

    print_line(f"{task.title}  {task.node_type}, attempt {assignment.attempt}")
    print_line(f"  task      {task.task_id}")
    if task.goal_statement:
        print_line(f"  goal      {task.goal_statement}")
    print_indented(requirement_lines(task, assignment.plan.constraints))
    print_indented(_change_lines(assignment))
    print_line(f"  contract  {contract_name} for task_id {contract.task_id}")
    print_indented(_context_lines(assignment.context))
    print_line(f"  lease     {left(assignment.lease.until, now())}")
    print_line(f"  hand in   {hand_in}")


def print_indented(lines: Iterable[str]) -> None:
    """Print lines under a title."""
    for line in lines:
        print_line(f"  {line}")


def requirement_lines(
    task: TaskBriefView, constraints: Mapping[str, Any]
) -> Iterator[str]:
    """What the plan requires of a task beyond its goal."""
    for criterion in _criteria(task):
        yield f"accept    {_in_one_line(criterion)}"

    if task.deliverable_spec:
        yield f"deliver   {_in_one_line(task.deliverable_spec)}"

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
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())


def _change_lines(assignment: AssignmentView) -> Iterator[str]:
    """The clone to change, the paths that may change, and the tests that judge it."""
    if assignment.workspace is None or assignment.change is None:
        return

    pins = assignment.change["pins"]
    yield f"clone     {assignment.workspace}"
    yield f"may       {', '.join(pins['allowed_paths'])}"

    forbidden = pins.get("forbidden_paths")
    if forbidden:
        yield f"may not   {', '.join(forbidden)}"

    for test in assignment.tests:
        yield f"test      {test}"

    files = "report.md, selftest.log, patch.diff, submit.json, evidence/"
    yield f"evidence  {assignment.evidence}/ in the clone: {files}"


def _context_lines(context: Mapping[str, Any]) -> Iterator[str]:
    """What the task depends on, its inputs, and what has to be corrected."""
    for dependency in context["dependencies"]:
        artifact = dependency["artifact"]
        path = artifact["path"] if artifact else "no artifact"
        yield f"after     {dependency['title']}: {path}"

    for task_input in context["inputs"]:
        yield f"input     {task_input['name']}: {task_input['reference']}"

    if context.get("product"):
        yield f"product   {context['product']['path']}"

    last_review = context["last_review"] or {}
    for suggestion in last_review.get("suggestions", []):
        yield f"change    {suggestion['priority']}: {suggestion['change']}"

    for error in context.get("last_errors", []):
        yield f"mend      {error}"
