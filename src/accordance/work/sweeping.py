"""Throwing away the clones and rooms that killed runs left behind.

Logs and evidence stay.
"""

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
from accordance.work.lent_clones import discard_old_loans
from accordance.workspace.clone import discard

_IN_WORK: Final = (State.IN_PROGRESS, State.READY_TO_CHECK)


@contextlib.contextmanager
def swept(ledger: Ledger, home: Home, *, is_alone: bool) -> Iterator[None]:
    """Sweep the project folder, and work in it for as long as the block runs.

    Everything goes if no other process works on the ledger (`is_alone`, SQLite), and
    none on another ledger in the same folder. Otherwise only what belongs to tasks that
    are not in work goes.
    """
    discard_old_loans(ledger, home)
    with _open_lock(home) as lock:
        if not is_alone:
            _sweep(home, ledger)
        elif _has_locked(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
            _sweep(home)
        _has_locked(lock, fcntl.LOCK_SH)
        yield


@contextlib.contextmanager
def kept_from_sweeping(home: Home) -> Iterator[None]:
    """Work in the project folder; it is not swept for as long as the block runs."""
    with _open_lock(home) as lock:
        _has_locked(lock, fcntl.LOCK_SH)
        yield


def _open_lock(home: Home) -> TextIO:
    home.clones.mkdir(parents=True, exist_ok=True)
    return home.clones.with_suffix(".lock").open("a")


def _has_locked(lock: TextIO, operation: int) -> bool:
    """Take a lock; False if another process has it, or the disk knows no locks."""
    try:
        fcntl.flock(lock, operation)
    except OSError:
        return False
    return True


def _sweep(home: Home, shared: Ledger | None = None) -> None:
    """Throw away what is there, except the places of tasks in work on a shared ledger.

    The places are listed before the tasks: a run that begins later has other places.
    """
    places = list(_places(home))
    in_work = _owners_in_work(shared) if shared else frozenset()
    for owner, place in places:
        if owner not in in_work:
            discard(place)


def _places(home: Home) -> Iterator[tuple[str, Path]]:
    """The folders that runs have made, each with the name of its task."""
    for place in home.clones.iterdir():
        owner = place.name.rsplit("-", 2)[0]
        yield owner, place

    for kind in ("action", "review"):
        for room in home.runs.glob(f"*/{kind}-*/room"):
            owner = room.parent.parent.name
            yield owner, room


def _owners_in_work(ledger: Ledger) -> frozenset[str]:
    """The names that folders of tasks in work have."""
    owners = set()
    with ledger.read() as tx:
        for plan in tx.plans():
            for task in tx.tasks(plan.plan_id, *_IN_WORK):
                owners.add(folder_name(task.task_id))
                owners.add(safe_name(task.task_id))
    return frozenset(owners)
