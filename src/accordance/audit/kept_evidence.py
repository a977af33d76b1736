"""Checking the evidence of changes, wherever it lies: file by file, by its hashes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from accordance.audit.findings import AuditFindings, check_blob
from accordance.domain.chain import ChainEntry
from accordance.domain.records import MessageRecord
from accordance.errors import BlobChanged, BlobMissing, NotFound
from accordance.judging.rejudging import is_bundle
from accordance.store.ledger import Transaction
from accordance.work.kept_evidence import evidence_of, restore
from accordance.workspace.errors import BundleBroken


@contextmanager
def evidence_below(
    tx: Transaction,
    root: Path | None,
    message: MessageRecord,
    label: str,
    findings: AuditFindings,
) -> Iterator[Path | None]:
    """Yield a folder that has the evidence of a change below it, as the project has.

    Where the project folder does not have it, it is fetched for the while. None, with a
    finding, if it is nowhere.
    """
    bundle = str(message.case["bundle"])
    if root is not None and is_bundle(root / bundle):
        yield root
        return

    with tempfile.TemporaryDirectory(prefix="accordance-evidence-") as folder:
        fetched = Path(folder)
        is_whole = False
        try:
            manifest = str(message.case["manifest"])
            evidence = evidence_of(tx, message.subject, manifest)
            if evidence is None:
                findings.missing(f"{label}: the evidence in {bundle} is not there")
            else:
                restore(tx, evidence, fetched / bundle)
                is_whole = True
        except (BlobMissing, BlobChanged, NotFound, BundleBroken) as error:
            findings.broken(f"{label}: its evidence cannot be read ({error})")
        yield fetched if is_whole else None


def check_evidence(tx: Transaction, entry: ChainEntry, findings: AuditFindings) -> None:
    """Check every file of the evidence that an event names."""
    attempt = entry.payload.get("attempt")
    label = f"task {entry.task_id}, attempt {attempt}: the evidence"
    manifest = str(entry.payload.get("manifest"))
    if not check_blob(tx, manifest, f"{label} file manifest.json", findings):
        return
    try:
        evidence = evidence_of(tx, str(entry.task_id), manifest)
    except BundleBroken as error:
        findings.broken(f"{label} cannot be read ({error})")
        return
    for path, blob in evidence.files.items() if evidence else ():
        check_blob(tx, blob.sha256, f"{label} file {path}", findings)
