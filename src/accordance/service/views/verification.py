"""What was recomputed, and whether it holds."""

from __future__ import annotations

from accordance.service.views.base import View


class FindingsView(View):
    """What does not hold in the records of a plan, or of the ledger as a whole."""

    plan_id: str | None
    holds: bool
    events: int
    messages: int
    verdicts: int
    blobs: int
    integrity: tuple[str, ...]
    completeness: tuple[str, ...]
    notices: tuple[str, ...]


class VerificationView(View):
    """All that was recomputed, and the anchor it was held against."""

    findings: tuple[FindingsView, ...]
    anchored_at: str | None
    anchored_plans: int
    signature: str  # of the anchor, in words

    @property
    def holds(self) -> bool:
        """Whether everything does."""
        return all(findings.holds for findings in self.findings)


class AnchorView(View):
    """Where every chain of a ledger ends."""

    at: str
    plans: int
    root: str


class BundleView(View):
    """A bundle of evidence, judged again."""

    bundle: str
    holds: bool
    outcome: str | None
    reason_code: str | None
    signature: str
    faults: tuple[str, ...]
