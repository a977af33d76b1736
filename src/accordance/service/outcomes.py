"""What a plan has come to."""

from __future__ import annotations

from accordance.changes.project_repository import repository_of
from accordance.service.project import Project
from accordance.service.views.runs import DeliverableView, OutcomeView
from accordance.service.views.tasks import artifact_path
from accordance.service.views.verdicts import verdicts_in
from accordance.work.exporting import deliverables
from accordance.work.plan_head import head_of
from accordance.workspace.branch import branch_name


def outcome_of(project: Project, plan_id: str) -> OutcomeView:
    """Return the approved products of a plan, its verdicts, and its branch."""
    home = project.home
    with project.ledger.read() as tx:
        plan = tx.plan(plan_id)
        changes_repository = head_of(tx, plan_id) is not None
        products = []
        for product in deliverables(tx, plan):
            title = tx.task(product.task_id).title
            path = artifact_path(home, product)
            products.append(DeliverableView(title=title, path=path))
        verdicts = verdicts_in(tx, plan)
    return OutcomeView(
        deliverables=tuple(products),
        verdicts=verdicts,
        branch=branch_name(plan_id) if changes_repository else None,
        repository=repository_of(home).address if changes_repository else None,
    )
