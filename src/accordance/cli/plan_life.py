"""`accordance plan pause`, `resume`, `cancel`, `archive` and `delete`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from accordance.cli.completing import complete_plan
from accordance.cli.confirming import must_be_confirmed, yes_option
from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import (
    Where,
    by_option,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.showing import print_line
from accordance.domain.lifecycle import State
from accordance.rendering.amounts import counted

if TYPE_CHECKING:
    from accordance.service.views.deletions import DeletionView
    from accordance.service.views.plans import PlanView

_OVER: Final = (State.DONE, State.ABANDONED)

reason_option = click.option("--reason", help="The reason; it is recorded.")


@click.command()
@click.argument("plan", shell_complete=complete_plan, required=False)
@reason_option
@by_option
@ledger_options
@json_option
def pause(
    where: Where,
    plan: str | None,
    reason: str | None,
    by: str | None,
    as_json: bool,
) -> int:
    """Pause a plan: nothing new begins, and running attempts come to their end."""
    from accordance.service import plan_life
    from accordance.service.project import asking_as

    with opened(where) as project:
        view = plan_life.pause_plan(project, plan, by=asking_as(by), reason=reason)
    _print_state(view, as_json)
    return Exit.OK


@click.command()
@click.argument("plan", shell_complete=complete_plan, required=False)
@by_option
@ledger_options
@json_option
def resume(where: Where, plan: str | None, by: str | None, as_json: bool) -> int:
    """Resume a plan that was paused, or held because a fuse blew.

    After a blown fuse the fuses start from zero; after a pause they go on.
    """
    from accordance.service import plan_life
    from accordance.service.project import asking_as

    with opened(where) as project:
        view = plan_life.resume_plan(project, plan, by=asking_as(by))
    _print_state(view, as_json)
    return Exit.OK


@click.command()
@click.argument("plan", shell_complete=complete_plan, required=False)
@reason_option
@yes_option
@by_option
@ledger_options
@json_option
def cancel(
    where: Where,
    plan: str | None,
    reason: str | None,
    yes: bool,
    by: str | None,
    as_json: bool,
) -> int:
    """Cancel a plan: everything in it that is not done is abandoned.

    Running attempts are stopped and handed back. This cannot be undone.
    """
    from accordance.service import plan_life, plans
    from accordance.service.project import asking_as

    with opened(where) as project:
        current = plans.show_plan(project, plan)
        over = sum(current.states.get(state, 0) for state in _OVER)
        left = current.nodes - over
        if left:
            tasks = f"{left} of {current.nodes} tasks not done"
            must_be_confirmed(f"Cancel {current.title} ({tasks})?", yes=yes)
        view = plan_life.cancel_plan(
            project,
            current.plan_id,
            by=asking_as(by),
            reason=reason,
        )
    _print_state(view, as_json)
    return Exit.OK


@click.command()
@click.argument("plan", shell_complete=complete_plan, required=False)
@click.option("--undo", is_flag=True, help="Take the plan out of the archive.")
@by_option
@ledger_options
@json_option
def archive(
    where: Where,
    plan: str | None,
    undo: bool,
    by: str | None,
    as_json: bool,
) -> int:
    """Archive a plan that is finished or cancelled.

    It is read-only then, and left out of lists; `accordance plan list --filter
    state:archived` shows it.
    """
    from accordance.service import plan_life
    from accordance.service.project import asking_as

    with opened(where) as project:
        act = plan_life.unarchive_plan if undo else plan_life.archive_plan
        view = act(project, plan, by=asking_as(by))
    _print_state(view, as_json)
    return Exit.OK


@click.command()
@click.argument("plan", shell_complete=complete_plan)
@click.option(
    "--evidence",
    type=click.Choice(("keep", "remove")),
    help="What becomes of bundles, products, logs and blobs."
    "  [default: by evidence_days under [retention], else keep]",
)
@reason_option
@click.option("--dry-run", is_flag=True, help="Show files and bytes; change nothing.")
@yes_option
@by_option
@ledger_options
@json_option
def delete(
    where: Where,
    plan: str,
    evidence: str | None,
    reason: str | None,
    dry_run: bool,
    yes: bool,
    by: str | None,
    as_json: bool,
) -> int:
    """Delete a plan that is finished, cancelled or archived.

    Its tasks, messages and events leave the ledger. A tombstone with the hash of its
    last event stays in the ledger's own chain, so that `accordance verify` still holds.
    This cannot be undone.
    """
    from accordance.service import plan_deleting
    from accordance.service.project import asking_as

    removes = None if evidence is None else evidence == "remove"
    with opened(where) as project:
        view = plan_deleting.preview_deletion(project, plan, removes_evidence=removes)
        if not as_json:
            _print_deletion(view)
        if not dry_run:
            must_be_confirmed(f"Delete {view.title}?", yes=yes)
            view = plan_deleting.delete_plan(
                project,
                view.plan_id,
                by=asking_as(by),
                reason=reason,
                removes_evidence=removes,
            )
    if as_json:
        print_json(view.to_json())
    elif view.is_done:
        print_line(f"{view.plan_id} is deleted; its last event was {view.head[:12]}")
    return Exit.OK


def _print_deletion(view: DeletionView) -> None:
    print_line(f"{view.plan_id}  {view.title}  {view.state}, {view.events} events")
    for folder in view.folders:
        files = counted(folder.files, "file")
        size = counted(folder.bytes, "byte")
        print_line(f"  {view.evidence}  {folder.path}: {files}, {size}")
    if view.blobs:
        print_line(f"  removed  {counted(view.blobs, 'blob')} of the ledger")


def _print_state(view: PlanView, as_json: bool) -> None:
    if as_json:
        print_json(view.to_json())
    else:
        print_line(f"{view.plan_id} is {view.state}")
