"""The checks of a task, attempt by attempt: what passed, what failed, what never ran."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
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
    for check in _checks(task, columns.values()):
        cells = []
        for attempt, column in columns.items():
            cell = column.get(check, _NOT_RUN)
            cells.append(_checked(attempt, cell))
        yield CheckRowView(
            check=check,
            question=_QUESTIONS[check],
            attempts=tuple(cells),
        )


def _checks(task: TaskRecord, columns: Collection[_Column]) -> list[str]:
    """Return the checks that a task has, in their order.

    A change is judged by the gates. It has a message of its own only where a run failed.
    """
    if TAG not in task.tags:
        checks = [*_OF_MESSAGES]
    elif any("message" in column for column in columns):
        checks = ["message", *Gate]
    else:
        checks = [*Gate]

    was_reviewed = any(column["review"].result != NOT_RUN for column in columns)
    if task.is_checked or was_reviewed:
        checks.append("review")
    return checks


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
    answer = message.answer
    code = _text(answer.get("reason_code"))
    texts = _texts(answer.get("messages"))
    passed = _Cell(PASSED)
    failed = _Cell(FAILED, code, texts)
    if not message.accepted:
        return {"message": passed, "contract": failed}
    is_done = answer.get("outcome") in (None, "DONE")
    return {
        "message": passed,
        "contract": passed,
        "result": passed if is_done else failed,
    }


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
    action = reviews[-1].action_required
    if action == "APPROVE":
        return _Cell(PASSED, None, texts)
    return _Cell(FAILED, action, texts)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        return ()
    return tuple(map(str, value))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
