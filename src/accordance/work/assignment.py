"""The assignment: all that the worker on a task needs to know, as plain JSON.

It holds the task, the contract of the answer, what came before, and what was wrong with
earlier attempts.
"""

from __future__ import annotations

import json
from typing import Any, Final

from accordance.contracts.contract import Contract
from accordance.contracts.schemas import export_schema
from accordance.domain.findings import listed
from accordance.domain.patch import patch_within
from accordance.domain.records import (
    ArtifactRecord,
    EvidenceRecord,
    QuestionRecord,
    RequirementRecord,
    Rules,
    TaskRecord,
)
from accordance.domain.roles import AgentRole
from accordance.domain.rubric import Rubric
from accordance.domain.sight import Sight
from accordance.project.home import Home
from accordance.project.policy import gateway_of
from accordance.store.ledger import Transaction
from accordance.work.change_evidence import reviewed_change
from accordance.work.coding_tasks import coding_task
from accordance.work.contracts_for import contract_of_message, method_of
from accordance.work.earlier_attempts import last_errors, last_review, verdict_history
from accordance.work.plan_extras import constraints_of
from accordance.work.research_tasks import brief_of
from accordance.work.taking import Taken
from accordance.work.task_description import described

MERGE_CONFLICT: Final = "MERGE_CONFLICT"
MAX_TEXT: Final = 200_000
"""Characters of an artifact that are shown; the rest is read from its file."""
_UNKNOWN_ROLE: Final = AgentRole(name="nobody", read=())
"""Stands for a role that is no longer configured: it may read nothing."""


def assignment(tx: Transaction, home: Home, taken: Taken) -> dict[str, Any]:
    """Return the assignment of a worker who takes up a task and hands in by hand."""
    change = coding_task(tx, taken.task) if taken.kind == "action" else None
    contract = contract_of_message(tx, taken.task, taken.kind, change)
    return assignment_under(tx, home, taken, contract, change)


def assignment_under(
    tx: Transaction,
    home: Home,
    taken: Taken,
    contract: Contract[Any],
    change: bytes | None,
) -> dict[str, Any]:
    """Return the assignment of a worker whose answer has a given contract.

    `change` is the scc.task.v1 of an action that changes a repository.
    """
    task = taken.task
    plan = tx.plan(task.plan_id)
    subject = _subject(tx, taken)
    sight = None if change is None else _sight(home, change)
    context = _context(tx, home, subject, plan.rules, taken, sight)

    document: dict[str, Any] = {"kind": taken.kind, "task": described(tx, task)}
    if change and sight:
        document["change"] = sight.shown_task(json.loads(change))
        context["history"] = verdict_history(tx, task)
    method = method_of(tx, task) if taken.kind == "action" else None
    if method:
        document["research"] = method

    return {
        **document,
        "plan": {
            "plan_id": plan.plan_id,
            "title": plan.title,
            "constraints": constraints_of(tx, plan),
        },
        "attempt": taken.attempt,
        "lease": {"holder": taken.lease.holder, "until": taken.lease.until},
        "contract": {
            "scope": contract.scope,
            "schema_version": contract.version,
            "task_id": subject.task_id,
            "schema": export_schema(contract).schema,
        },
        "context": context,
        "hand_in": [] if change else _hand_in(taken, subject),
    }


def _subject(tx: Transaction, taken: Taken) -> TaskRecord:
    """The task the answer is about: for a CHECK, the task it reviews."""
    if taken.kind == "review" and taken.task.checks is not None:
        return tx.task(taken.task.checks)
    return taken.task


def with_conflict(document: dict[str, Any], paths: tuple[str, ...]) -> dict[str, Any]:
    """Add to an assignment the files to which the last change no longer applies."""
    if not paths:
        return document

    error = (
        f"{MERGE_CONFLICT}: your last change does not apply to the current state of"
        f" {listed(list(paths))}; nothing of it is there: make it again on what you"
        " find"
    )
    context = document["context"]
    errors = [error, *context["last_errors"]]
    return {**document, "context": {**context, "last_errors": errors}}


def _hand_in(taken: Taken, subject: TaskRecord) -> list[str]:
    """The command that hands in the answer."""
    if taken.kind == "action":
        options = ["--task", subject.task_id, "--attempt", str(taken.attempt)]
        return ["accordance", "task", "submit", "-", *options]

    options = ["--task", taken.task.task_id]
    if subject.product:
        options += ["--artifact", subject.product]
    return ["accordance", "task", "review", "-", *options]


def _sight(home: Home, change: bytes) -> Sight:
    """What the worker on a change may read."""
    coding = json.loads(change)
    roles = gateway_of(home.settings(), home.root).roles
    role = roles.get(coding["role"], _UNKNOWN_ROLE)
    return Sight.of(coding, role)


