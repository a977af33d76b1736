"""What `accordance run` prints: attempts, how far it is, and what came of it."""

from __future__ import annotations

import contextlib
import shlex
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from accordance.cli.plan_status import table_of
from accordance.cli.showing import print_line, shown
from accordance.contracts.printable import printable
from accordance.domain.findings import with_code
from accordance.domain.lifecycle import State
from accordance.domain.pace import MOVES_BY_ITSELF, seconds_left
from accordance.domain.plan_summary import PlanSummary
from accordance.domain.repository_address import is_address
from accordance.domain.verdict import Outcome
from accordance.errors import LedgerError
from accordance.project.home import Home
from accordance.rendering.plan_summaries import summary_lines
from accordance.rendering.run_progress import RunPace

if TYPE_CHECKING:
    from accordance.service.project import Ledger
    from accordance.service.runs import Listener
    from accordance.service.views.plans import PlanStatusView
    from accordance.service.views.runs import AttemptView, OutcomeView
    from accordance.service.views.verdicts import VerdictView

_SHOWN_ROWS: Final = 20  # of each table; the rest is counted
_REFRESH_SECONDS: Final = 0.3
_PLAIN_SECONDS: Final = 10.0  # between lines about the progress, without a terminal
_MARKS: Final = {
    Outcome.DONE: ("✓", "green"),
    Outcome.RETRY: ("↻", "yellow"),
    Outcome.ESCALATE: ("!", "yellow"),
}
_REFUSED: Final = ("✗", "red")


@contextlib.contextmanager
def telling(ledger: Ledger, plan_id: str) -> Iterator[Listener]:
    """Print a line for each attempt that ends, and how far the run is.

    On a terminal the plan's state is kept up to date below the lines; elsewhere a line
    says now and then how far it is.
    """
    pace = _PaceWatch(ledger, plan_id)
    if not sys.stdout.isatty():
        yield _PlainTelling(ledger, pace)
        return

    with Live(auto_refresh=False) as live, _refreshed(live, pace):
        yield lambda attempt: live.console.print(_attempt_line(ledger, attempt))


class _PaceWatch:
    """Knows how far a run is, by the plan's state now and when the run began."""

    def __init__(self, ledger: Ledger, plan_id: str) -> None:
        self.ledger = ledger
        self.plan_id = plan_id
        self._began = time.monotonic()
        self._done_before: int | None = None

    def look(self) -> PlanStatusView:
        """The plan as it is now."""
        from accordance.service.plans import plan_status

        status = plan_status(self.ledger, self.plan_id)
        if self._done_before is None:
            self._done_before = status.states.get(State.DONE, 0)
        return status

    def line(self, status: PlanStatusView) -> str:
        """How far the run is, in a line."""
        elapsed = time.monotonic() - self._began
        done = status.states.get(State.DONE, 0)
        remaining = sum(status.states.get(state, 0) for state in MOVES_BY_ITSELF)
        left = seconds_left(
            finished=done - (self._done_before or 0),
            remaining=remaining,
            elapsed_seconds=elapsed,
        )
        pace = RunPace(
            done=done,
            tasks=status.nodes - status.states.get(State.ABANDONED, 0),
            elapsed_seconds=elapsed,
            seconds_left=left,
            tokens=status.tokens,
            cost=status.cost,
        )
        return pace.line()


class _PlainTelling:
    """Prints attempts as plain lines and, not too often, how far the run is."""

    def __init__(self, ledger: Ledger, pace: _PaceWatch) -> None:
        self._ledger = ledger
        self._pace = pace
        with contextlib.suppress(LedgerError):
            pace.look()
        self._last_line = time.monotonic()

    def __call__(self, attempt: AttemptView) -> None:
        click.echo(_attempt_line(self._ledger, attempt).plain)
        if time.monotonic() - self._last_line < _PLAIN_SECONDS:
            return
        self._last_line = time.monotonic()
        with contextlib.suppress(LedgerError):
            print_line(self._pace.line(self._pace.look()))


@contextlib.contextmanager
def _refreshed(live: Live, pace: _PaceWatch) -> Iterator[None]:
    """Keep the table of a plan up to date, in a thread of its own."""
    is_over = threading.Event()

    def show() -> None:
        # an error of the ledger is reported by the run itself
        with contextlib.suppress(LedgerError):
            status = pace.look()
            page = Group(table_of(status), Text(pace.line(status), "bold"))
            live.update(page, refresh=True)

    def refresh() -> None:
        while not is_over.wait(_REFRESH_SECONDS):
            show()

    thread = threading.Thread(
        target=refresh,
        name="table",
        daemon=True,
    )
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        show()


