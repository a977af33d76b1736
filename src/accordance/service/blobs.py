"""The blobs of a ledger: how many there are, whether they hold, what can go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from accordance.domain.chain import ChainEntry, canonical
from accordance.domain.records import ArtifactRecord, FileRecord
from accordance.errors import BlobError
from accordance.service.project import Project
from accordance.service.views.blobs import (
    BlobCheckView,
    BlobFindingView,
    BlobStatusView,
    CollectionView,
)
from accordance.store.blobs.collecting import collect
from accordance.store.blobs.counting import check_stored, count_blobs
from accordance.store.ledger import Transaction
from accordance.store.seals import SEALS
from accordance.store.sql import SqlLedger
from accordance.work.kept_evidence import EVIDENCE_KEPT, evidence_of
from accordance.work.run_log import RAN
from accordance.workspace.errors import BundleBroken

_SECONDS_PER_HOUR: Final = 3600
_HASH: Final = re.compile(r"[0-9a-f]{64}")


def blob_status(project: Project) -> BlobStatusView:
    """Return where the blobs of a ledger lie, and whether that place answers."""
    ledger = _ledger(project)
    counts = count_blobs(ledger.engine)
    keeper = ledger.blobs
    problem = None
    place = keeper.store.place if keeper.store else "the database"
    try:
        ledger.check_store()
    except BlobError as error:
        problem = str(error)
    return BlobStatusView(
        store=place,
        is_reachable=problem is None,
        problem=problem,
        in_database=counts.in_database,
        bytes_in_database=counts.bytes_in_database,
        in_store=counts.in_store,
        bytes_in_store=counts.bytes_in_store,
        loose=counts.loose,
        inline_bytes=keeper.config.inline_bytes,
        grace_hours=keeper.config.grace_seconds / _SECONDS_PER_HOUR,
    )


def collect_blobs(project: Project, *, dry_run: bool = False) -> CollectionView:
    """Remove what nothing names and is older than the grace time. Raises BlobError."""
    ledger = _ledger(project)
    keeper = ledger.blobs
    done = collect(
        ledger.engine,
        keeper,
        grace_seconds=keeper.config.grace_seconds,
        dry_run=dry_run,
    )
    return CollectionView(
        removed=done.removed,
        young=done.young,
        unknown=done.unknown,
        is_done=not dry_run,
    )


def check_blobs(project: Project) -> BlobCheckView:
    """Read every blob in the store, and name those that do not hold.

    Raises BlobStoreUnavailable, BlobStoreForeign.
    """
    ledger = _ledger(project)
    checked = 0
    total = 0
    broken: dict[str, tuple[int, str]] = {}
    for blob, problem in check_stored(ledger.engine, ledger.blobs):
        checked += 1
        total += blob.size
        if problem is not None:
            broken[blob.sha256] = (blob.size, problem)

    users: dict[str, list[str]] = {name: [] for name in broken}
    if broken:
        with ledger.read() as tx:
            for sha256, user in _users(tx):
                if sha256 in users and user not in users[sha256]:
                    users[sha256].append(user)
    findings = [
        BlobFindingView(
            sha256=name,
            size=size,
            problem=problem,
            named_by=tuple(users[name]),
        )
        for name, (size, problem) in broken.items()
    ]
    return BlobCheckView(
        checked=checked,
        bytes=total,
        findings=tuple(findings),
    )


def _users(tx: Transaction) -> Iterator[tuple[str, str]]:
    """Yield blobs with the tasks and files that they are for."""
    for record in tx.find(FileRecord):
        yield record.sha256, f"the input {record.path}"
    for plan in tx.plans():
        for artifact in tx.find(ArtifactRecord, plan_id=plan.plan_id):
            about = f"task {artifact.task_id}: the artifact {artifact.file_name}"
            yield artifact.sha256, about
        for entry in tx.entries(plan.plan_id):
            yield from _users_in(tx, entry)


def _users_in(tx: Transaction, entry: ChainEntry) -> Iterator[tuple[str, str]]:
    payload: Mapping[str, Any] = entry.payload
    about = f"task {entry.task_id}, attempt {payload.get('attempt')}"
    if entry.kind == EVIDENCE_KEPT:
        manifest = str(payload["manifest"])
        yield manifest, f"{about}: the evidence file manifest.json"
        try:
            evidence = evidence_of(tx, str(entry.task_id), manifest)
        except (BundleBroken, BlobError):
            return
        for path, blob in evidence.files.items() if evidence else ():
            yield blob.sha256, f"{about}: the evidence file {path}"
    elif entry.kind == RAN:
        for name, (sha256, _) in payload.get("logs", {}).items():
            yield sha256, f"{about}: the log {name}"
    elif entry.kind not in SEALS:
        for sha256 in _HASH.findall(canonical(payload)):
            yield sha256, f"event {entry.seq} ({entry.kind}) of task {entry.task_id}"


def _ledger(project: Project) -> SqlLedger:
    assert isinstance(project.ledger, SqlLedger)  # noqa: S101 - projects are opened on databases
    return project.ledger
