"""Reviews of products.

A review is bound to the product it saw, checked against the rubric, and moves the plan.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from accordance.contracts.catalogue.review import Review
from accordance.contracts.reading import parse_object
from accordance.contracts.serialising import dump_json
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.lifecycle import CLAIMABLE, TERMINAL, Event, State
from accordance.domain.plan_lifecycle import PlanState
from accordance.domain.records import (
    MessageRecord,
    ReviewRecord,
    TaskRecord,
)
from accordance.errors import AccordanceError, Unparseable
from accordance.store.ledger import Ledger, Transaction
from accordance.work.arrivals import (
    ArrivedMessage,
    arrive,
    not_theirs,
    receive,
)
from accordance.work.inputs import supply_from_artifact
from accordance.work.intake import (
    begin_attempt,
    history_of,
    judge_arrived,
    refuse,
    settle,
)
from accordance.work.landing import is_overtaken
from accordance.work.message_kinds import (
    JudgedMessage,
)
from accordance.work.own_work import why_not_own
from accordance.work.plan_reviewing import review_plan
from accordance.work.receipts import Receipt

__all__ = ["ProductUnnamed", "approve_product", "review", "review_in", "review_plan"]

SEEN: Final = "artifact_sha256"
"""The key under which a review may name the product it saw."""
_MIN_HASH_DIGITS: Final = 8
"""Hex digits that are enough to name a product."""


class ProductUnnamed(AccordanceError):
    """A review that does not tell which product it is about."""

    code = "product-unnamed"


def review(
    ledger: Ledger,
    raw: bytes,
    *,
    task_id: str | None = None,
    product: str | None = None,
    attempt: int | None = None,
    holder: str | None = None,
    not_own_of: str | None = None,
) -> Receipt:
    """Hand in a review of a task's product.

    `task_id` is the reviewed task, or the CHECK that reviews it. `product` is the hash
    of what the reviewer saw; it may be in the message instead, or known from the lease.
    A review of anything but the current product is refused. So is a review from a reviewer
    whose `attempt` is over or who no longer is the `holder` of the task, and a review by a
    worker, `not_own_of`, who made the product.
    """
    with receive(ledger, raw, task_id) as (tx, named):
        return review_in(
            tx, raw, named, product, attempt, holder, not_own_of=not_own_of
        )


def review_in(
    tx: Transaction,
    raw: bytes,
    task_id: str,
    product: str | None = None,
    attempt: int | None = None,
    holder: str | None = None,
    *,
    not_own_of: str | None = None,
) -> Receipt:
    """Hand in a review in a transaction of the caller's; see `review`."""
    addressed = tx.task(task_id)
    arrived = arrive(tx, addressed.checks or task_id, "REVIEW", raw)
    addressed = tx.task(task_id)
    speaker = _speaking_check(tx, addressed, arrived.task)
    is_taken_up = _is_taken_up(arrived.task, speaker)

    same_words = _same_reviews(tx, arrived)
    earlier = _of_check(same_words, addressed)
    if earlier and (earlier[-1].accepted or not is_taken_up):
        return Receipt(earlier[-1].answer, repeated=True)

    arrived = replace(arrived, copies=len(same_words))
    if isinstance(speaker, str):
        return refuse(tx, arrived, speaker)

    reviewer = speaker or arrived.task
    seen = product or _product_named_in(raw) or _product_of_lease(reviewer)
    refusal = (
        _why_not_now(arrived, seen, is_taken_up=is_taken_up)
        or _why_not_theirs(reviewer, attempt, holder)
        or _why_own_work(tx, arrived.task, not_own_of)
    )
    if refusal:
        return refuse(tx, arrived, refusal)

    if speaker is not None and speaker.progress.state in CLAIMABLE:
        begin_attempt(tx, speaker, "review")
        speaker = tx.task(speaker.task_id)
    return _judge_review(tx, arrived, speaker)


def _same_reviews(tx: Transaction, arrived: ArrivedMessage) -> list[MessageRecord]:
    """The reviews in the same words of the same product, by any reviewer."""
    messages = tx.find(
        MessageRecord, subject=arrived.task.task_id, sha256=arrived.sha256
    )
    reviews = []
    for message in messages:
        is_review = message.kind == "REVIEW" and "refused" not in message.case
        if is_review and message.attempt == arrived.attempt:
            reviews.append(message)
    return reviews


def _of_check(
    reviews: list[MessageRecord], addressed: TaskRecord
) -> list[MessageRecord]:
    """The reviews by a CHECK; all of them if no CHECK is addressed."""
    if addressed.checks is None:
        return reviews
    check_id = addressed.task_id
    return [review for review in reviews if review.answer.get("check") == check_id]


def _is_taken_up(task: TaskRecord, speaker: TaskRecord | str | None) -> bool:
    """Whether a reviewer holds the task.

    If so, unreadable words that come again are a new failure.
    """
    if isinstance(speaker, str):
        return False
    reviewer = speaker or task
    return reviewer.lease is not None


def _product_named_in(raw: bytes) -> str | None:
    try:
        product = parse_object(raw).get(SEEN)
    except Unparseable:
        return None
    return product if isinstance(product, str) else None


def _product_of_lease(reviewer: TaskRecord) -> str | None:
    return reviewer.lease.product if reviewer.lease else None


