"""Throwing away what killed runs have left behind: their clones and their rooms. Logs and evidence stay."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TextIO

from accordance.domain.lifecycle import State
from accordance.domain.naming import folder_name, safe_name
from accordance.project.home import Home
from accordance.store.ledger import Ledger
from accordance.work.lent_clones import sweep_loans
from accordance.workspace.clone import discard

_IN_WORK: Final = (State.IN_PROGRESS, State.READY_TO_CHECK)


@contextlib.contextmanager
def swept(ledger: Ledger, home: Home, *, is_alone: bool) -> Iterator[None]:
    """Sweep the project folder, and work in it for as long as the block runs.

    Where no other process works on the ledger (SQLite), and none on another ledger in the same folder, everything goes; else only what
    belongs to tasks that nobody has.
    """
    sweep_loans(ledger, home)
    with _lock(home) as lock:
        if not is_alone:
            _sweep(home, ledger)
        elif _holds(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
            _sweep(home)
        _holds(lock, fcntl.LOCK_SH)
        yield


@contextlib.contextmanager
def kept_from_sweeping(home: Home) -> Iterator[None]:
    """Work in the project folder for as long as the block runs; nobody sweeps it meanwhile."""
    with _lock(home) as lock:
        _holds(lock, fcntl.LOCK_SH)
        yield


def _lock(home: Home) -> TextIO:
    home.clones.mkdir(parents=True, exist_ok=True)
    return home.clones.with_suffix(".lock").open("a")


def _holds(lock: TextIO, how: int) -> bool:
    """Whether we hold the lock now; not if somebody else does, or if the disk knows no locks."""
    try:
        fcntl.flock(lock, how)
    except OSError:
        return False
    return True


def _sweep(home: Home, others: Ledger | None = None) -> None:
    """What is there is looked at before who has what: whatever is begun after that has other places."""
    places = list(_places(home))
    taken = _taken(others) if others else frozenset()
    for owner, place in places:
        if owner not in taken:
            discard(place)


def _places(home: Home) -> Iterator[tuple[str, Path]]:
    """What runs of tasks have made, each with the name of its task."""
    for place in home.clones.iterdir():
        yield place.name.rsplit("-", 2)[0], place
    for kind in ("action", "review"):
        for room in home.runs.glob(f"*/{kind}-*/room"):
            yield room.parent.parent.name, room


def _taken(ledger: Ledger) -> frozenset[str]:
    with ledger.read() as tx:
        tasks = [
            task.task_id
            for plan in tx.plans()
            for task in tx.tasks(plan.plan_id, *_IN_WORK)
        ]
    return frozenset(name(task) for task in tasks for name in (folder_name, safe_name))
