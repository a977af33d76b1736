"""What `accordance run` prints: a line per attempt, a table on a terminal, a summary."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from accordance.cli.plan_status import table_of
from accordance.contracts.printable import printable
from accordance.domain.findings import with_code
from accordance.domain.verdict import Outcome
from accordance.errors import LedgerError
from accordance.project.home import Home

if TYPE_CHECKING:
    from accordance.service.project import Ledger
    from accordance.service.runs import Listener
    from accordance.service.views.runs import AttemptView, OutcomeView
    from accordance.service.views.verdicts import VerdictView

_SHOWN_ROWS: Final = 20  # of each table; the rest is counted
_REFRESH_SECONDS: Final = 0.3
_MARKS: Final = {
    Outcome.DONE: ("✓", "green"),
    Outcome.RETRY: ("↻", "yellow"),
    Outcome.ESCALATE: ("!", "yellow"),
}
_REFUSED: Final = ("✗", "red")


@contextlib.contextmanager
def telling(ledger: Ledger, plan_id: str) -> Iterator[Listener]:
    """Print a line for each attempt that ends; on a terminal, also the plan's state."""
    if not sys.stdout.isatty():
        yield lambda attempt: click.echo(_attempt_line(ledger, attempt).plain)
        return

    with Live(auto_refresh=False) as live, _refreshed(live, ledger, plan_id):
        yield lambda attempt: live.console.print(_attempt_line(ledger, attempt))


@contextlib.contextmanager
def _refreshed(live: Live, ledger: Ledger, plan_id: str) -> Iterator[None]:
    """Keep the table of a plan up to date, in a thread of its own."""
    from accordance.service.plans import plan_status

    is_over = threading.Event()

    def show() -> None:
        # an error of the ledger is reported by the run itself
        with contextlib.suppress(LedgerError):
            live.update(table_of(plan_status(ledger, plan_id)), refresh=True)

    def refresh() -> None:
        while not is_over.wait(_REFRESH_SECONDS):
            show()

    thread = threading.Thread(target=refresh, name="table", daemon=True)
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
    return Text.assemble(
        (f"{mark} {outcome:<9}", style),
        f" {title}, {attempt.kind} {attempt.attempt}  ",
        (f"{reason}  ", "dim"),
        answer.state or "",
    )


def _mark(outcome: str | None) -> tuple[str, str]:
    """The sign of an outcome, and its colour."""
    if outcome is None:
        return "·", "dim"
    return _MARKS.get(Outcome(outcome), _REFUSED)


def print_outcome(outcome: OutcomeView, home: Home) -> None:
    """Print the products, the verdicts, and the commands that show more."""
    console = Console(highlight=False, soft_wrap=True)
    if outcome.deliverables:
        console.print(Text("\nDeliverables", "bold"))
        rows = [
            (Text(printable(product.title)), Text(product.path, "dim"))
            for product in outcome.deliverables
        ]
        _print_rows(console, rows)

    if outcome.branch:
        repository = _relative(outcome.repository, home)
        console.print(
            f"  the changes are commits on the branch {outcome.branch} of {repository}",
            markup=False,
        )

    if outcome.verdicts:
        console.print(Text("\nVerdicts", "bold"))
        verdicts = _by_interest(outcome.verdicts)
        _print_rows(console, [_verdict_row(verdict) for verdict in verdicts])

    folder = _relative(str(home.root), Home(Path.cwd()))
    console.print(Text(f"\nLook closer, in {folder}", "bold"))
    for command, purpose in _commands(outcome, home):
        console.print(f"  {command:<58} {purpose}", markup=False)


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
    return (
        Text(f"{mark} {verdict.outcome}", style),
        Text(printable(f"{verdict.title}, {kind} {verdict.attempt}")),
        Text(printable(with_code(verdict.reason_code, verdict.why))),
    )


def _commands(outcome: OutcomeView, home: Home) -> Iterator[tuple[str, str]]:
    """Commands that show more, each with its purpose."""
    has_evidence = any(verdict.evidence for verdict in outcome.verdicts)
    if has_evidence:
        purpose = "the evidence of every change: a folder for each attempt"
        yield "ls artifacts/", purpose

    troubled = [verdict for verdict in outcome.verdicts if not verdict.is_done]
    if troubled:
        last = troubled[-1]
        title = printable(last.title)
        yield f"accordance task show {last.task_id}", f"what happened to {title}"
        if last.evidence:
            purpose = "judges it again, from its evidence"
            yield f"accordance verify {last.evidence}", purpose

    yield "accordance inbox list", "the questions to people"
    yield "accordance dlq list", "what was given up, and why"
    yield "accordance verify", "recomputes every state and every verdict"
    if outcome.branch:
        repository = _relative(outcome.repository, home)
        yield f"git -C {repository} log --stat {outcome.branch}", "the changes"
