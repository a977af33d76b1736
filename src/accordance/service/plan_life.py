"""What a person decides about a plan as a whole: approve, return, pause, cancel."""

from __future__ import annotations

from collections.abc import Sequence

from accordance.service.project import Project, plan_id_of
from accordance.service.views.plans import PlanView, plan_view
from accordance.work import plan_approval, plan_life


def approve_plan(
    project: Project,
    name: str | None,
    *,
    by: str,
    note: str | None = None,
) -> PlanView:
    """Let a plan begin that waits for its review. Raises UnfitPlanState."""
    plan_id = plan_id_of(project, name)
    plan = plan_approval.approve(project.ledger, plan_id, by=by, note=note)
    return plan_view(project.ledger, plan)


def return_plan(
    project: Project,
    name: str | None,
    *,
    by: str,
    reasons: Sequence[str],
) -> PlanView:
    """Return a plan, so that a better plan is imported. Raises UnfitPlanState."""
    plan_id = plan_id_of(project, name)
    plan = plan_approval.return_plan(project.ledger, plan_id, by=by, reasons=reasons)
    return plan_view(project.ledger, plan)


def pause_plan(
    project: Project,
    name: str | None,
    *,
    by: str,
    reason: str | None = None,
) -> PlanView:
    """Let nothing new begin in a plan. Raises UnfitPlanState."""
    plan_id = plan_id_of(project, name)
    plan = plan_life.pause(project.ledger, plan_id, by=by, reason=reason)
    return plan_view(project.ledger, plan)


def resume_plan(project: Project, name: str | None, *, by: str) -> PlanView:
    """Let a plan go on that was paused, or whose fuse has blown.

    Raises UnfitPlanState.
    """
    plan_id = plan_id_of(project, name)
    plan = plan_life.resume(project.ledger, plan_id, by=by)
    return plan_view(project.ledger, plan)


def cancel_plan(
    project: Project,
    name: str | None,
    *,
    by: str,
    reason: str | None = None,
) -> PlanView:
    """Abandon everything in a plan that is not done. Raises UnfitPlanState."""
    plan_id = plan_id_of(project, name)
    plan = plan_life.cancel(project.ledger, plan_id, by=by, reason=reason)
    return plan_view(project.ledger, plan)


def archive_plan(project: Project, name: str | None, *, by: str) -> PlanView:
    """Put a plan that is over out of sight. Raises UnfitPlanState."""
    plan_id = plan_id_of(project, name)
    plan = plan_life.archive(project.ledger, plan_id, by=by)
    return plan_view(project.ledger, plan)


def unarchive_plan(project: Project, name: str | None, *, by: str) -> PlanView:
    """Take a plan out of the archive. Raises UnfitPlanState."""
    plan_id = plan_id_of(project, name)
    plan = plan_life.unarchive(project.ledger, plan_id, by=by)
    return plan_view(project.ledger, plan)
