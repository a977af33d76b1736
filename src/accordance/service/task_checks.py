"""Checking a message before it is handed in: by the contract of its task."""

from __future__ import annotations

from typing import Any

from accordance.api import check
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.service.contracts import check_view
from accordance.service.project import Project
from accordance.service.tasks import Taken
from accordance.service.views.contracts import CheckView
from accordance.work.coding_tasks import coding_task
from accordance.work.contracts_for import contract_of_message, review_context


def check_for_task(project: Project, taken: Taken, raw: bytes) -> CheckView:
    """Check a message by the contract of a task that was taken up.

    Nothing is handed in, and nothing is counted.
    """
    contract, context = _grounds(project, taken)
    return check_view(check(raw, contract, context))


def _grounds(project: Project, taken: Taken) -> tuple[Contract[Any], Context]:
    task = taken.task
    with project.ledger.read() as tx:
        if taken.kind == "review":
            subject = task.checks or task.task_id
            rubric = tx.plan(task.plan_id).rules.node_rubric
            contract = contract_of_message(tx, task, taken.kind, None)
            return contract, review_context(rubric, task_id=subject)
        change = coding_task(tx, task)
        contract = contract_of_message(tx, task, taken.kind, change)
    return contract, Context(task_id=task.task_id)
