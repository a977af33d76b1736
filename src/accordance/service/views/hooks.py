"""What putting a hook in, or taking it out, comes to."""

from __future__ import annotations

from typing import Literal

from accordance.service.views.base import View


class HookFileView(View):
    """A file that a hook needs, or needed."""

    path: str
    change: Literal["written", "removed", "moved", "as it was"]
    difference: str  # as a unified diff; empty where nothing changes


class HookView(View):
    """A hook of a working tree."""

    kind: str
    repository: str
    carried_out: bool  # False: this is only what would be done
    files: tuple[HookFileView, ...]
    task_id: str | None = None
    begins_at: str | None = None  # the commit that changes are counted from
    already_changed: tuple[str, ...] = ()  # the tree's own changes, not the agent's
    rounds: int | None = None
    notes: tuple[str, ...] = ()
