"""Exporting a plan: its approved products as files, checked against the ledger."""

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
    """Return the approved version of each task's product.

    With `candidates`, tasks without an approved version give their newest version.
    """
    chosen: dict[str, ArtifactRecord] = {}
    for artifact in tx.find(ArtifactRecord, plan_id=plan.plan_id):
        is_candidate = candidates and not _is_approved(chosen.get(artifact.task_id))
        if artifact.approved_at or is_candidate:
            chosen[artifact.task_id] = artifact
    return list(chosen.values())


def _is_approved(artifact: ArtifactRecord | None) -> bool:
    return artifact is not None and artifact.approved_at is not None


def export_plan(
    tx: Transaction, plan: PlanRecord, to: Path, *, candidates: bool = False
) -> dict[str, Any]:
    """Write deliverables, plan.json and manifest.json to a folder.

    Returns the manifest. Raises Conflict.
    """
    artifacts = deliverables(tx, plan, candidates=candidates)
    files = [_write_artifact(tx, artifact, to) for artifact in artifacts]

    state = tx.progress(plan.root_task_id).state
    manifest = {
        "plan_id": plan.plan_id,
        "title": plan.title,
        "state": state,
        "is_complete": state is State.DONE,
        "head": {"seq": plan.head.seq, "hash": plan.head.hash},
        "files": files,
    }
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    write_file(to / "plan.json", tx.blob(plan.document))
    write_file(to / "manifest.json", text.encode())
    return manifest


def _write_artifact(
    tx: Transaction, artifact: ArtifactRecord, to: Path
) -> dict[str, Any]:
    """Write an artifact below a folder; return its entry in the manifest."""
    content = tx.blob(artifact.sha256)
    if hashlib.sha256(content).hexdigest() != artifact.sha256:
        raise Conflict(
            f"{artifact.file_name} is not what was approved; see `accordance verify`"
        )

    path = f"artifacts/{folder_name(artifact.task_id)}/{artifact.file_name}"
    write_file(to / path, content)
    return {
        "task_id": artifact.task_id,
        "title": tx.task(artifact.task_id).title,
        "path": path,
        "sha256": artifact.sha256,
        "version": artifact.version,
        "approved_at": artifact.approved_at,
    }
