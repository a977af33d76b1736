"""Clones that are lent to somebody elsewhere who changes a repository: which they are, and how long they are kept.

The ledger knows each of them by an event, LENT, which is written before the clone gets its place. So a clone that no event
names is another ledger's, and is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from accordance.domain.chain import Payload
from accordance.domain.lifecycle import TERMINAL, State
from accordance.domain.records import TaskRecord
from accordance.domain.roles import Role, role_from
from accordance.errors import NotFound
from accordance.project.home import Home
from accordance.store.ledger import Ledger, Transaction
from accordance.work.landing import last_change
from accordance.workspace.clone import discard

LENT: Final = "LENT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan:
    """One clone, lent for one attempt, and what that is held to: changed settings count for the next attempt."""

    task_id: str
    attempt: int
    name: str  # of its folder
    base: str  # the commit it was made of
    role: Role  # as it was then: it says what was given to be read
    executor: str  # what the routes call whoever has it
    conflicts: tuple[
        str, ...
    ] = ()  # files on which the change of the last attempt does not fit any more

    def place(self, home: Home) -> Path:
        """Where the clone lies."""
        return home.lent / self.name

    def is_there(self, home: Home) -> bool:
        """Whether the clone is where it was put; a link in its place is not the clone."""
        place = self.place(home)
        return place.is_dir() and not place.is_symlink()

    def to_json(self) -> Payload:
        """As it is written down."""
        return {
            "attempt": self.attempt,
            "clone": self.name,
            "base": self.base,
            "role": {"name": self.role.name, "policy": self.role.policy()},
            "executor": self.executor,
            "conflicts": list(self.conflicts),
        }


def _loan(task_id: str, written: Mapping[str, Any]) -> Loan:
    role = written["role"]
    return Loan(
        task_id=task_id,
        attempt=written["attempt"],
        name=written["clone"],
        base=written["base"],
        role=role_from(role["name"], role["policy"]),
        executor=written["executor"],
        conflicts=tuple(written["conflicts"]),
    )


def loans_of(tx: Transaction, task_id: str) -> list[Loan]:
    """Every clone that was lent for a task, the last one last."""
    return [
        _loan(task_id, entry.payload)
        for entry in tx.entries_of(task_id)
        if entry.kind == LENT
    ]


def loan_under_way(tx: Transaction, task: TaskRecord) -> Loan | None:
    """The clone that somebody works in now; None where nobody does, or an executor of accordance's own."""
    if task.progress.state is not State.IN_PROGRESS:
        return None
    number = task.progress.standing.counters.attempts
    current = [loan for loan in loans_of(tx, task.task_id) if loan.attempt == number]
    return current[-1] if current else None


def sweep_loans(ledger: Ledger, home: Home) -> None:
    """Throw away the clones that nobody needs any more.

    One whose lease ran out stays until a later attempt was judged: whoever was only slow still finds their work there.
    """
    places = list(home.lent.iterdir()) if home.lent.is_dir() else []
    if not places:
        return
    with ledger.read() as tx:
        over = [place for place in places if _is_over(tx, place.name)]
    for place in over:
        discard(place)


def _is_over(tx: Transaction, name: str) -> bool:
    task_id = name.rsplit("-", 2)[0]
    try:
        task = tx.task(task_id)
    except NotFound:
        return False
    loan = next((one for one in loans_of(tx, task_id) if one.name == name), None)
    if loan is None:
        return False
    judged = last_change(tx, task)
    is_settled = judged is not None and judged.attempt >= loan.attempt
    return is_settled or task.progress.state in TERMINAL
