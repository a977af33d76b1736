"""What `accordance run` tells: a line for each attempt that has ended, a table that moves on a terminal, and what came of it all."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from accordance.cli.watching import status_of, table_of
from accordance.contracts.printable import printable
from accordance.domain.findings import with_code
from accordance.domain.verdict import Outcome
from accordance.errors import LedgerError
from accordance.project.home import Home

if TYPE_CHECKING:
    from accordance.domain.records import ArtifactRecord, PlanRecord
    from accordance.runtime.ports import Attempt
    from accordance.store.ledger import Ledger, Transaction

_MOST: Final = 20  # lines of one kind
_SECONDS: Final = 0.3
_MARKS: Final = {
    Outcome.DONE: ("✓", "green"),
    Outcome.RETRY: ("↻", "yellow"),
    Outcome.ESCALATE: ("!", "yellow"),
}
_REFUSED: Final = ("✗", "red")


@contextlib.contextmanager
def telling(ledger: Ledger, plan_id: str) -> Iterator[Callable[[Attempt, Mapping[str, Any]], None]]:
    """Tell of attempts as they end, until the block does; on a terminal, below the lines, where the plan stands."""
    if not sys.stdout.isatty():
        yield lambda one, answer: click.echo(_line(ledger, one, answer).plain)
        return
    over = threading.Event()
    with Live(auto_refresh=False) as live:

        def show() -> None:
            with (
                contextlib.suppress(LedgerError),
                ledger.read() as tx,
            ):  # the run itself says what is wrong with it
                live.update(table_of(status_of(tx, tx.plan(plan_id))), refresh=True)

        def look() -> None:
            while not over.wait(_SECONDS):
                show()

        thread = threading.Thread(target=look, name="table", daemon=True)
        thread.start()
        try:
            yield lambda one, answer: live.console.print(_line(ledger, one, answer))
        finally:
            over.set()
            thread.join()
            show()


def _line(ledger: Ledger, one: Attempt, answer: Mapping[str, Any]) -> Text:
    with ledger.read() as tx:
        title = printable(tx.task(one.task_id).title)
    decided = answer.get("outcome") or answer["status"]
    mark, style = _mark(answer.get("outcome"))
    reason = printable(str(answer.get("reason_code") or answer.get("why", "")))
    return Text.assemble(
        (f"{mark} {decided:<9}", style),
        f" {title}, {one.kind} {one.number}  ",
        (f"{reason}  ", "dim"),
        str(answer.get("state", "")),
    )


def _mark(outcome: str | None) -> tuple[str, str]:
    return ("·", "dim") if outcome is None else _MARKS.get(Outcome(outcome), _REFUSED)


@dataclass(frozen=True, slots=True)
class Decided:
    """One verdict, in words."""

    task_id: str
    title: str
    attempt: int
    by: str  # the kind of message that was judged
    outcome: str
    reason_code: str
    why: str
    evidence: str | None  # where what it rests on lies


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What came of a plan: what it has brought forth, what was decided, where to look."""

    products: tuple[tuple[str, str], ...]  # titles and paths
    verdicts: tuple[Decided, ...]
    branch: str | None
    repository: Path | None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "deliverables": [{"title": title, "path": path} for title, path in self.products],
            "verdicts": [
                {
                    "task_id": one.task_id,
                    "title": one.title,
                    "attempt": one.attempt,
                    "by": one.by,
                    "outcome": one.outcome,
                    "reason_code": one.reason_code,
                    "why": one.why,
                    "evidence": one.evidence,
                }
                for one in self.verdicts
            ],
            "branch": self.branch,
            "repository": str(self.repository) if self.repository else None,
        }


