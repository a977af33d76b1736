"""Files that are handed over, and what they are."""

from __future__ import annotations

from accordance.service.views.base import View


class EvidenceFileView(View):
    """A file of the evidence of an attempt."""

    name: str  # in the bundle
    bytes: int


class EvidenceView(View):
    """The evidence of an attempt, as files."""

    task_id: str
    attempt: int
    kind: str  # evidence, or product
    files: tuple[EvidenceFileView, ...]
