"""Bundles of evidence, judged again; that needs no ledger."""

from __future__ import annotations

from pathlib import Path

from accordance.judging.rejudging import is_bundle, rejudge
from accordance.service.views.verification import BundleView

__all__ = ["is_bundle", "verify_bundle"]


def verify_bundle(folder: Path, public_key: Path | None = None) -> BundleView:
    """Recompute every hash, the facts, the verdict; with a key, the signature.

    Raises BundleBroken.
    """
    again = rejudge(folder, public_key)
    verdict = None if again.judgement is None else again.judgement.verdict
    return BundleView(
        bundle=str(folder),
        holds=again.holds,
        outcome=verdict.outcome.value if verdict else None,
        reason_code=verdict.reason_code if verdict else None,
        signature=again.signature,
        faults=tuple(again.faults),
    )
