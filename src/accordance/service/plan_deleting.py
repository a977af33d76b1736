"""Deleting plans that are over."""

from __future__ import annotations

from pathlib import Path

from accordance.changes.workshop import workshop_of
from accordance.service.project import Project, find_plan
from accordance.service.views.deletions import DeletionView, EvidenceFolderView
from accordance.work import plan_deleting
from accordance.work.plan_deleting import Deletion


def preview_deletion(
    project: Project,
    name: str,
    *,
    removes_evidence: bool | None = None,
) -> DeletionView:
    """What deleting a plan would take away. Nothing is changed.

    Raises NotFound, UnfitPlanState.
    """
    with project.ledger.read() as tx:
        deletion = plan_deleting.prepare(
            tx,
            project.home,
            find_plan(tx, name).plan_id,
            removes_evidence=removes_evidence,
            evidence_days=project.home.settings().retention.evidence_days,
        )
    folders = _folder_views(project, deletion)
    return _deletion_view(deletion, folders, is_done=False)


def delete_plan(
    project: Project,
    name: str,
    *,
    by: str,
    reason: str | None = None,
    removes_evidence: bool | None = None,
) -> DeletionView:
    """Delete a plan that is over; a tombstone stays. Raises as the preview does."""
    preview = preview_deletion(project, name, removes_evidence=removes_evidence)
    deletion = plan_deleting.delete(
        project.ledger,
        project.home,
        preview.plan_id,
        by=by,
        reason=reason,
        removes_evidence=removes_evidence,
        evidence_days=project.home.settings().retention.evidence_days,
    )
    if deletion.removes_evidence:
        workshop_of(project.home).forget(preview.plan_id)
    return _deletion_view(deletion, preview.folders, is_done=True)


def _deletion_view(
    deletion: Deletion,
    folders: tuple[EvidenceFolderView, ...],
    *,
    is_done: bool,
) -> DeletionView:
    head = deletion.tombstone.head
    return DeletionView(
        plan_id=deletion.plan.plan_id,
        title=deletion.plan.title,
        state=deletion.state,
        events=head.seq,
        head=head.hash,
        evidence="removed" if deletion.removes_evidence else "kept",
        folders=folders,
        blobs=len(deletion.blobs),
        is_done=is_done,
    )


def _folder_views(
    project: Project, deletion: Deletion
) -> tuple[EvidenceFolderView, ...]:
    return tuple(_folder_view(project.home.root, folder) for folder in deletion.folders)


def _folder_view(root: Path, folder: Path) -> EvidenceFolderView:
    sizes = [path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()]
    path = folder.relative_to(root).as_posix()
    return EvidenceFolderView(
        path=path,
        files=len(sizes),
        bytes=sum(sizes),
    )
