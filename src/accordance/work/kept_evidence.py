"""The evidence of judged changes, kept with the ledger, so that any machine can have it.

A bundle is kept file by file: its manifest names each by its hash, and the chain of
events names the manifest. The folder below the project is only a copy.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from accordance.domain.blobs import Blob
from accordance.domain.records import MessageRecord
from accordance.errors import NotFound
from accordance.store.ledger import Ledger, Transaction
from accordance.work.fetched_files import fetch_file
from accordance.workspace.bundle import ATTESTATION, MANIFEST, bundle_files
from accordance.workspace.errors import BundleBroken

EVIDENCE_KEPT: Final = "EVIDENCE_KEPT"
"""The event that names the evidence of a run, before it is known whether it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """Whose evidence it is."""

    plan_id: str
    task_id: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEvidence:
    """A bundle as the ledger has it."""

    manifest: str  # its hash
    files: Mapping[str, Blob]  # by their path in the bundle
    folders: tuple[str, ...] = ()  # that hold no file


# -- keeping


def keep_evidence(ledger: Ledger, folder: Path, run: JudgedRun) -> None:
    """Keep all files of a bundle. Raises BlobError, BundleBroken, OSError.

    Large files are moved before the transaction; the plan is only held while the event
    is written.
    """
    manifest = ledger.put(folder / MANIFEST)
    blobs = [manifest]
    for file in bundle_files(folder):
        kept = ledger.put(file.place)
        if kept.sha256 != file.sha256:
            raise BundleBroken(f"{file.path} in {folder} changed while it was kept")
        blobs.append(kept)

    payload: dict[str, Any] = {"attempt": run.attempt, "manifest": manifest.sha256}
    attestation = folder / ATTESTATION
    if attestation.is_file():
        signature = ledger.put(attestation)
        blobs.append(signature)
        payload["attestation"] = [signature.sha256, signature.size]
    folders = list(_empty_folders(folder))
    if folders:
        payload["folders"] = folders

    with ledger.write() as tx:
        for blob in blobs:
            tx.keep_blob(blob)
        tx.lock(run.plan_id)
        tx.record(run.plan_id, EVIDENCE_KEPT, run.task_id, payload)


def _empty_folders(folder: Path) -> Iterator[str]:
    for place in sorted(folder.rglob("*")):
        if place.is_dir() and not any(place.iterdir()):
            yield place.relative_to(folder).as_posix()


# -- reading


def evidence_of(tx: Transaction, task_id: str, manifest: str) -> KeptEvidence | None:
    """Return the evidence with that manifest; None if the ledger does not have it.

    Raises BundleBroken if its manifest cannot be read, BlobError.
    """
    for entry in tx.entries_of(task_id):
        payload: Mapping[str, Any] = entry.payload
        if entry.kind == EVIDENCE_KEPT and payload.get("manifest") == manifest:
            return _evidence(tx, payload)
    return None


def _evidence(tx: Transaction, payload: Mapping[str, Any]) -> KeptEvidence:
    manifest = str(payload["manifest"])
    try:
        raw = tx.blob(manifest)
        listed = json.loads(raw)["files"].items()
        files = {path: Blob(item["sha256"], item["size"]) for path, item in listed}
    except (NotFound, ValueError, KeyError, TypeError, AttributeError):
        raise BundleBroken(
            f"the manifest of the evidence (blob {manifest[:12]}) cannot be read"
        ) from None

    files[MANIFEST] = Blob(manifest, len(raw))
    if "attestation" in payload:
        files[ATTESTATION] = Blob(*payload["attestation"])
    return KeptEvidence(
        manifest=manifest, files=files, folders=tuple(payload.get("folders", ()))
    )


def kept_file(tx: Transaction, task_id: str, manifest: str, path: str) -> bytes | None:
    """Return a file of kept evidence; None if there is none. Raises BlobError."""
    evidence = evidence_of(tx, task_id, manifest)
    if evidence is None or path not in evidence.files:
        return None
    return tx.blob(evidence.files[path].sha256)


# -- copies


def fetch_evidence(tx: Transaction, root: Path, message: MessageRecord) -> Path:
    """Return the folder with the evidence of a change, fetched if it is not there.

    Another bundle in its place is laid aside: it does not count. The folder is missing
    if the ledger does not have the evidence either. Raises BlobError, BundleBroken.
    """
    case: Mapping[str, Any] = message.case
    folder = root / str(case["bundle"])
    manifest = str(case["manifest"])
    if _manifest_in(folder) == manifest:
        return folder
    evidence = evidence_of(tx, message.subject, manifest)
    if evidence is None:
        return folder

    aside = folder.with_name(f"{folder.name}-fetched-{secrets.token_hex(8)}")
    try:
        restore(tx, evidence, aside)
        if folder.exists():
            folder.rename(folder.with_name(f"{folder.name}-cut-{secrets.token_hex(4)}"))
        with contextlib.suppress(OSError):  # another process was faster
            aside.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def _manifest_in(folder: Path) -> str | None:
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    except OSError:
        return None


def restore(tx: Transaction, evidence: KeptEvidence, folder: Path) -> None:
    """Write kept evidence to a new folder. Raises BlobError, BundleBroken."""
    for name in evidence.folders:
        _place(folder, name).mkdir(parents=True, exist_ok=True)
    for path, blob in evidence.files.items():
        fetch_file(tx, blob.sha256, _place(folder, path))


def _place(folder: Path, path: str) -> Path:
    """Where a file of a bundle goes. Raises BundleBroken if that is outside."""
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or path.startswith("/"):
        raise BundleBroken(f"{path!r} is no path in a bundle")
    return folder.joinpath(*parts)
