"""Bundles of evidence, judged again; that needs no ledger."""

from __future__ import annotations

from pathlib import Path

from accordance.errors import InvalidSettings, LedgerError
from accordance.judging.rejudging import is_bundle, rejudge
from accordance.project.home import InvalidHome
from accordance.service.views.verification import BundleView

__all__ = ["fetched", "is_bundle", "verify_bundle"]


def fetched(folder: Path) -> bool:
    """Whether a folder is a bundle, or has become a bundle now that the ledger's copy was fetched.

    Raises BlobError, BundleBroken.
    """
    if is_bundle(folder):
        return True
    from accordance.domain.records import MessageRecord
    from accordance.service.project import open_project
    from accordance.work.kept_evidence import fetch_evidence

    place = folder.absolute()
    try:
        with open_project(place.parent) as project, project.ledger.read() as tx:
            bundle = place.relative_to(project.home.root).as_posix()
            for message in tx.find(MessageRecord, kind="SUBMISSION"):
                if message.case.get("bundle") == bundle:
                    fetch_evidence(tx, project.home.root, message)
    except (LedgerError, InvalidHome, InvalidSettings, ValueError):
        return False  # there is no project that could have it
    return is_bundle(folder)


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
