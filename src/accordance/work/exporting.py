"""What a plan has brought forth, as files: the approved products with their hashes, checked against the ledger."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from accordance.domain.lifecycle import State
from accordance.domain.naming import folder_name
from accordance.domain.records import ArtifactRecord, PlanRecord
from accordance.errors import Conflict
from accordance.project.home import write_file
from accordance.store.ledger import Transaction


def deliverables(
    tx: Transaction, plan: PlanRecord, *, candidates: bool = False
) -> list[ArtifactRecord]:
    """The approved version of each task's product; with `candidates`, the newest version of the others too."""
    newest: dict[str, ArtifactRecord] = {}
    for artifact in tx.find(ArtifactRecord, plan_id=plan.plan_id):
        if artifact.approved_at or (
            candidates and not _approved(newest.get(artifact.task_id))
        ):
            newest[artifact.task_id] = artifact
    return list(newest.values())


def _approved(artifact: ArtifactRecord | None) -> bool:
    return artifact is not None and artifact.approved_at is not None


def export_plan(
    tx: Transaction, plan: PlanRecord, to: Path, *, candidates: bool = False
) -> dict[str, Any]:
    """Write deliverables, manifest.json and plan.json into a folder; the manifest."""
    files = []
    for artifact in deliverables(tx, plan, candidates=candidates):
        content = tx.blob(artifact.sha256)
        if hashlib.sha256(content).hexdigest() != artifact.sha256:
            raise Conflict(
                f"{artifact.file_name} is not what was approved; see `accordance verify`"
            )
        path = f"artifacts/{folder_name(artifact.task_id)}/{artifact.file_name}"
        write_file(to / path, content)
        files.append(
            {
                "task_id": artifact.task_id,
                "title": tx.task(artifact.task_id).title,
                "path": path,
                "sha256": artifact.sha256,
                "version": artifact.version,
                "approved_at": artifact.approved_at,
            }
        )
    root = tx.progress(plan.root_task_id).state
    manifest = {
        "plan_id": plan.plan_id,
        "title": plan.title,
        "state": root,
        "is_complete": root is State.DONE,
        "head": {"seq": plan.head.seq, "hash": plan.head.hash},
        "files": files,
    }
    write_file(to / "plan.json", tx.blob(plan.document))
    write_file(
        to / "manifest.json",
        json.dumps(manifest, indent=2, ensure_ascii=False).encode(),
    )
    return manifest