def _attempt_line(ledger: Ledger, attempt: AttemptView) -> Text:
    """How an attempt ended: its outcome, task, reason and new state."""
    from accordance.service.plans import title_of

    answer = attempt.answer
    title = printable(title_of(ledger, attempt.task_id))
    mark, style = _mark(answer.outcome)
    outcome = answer.outcome or answer.status
    reason = printable(answer.reason_code or answer.why or "")
    verdict = f"{mark} {outcome:<9}"
    subject = f" {title}, {attempt.kind} {attempt.attempt}  "
    line = Text.assemble(
        (verdict, style),
        subject,
        (f"{reason}  ", "dim"),
        answer.state or "",
    )
    line.rstrip()
    return line


def _mark(outcome: str | None) -> tuple[str, str]:
    """The sign of an outcome, and its colour."""
    if outcome is None:
        return "·", "dim"
    return _MARKS.get(Outcome(outcome), _REFUSED)


def print_outcome(summary: PlanSummary, outcome: OutcomeView, home: Home) -> None:
    """Print what the plan has come to, the verdicts, and commands that show more."""
    console = Console(highlight=False, soft_wrap=True)
    for line in summary_lines(summary):
        is_title = not line.startswith(" ")
        console.print(Text(shown(line), "bold" if is_title else ""))

    if outcome.verdicts:
        console.print(Text("\nVerdicts", "bold"))
        verdicts = _by_interest(outcome.verdicts)
        _print_rows(console, [_verdict_row(verdict) for verdict in verdicts])

    console.print(Text("\nLook closer", "bold"))
    for command, purpose in _commands(outcome, home):
        console.print(f"  {shown(command)}  # {shown(purpose)}", markup=False)


def _by_interest(verdicts: tuple[VerdictView, ...]) -> list[VerdictView]:
    """All verdicts; if not all can be shown, those other than DONE come first."""
    if len(verdicts) <= _SHOWN_ROWS:
        return list(verdicts)
    return sorted(verdicts, key=lambda verdict: verdict.is_done)


def _relative(place: str | None, home: Home) -> str:
    """A place, relative to a folder that it is in."""
    if place is not None and Path(place).is_relative_to(home.root):
        return str(Path(place).relative_to(home.root))
    return str(place)


def _print_rows(console: Console, rows: Sequence[tuple[Text, ...]]) -> None:
    """Print rows in columns as wide as their cells; the terminal folds long lines."""
    shown = rows[:_SHOWN_ROWS]
    columns = zip(*shown, strict=True)
    widths = [max(cell.cell_len for cell in column) for column in columns]
    for row in shown:
        line = Text()
        for cell, width in zip(row, widths, strict=True):
            padding = " " * (width - cell.cell_len)
            line.append("  ").append_text(cell).append(padding)
        line.rstrip()
        console.print(line)

    further = len(rows) - _SHOWN_ROWS
    if further > 0:
        console.print(f"  and {further} more", markup=False)


def _verdict_row(verdict: VerdictView) -> tuple[Text, ...]:
    mark, style = _mark(verdict.outcome)
    kind = "review" if "REVIEW" in verdict.by else "attempt"
    subject = f"{verdict.title}, {kind} {verdict.attempt}"
    reason = with_code(verdict.reason_code, verdict.why)
    return (
        Text(f"{mark} {verdict.outcome}", style),
        Text(printable(subject)),
        Text(printable(reason)),
    )


def _commands(outcome: OutcomeView, home: Home) -> Iterator[tuple[str, str]]:
    """Commands that show more, each with its purpose; a line can be pasted whole."""
    if home.root != Path.cwd():
        folder = _relative(str(home.root), Home(Path.cwd()))
        yield f"cd {shlex.quote(folder)}", "the project"

    troubled = last_unfinished(outcome.verdicts)
    if troubled is not None:
        task = shlex.quote(troubled.task_id)
        yield f"accordance task show {task}", f"the story of {troubled.title}"
        if troubled.evidence:
            yield f"accordance task diff {task}", "what it changed"
            evidence = shlex.quote(troubled.evidence)
            yield f"accordance verify {evidence}", "judges it again, from its evidence"

    yield "accordance inbox list", "the questions to people"
    yield "accordance dlq list", "what was given up, and why"
    yield "accordance events", "everything that happened"
    yield "accordance verify", "recomputes every state and every verdict"
    if outcome.branch:
        repository = shlex.quote(_relative(outcome.repository, home))
        branch = shlex.quote(outcome.branch)
        if is_address(outcome.repository or ""):
            yield f"git fetch {repository} {branch}", "gets the changes"
        else:
            yield f"git -C {repository} log --stat {branch}", "the changes"


def last_unfinished(verdicts: tuple[VerdictView, ...]) -> VerdictView | None:
    """The latest verdict about a task that did not get DONE in the end."""
    last_of_task = {verdict.task_id: verdict for verdict in verdicts}
    unfinished = [verdict for verdict in verdicts if not verdict.is_done]
    for verdict in reversed(unfinished):
        if verdict is last_of_task[verdict.task_id]:
            return verdict
    return None
