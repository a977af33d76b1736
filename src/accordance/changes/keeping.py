"""Keeping the evidence of a judged change, before its verdict takes effect.

From then on any machine can settle, show and verify it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from accordance.domain.faults import Fault
from accordance.errors import BlobError
from accordance.executors.protocol import RunOutcome
from accordance.store.ledger import Ledger
from accordance.work.kept_evidence import JudgedRun, keep_evidence


def with_kept_evidence(
    ledger: Ledger,
    root: Path,
    run: JudgedRun,
    produced: RunOutcome,
) -> RunOutcome:
    """Keep the evidence of a judged change; `root` is the project folder.

    Where the blob store is away, the run ends with that fault instead: it says nothing
    about the task, which goes on once the store answers.
    """
    judged = produced.judged
    if judged is None or produced.raw is None:
        return produced
    try:
        ledger.stage(produced.raw)
        keep_evidence(ledger, root / str(judged["written"]), run)
    except BlobError as error:
        return store_away(error, produced)
    return produced


def store_away(error: BlobError, produced: RunOutcome | None = None) -> RunOutcome:
    """Return the outcome of a run whose bytes could not be kept or read."""
    before = produced or RunOutcome(fault=Fault.STORE_AWAY)
    return replace(
        before,
        raw=None,
        judged=None,
        fault=Fault.STORE_AWAY,
        text=str(error),
        lacks=error.text,
    )
