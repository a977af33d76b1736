"""All that whoever does a task needs to know: the task, its contract, what came before, what was said about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from accordance.contracts.contract import Contract
from accordance.contracts.schemas import export_schema
from accordance.domain.faults import Fault, in_words
from accordance.domain.findings import listed
from accordance.domain.patch import patch_within
from accordance.domain.records import (
    ArtifactRecord,
    EvidenceRecord,
    MessageRecord,
    QuestionRecord,
    RequirementRecord,
    ReviewRecord,
    Rules,
    TaskRecord,
    VerdictRecord,
)
from accordance.domain.roles import Role
from accordance.domain.rubric import Rubric
from accordance.domain.ruling import BEHIND
from accordance.domain.sight import Sight
from accordance.project.home import Home
from accordance.project.policy import gateway_of
from accordance.store.ledger import Transaction
from accordance.work.change_evidence import reviewed_change
from accordance.work.coding_tasks import coding_task
from accordance.work.contracts_for import contract_of_message, method_of
from accordance.work.landing import is_behind
from accordance.work.plan_extras import constraints_of, wishes_for
from accordance.work.research_tasks import brief_of
from accordance.work.tasks import Taken

MERGE_CONFLICT: Final = "MERGE_CONFLICT"
MANY_VERDICTS: Final = 3  # that whoever changes a repository is told
MAX_LINE: Final = 300  # characters of each
_NOBODY: Final = Role(
    name="nobody", read=()
)  # a role that is not known any more reads nothing
MAX_TEXT: Final = 200_000  # characters of an artifact that are told in full; the rest is read from its file


def assignment(tx: Transaction, home: Home, taken: Taken) -> dict[str, Any]:
    """The assignment, as plain JSON, of somebody who took up a task and hands in by hand."""
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
    """The same, where the contract of the answer is known. `change` is the scc.task.v1 of an action that changes a repository."""
    task = taken.task
    plan = tx.plan(task.plan_id)
    subject = (
        task if taken.kind == "action" or task.checks is None else tx.task(task.checks)
    )
    sight = None if change is None else _sight(home, change)
    method = method_of(tx, task) if taken.kind == "action" else None
    attempt = task.progress.standing.counters.attempts
    return {
        "kind": taken.kind,
        "task": described(tx, task),
        **({"change": sight.told(json.loads(change))} if change and sight else {}),
        **({"research": method} if method else {}),
        "plan": {
            "plan_id": plan.plan_id,
            "title": plan.title,
            "constraints": constraints_of(tx, plan),
        },
        "attempt": attempt,
        "lease": {"holder": taken.lease.holder, "until": taken.lease.until},
        "contract": {
            "scope": contract.scope,
            "schema_version": contract.version,
            "task_id": subject.task_id,
            "schema": export_schema(contract).schema,
        },
        "context": {
            **_context(tx, home, subject, plan.rules, taken, sight),
            **({"history": _history(tx, task)} if change else {}),
        },
        "hand_in": [] if change else _hand_in(taken, subject, attempt),
    }


def with_conflict(document: dict[str, Any], paths: tuple[str, ...]) -> dict[str, Any]:
    """What is told, with the files on which the last change does not fit any more."""
    if not paths:
        return document
    context = document["context"]
    text = (
        f"{MERGE_CONFLICT}: your last change does not apply to the current state of {listed(list(paths))}; nothing of it is"
        " there: make it again on what you find"
    )
    return {
        **document,
        "context": {**context, "last_errors": [text, *context["last_errors"]]},
    }


def describe(task: TaskRecord) -> dict[str, Any]:
    """A task and where it stands, as plain JSON."""
    at = task.progress
    counters = at.standing.counters
    return {
        "task_id": task.task_id,
        "plan_id": task.plan_id,
        "node_type": task.node_type,
        "title": task.title,
        "goal_statement": task.goal_statement,
        "rationale": task.rationale,
        "owner_agent_id": task.owner_agent_id,
        "priority": task.priority,
        "tags": list(task.tags),
        "state": at.state,
        "waiting": at.standing.waiting,
        "active": at.active,
        "attempt_count": counters.attempt_count,
        "failures": counters.failures,
        "parse_failures": counters.parse_failures,
        "review_rounds": counters.review_rounds,
        "review_failures": counters.review_failures,
        "idle_rounds": counters.idle_rounds,
        "checks": task.checks,
        "artifact": task.product,
    }


def described(tx: Transaction, task: TaskRecord) -> dict[str, Any]:
    """A task with all that its plan asks of it."""
    return {**describe(task), **wishes_for(tx, task)}


def _hand_in(taken: Taken, subject: TaskRecord, attempt: int) -> list[str]:
    if taken.kind == "action":
        return [
            "accordance",
            "task",
            "submit",
            "-",
            "--task",
            subject.task_id,
            "--attempt",
            str(attempt),
        ]
    seen = ["--artifact", subject.product] if subject.product else []
    return ["accordance", "task", "review", "-", "--task", taken.task.task_id, *seen]


def _sight(home: Home, change: bytes) -> Sight:
    """What whoever makes a change may read."""
    asked = json.loads(change)
    roles = gateway_of(home.settings(), home.root).roles
    return Sight.of(asked, roles.get(asked["role"], _NOBODY))


def _context(
    tx: Transaction,
    home: Home,
    subject: TaskRecord,
    rules: Rules,
    taken: Taken,
    sight: Sight | None,
) -> dict[str, Any]:
    task = taken.task
    context: dict[str, Any] = {
        "goals": [tx.task(goal).title for goal in _above(tx, task.task_id)],
        "dependencies": _dependencies(tx, home, subject, sight),
        **_handed_over(tx, subject),
        "inputs": _inputs(tx, subject),
        "answers": _answers(tx, subject),
        "last_review": last_review(tx, subject.task_id),
    }
    if taken.kind == "review":
        products = tx.products(subject.task_id)
        context["product"] = _product(tx, home, products[-1]) if products else None
        context["reviewed_task"] = described(tx, subject)
        if (change := reviewed_change(tx, home.root, subject)) is not None:
            context["reviewed_change"] = change
        context["rubric"] = _rubric(rules.node_rubric)
    else:
        context["last_errors"] = _last_errors(tx, task)
    return context


def _above(tx: Transaction, task: str) -> list[str]:
    """The goals a task serves, the nearest first."""
    found: list[str] = []
    parents = tx.node(task).parents
    while parents and parents[0] not in found:
        found.append(parents[0])
        parents = tx.node(parents[0]).parents
    return found


def _dependencies(
    tx: Transaction, home: Home, task: TaskRecord, sight: Sight | None
) -> list[dict[str, Any]]:
    """What came before. Whoever changes a repository is shown other changes only as far as it may read."""
    told = []
    for one in tx.node(task.task_id).prerequisites:
        other = tx.task(one)
        products = tx.products(one)
        told.append(
            {
                "task_id": one,
                "title": other.title,
                "state": other.progress.state,
                "artifact": _product(tx, home, products[-1], sight)
                if products
                else None,
            }
        )
    return told


def _handed_over(tx: Transaction, task: TaskRecord) -> dict[str, Any]:
    """The answers a task builds on whose agents have no task in its plan: they had answered before it was made."""
    brief = brief_of(tx, task)
    return {"handed_over": dict(brief.answers)} if brief and brief.answers else {}


def _product(
    tx: Transaction, home: Home, artifact: ArtifactRecord, sight: Sight | None = None
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
    told = []
    for need in tx.find(RequirementRecord, task_id=task.task_id):
        for one in tx.find(
            EvidenceRecord,
            plan_id=task.plan_id,
            requirement_id=need.requirement_id,
            stale_at=None,
        ):
            path = (
                f"workspace/inputs/{one.reference}"
                if need.kind == "FILE"
                else one.reference
            )
            told.append(
                {
                    "name": need.name,
                    "kind": need.kind,
                    "reference": path,
                    "sha256": one.sha256,
                }
            )
    return told


def _answers(tx: Transaction, task: TaskRecord) -> list[dict[str, Any]]:
    return [
        {"question": one.text, "answer": dict(one.answer)}
        for one in tx.find(QuestionRecord, task_id=task.task_id)
        if one.answer and "closed_by" not in one.answer
    ]


def last_review(tx: Transaction, subject: str) -> dict[str, Any] | None:
    """The newest review, with its suggestions."""
    reviews = tx.find(ReviewRecord, subject=subject)
    if not reviews:
        return None
    said: dict[str, Any] = json.loads(tx.blob(reviews[-1].document))
    return {"artifact_sha256": reviews[-1].product, **said}


def _last_errors(tx: Transaction, task: TaskRecord) -> list[str]:
    """Why the last message was not taken, or the last change not accepted, and why no other has come since, if so."""
    if is_behind(tx, task):
        return [BEHIND]
    last, silent = None, None
    for one in tx.find(MessageRecord, subject=task.task_id):
        if "refused" in one.case:
            continue
        if one.kind in ("ACTION", "SUBMISSION"):
            last, silent = one, None
        elif (
            one.kind == "FAULT" and "product" not in one.case
        ):  # else it was its reviewer's
            silent = one
    return [
        *(_wrong_with(last) if last else ()),
        *(_silence(tx, silent) if silent else ()),
    ]


def _history(tx: Transaction, task: TaskRecord) -> list[str]:
    """What was decided about a task, the last few times."""
    by_name = {
        one.message_id: one for one in tx.find(MessageRecord, subject=task.task_id)
    }
    told = []
    for verdict in tx.find(VerdictRecord, subject=task.task_id)[-MANY_VERDICTS:]:
        message = by_name[verdict.message_id]
        why = f": {verdict.messages[0][:MAX_LINE]}" if verdict.messages else ""
        what = f"attempt {message.attempt}, {message.kind.lower()}"
        told.append(f"{what}: {verdict.outcome} {verdict.reason_code}{why}")
    return told


def _silence(tx: Transaction, message: MessageRecord) -> Iterator[str]:
    """A run without a message, in words."""
    report = json.loads(tx.blob(message.sha256))
    yield in_words(Fault(report["fault"]), report["text"])


def _wrong_with(last: MessageRecord) -> list[str]:
    if last.accepted and "tell" not in last.answer:
        return []
    told = last.answer.get("tell")
    lines = (
        [line.removeprefix("- ") for line in told.splitlines()]
        if isinstance(told, str)
        else None
    )
    said = lines or last.answer.get("messages", [])
    return [str(one) for one in said] if isinstance(said, list) else []


def _rubric(rubric: Rubric) -> dict[str, Any]:
    return {"approve_at": rubric.approve_at, "dimensions": dict(rubric.maxima)}
