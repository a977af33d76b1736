"""Recomputing what the ledger says, and writing down where its chains end."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from accordance.audit.anchoring import (
    Anchor,
    InvalidAnchor,
    anchor_file,
    anchor_of,
    compare_with,
    missing_plans,
    read_anchor,
)
from accordance.audit.findings import AuditFindings
from accordance.audit.verifying import verify_ledger, verify_plan
from accordance.service.project import Project, find_plan_id
from accordance.service.views.verification import (
    AnchorView,
    FindingsView,
    VerificationView,
)

__all__ = [
    "Anchored",
    "InvalidAnchor",
    "WrittenAnchor",
    "anchored",
    "verify",
    "write_anchor",
]


class Anchored(NamedTuple):
    """An anchor that was read, and what its signature is worth."""

    anchor: Anchor
    signature: str


def anchored(raw: bytes, public_key: Path | None = None) -> Anchored:
    """Read an anchor; with a key its signature must hold. Raises InvalidAnchor."""
    return Anchored(*read_anchor(raw, public_key))


def verify(
    project: Project,
    plan: str | None = None,
    against: Anchored | None = None,
) -> VerificationView:
    """Recompute one plan, or the whole ledger.

    Every chain of an anchor must still begin as it was then.
    """
    with project.ledger.read() as tx:
        if plan is None:
            findings = verify_ledger(tx, project.home.root)
        else:
            findings = [verify_plan(tx, find_plan_id(tx, plan), project.home.root)]
        if against is not None:
            compare_with(against.anchor, tx, findings)
            if plan is None:
                findings += missing_plans(against.anchor, findings)

    views = tuple(map(_findings_view, findings))
    if against is None:
        return VerificationView(
            findings=views,
            anchored_at=None,
            anchored_plans=0,
            signature="",
        )
    return VerificationView(
        findings=views,
        anchored_at=against.anchor.at,
        anchored_plans=len(against.anchor.plans),
        signature=against.signature,
    )


def _findings_view(findings: AuditFindings) -> FindingsView:
    return FindingsView(
        plan_id=findings.plan_id,
        holds=findings.holds,
        events=findings.events,
        messages=findings.messages,
        verdicts=findings.verdicts,
        blobs=findings.blobs,
        integrity=tuple(findings.integrity),
        completeness=tuple(findings.completeness),
        notices=tuple(findings.notices),
    )


class WrittenAnchor(NamedTuple):
    """An anchor as it is kept, and what it says."""

    text: str
    view: AnchorView


def write_anchor(project: Project, private_key: Path | None = None) -> WrittenAnchor:
    """Where every chain ends now; signed, if there is a key."""
    with project.ledger.read() as tx:
        anchor = anchor_of(tx)
    view = AnchorView(
        at=anchor.at,
        plans=len(anchor.plans),
        root=anchor.root,
    )
    return WrittenAnchor(anchor_file(anchor, private_key), view)
