"""Plans that are deleted."""

from __future__ import annotations

from typing import Literal

from accordance.domain.plan_lifecycle import PlanState
from accordance.service.views.base import View


class EvidenceFolderView(View):
    """A folder with evidence of a plan."""

    path: str
    files: int
    bytes: int


class DeletionView(View):
    """What deleting a plan takes away, and what it leaves."""

    plan_id: str
    title: str
    state: PlanState
    events: int
    head: str  # the hash of its last event, which the tombstone keeps
    evidence: Literal["kept", "removed"]
    folders: tuple[EvidenceFolderView, ...]
    blobs: int  # that are removed from the ledger
    is_done: bool  # or only looked at
