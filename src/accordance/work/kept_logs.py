"""The logs of runs, kept with the ledger, so that any machine can show them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from accordance.domain.blobs import INLINE_BYTES
from accordance.domain.naming import safe_name
from accordance.errors import BlobError
from accordance.executors.left_files import read_tail_inside
from accordance.project.home import Home
from accordance.store.ledger import Ledger, Transaction
from accordance.work.fetched_files import fetch_file
from accordance.work.run_log import runs_in

if TYPE_CHECKING:  # showing a log needs no executors
    from accordance.executors.protocol import RunLog

LOG_NAMES: Final = ("stdout.log", "stderr.log")


def kept_logs(ledger: Ledger, folder: Path) -> tuple[RunLog, ...]:
    """Return the logs in the folder of a run, large ones put into the blob store.

    Where that cannot be done, the end of a log is kept: a lost log is no reason to
    fail.
    """
    return tuple(_logs(ledger, folder))


def _logs(ledger: Ledger, folder: Path) -> Iterator[RunLog]:
    from accordance.executors.protocol import RunLog

    for name in LOG_NAMES:
        place = folder / name
        if place.is_symlink() or not place.is_file() or not place.stat().st_size:
            continue
        try:
            kept = ledger.put(place)
        except (BlobError, OSError):
            kept = None
        if kept is None or isinstance(kept.content, Path):
            end = read_tail_inside(folder, name, INLINE_BYTES) or b""
            sha256 = hashlib.sha256(end).hexdigest()
            yield RunLog(name=name, sha256=sha256, size=len(end), content=end)
        else:
            yield RunLog(
                name=name, sha256=kept.sha256, size=kept.size, content=kept.content
            )


def fetch_logs(
    tx: Transaction, home: Home, task_id: str, attempt: int, kind: str
) -> None:
    """Bring the logs of the last run of an attempt to this machine, if it has none.

    Raises BlobError, CannotWrite.
    """
    base = home.runs / safe_name(task_id)
    if any(base.glob(f"{kind}-{attempt}-*/*.log")):
        return
    for run in reversed(runs_in(tx.entries_of(task_id))):
        logs = (run.report or {}).get("logs")
        if logs and (run.kind, run.attempt) == (kind, attempt):
            for name, (sha256, _) in logs.items():
                if name in LOG_NAMES:
                    fetch_file(tx, sha256, base / f"{kind}-{attempt}-1" / name)
            return
