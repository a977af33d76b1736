"""The findings of an audit: what does not hold when a plan's records are recomputed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final

from accordance.domain.chain import EMPTY, Head
from accordance.domain.tombstones import Tombstone
from accordance.errors import (
    BlobChanged,
    BlobMissing,
    IllegalTransition,
    InvalidFuses,
    InvalidRubric,
    LedgerDamaged,
    NotFound,
)
from accordance.store.ledger import Transaction

UNREADABLE: Final = (
    IllegalTransition,
    InvalidFuses,
    InvalidRubric,
    LedgerDamaged,
    AttributeError,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
)
"""The errors that reading a tampered record may raise."""
_MAX_FINDINGS: Final = 100
"""Findings of a kind that are listed, so that a ruined ledger can be audited too."""


@dataclass(slots=True)
class AuditFindings:
    """What does not hold in the records of a plan, or in those of no plan."""

    plan_id: str | None
    events: int = 0
    messages: int = 0
    verdicts: int = 0
    blobs: int = 0
    integrity: list[str] = field(default_factory=list)
    completeness: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """What the events cannot prove."""
    head: Head = EMPTY
    """Where the chain ends."""
    named: set[str] = field(default_factory=set)
    """The blobs that the events of the chain name."""
    numbers: list[int] = field(default_factory=list)
    """The numbers of the chain's events, in their order."""
    deleted: list[Tombstone] = field(default_factory=list)
    """The plans that were deleted, according to the ledger's own chain."""

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.integrity or self.completeness)

    def broken(self, finding: str) -> None:
        """Note a record that is not what was written."""
        if len(self.integrity) < _MAX_FINDINGS:
            self.integrity.append(finding)

    def missing(self, finding: str) -> None:
        """Note a record that was written and is gone."""
        if len(self.completeness) < _MAX_FINDINGS:
            self.completeness.append(finding)


def fetch(
    tx: Transaction,
    sha256: str,
    label: str,
    findings: AuditFindings,
) -> bytes | None:
    """Return a blob; None, with a finding, if it is gone or changed."""
    findings.blobs += 1

    try:
        content = tx.blob(sha256)
    except (NotFound, BlobMissing):
        findings.missing(f"{label} {sha256[:12]} is missing")
        return None
    except BlobChanged:
        content = b""

    if hashlib.sha256(content).hexdigest() != sha256:
        findings.broken(f"{label} {sha256[:12]} is not what was kept")
        return None

    return content


def check_blob(
    tx: Transaction,
    sha256: str,
    label: str,
    findings: AuditFindings,
) -> bool:
    """Check that a blob is there and unchanged, in bounded memory."""
    findings.blobs += 1
    digest = hashlib.sha256()
    try:
        for chunk in tx.blob_chunks(sha256):
            digest.update(chunk)
    except (NotFound, BlobMissing):
        findings.missing(f"{label} (blob {sha256[:12]}) is missing")
        return False
    except BlobChanged:
        digest = hashlib.sha256()

    if digest.hexdigest() != sha256:
        findings.broken(f"{label} (blob {sha256[:12]}) is not what was kept")
        return False
    return True
