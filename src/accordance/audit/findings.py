"""What does not hold when a plan's records are recomputed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final

from accordance.domain.chain import EMPTY, Head
from accordance.errors import (
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
"""What reading a record raises that somebody has changed."""
_MANY: Final = 100


@dataclass(slots=True)
class AuditFindings:
    """What does not hold in a plan's records, or in those that belong to no plan."""

    plan_id: str | None
    events: int = 0
    messages: int = 0
    verdicts: int = 0
    blobs: int = 0
    integrity: list[str] = field(default_factory=list)
    completeness: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)  # what the events cannot prove
    head: Head = EMPTY  # where the chain ends
    named: set[str] = field(default_factory=set)  # blobs that its events name
    numbers: list[int] = field(default_factory=list)  # of its events, in their order

    @property
    def holds(self) -> bool:
        """Whether everything does."""
        return not (self.integrity or self.completeness)

    def broken(self, what: str) -> None:
        """Something is not what was written."""
        if len(self.integrity) < _MANY:
            self.integrity.append(what)

    def missing(self, what: str) -> None:
        """Something that was written is not there."""
        if len(self.completeness) < _MANY:
            self.completeness.append(what)


def fetch(
    tx: Transaction, sha256: str, what: str, found: AuditFindings
) -> bytes | None:
    """Bytes that were kept, if they are there and are what was kept."""
    found.blobs += 1
    try:
        content = tx.blob(sha256)
    except NotFound:
        found.missing(f"{what} {sha256[:12]} is missing")
        return None
    if hashlib.sha256(content).hexdigest() != sha256:
        found.broken(f"{what} {sha256[:12]} is not what was kept")
        return None
    return content
