"""`accordance research handoff`."""

from __future__ import annotations

import json
from typing import Final

import click

from accordance.cli.checked_file import Checked
from accordance.cli.exits import Exit
from accordance.cli.reading import read_bounded
from accordance.cli.report import FORMATS
from accordance.cli.research_reading import (
    agents_of,
    agents_option,
    json_option,
    needed_request_option,
    object_of,
    print_json,
    request_of,
)
from accordance.cli.showing import print_line, tell_document
from accordance.cli.writing import write_output
from accordance.contracts.jsonpath import JsonObject
from accordance.service.research.handoffs import JoinedHandoffs, Workflow, join_handoffs


@click.command()
@click.argument(
    "files", nargs=-1, required=True, metavar="HANDOFF...", type=click.Path()
)
@needed_request_option
@click.option(
    "--answer",
    "answer_files",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="The answer of a sender, to recompute its claims from; once for each sender.",
)
@agents_option
@click.option(
    "--plan",
    "plan_file",
    metavar="FILE|-",
    type=click.Path(allow_dash=True),
    help="Write the resulting plan.",
)
@click.option(
    "--at", "created_at", metavar="TIME", help="created_at of the plan.  [default: now]"
)
@json_option
def handoff(
    files: tuple[str, ...],
    request_file: str,
    answer_files: tuple[str, ...],
    agents_file: str | None,
    plan_file: str | None,
    created_at: str | None,
    as_json: bool,
) -> int:
    """Check HANDOFFs against the answers they are about, and make a plan of them.

    Agents whose answer you pass get no task in the plan: the tasks that build on an
    answer carry it along.

    Exit code 1 if a claim is false, an agent comes before an agent it requires, or the
    handoffs form a cycle; 5 if you want a plan and every agent has answered.
    """
    registry = agents_of(agents_file)
    request = request_of(request_file)
    answers = [object_of(file) for file in answer_files]
    raws = [read_bounded(file) for file in files]
    joined = join_handoffs(raws, request, answers, registry, created_at)

    if not joined.each_accepted:
        rows = zip(files, raws, joined.results, strict=True)
        form = "json" if as_json else "text"
        FORMATS[form]([Checked(file, raw, result) for file, raw, result in rows])
        return Exit.REJECTED

    plan_printed = _write_plan(plan_file, joined.plan)
    if as_json:
        print_json(joined.to_json())
    elif not plan_printed:
        _tell(joined)
    return _exit_code(joined, plan_wanted=plan_file is not None)


def _exit_code(joined: JoinedHandoffs, *, plan_wanted: bool) -> Exit:
    if joined.workflow is None:
        return Exit.REJECTED
    if plan_wanted and joined.plan is None:
        return Exit.NOT_FOUND
    return Exit.OK


def _write_plan(file: str | None, plan: JsonObject | None) -> bool:
    """Write the plan, if it is wanted. True if it went to standard output."""
    if file is None or plan is None:
        return False

    text = json.dumps(plan, indent=2, ensure_ascii=False) + "\n"
    if file == "-":
        tell_document(text)
        return True
    write_output(file, text.encode())
    return False


def _tell(joined: JoinedHandoffs) -> None:
    if joined.workflow is None:
        for violation in joined.violations:
            print_line(f"✗ {violation}")
    else:
        _tell_workflow(joined.workflow, len(joined.results))


def _tell_workflow(workflow: Workflow, handoffs: int) -> None:
    for passing in workflow.passings:
        print_line(f"✓ {passing.sender} → {passing.receiver}")
    for notice in workflow.notices:
        print_line(f"! {notice}")

    agents, answers = len(workflow.agents), len(workflow.answers)
    print_line(
        f"{handoffs} handoffs, {agents} agents, {answers} have answered, no cycle"
    )
    if not workflow.open_agents:
        print_line("every agent has answered: there is nothing left to plan")


COMMANDS: Final = (handoff,)