def outcomes_of(tx: Transaction, home: Home, plan: PlanRecord) -> Outcomes:
    """Look at what a plan has come to."""
    from accordance.changes.attempt import workshop_of
    from accordance.domain.records import MessageRecord, VerdictRecord
    from accordance.work.exporting import deliverables
    from accordance.work.landing import head_of
    from accordance.workspace.branch import branch_name

    messages = {one.message_id: one for one in tx.find(MessageRecord, plan_id=plan.plan_id)}
    verdicts = []
    for one in tx.find(VerdictRecord, plan_id=plan.plan_id):
        message = messages[one.message_id]
        bundle = message.case.get("bundle")
        title = plan.title if message.kind == "PLAN_REVIEW" else tx.task(one.subject).title
        verdicts.append(
            Decided(
                task_id=one.subject,
                title=title,
                attempt=message.attempt,
                by=message.kind,
                outcome=one.outcome,
                reason_code=one.reason_code,
                why=" ".join(one.messages[:1]),
                evidence=str(bundle) if bundle else None,
            )
        )
    is_coded = head_of(tx, plan.plan_id) is not None
    return Outcomes(
        tuple((tx.task(one.task_id).title, _place(home, one)) for one in deliverables(tx, plan)),
        tuple(verdicts),
        branch_name(plan.plan_id) if is_coded else None,
        workshop_of(home).repository if is_coded else None,
    )


def _place(home: Home, artifact: ArtifactRecord) -> str:
    return str((home.artifacts(artifact.task_id) / artifact.file_name).relative_to(home.root))


def print_outcomes(found: Outcomes, home: Home) -> None:
    """For people: products, verdicts, evidence, and the commands that show more."""
    console = Console(highlight=False, soft_wrap=True)
    if found.products:
        console.print(Text("\nDeliverables", "bold"))
        _rows(console, [(Text(printable(title)), Text(path, "dim")) for title, path in found.products])
    if found.branch:
        console.print(
            f"  the changes are commits on the branch {found.branch} of {_near(found.repository, home)}",
            markup=False,
        )
    if found.verdicts:
        console.print(Text("\nVerdicts", "bold"))
        _rows(console, [_verdict(one) for one in _worth_telling(found.verdicts)])
    console.print(Text(f"\nLook closer, in {_near(home.root, Home(Path.cwd()))}", "bold"))
    for command, what in _commands(found, home):
        console.print(f"  {command:<58} {what}", markup=False)


def _worth_telling(verdicts: tuple[Decided, ...]) -> list[Decided]:
    """All of them, or, of many, first those that say more than DONE."""
    return (
        list(verdicts)
        if len(verdicts) <= _MOST
        else sorted(verdicts, key=lambda one: one.outcome == Outcome.DONE)
    )


def _near(place: Path | None, home: Home) -> str:
    """A place as it is called in a folder."""
    return str(place.relative_to(home.root)) if place and place.is_relative_to(home.root) else str(place)


def _rows(console: Console, rows: list[tuple[Text, ...]]) -> None:
    """In columns, as wide as they are: a line that is too long is for the terminal to fold."""
    shown = rows[:_MOST]
    widths = [max(cell.cell_len for cell in column) for column in zip(*shown, strict=True)]
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


def _verdict(one: Decided) -> tuple[Text, ...]:
    mark, style = _mark(one.outcome)
    return (
        Text(f"{mark} {one.outcome}", style),
        Text(printable(f"{one.title}, {'review' if 'REVIEW' in one.by else 'attempt'} {one.attempt}")),
        Text(printable(with_code(one.reason_code, one.why))),
    )


def _commands(found: Outcomes, home: Home) -> Iterator[tuple[str, str]]:
    evidence = [one.evidence for one in found.verdicts if one.evidence]
    troubled = [one for one in found.verdicts if one.outcome != Outcome.DONE]
    if evidence:
        yield "ls artifacts/", "the evidence of every change: one folder for each attempt"
    if troubled:
        last = troubled[-1]
        yield f"accordance task show {last.task_id}", f"what happened to {printable(last.title)}"
        if last.evidence:
            yield f"accordance verify {last.evidence}", "judges it again, from its evidence"
    yield "accordance inbox list", "what a person is asked"
    yield "accordance dlq list", "what was given up, and why"
    yield "accordance verify", "recomputes every state and every verdict"
    if found.branch:
        yield f"git -C {_near(found.repository, home)} log --stat {found.branch}", "the changes"