def _speaking_check(
    tx: Transaction, addressed: TaskRecord, task: TaskRecord
) -> TaskRecord | str | None:
    """The CHECK that speaks; None if the product has none.

    A text says why no CHECK may speak, or why it is unclear which of them does.
    """
    if not task.is_checked:
        return None

    checks = [addressed]
    if addressed.checks is None:
        checks = [tx.task(check_id) for check_id in tx.node(task.task_id).checked_by]

    open_states = (*CLAIMABLE, State.IN_PROGRESS)
    open_checks = [check for check in checks if check.progress.state in open_states]
    if len(open_checks) == 1:
        return open_checks[0]
    if not open_checks:
        return f"no check of task {task.task_id} waits for a review now"

    names = ", ".join(check.task_id for check in open_checks)
    return f"several checks review task {task.task_id}: name the check: {names}"


def _why_not_now(
    arrived: ArrivedMessage, seen: str | None, *, is_taken_up: bool
) -> str | None:
    """Why a review is not taken now, if so. Raises ProductUnnamed."""
    task, plan = arrived.task, arrived.plan
    state = task.progress.state
    if state is not State.READY_TO_CHECK or task.product is None:
        return f"task {task.task_id} is {state} and has nothing to review now"

    if plan.state is not PlanState.ACTIVE and not is_taken_up:
        return f"plan {plan.plan_id} is {plan.state}: nothing in it moves"

    if seen is None:
        raise ProductUnnamed(
            "a review must say which product it saw",
            way_out=f"name {task.product[:12]} if the review is about that product",
        )

    is_current = task.product.startswith(seen.lower())
    if len(seen) < _MIN_HASH_DIGITS or not is_current:
        return (
            f"stale: the review saw {seen[:12]}, the current product of task"
            f" {task.task_id} is {task.product[:12]}"
        )
    return None


def _why_not_theirs(
    reviewer: TaskRecord, attempt: int | None, holder: str | None
) -> str | None:
    """Why nothing is taken from a reviewer whose attempt or lease is over, if so."""
    if attempt not in (None, reviewer.progress.standing.counters.attempts):
        return f"attempt {attempt} of task {reviewer.task_id} is over"
    return not_theirs(reviewer, holder)


def _why_own_work(tx: Transaction, task: TaskRecord, worker: str | None) -> str | None:
    if worker is None:
        return None
    return why_not_own(tx, task, worker)


def _judge_review(
    tx: Transaction, arrived: ArrivedMessage, check: TaskRecord | None
) -> Receipt:
    task = arrived.task
    history = history_of(tx, task, _other_checks(tx, task, check))
    history = replace(history, is_overtaken=is_overtaken(tx, task))
    case: dict[str, Any] = {"task": history.to_json(), "product": task.product}
    if check is not None:
        case["check"] = history_of(tx, check).to_json()
    judged = judge_arrived(arrived, case)

    def act() -> dict[str, Any]:
        if isinstance(judged.result, Rejected) and check is not None:
            return _fail_check(tx, arrived, check, judged)
        return _take_effect(tx, arrived, check, judged)

    return settle(tx, arrived, judged, case, act)


def _other_checks(tx: Transaction, task: TaskRecord, check: TaskRecord | None) -> int:
    """The number of other checks that still have to approve the same product."""
    if check is None:
        return 0

    others = 0
    for check_id in tx.node(task.task_id).checked_by:
        if check_id == check.task_id:
            continue
        progress = tx.progress(check_id)
        if progress.active and progress.state is not State.DONE:
            others += 1
    return others


def _fail_check(
    tx: Transaction,
    arrived: ArrivedMessage,
    check: TaskRecord,
    judged: JudgedMessage,
) -> dict[str, Any]:
    """Let the CHECK that spoke fail; the product is left alone."""
    tx.rule(check.task_id, judged.ruling, {"message": arrived.message_id})
    return _state_of_check(tx, check)


def _state_of_check(tx: Transaction, check: TaskRecord) -> dict[str, Any]:
    return {"check": check.task_id, "check_state": tx.progress(check.task_id).state}


def _take_effect(
    tx: Transaction,
    arrived: ArrivedMessage,
    check: TaskRecord | None,
    judged: JudgedMessage,
) -> dict[str, Any]:
    """Keep the review, and move the reviewed task and the CHECK that spoke."""
    task_id = arrived.task.task_id
    why = {"message": arrived.message_id}
    ruling = judged.ruling

    if isinstance(judged.result, Accepted):
        _keep_review(tx, arrived, check, judged.result.value)
    if any(event is Event.APPROVED for event, _ in ruling.steps):
        approve_product(tx, arrived.task)
    tx.rule(task_id, ruling, why)
    if tx.progress(task_id).state is State.DONE:
        supply_from_artifact(tx, tx.task(task_id))

    if check is None:
        tx.put_down(task_id)  # the reviewer is done with it
        return {}

    for event, waiting in ruling.check_steps:
        # the goal of the check may have been done together with the product
        if tx.progress(check.task_id).state not in TERMINAL:
            tx.happen(check.task_id, event, waiting=waiting, why=why)
    return _state_of_check(tx, check)


def approve_product(tx: Transaction, task: TaskRecord) -> None:
    """Mark the current version of a product as approved."""
    versions = tx.products(task.task_id)
    current = [version for version in versions if version.sha256 == task.product]
    tx.replace(replace(current[-1], approved_at=tx.now))


def _keep_review(
    tx: Transaction,
    arrived: ArrivedMessage,
    check: TaskRecord | None,
    content: Review,
) -> None:
    record = ReviewRecord(
        message_id=arrived.message_id,
        plan_id=arrived.plan.plan_id,
        subject=arrived.task.task_id,
        check_task_id=check.task_id if check else None,
        product=arrived.task.product or "",
        total_score=content.total_score,
        action_required=content.action_required,
        document=tx.keep(dump_json(content).encode()),
        at=tx.now,
    )
    tx.add(record)
