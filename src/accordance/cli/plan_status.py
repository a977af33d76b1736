"""The state of a plan as a table; on a terminal it is kept up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from accordance.cli.clock import now
from accordance.cli.exits import Exit
from accordance.cli.pages import print_page
from accordance.cli.showing import shown
from accordance.domain.lifecycle import TERMINAL, State
from accordance.rendering.durations import left
from accordance.rendering.marks import MARKS

if TYPE_CHECKING:
    from accordance.service.project import Project
    from accordance.service.views.plans import MovingTaskView, PlanStatusView
    from accordance.service.views.questions import QuestionView

_SHOWN_QUESTIONS = 20
_BAR_WIDTH = 40
_REFRESH_SECONDS = 5.0  # a lease may be extended without an event
_STYLES = {
    State.DONE: "green",
    State.BLOCKED: "yellow",
    State.FAILED: "red",
    State.DEAD_LETTER: "red",
}


def exit_of_status(status: PlanStatusView) -> int:
    """The exit code for the state of a plan."""
    dead_letters = status.states.get(State.DEAD_LETTER)
    if dead_letters and status.root is not State.DONE:
        return Exit.REJECTED
    if not status.questions or status.root in TERMINAL:
        return Exit.OK
    if all(question.waits_for_key for question in status.questions):
        return Exit.AUTH
    return Exit.WAITING


def watch(project: Project, plan_id: str) -> PlanStatusView:
    """Show a plan, and again whenever something has happened, until it has ended."""
    from rich.live import Live

    from accordance.service.plans import plan_status

    number = 0
    with Live(auto_refresh=False) as live:
        while True:
            number = project.ledger.wait_for_change(
                after=number, seconds=_REFRESH_SECONDS
            )
            status = plan_status(project.ledger, plan_id, project.home)
            live.update(table_of(status), refresh=True)
            if status.root in TERMINAL:
                return status


def print_status(status: PlanStatusView) -> None:
    """Show a plan once."""
    print_page(table_of(status))


def table_of(status: PlanStatusView) -> RenderableType:
    """A plan as a table: its progress, its states, its moving tasks, its questions."""
    done = status.states.get(State.DONE, 0)
    active = status.nodes - status.states.get(State.ABANDONED, 0)
    state = f"{status.state}, root {status.root}, {done} of {active} done"
    head = Text.assemble((shown(status.title), "bold"), f"  {state}")

    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        show_header=False,
    )
    for task in status.moving:
        table.add_row(*_row(task))

    questions = []
    for question in status.questions[:_SHOWN_QUESTIONS]:
        line = shown(f"? {_name_of(question)}  {question.text}")
        questions.append(Text(line, "yellow"))
    if status.base_moved:
        questions.append(Text(shown(status.base_moved), "yellow"))
    return Group(head, _bar(done, active), _counts(status), table, *questions)


def _name_of(question: QuestionView) -> str:
    """What a person calls a question when they answer it."""
    return f"#{question.number}" if question.number else question.question_id


def _bar(done: int, active: int) -> Text:
    filled = round(_BAR_WIDTH * done / max(active, 1))
    done_part = "━" * filled
    open_part = "━" * (_BAR_WIDTH - filled)
    return Text.assemble((done_part, "green"), (open_part, "dim"))


def _counts(status: PlanStatusView) -> Text:
    """How many tasks are in each state, in the order of the states."""
    counts = []
    for state in State:
        if state in status.states:
            mark = MARKS[state]
            number = status.states[state]
            counts.append(f"{mark} {number} {state}")
    return Text("  ".join(counts))


def _row(task: MovingTaskView) -> tuple[Text, Text, Text]:
    """The state of a task, its title, and its holder or last error."""
    state = f"{MARKS[task.state]} {task.state}"
    if task.waiting:
        state += f" ({task.waiting})"

    remark = task.last_error or ""
    if task.lease:
        remark = f"{task.lease.holder}, {left(task.lease.until, now())}"

    return (
        Text(state, _STYLES.get(task.state, "")),
        Text(shown(task.title)),
        Text(shown(remark), "dim"),
    )
