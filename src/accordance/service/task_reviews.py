"""The reviews of a task or of a plan: every score, issue and suggestion."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from accordance.contracts.catalogue.review import BEST_SCORE
from accordance.domain.records import MessageRecord, ReviewRecord
from accordance.service.damage import blaming_the_ledger
from accordance.service.project import Project, find_plan, find_task
from accordance.service.task_stories import reviewer_of
from accordance.service.views.task_pages import (
    DimensionView,
    FullReviewListView,
    FullReviewView,
    IssueView,
    SuggestionView,
)
from accordance.store.ledger import Transaction


def task_reviews(project: Project, name: str) -> FullReviewListView:
    """Return the reviews of a task's product; of a check, those of what it reviews."""
    with project.ledger.read() as tx:
        task = find_task(tx, name)
        return _reviews_on(tx, task.checks or task.task_id)


def plan_reviews(project: Project, name: str) -> FullReviewListView:
    """Return the reviews of a plan as a whole."""
    with project.ledger.read() as tx:
        return _reviews_on(tx, find_plan(tx, name).plan_id)


def _reviews_on(tx: Transaction, subject: str) -> FullReviewListView:
    reviews = tx.find(ReviewRecord, subject=subject)
    with blaming_the_ledger(f"the reviews of {subject}"):
        items = tuple(_review(tx, review) for review in reviews)
    return FullReviewListView(subject=subject, items=items)


def _review(tx: Transaction, review: ReviewRecord) -> FullReviewView:
    document: Mapping[str, Any] = json.loads(tx.blob(review.document))
    messages = tx.find(MessageRecord, message_id=review.message_id)
    attempt = messages[0].attempt if messages else None
    check = review.check_task_id or review.subject
    return FullReviewView(
        message_id=review.message_id,
        attempt=attempt,
        reviewer=reviewer_of(tx, check, attempt),
        check_task_id=review.check_task_id,
        at=review.at,
        score=review.total_score,
        max_score=BEST_SCORE,
        action=review.action_required,
        summary=str(document["summary"]),
        product=review.product,
        dimensions=tuple(map(_dimension, document["breakdown"])),
        suggestions=tuple(map(_suggestion, document["suggestions"])),
    )


def _dimension(scored: Mapping[str, Any]) -> DimensionView:
    return DimensionView(
        dimension=str(scored["dimension"]),
        score=int(scored["score"]),
        max_score=int(scored["max_score"]),
        issues=tuple(map(_issue, scored["issues"])),
    )


def _issue(issue: Mapping[str, Any]) -> IssueView:
    return IssueView(**{name: str(issue[name]) for name in IssueView.model_fields})


def _suggestion(asked: Mapping[str, Any]) -> SuggestionView:
    return SuggestionView(
        priority=str(asked["priority"]),
        change=str(asked["change"]),
        steps=tuple(map(str, asked["steps"])),
        acceptance_criteria=str(asked["acceptance_criteria"]),
    )
