"""The checks of a task, attempt by attempt: what passed, what failed, what never ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from accordance.domain.findings import Gate
from accordance.domain.records import MessageRecord, ReviewRecord, TaskRecord
from accordance.service.project import Project, find_task
from accordance.service.task_stories import attempts_of, bundle_of
from accordance.service.views.stories import AttemptStoryView
from accordance.service.views.task_pages import (
    CheckedAttemptView,
    CheckedView,
    CheckRowView,
    MatrixView,
)
from accordance.store.ledger import Transaction
from accordance.work.coding_keys import TAG

PASSED: Final = "passed"
FAILED: Final = "failed"
NOT_RUN: Final = "not_run"
UNKNOWN: Final = "unknown"

_QUESTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "message": "Did the run end with a message?",
        "contract": "Does the message honour its contract?",
        "result": "Does the agent itself say that it is done?",
        "review": "Does the review approve the product?",
        Gate.SCHEMA: "Does the submission honour its contract?",
        Gate.CONSTITUTION: "Was a rule broken that no task can lift?",
        Gate.POLICY: "Was anything used that is not permitted?",
        Gate.SCOPE: "Was anything touched outside the pins?",
        Gate.ENVIRONMENT: "Could the tests be run at all?",
        Gate.BUDGET: "Did it cost more than it may?",
        Gate.NEED_INPUT: "Does the agent ask for something?",
        Gate.EVIDENCE: "Are the artifacts there, and are they true?",
        Gate.FILE_MATCH: "Is what was declared what was changed?",
        Gate.TESTS: "Did every test pass in our own run?",
        Gate.STATUS: "Does the agent itself say that it is done?",
    }
)
_OF_MESSAGES: Final = ("message", "contract", "result")


@dataclass(frozen=True, slots=True)
class _Cell:
    """What became of a check."""

    result: str
    reason_code: str | None = None
    messages: tuple[str, ...] = ()


_Column: TypeAlias = Mapping[str, _Cell]
_NOT_RUN: Final = _Cell(NOT_RUN)


def task_matrix(project: Project, name: str) -> MatrixView:
    """Return what became of every check in every attempt."""
    with project.ledger.read() as tx:
        task = find_task(tx, name)
        attempts = attempts_of(tx, project.home, task)
        messages = tx.find(MessageRecord, subject=task.task_id)
        reviews = _reviews_by_attempt(tx, task)

    columns = {}
    for story in attempts:
        of_attempt = [each for each in messages if each.attempt == story.attempt]
        columns[story.attempt] = {
            **_column(project, task, story, of_attempt),
            "review": _review_cell(reviews.get(story.attempt, ())),
        }
    return MatrixView(
        task_id=task.task_id,
        attempts=tuple(_head(story) for story in attempts),
        checks=tuple(_rows(task, columns)),
    )


def _head(story: AttemptStoryView) -> CheckedAttemptView:
    return CheckedAttemptView(
        attempt=story.attempt,
        outcome=story.outcome,
        reason_code=story.reason_code,
        reason=story.reason,
    )


def _rows(task: TaskRecord, columns: Mapping[int, _Column]) -> Iterator[CheckRowView]:
    checks: list[str] = list(Gate) if TAG in task.tags else list(_OF_MESSAGES)
    if TAG in task.tags and any("message" in column for column in columns.values()):
        checks.insert(0, "message")
    if task.is_checked or any(
        column["review"].result != NOT_RUN for column in columns.values()
    ):
        checks.append("review")
    for check in checks:
        yield CheckRowView(
            check=check,
            question=_QUESTIONS[check],
            attempts=tuple(
                _checked(attempt, column.get(check, _NOT_RUN))
                for attempt, column in columns.items()
            ),
        )


def _checked(attempt: int, cell: _Cell) -> CheckedView:
    return CheckedView(
        attempt=attempt,
        result=cell.result,
        reason_code=cell.reason_code,
        messages=cell.messages,
    )


# -- the columns


def _column(
    project: Project,
    task: TaskRecord,
    story: AttemptStoryView,
    messages: Sequence[MessageRecord],
) -> dict[str, _Cell]:
    deciding = [each for each in messages if _decides(task, each)]
    if not deciding:
        return {}
    message = deciding[-1]
    if message.kind == "FAULT":
        return {"message": _Cell(FAILED, story.reason_code, story.messages)}
    if "bundle" in message.case:
        return _gates(project, message)
    return _of_message(message)


def _decides(task: TaskRecord, message: MessageRecord) -> bool:
    """Whether a message is of the attempt itself, and not of its reviewer."""
    is_of_reviewer = message.kind == "REVIEW" or "product" in message.case
    is_own = task.checks is not None or not is_of_reviewer
    return is_own and "refused" not in message.case


def _of_message(message: MessageRecord) -> dict[str, _Cell]:
    column = {"message": _Cell(PASSED)}
    answer = message.answer
    code = answer.get("reason_code")
    texts = _texts(answer.get("messages"))
    if not message.accepted:
        return {**column, "contract": _Cell(FAILED, _text(code), texts)}
    column["contract"] = _Cell(PASSED)
    is_over = answer.get("outcome") in (None, "DONE")
    column["result"] = _Cell(PASSED) if is_over else _Cell(FAILED, _text(code), texts)
    return column


def _gates(project: Project, message: MessageRecord) -> dict[str, _Cell]:
    """Return the findings of each gate, as the judgement in the evidence says them."""
    bundle = bundle_of(project.home, message)
    findings = None if bundle is None else bundle.findings()
    if findings is None:
        return dict.fromkeys(Gate, _Cell(UNKNOWN))
    return {gate: _gate_cell(findings.get(gate, ())) for gate in Gate}


def _gate_cell(findings: Sequence[tuple[str, str]]) -> _Cell:
    if not findings:
        return _Cell(PASSED)
    texts = tuple(text for _, text in findings)
    return _Cell(FAILED, findings[0][0], texts)


def _reviews_by_attempt(
    tx: Transaction, task: TaskRecord
) -> Mapping[int, Sequence[ReviewRecord]]:
    attempt_of = {
        message.message_id: message.attempt
        for message in tx.find(MessageRecord, subject=task.task_id, kind="REVIEW")
    }
    by_attempt: dict[int, list[ReviewRecord]] = {}
    for review in tx.find(ReviewRecord, subject=task.task_id):
        attempt = attempt_of.get(review.message_id)
        if attempt is not None:
            by_attempt.setdefault(attempt, []).append(review)
    return by_attempt


def _review_cell(reviews: Sequence[ReviewRecord]) -> _Cell:
    if not reviews:
        return _NOT_RUN
    texts = tuple(
        f"{review.action_required}, {review.total_score} of 100" for review in reviews
    )
    approved = reviews[-1].action_required == "APPROVE"
    code = None if approved else reviews[-1].action_required
    return _Cell(PASSED if approved else FAILED, code, texts)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
