"""Where a plan stands, as a table; on a terminal it moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from accordance.cli.exits import Exit
from accordance.cli.pages import print_page
from accordance.cli.showing import shown
from accordance.domain.lifecycle import TERMINAL, State
from accordance.rendering.drawing import MARKS

if TYPE_CHECKING:
    from accordance.service.project import Ledger
    from accordance.service.views.plans import MovingTaskView, PlanStatusView

_SHOWN = 20
_WIDTH = 40
_SECONDS = 5.0  # a lease may be extended without an event
_STYLES = {
    State.DONE: "green",
    State.BLOCKED: "yellow",
    State.FAILED: "red",
    State.DEAD_LETTER: "red",
}


def exit_of_status(status: PlanStatusView) -> int:
    """What the shell is told."""
    if status.states.get(State.DEAD_LETTER) and status.root is not State.DONE:
        return Exit.REJECTED
    return Exit.WAITING if status.questions and status.root not in TERMINAL else Exit.OK


def watch(ledger: Ledger, plan_id: str) -> PlanStatusView:
    """Show a plan, and again whenever something has happened, until it has ended."""
    from accordance.service.plans import plan_status

    number = 0
    with Live(auto_refresh=False) as live:
        while True:
            number = ledger.wait_for_change(after=number, seconds=_SECONDS)
            status = plan_status(ledger, plan_id)
            live.update(table_of(status), refresh=True)
            if status.root in TERMINAL:
                return status


def print_status(status: PlanStatusView) -> None:
    """Show a plan once."""
    print_page(table_of(status))


def table_of(status: PlanStatusView) -> RenderableType:
    """A plan as a table."""
    done = status.states.get(State.DONE, 0)
    active = status.nodes - status.states.get(State.ABANDONED, 0)
    head = Text.assemble(
        (shown(status.title), "bold"),
        f"  {status.state}, root {status.root}, {done} of {active} done",
    )
    known = [state for state in State if state in status.states]
    counts = "  ".join(
        f"{MARKS[state]} {status.states[state]} {state}" for state in known
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for task in status.moving:
        table.add_row(*_row(task))
    asked = [
        Text(shown(f"? {question.question_id}  {question.text}"), "yellow")
        for question in status.questions[:_SHOWN]
    ]
    full = round(_WIDTH * done / max(active, 1))
    bar = Text.assemble(("━" * full, "green"), ("━" * (_WIDTH - full), "dim"))
    return Group(head, bar, Text(counts), table, *asked)


def _row(task: MovingTaskView) -> tuple[Text, Text, Text]:
    waiting = f" ({task.waiting})" if task.waiting else ""
    state = Text(
        f"{MARKS[task.state]} {task.state}{waiting}", _STYLES.get(task.state, "")
    )
    holder = (
        f"{task.lease.holder} until {task.lease.until[11:19]}" if task.lease else ""
    )
    return (
        state,
        Text(shown(task.title)),
        Text(shown(holder or task.last_error or ""), "dim"),
    )