# -- the context


def _context(
    tx: Transaction,
    home: Home,
    subject: TaskRecord,
    rules: Rules,
    taken: Taken,
    sight: Sight | None,
) -> dict[str, Any]:
    goals = _goals_above(tx, taken.task.task_id)
    context: dict[str, Any] = {
        "goals": [tx.task(goal).title for goal in goals],
        "dependencies": _dependencies(tx, home, subject, sight),
        **_handed_over(tx, subject),
        "inputs": _inputs(tx, subject),
        "answers": _answers(tx, subject),
        "last_review": last_review(tx, subject.task_id),
    }
    if taken.kind == "review":
        context.update(_review_context(tx, home, subject, rules))
    else:
        context["last_errors"] = last_errors(tx, taken.task)
    return context


def _review_context(
    tx: Transaction, home: Home, subject: TaskRecord, rules: Rules
) -> dict[str, Any]:
    context: dict[str, Any] = {
        "product": _last_product(tx, home, subject.task_id),
        "reviewed_task": described(tx, subject),
    }
    change = reviewed_change(tx, home.root, subject)
    if change is not None:
        context["reviewed_change"] = change
    context["rubric"] = _rubric(rules.node_rubric)
    return context


def _rubric(rubric: Rubric) -> dict[str, Any]:
    return {"approve_at": rubric.approve_at, "dimensions": dict(rubric.maxima)}


def _goals_above(tx: Transaction, task_id: str) -> list[str]:
    """The goals a task serves, the nearest first."""
    goals: list[str] = []
    parents = tx.node(task_id).parents
    while parents and parents[0] not in goals:
        goals.append(parents[0])
        parents = tx.node(parents[0]).parents
    return goals


def _dependencies(
    tx: Transaction, home: Home, task: TaskRecord, sight: Sight | None
) -> list[dict[str, Any]]:
    """The tasks that came before, with their products.

    The worker on a change sees of other changes only what it may read.
    """
    dependencies = []
    for task_id in tx.node(task.task_id).prerequisites:
        prerequisite = tx.task(task_id)
        dependencies.append(
            {
                "task_id": task_id,
                "title": prerequisite.title,
                "state": prerequisite.progress.state,
                "artifact": _last_product(tx, home, task_id, sight),
            }
        )
    return dependencies


def _handed_over(tx: Transaction, task: TaskRecord) -> dict[str, Any]:
    """The answers a task builds on that were given before its plan was made."""
    brief = brief_of(tx, task)
    if brief is None or not brief.answers:
        return {}
    return {"handed_over": dict(brief.answers)}


def _last_product(
    tx: Transaction, home: Home, task_id: str, sight: Sight | None = None
) -> dict[str, Any] | None:
    products = tx.products(task_id)
    if not products:
        return None
    return _product(tx, home, products[-1], sight)


def _product(
    tx: Transaction, home: Home, artifact: ArtifactRecord, sight: Sight | None
) -> dict[str, Any]:
    raw = tx.blob(artifact.sha256)
    content = raw.decode("utf-8", "replace")  # a patch shows files of any encoding
    if sight is not None and artifact.format == "diff":
        content = patch_within(content, sight.may_be_shown)

    path = home.artifacts(artifact.task_id) / artifact.file_name
    return {
        "name": artifact.name,
        "format": artifact.format,
        "version": artifact.version,
        "sha256": artifact.sha256,
        "path": str(path.relative_to(home.root)),
        "summary": artifact.summary,
        "content": content[:MAX_TEXT],
        "is_cut": len(content) > MAX_TEXT,
        "bytes": len(raw),
    }


def _inputs(tx: Transaction, task: TaskRecord) -> list[dict[str, Any]]:
    """The inputs of a task: the evidence that answers its requirements."""
    inputs = []
    for need in tx.find(RequirementRecord, task_id=task.task_id):
        evidence = tx.find(
            EvidenceRecord,
            plan_id=task.plan_id,
            requirement_id=need.requirement_id,
            stale_at=None,
        )
        for item in evidence:
            reference = item.reference
            if need.kind == "FILE":
                reference = f"workspace/inputs/{reference}"
            inputs.append(
                {
                    "name": need.name,
                    "kind": need.kind,
                    "reference": reference,
                    "sha256": item.sha256,
                }
            )
    return inputs


def _answers(tx: Transaction, task: TaskRecord) -> list[dict[str, Any]]:
    """What people answered to the questions of a task."""
    return [
        {"question": question.text, "answer": dict(question.answer)}
        for question in tx.find(QuestionRecord, task_id=task.task_id)
        if question.answer and "closed_by" not in question.answer
    ]
