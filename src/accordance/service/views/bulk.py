"""An act on many things: what it would be done to, and what came of it."""

from __future__ import annotations

from accordance.service.views.base import View


class BulkItemView(View):
    """A thing that an act would be done to, as it is now."""

    id: str
    title: str
    state: str
    seen_at: str  # when it changed last; the act is done only if that is still so


class BulkPreviewView(View):
    """Everything that an act would be done to."""

    items: tuple[BulkItemView, ...]
    left_out: int  # things that the filter fits, and for which the act is not possible


class BulkDoneView(View):
    """A thing that the act was done to, and where it stands now."""

    id: str
    title: str
    state: str


class BulkSkippedView(View):
    """A thing that was left as it is, and why."""

    id: str
    title: str
    why: str


class BulkResultView(View):
    """What came of an act on many things. Each was done as a whole, or not at all."""

    done: tuple[BulkDoneView, ...]
    skipped: tuple[BulkSkippedView, ...]
