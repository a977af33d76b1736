"""`accordance plan amend`: change a plan that runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from accordance.cli.completing import complete_plan, complete_task
from accordance.cli.confirming import must_be_confirmed, yes_option
from accordance.cli.exits import Exit, Failure
from accordance.cli.ledger_commands import (
    Where,
    by_option,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.plan_import import (
    from_option,
    fuses_from_options,
    read_plan,
    report_rejected_plan,
)
from accordance.cli.showing import print_line
from accordance.contracts.violation import Rejected

if TYPE_CHECKING:
    from accordance.domain.short_plans.file_names import PlanFormat
    from accordance.domain.task_edits import TaskEdit
    from accordance.service.views.amendments import (
        AmendmentView,
        FieldChangeView,
        LinkView,
    )

_SHOWN_CHARACTERS: Final = 60  # of a value before and after
_ARROWS: Final = {
    "DECOMPOSE": "has the part",
    "DEPENDS_ON": "comes before",
    "ALTERNATIVE": "has the alternative",
}


@click.command()
@click.argument("plan", shell_complete=complete_plan)
@click.argument("file", metavar="[FILE|-]", required=False)
@from_option
@click.option(
    "--task",
    shell_complete=complete_task,
    help="The task that the options below change.",
)
@click.option("--goal", help="What the task is to achieve.")
@click.option(
    "--allow", multiple=True, metavar="PATH", help="Let it change this path too."
)
@click.option("--forbid", multiple=True, metavar="PATH", help="Forbid it this path.")
@click.option(
    "--executor",
    "executors",
    multiple=True,
    metavar="NAME",
    help="Who may do it; may be given more than once.",
)
@click.option(
    "--tests",
    multiple=True,
    metavar="CMD",
    help="Its test commands; replaces the old ones.",
)
@click.option(
    "--fuse",
    "fuses",
    multiple=True,
    metavar="NAME=NUMBER|off",
    help="Set a fuse of the plan; may be given more than once.",
)
@click.option("--note", help="The reason; it is recorded.")
@click.option("--dry-run", is_flag=True, help="Show the difference; change nothing.")
@yes_option
@by_option
@ledger_options
@json_option
def amend(
    where: Where,
    plan: str,
    file: str | None,
    stated: PlanFormat | None,
    task: str | None,
    goal: str | None,
    allow: tuple[str, ...],
    forbid: tuple[str, ...],
    executors: tuple[str, ...],
    tests: tuple[str, ...],
    fuses: tuple[str, ...],
    note: str | None,
    dry_run: bool,
    yes: bool,
    by: str | None,
    as_json: bool,
) -> int:
    """Change a plan that is in the ledger, running or not.

    FILE is the whole plan as it should become, in any form that `plan import` takes;
    or name a task and what should become of it. The difference is shown before anything
    changes. Done work stays done. An attempt whose own task changes is handed back; all
    others go on.

    Exit code 1: refused, or it changes nothing; 6: the plan was amended meanwhile.
    """
    from accordance.domain.task_edits import TaskEdit
    from accordance.service import plan_amending
    from accordance.service.plan_files import PlanFile
    from accordance.service.project import asking_as

    edit = TaskEdit(
        goal=goal,
        allow=allow,
        forbid=forbid,
        executors=executors,
        tests=tests,
    )
    edits = _edits(task, edit)
    if file is None and not edits and not fuses:
        text = "say what to amend: a FILE, or --task with what should become of it"
        raise Failure(text, Exit.USAGE)

    plan_file = None if file is None else read_plan(file, stated)
    if plan_file is not None and isinstance(plan_file.result, Rejected):
        return report_rejected_plan(plan_file)
    with opened(where) as project:
        amended = plan_amending.amended_text(project, plan, plan_file, edits)
        checked = plan_amending.check_amendment(
            project, amended, fuses_from_options(fuses)
        )
        if isinstance(checked, Rejected):
            return report_rejected_plan(PlanFile(plan, amended.raw, checked))

        view = plan_amending.preview_amendment(project, checked)
        if not as_json:
            _print_amendment(view)
        if not dry_run:
            must_be_confirmed("Amend the plan like this?", yes=yes)
            view = plan_amending.amend_plan(
                project,
                checked,
                by=asking_as(by),
                note=note,
            )

    if as_json:
        print_json(view.to_json())
    elif view.is_done:
        print_line(f"{view.plan_id} is in revision {view.revision}")
    return Exit.OK


def _edits(task: str | None, edit: TaskEdit) -> dict[str, TaskEdit]:
    """The edit of a task, if there is any. Raises Failure."""
    if task is None and not edit:
        return {}
    if task is None:
        raise Failure("name the task with --task TASK", Exit.USAGE)
    if not edit:
        text = "say what becomes of the task: --goal, --allow, --forbid, --executor or --tests"
        raise Failure(text, Exit.USAGE)
    return {task: edit}


# -- the difference, for people


def _print_amendment(view: AmendmentView) -> None:
    heading = f"{view.title}: revision {view.base} becomes {view.revision}"
    print_line(heading)
    for task in view.added:
        print_line(f"  + {task.task_id}  {task.title}")
    for task in view.removed:
        print_line(f"  - {task.task_id}  {task.title}")
    for change in view.changed:
        print_line(f"  ~ {change.task_id}  {change.title}  {change.state}")
        _print_fields(change.fields)
    for need in view.needs_changed:
        print_line(f"  ~ requirement {need.requirement_id}")
        _print_fields(need.fields)
    _print_marked("+", [f"requirement {need}" for need in view.needs_added])
    _print_marked("-", [f"requirement {need}" for need in view.needs_removed])
    _print_marked("+", [_link_text(link) for link in view.links_added])
    _print_marked("-", [_link_text(link) for link in view.links_removed])
    if view.fuses:
        print_line("  ~ fuses")
        _print_fields(view.fuses)

    for move in view.moves:
        print_line(f"  {move.task_id}: {move.before} becomes {move.after}")
    for task_id in view.handed_back:
        print_line(f"  {task_id}: its attempt is handed back and begins anew")


def _print_marked(mark: str, lines: list[str]) -> None:
    for line in lines:
        print_line(f"  {mark} {line}")


def _print_fields(changes: tuple[FieldChangeView, ...]) -> None:
    for change in changes:
        before, after = _short(change.before), _short(change.after)
        print_line(f"      {change.name}: {before} -> {after}")


def _short(value: Any) -> str:
    if value is None:
        return "none"
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return f"{text[:_SHOWN_CHARACTERS]}…"


def _link_text(link: LinkView) -> str:
    words = _ARROWS.get(link.edge_type, link.edge_type)
    return f"{link.from_task_id} {words} {link.to_task_id}"
