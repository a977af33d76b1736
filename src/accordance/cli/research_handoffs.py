"""`accordance research handoff`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Final

import click

from accordance.api import check
from accordance.cli.checked_file import Checked
from accordance.cli.exits import Exit, Failure
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
from accordance.cli.showing import tell, tell_document
from accordance.cli.writing import write_output
from accordance.contracts.catalogue.handoff import Handoff
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Rejected
from accordance.domain.research.handoffs import Known, answers_by_agent, check_handoff
from accordance.domain.research.workflow import Workflow, build_workflow
from accordance.domain.research.workflow_plan import plan_of


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
    help="The answer of a sender; the handoff's claims are recomputed from it. Give one for each.",
)
@agents_option
@click.option(
    "--plan",
    "plan_file",
    metavar="FILE|-",
    type=click.Path(allow_dash=True),
    help="Write the plan that comes of it.",
)
@click.option(
    "--at", "created_at", metavar="TIME", help="created_at of the plan; else now."
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
    """Check HANDOFFs against the answers they speak of and against each other; make a plan of them.

    Agents whose answer is given have no task in the plan: the answer goes along with the tasks that build on it.

    Exit code 1 if a claim is false, an agent comes before what it requires, or the way leads back; 5 if a plan is wanted and
    everybody has answered.
    """
    registry, request = agents_of(agents_file), request_of(request_file)
    known = Known(
        registry, answers_by_agent([object_of(file) for file in answer_files], registry)
    )
    checked = []
    for file in files:
        raw = read_bounded(file)
        checked.append(Checked(file, raw, check_handoff(raw, known)))
    if not all(one.result for one in checked):
        FORMATS["json" if as_json else "text"](checked)
        return Exit.REJECTED
    handoffs: list[Handoff] = [
        one.result.value for one in checked if not isinstance(one.result, Rejected)
    ]
    built = build_workflow(request, handoffs, known)
    plan = None
    if isinstance(built, Workflow) and built.open_agents:
        plan = plan_of(
            built,
            registry,
            created_at or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        _hold_to_its_contract(plan)
        if plan_file:
            _write(plan_file, plan)
    if as_json:
        violations = (
            [] if isinstance(built, Workflow) else [one.to_json() for one in built]
        )
        notices = (
            [one.to_json() for one in built.notices]
            if isinstance(built, Workflow)
            else []
        )
        print_json(
            {
                "accepted": isinstance(built, Workflow),
                "violations": violations,
                "warnings": notices,
                "plan": plan,
            }
        )
    elif plan_file != "-" or plan is None:
        _tell(files, built)
    if not isinstance(built, Workflow):
        return Exit.REJECTED
    return Exit.NOT_FOUND if plan is None and plan_file else Exit.OK


def _tell(files: tuple[str, ...], built: Workflow | tuple[object, ...]) -> None:
    if not isinstance(built, Workflow):
        for violation in built:
            tell(f"✗ {violation}")
        return
    for passing in built.passings:
        tell(f"✓ {passing.sender} → {passing.receiver}")
    for notice in built.notices:
        tell(f"! {notice}")
    takes_part = {end for passing in built.passings for end in passing[:2]}
    tell(
        f"{len(files)} handoffs, {len(takes_part)} agents, {len(built.answers)} of them have answered, no way back"
    )
    if not built.open_agents:
        tell("nobody has anything left to answer: there is no plan to make")


def _hold_to_its_contract(plan: JsonObject) -> None:
    """What we write honours the contract we ask of others."""
    result = check(json.dumps(plan), "PLAN_GEN")
    if isinstance(result, Rejected):
        raise Failure(
            f"these handoffs make no plan: {result.violations[0]}", Exit.REJECTED
        )


def _write(file: str, plan: JsonObject) -> None:
    text = json.dumps(plan, indent=2, ensure_ascii=False) + "\n"
    if file == "-":
        tell_document(text)
        return
    write_output(file, text.encode())


COMMANDS: Final = (handoff,)
