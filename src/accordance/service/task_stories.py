"""The story of a task: each attempt with who, when, cost, verdict and evidence."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from accordance.domain.chain import ChainEntry
from accordance.domain.lifecycle import Event, State
from accordance.domain.records import (
    ArtifactRecord,
    MessageRecord,
    RequirementRecord,
    ReviewRecord,
    TaskRecord,
)
from accordance.domain.spending import total
from accordance.errors import BlobError, CannotWrite
from accordance.project.home import Home
from accordance.service.attempt_evidence import Bundle, failing_tests, run_logs
from accordance.service.damage import blaming_the_ledger
from accordance.service.views.spending import SpendingView, spending_view
from accordance.service.views.stories import AttemptStoryView
from accordance.service.views.tasks import ReviewView, artifact_path, review_view
from accordance.store.ledger import Transaction
from accordance.work.inputs import is_met
from accordance.work.lease_times import seconds_between
from accordance.work.run_log import RunRecord, runs_in, spending_of

_ATTEMPT_BEGINS: Final = (Event.CLAIMED, Event.ASKED_AGAIN)
_MILLISECONDS: Final = 1000


@dataclass(frozen=True, slots=True)
class _Begun:
    """An attempt that began, and who took the task up."""

    number: int
    at: str
    holder: str | None


def attempts_of(
    tx: Transaction,
    home: Home,
    task: TaskRecord,
) -> tuple[AttemptStoryView, ...]:
    """Return the story of every attempt at a task, in their order.

    Raises LedgerDamaged.
    """
    entries = tx.entries_of(task.task_id)
    products = tx.products(task.task_id)
    with blaming_the_ledger(f"the attempts of {task.task_id}"):
        messages = _last_messages(tx, task)
        _fetch_bundles(tx, home, messages.values())
        story = _Story(
            home=home,
            task=task,
            runs=tuple(runs_in(entries)),
            messages=messages,
            products={product.attempt: product for product in products},
        )
        return tuple(story.attempt(begun) for begun in _begun_attempts(entries))


def _begun_attempts(entries: Iterable[ChainEntry]) -> list[_Begun]:
    begun: list[_Begun] = []
    for entry in entries:
        if entry.kind not in _ATTEMPT_BEGINS:
            continue
        holder = entry.payload.get("holder")
        if holder is None and begun:
            holder = begun[-1].holder  # asked again within the same run
        name = None if holder is None else str(holder)
        begun.append(_Begun(len(begun) + 1, entry.at, name))
    return begun


def _last_messages(tx: Transaction, task: TaskRecord) -> dict[int, MessageRecord]:
    """Return the message that decided each attempt, by attempt.

    Reviews of the product, and reviewers' faults, are no part of the attempt, unless
    the task is itself a check.
    """
    kept: dict[int, MessageRecord] = {}
    for message in tx.find(MessageRecord, subject=task.task_id):
        is_of_reviewer = message.kind == "REVIEW" or "product" in message.case
        if is_of_reviewer and task.checks is None:
            continue
        if "refused" not in message.case:
            kept[message.attempt] = message
    return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class _Story:
    """What the ledger knows about a task, for telling its attempts."""

    home: Home
    task: TaskRecord
    runs: tuple[RunRecord, ...]
    messages: Mapping[int, MessageRecord]
    products: Mapping[int, ArtifactRecord]

    def attempt(self, begun: _Begun) -> AttemptStoryView:
        """Return the story of an attempt."""
        number = begun.number
        kind = "review" if self.task.checks else "action"
        runs = self._runs_of(kind, number)
        last = runs[-1] if runs else None
        reports = [run.report for run in runs if run.report is not None]
        message = self.messages.get(number)
        answer = message.answer if message else {}
        reasons = _texts(answer.get("messages"))
        bundle = bundle_of(self.home, message) if message else None
        failing, more = failing_tests(bundle) if bundle else ((), 0)
        return AttemptStoryView(
            attempt=number,
            holder=begun.holder,
            executor=last.executor if last else None,
            model=last.model if last else None,
            began_at=begun.at,
            ended_at=message.at if message else None,
            seconds=_seconds(begun, message, reports),
            spent=_spent(reports),
            outcome=_text(answer.get("outcome")),
            reason_code=_text(answer.get("reason_code")),
            reason=reasons[0] if reasons else "",
            messages=reasons,
            next_action=_text(answer.get("next_action")),
            failing_tests=failing,
            more_failing_tests=more,
            logs=self._logs(number, kind),
            evidence=_relative(self.home, bundle),
            is_evidence_there=bundle is not None and bundle.is_there,
            product=self._product(number),
        )

    def _runs_of(self, kind: str, attempt: int) -> list[RunRecord]:
        wanted = (kind, attempt)
        return [run for run in self.runs if (run.kind, run.attempt) == wanted]

    def _logs(self, attempt: int, kind: str) -> tuple[str, ...]:
        logs = run_logs(self.home, self.task.task_id, attempt, kind)
        return tuple(str(log.relative_to(self.home.root)) for log in logs)

    def _product(self, attempt: int) -> str | None:
        product = self.products.get(attempt)
        if product is None:
            return None
        return artifact_path(self.home, product)


def _fetch_bundles(
    tx: Transaction,
    home: Home,
    messages: Iterable[MessageRecord],
) -> None:
    """Bring the evidence of judged changes to this machine, as far as it can be had.

    What cannot be had now is shown as not there.
    """
    judged = [message for message in messages if "bundle" in message.case]
    if not judged:
        return

    from accordance.work.kept_evidence import fetch_evidence
    from accordance.workspace.errors import BundleBroken

    for message in judged:
        with contextlib.suppress(BlobError, BundleBroken, CannotWrite):
            fetch_evidence(tx, home.root, message)


def bundle_of(home: Home, message: MessageRecord) -> Bundle | None:
    """Return the evidence that a message was judged by; None if it had none."""
    place = message.case.get("bundle")
    return Bundle(home.root / str(place)) if place else None


def _relative(home: Home, bundle: Bundle | None) -> str | None:
    if bundle is None:
        return None
    return str(Path(bundle.folder).relative_to(home.root))


def _seconds(
    begun: _Begun,
    message: MessageRecord | None,
    reports: list[Mapping[str, Any]],
) -> float | None:
    """Return how long an attempt took: its runs, or until it was handed in."""
    milliseconds = sum(report["duration_ms"] for report in reports)
    if milliseconds:
        return float(milliseconds / _MILLISECONDS)
    if message is None:
        return None
    return seconds_between(begun.at, message.at)


def _spent(reports: list[Mapping[str, Any]]) -> SpendingView | None:
    if not reports:
        return None
    spent = total(map(spending_of, reports))
    return spending_view(spent)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        return ()
    return tuple(map(str, value))


# -- what it waits for


def waits_for(tx: Transaction, task: TaskRecord) -> tuple[str, ...]:
    """Return what a task waits for, in words; nothing if it waits for nothing."""
    if task.progress.state is State.BLOCKED:
        questions = tx.open_questions(task_id=task.task_id)
        return tuple(question.text for question in questions)
    if task.progress.state is not State.PENDING:
        return ()

    links = tx.node(task.task_id)
    others = [*links.prerequisites]
    if not task.is_work:
        others += links.parts
    names = []
    for other in others:
        if not _is_over(tx, other):
            names.append(tx.task(other).title)
    for need in tx.find(RequirementRecord, task_id=task.task_id, required=True):
        if not is_met(tx, need):
            names.append(f"input {need.name}")
    return tuple(names)


def _is_over(tx: Transaction, task_id: str) -> bool:
    return tx.progress(task_id).state in (State.DONE, State.ABANDONED)


# -- reviews


def reviews_of(tx: Transaction, task: TaskRecord) -> tuple[ReviewView, ...]:
    """Return the reviews of a task's product, with what they ask for.

    Raises LedgerDamaged.
    """
    reviews = tx.find(ReviewRecord, subject=task.task_id)
    with blaming_the_ledger(f"the reviews of {task.task_id}"):
        return tuple(_review(tx, task, review) for review in reviews)


def _review(tx: Transaction, task: TaskRecord, review: ReviewRecord) -> ReviewView:
    document: Mapping[str, Any] = json.loads(tx.blob(review.document))
    messages = tx.find(MessageRecord, message_id=review.message_id)
    attempt = messages[0].attempt if messages else None
    reviewed_by = review.check_task_id or task.task_id
    summary = document.get("summary") or ""
    suggestions = document.get("suggestions") or ()
    return review_view(
        review,
        attempt=attempt,
        reviewer=reviewer_of(tx, reviewed_by, attempt),
        summary=str(summary),
        asks=tuple(str(suggestion["change"]) for suggestion in suggestions),
    )


def reviewer_of(tx: Transaction, task_id: str, attempt: int | None) -> str | None:
    """Return the executor that reviewed an attempt; None for anybody else."""
    for run in reversed(runs_in(tx.entries_of(task_id))):
        if run.kind == "review" and attempt in (None, run.attempt):
            return run.executor
    return None
