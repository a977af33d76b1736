"""Taking the new base of a plan in."""

from __future__ import annotations

from accordance.changes.moved_base import moved_base
from accordance.changes.plan_rebasing import PlanRebase, RebasedPlan
from accordance.changes.remote_faults import RemoteCauses
from accordance.changes.workshop import Workshop, workshop_of
from accordance.runtime.going_on import go_on
from accordance.service.project import Project, find_plan
from accordance.service.views.plans import (
    PlanRebaseView,
    RebasedChangeView,
    RebasedTestView,
)
from accordance.store.ledger import Transaction
from accordance.work.plan_head import base_of, head_of, replaced_heads


def rebase_plan(
    project: Project,
    name: str | None,
    *,
    by: str,
    dry_run: bool = False,
) -> PlanRebaseView:
    """Put the changes of a plan on top of its moved base, and test them there.

    With `dry_run` that is only tried. Raises NotRebased if a change does not apply or a
    test fails, Conflict if the plan moves on meanwhile; then nothing was moved.
    """
    shop = workshop_of(project.home)
    shop.source.refresh(not_older=0)
    with project.ledger.read() as tx:
        plan = find_plan(tx, name)
        base = moved_base(tx, project.home, plan)
        if base is None:
            return _unmoved(tx, shop, plan.plan_id)

    rebase = PlanRebase(project.ledger, shop, plan.plan_id, base)
    rebased = rebase.prepare()
    problem = None
    if dry_run:
        rebase.drop(rebased)
    else:
        rebase.move(rebased, by)
        problem = _published(project, shop, plan.plan_id)
        go_on(project.ledger, RemoteCauses(shop), plan.plan_id, by=by)
    with project.ledger.read() as tx:
        view = _rebased_view(tx, plan.plan_id, rebased, is_done=not dry_run)
    return view.model_copy(update={"not_published": problem})


def _published(project: Project, shop: Workshop, plan_id: str) -> str | None:
    """Move the branch of a plan to its head; return why it cannot be moved, if so."""
    with project.ledger.read() as tx:
        head = head_of(tx, plan_id)
        replaced = replaced_heads(tx, plan_id)
    return None if head is None else shop.publish(plan_id, head, replaced)


def _unmoved(tx: Transaction, shop: Workshop, plan_id: str) -> PlanRebaseView:
    base, head = base_of(tx, plan_id), head_of(tx, plan_id)
    return PlanRebaseView(
        plan_id=plan_id,
        base=shop.base,
        has_moved=False,
        is_done=False,
        old_base=base,
        new_base=base,
        old_head=head,
        new_head=head,
    )


def _rebased_view(
    tx: Transaction,
    plan_id: str,
    rebased: RebasedPlan,
    *,
    is_done: bool,
) -> PlanRebaseView:
    base = rebased.base
    changes = [
        RebasedChangeView(
            task_id=after.task_id,
            title=tx.task(after.task_id).title,
            before=before.commit,
            after=after.commit,
        )
        for before, after in zip(
            rebased.before.changes, rebased.after.changes, strict=True
        )
    ]
    tests = [
        RebasedTestView(
            task_id=run.task_id,
            command=run.command,
            exit_code=run.exit_code,
        )
        for run in rebased.tests
    ]
    return PlanRebaseView(
        plan_id=plan_id,
        base=base.name,
        has_moved=True,
        is_done=is_done,
        old_base=base.before,
        new_base=base.now,
        old_head=base.head,
        new_head=rebased.head,
        changes=tuple(changes),
        tests=tuple(tests),
    )
