"""What `init` writes."""

from __future__ import annotations

from accordance.service.views.base import View


class BeginningView(View):
    """A project that was begun, or would be."""

    folder: str
    template: str
    files: tuple[str, ...]
    written: bool
