"""What `accordance run` tells: a line for each attempt that has ended, a table that moves on a terminal, and what came of it all."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
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

_MOST: Final = 20  # lines of one kind
_SECONDS: Final = 0.3
_MARKS: Final = {
    Outcome.DONE: ("✓", "green"),
    Outcome.RETRY: ("↻", "yellow"),
    Outcome.ESCALATE: ("!", "yellow"),
}
_REFUSED: Final = ("✗", "red")


@contextlib.contextmanager
def telling(ledger: Ledger, plan_id: str) -> Iterator[Listener]:
    """Tell of attempts as they end, until the block does; on a terminal, below the lines, where the plan stands."""
    from accordance.service.plans import plan_status

    if not sys.stdout.isatty():
        yield lambda attempt: click.echo(_line(ledger, attempt).plain)
        return
    over = threading.Event()
    with Live(auto_refresh=False) as live:

        def show() -> None:
            with contextlib.suppress(
                LedgerError
            ):  # the run itself says what is wrong with it
                live.update(table_of(plan_status(ledger, plan_id)), refresh=True)

        def look() -> None:
            while not over.wait(_SECONDS):
                show()

        thread = threading.Thread(target=look, name="table", daemon=True)
        thread.start()
        try:
            yield lambda attempt: live.console.print(_line(ledger, attempt))
        finally:
            over.set()
            thread.join()
            show()


def _line(ledger: Ledger, attempt: AttemptView) -> Text:
    from accordance.service.plans import title_of

    answer = attempt.answer
    title = printable(title_of(ledger, attempt.task_id))
    mark, style = _mark(answer.outcome)
    decided = answer.outcome or answer.status
    reason = printable(answer.reason_code or answer.why or "")
    return Text.assemble(
        (f"{mark} {decided:<9}", style),
        f" {title}, {attempt.kind} {attempt.attempt}  ",
        (f"{reason}  ", "dim"),
        answer.state or "",
    )


def _mark(outcome: str | None) -> tuple[str, str]:
    return ("·", "dim") if outcome is None else _MARKS.get(Outcome(outcome), _REFUSED)


def print_outcome(outcome: OutcomeView, home: Home) -> None:
    """For people: products, verdicts, evidence, and the commands that show more."""
    console = Console(highlight=False, soft_wrap=True)
    if outcome.deliverables:
        console.print(Text("\nDeliverables", "bold"))
        _rows(
            console,
            [
                (Text(printable(made.title)), Text(made.path, "dim"))
                for made in outcome.deliverables
            ],
        )
    if outcome.branch:
        repository = _near(outcome.repository, home)
        console.print(
            f"  the changes are commits on the branch {outcome.branch} of {repository}",
            markup=False,
        )
    if outcome.verdicts:
        console.print(Text("\nVerdicts", "bold"))
        _rows(
            console, [_verdict(verdict) for verdict in _worth_telling(outcome.verdicts)]
        )
    console.print(
        Text(f"\nLook closer, in {_near(str(home.root), Home(Path.cwd()))}", "bold")
    )
    for command, what in _commands(outcome, home):
        console.print(f"  {command:<58} {what}", markup=False)


def _worth_telling(verdicts: tuple[VerdictView, ...]) -> list[VerdictView]:
    """All of them, or, of many, first those that say more than DONE."""
    if len(verdicts) <= _MOST:
        return list(verdicts)
    return sorted(verdicts, key=lambda verdict: verdict.is_done)


def _near(place: str | None, home: Home) -> str:
    """A place as it is called in a folder."""
    if place is not None and Path(place).is_relative_to(home.root):
        return str(Path(place).relative_to(home.root))
    return str(place)


def _rows(console: Console, rows: list[tuple[Text, ...]]) -> None:
    """In columns, as wide as they are: a line that is too long is for the terminal to fold."""
    shown = rows[:_MOST]
    widths = [
        max(cell.cell_len for cell in column) for column in zip(*shown, strict=True)
    ]
    for row in shown:
        cells = [
            Text.assemble(cell, " " * (width - cell.cell_len))
            for cell, width in zip(row, widths, strict=True)
        ]
        line = Text("  ").join((Text(), *cells))
        line.rstrip()
        console.print(line)
    if len(rows) > _MOST:
        console.print(f"  and {len(rows) - _MOST} more", markup=False)


def _verdict(verdict: VerdictView) -> tuple[Text, ...]:
    mark, style = _mark(verdict.outcome)
    kind = "review" if "REVIEW" in verdict.by else "attempt"
    return (
        Text(f"{mark} {verdict.outcome}", style),
        Text(printable(f"{verdict.title}, {kind} {verdict.attempt}")),
        Text(printable(with_code(verdict.reason_code, verdict.why))),
    )


def _commands(outcome: OutcomeView, home: Home) -> Iterator[tuple[str, str]]:
    if any(verdict.evidence for verdict in outcome.verdicts):
        yield (
            "ls artifacts/",
            "the evidence of every change: one folder for each attempt",
        )
    troubled = [verdict for verdict in outcome.verdicts if not verdict.is_done]
    if troubled:
        last = troubled[-1]
        yield (
            f"accordance task show {last.task_id}",
            f"what happened to {printable(last.title)}",
        )
        if last.evidence:
            yield (
                f"accordance verify {last.evidence}",
                "judges it again, from its evidence",
            )
    yield "accordance inbox list", "what a person is asked"
    yield "accordance dlq list", "what was given up, and why"
    yield "accordance verify", "recomputes every state and every verdict"
    if outcome.branch:
        yield (
            f"git -C {_near(outcome.repository, home)} log --stat {outcome.branch}",
            "the changes",
        )
