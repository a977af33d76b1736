"""Blobs, and the store that large ones lie in."""

from __future__ import annotations

from accordance.service.views.base import View


class BlobStatusView(View):
    """How many blobs a ledger has, and where."""

    store: str  # where large blobs lie
    is_reachable: bool
    problem: str | None  # why it cannot be used
    in_database: int
    bytes_in_database: int
    in_store: int
    bytes_in_store: int
    loose: int  # in the store, and no row names them
    inline_bytes: int  # up to which blobs lie in the database
    grace_hours: float


class CollectionView(View):
    """What a collection has removed, or would remove."""

    removed: tuple[str, ...]
    young: int  # loose, and not old enough
    unknown: int  # that the ledger did not know; they are loose from now on
    is_done: bool  # or only looked at


class BlobFindingView(View):
    """A blob that is not as it was kept."""

    sha256: str
    size: int
    problem: str  # missing, or changed
    named_by: tuple[str, ...]  # tasks and files


class BlobCheckView(View):
    """Whether every blob in the store is there and unchanged."""

    checked: int
    bytes: int
    findings: tuple[BlobFindingView, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings
