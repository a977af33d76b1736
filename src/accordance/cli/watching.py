"""Where a plan stands, as a table; on a terminal it moves."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from accordance.cli.exits import Exit
from accordance.cli.pages import print_page
from accordance.cli.showing import shown
from accordance.domain.drawing import MARKS
from accordance.domain.lifecycle import TERMINAL, State

if TYPE_CHECKING:
    from accordance.domain.records import PlanRecord, QuestionRecord, TaskRecord
    from accordance.store.ledger import Ledger, Transaction

_SHOWN = 20
_WIDTH = 40
_SECONDS = 0.5
_MOVING = (
    State.IN_PROGRESS,
    State.READY_TO_CHECK,
    State.TO_BE_MODIFY,
    State.BLOCKED,
    State.FAILED,
    State.DEAD_LETTER,
)
_STYLES = {State.DONE: "green", State.BLOCKED: "yellow", State.FAILED: "red", State.DEAD_LETTER: "red"}


@dataclass(frozen=True, slots=True)
class Status:
    """Where a plan stands."""

    plan: PlanRecord
    root: State
    counts: dict[State, int]
    moving: tuple[TaskRecord, ...]
    questions: tuple[QuestionRecord, ...]

    @property
    def exit_code(self) -> int:
        """What the shell is told."""
        if self.counts.get(State.DEAD_LETTER) and self.root is not State.DONE:
            return Exit.REJECTED
        return Exit.WAITING if self.questions and self.root not in TERMINAL else Exit.OK

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "plan_id": self.plan.plan_id,
            "title": self.plan.title,
            "state": self.plan.state,
            "root": self.root,
            "nodes": self.plan.nodes,
            "states": self.counts,
            "moving": [
                {"task_id": task.task_id, "title": task.title, "state": task.progress.state}
                for task in self.moving
            ],
            "questions": [{"question_id": one.question_id, "text": one.text} for one in self.questions],
        }


def status_of(tx: Transaction, plan: PlanRecord) -> Status:
    """Look at a plan."""
    moving = []
    for task in tx.tasks(plan.plan_id, *_MOVING):
        moving.append(task)
        if len(moving) >= _SHOWN:
            break
    return Status(
        plan,
        tx.progress(plan.root_task_id).state,
        tx.count_states(plan.plan_id),
        tuple(moving),
        tuple(tx.open_questions(plan_id=plan.plan_id)),
    )


def watch(ledger: Ledger, plan_id: str) -> Status:
    """Show a plan until it has ended or somebody has seen enough."""
    with Live(auto_refresh=False) as live:
        while True:
            with ledger.read() as tx:
                found = status_of(tx, tx.plan(plan_id))
            live.update(table_of(found), refresh=True)
            if found.root in TERMINAL:
                return found
            time.sleep(_SECONDS)


def print_status(found: Status) -> None:
    """Show a plan once."""
    print_page(table_of(found))


def table_of(found: Status) -> RenderableType:
    """A plan as a table."""
    done = found.counts.get(State.DONE, 0)
    active = found.plan.nodes - found.counts.get(State.ABANDONED, 0)
    head = Text.assemble(
        (shown(found.plan.title), "bold"), f"  {found.plan.state}, root {found.root}, {done} of {active} done"
    )
    counts = "  ".join(
        f"{MARKS[state]} {found.counts[state]} {state}" for state in State if state in found.counts
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for task in found.moving:
        at = task.progress
        who = f"{task.lease.holder} until {task.lease.until[11:19]}" if task.lease else ""
        waiting = f" ({at.standing.waiting})" if at.standing.waiting else ""
        state = Text(f"{MARKS[at.state]} {at.state}{waiting}", _STYLES.get(at.state, ""))
        table.add_row(state, Text(shown(task.title)), Text(shown(who or task.last_error or ""), "dim"))
    asked = [Text(shown(f"? {one.question_id}  {one.text}"), "yellow") for one in found.questions[:_SHOWN]]
    full = round(_WIDTH * done / max(active, 1))
    bar = Text.assemble(("━" * full, "green"), ("━" * (_WIDTH - full), "dim"))
    return Group(head, bar, Text(counts), table, *asked)
