"""Clones that are lent to outside workers: which they are, and how long they are kept.

The ledger knows each of them by an event, LENT, which is written before the clone is
put in its place. So a clone that no event names belongs to another ledger, and is left
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from accordance.domain.chain import Payload
from accordance.domain.lifecycle import TERMINAL, State
from accordance.domain.records import TaskRecord
from accordance.domain.roles import AgentRole, role_from
from accordance.errors import NotFound
from accordance.project.home import Home
from accordance.store.ledger import Ledger, Transaction
from accordance.work.landing import last_change

LENT: Final = "LENT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan:
    """A clone lent for an attempt, and what the attempt is held to.

    Settings that change afterwards count for the next attempt.
    """

    task_id: str
    attempt: int
    name: str  # of the clone's folder
    base: str  # the commit the clone was made of
    role: AgentRole  # as it was then: it decided which files the clone holds
    executor: str  # how the routes name the worker
    conflicts: tuple[str, ...] = ()
    """Files to which the change of the last attempt no longer applies."""

    def place(self, home: Home) -> Path:
        """The folder of the clone."""
        return home.lent / self.name

    def is_there(self, home: Home) -> bool:
        """Whether the clone is where it was put; a link in its place does not count."""
        place = self.place(home)
        return place.is_dir() and not place.is_symlink()

    def to_json(self) -> Payload:
        """The loan as its event stores it."""
        return {
            "attempt": self.attempt,
            "clone": self.name,
            "base": self.base,
            "role": {"name": self.role.name, "policy": self.role.policy()},
            "executor": self.executor,
            "conflicts": list(self.conflicts),
        }


def _loan_from_json(task_id: str, payload: Mapping[str, Any]) -> Loan:
    role = payload["role"]
    return Loan(
        task_id=task_id,
        attempt=payload["attempt"],
        name=payload["clone"],
        base=payload["base"],
        role=role_from(role["name"], role["policy"]),
        executor=payload["executor"],
        conflicts=tuple(payload["conflicts"]),
    )


def loans_of(tx: Transaction, task_id: str) -> list[Loan]:
    """Return every clone that was lent for a task, the latest last."""
    return [
        _loan_from_json(task_id, entry.payload)
        for entry in tx.entries_of(task_id)
        if entry.kind == LENT
    ]


def loan_under_way(tx: Transaction, task: TaskRecord) -> Loan | None:
    """Return the clone in which an outside worker works on a task now.

    None if the task is not in progress, or an executor of accordance works on it.
    """
    if task.progress.state is not State.IN_PROGRESS:
        return None

    attempt = task.progress.standing.counters.attempts
    current = [loan for loan in loans_of(tx, task.task_id) if loan.attempt == attempt]
    return current[-1] if current else None


def discard_old_loans(ledger: Ledger, home: Home) -> None:
    """Throw away the clones that are no longer needed.

    A clone whose lease ran out stays until a later attempt was judged, so that a worker
    who was only slow still has their work.
    """
    places = list(home.lent.iterdir()) if home.lent.is_dir() else []
    if not places:
        return

    from accordance.workspace.clone import discard

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

    loans = [loan for loan in loans_of(tx, task_id) if loan.name == name]
    if not loans:
        return False

    judged = last_change(tx, task)
    is_judged = judged is not None and judged.attempt >= loans[0].attempt
    return is_judged or task.progress.state in TERMINAL
