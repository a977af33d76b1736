"""A review comes in: bound to the product it saw, held to the rubric, and the plan moves."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from accordance.contracts.catalogue.review import Review
from accordance.contracts.reading import parse_object
from accordance.contracts.serialising import dump_json
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.lifecycle import CLAIMABLE, TERMINAL, Event, State
from accordance.domain.plan_review import PlanEvent, PlanState
from accordance.domain.records import (
    MessageRecord,
    PlanRecord,
    ReviewRecord,
    TaskRecord,
    VerdictRecord,
)
from accordance.errors import AccordanceError, Unparseable
from accordance.store.ledger import Ledger, Transaction
from accordance.work.inputs import supply_from_artifact
from accordance.work.intake import (
    ArrivedMessage,
    arrive,
    begin_attempt,
    case_of,
    judge_arrived,
    must_fit,
    named_task,
    not_theirs,
    refuse,
    settle,
)
from accordance.work.landing import is_behind
from accordance.work.message_kinds import Grounds, JudgedMessage, judge_plan_review
from accordance.work.own_work import why_not_own
from accordance.work.receipts import Receipt, Status, violations_of

SEEN = "artifact_sha256"  # the key under which a review may say which product it saw
_SHORTEST = 8  # hex digits that name a product


class ProductUnnamed(AccordanceError):
    """Nobody can tell which product a review is about."""

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
    """Hand in a review of a task's product. `task_id` is the reviewed task, or the CHECK that reviews it.

    `product` is the hash of what the reviewer saw; it may stand in the message or be known from its lease. A review of
    anything but the current product is refused; so is one by whoever names their attempt, or themselves as the `holder`
    of the task, if it is not theirs any more; and so is one by a worker, `not_own_of`, who made the product themselves.
    """
    must_fit(raw)
    named = task_id or named_task(raw)
    with ledger.write() as tx:
        return review_in(
            tx, raw, named, product, attempt, holder, not_own_of=not_own_of
        )


def review_in(
    tx: Transaction,
    raw: bytes,
    named: str,
    product: str | None = None,
    attempt: int | None = None,
    holder: str | None = None,
    *,
    not_own_of: str | None = None,
) -> Receipt:
    """The same in a transaction of the caller's; the product must not be the work of `not_own_of`."""
    arrived = arrive(tx, tx.task(named).checks or named, "REVIEW", raw)
    asked = tx.task(named)
    check_task = _speaker(tx, asked, arrived.task)
    said = _said_before(tx, arrived)
    before = [
        one for one in said if asked.checks is None or one.answer.get("check") == named
    ]
    if before and (before[-1].accepted or not _is_taken_up(arrived.task, check_task)):
        return Receipt(before[-1].answer, repeated=True)
    arrived = replace(arrived, copies=len(said))
    if isinstance(check_task, str):
        return refuse(tx, arrived, check_task)
    seen = product or _said_in(raw) or _leased(arrived.task, check_task)
    if why_not := _not_now(
        arrived, seen, is_taken_up=_is_taken_up(arrived.task, check_task)
    ):
        return refuse(tx, arrived, why_not)
    if why_not := _not_theirs(check_task or arrived.task, attempt, holder):
        return refuse(tx, arrived, why_not)
    if not_own_of is not None and (
        why_not := why_not_own(tx, arrived.task, not_own_of)
    ):
        return refuse(tx, arrived, why_not)
    if check_task is not None and check_task.progress.state in CLAIMABLE:
        begin_attempt(tx, check_task, "review")
        check_task = tx.task(check_task.task_id)
    return _judge_review(tx, arrived, check_task)


def _said_before(tx: Transaction, arrived: ArrivedMessage) -> list[MessageRecord]:
    """The same words about the same product, whoever said them."""
    alike = tx.find(MessageRecord, subject=arrived.task.task_id, sha256=arrived.sha256)
    return [
        one
        for one in alike
        if one.kind == "REVIEW"
        and one.attempt == arrived.attempt
        and "refused" not in one.case
    ]


def _is_taken_up(task: TaskRecord, speaker: TaskRecord | str | None) -> bool:
    """Whether somebody has the review in hand: then unreadable words that are said again are a new failure."""
    return not isinstance(speaker, str) and (speaker or task).lease is not None


def _said_in(raw: bytes) -> str | None:
    try:
        said = parse_object(raw).get(SEEN)
    except Unparseable:
        return None
    return said if isinstance(said, str) else None


def _leased(task: TaskRecord, check_task: TaskRecord | None) -> str | None:
    lease = (check_task or task).lease
    return lease.product if lease else None


def _speaker(
    tx: Transaction, asked: TaskRecord, task: TaskRecord
) -> TaskRecord | str | None:
    """The CHECK that speaks; None if the product has none; a reason if it cannot be told or may not speak."""
    if not task.is_checked:
        return None
    checks = [tx.task(one) for one in tx.node(task.task_id).checked_by]
    if asked.checks is not None:
        checks = [asked]
    open_ones = [
        one for one in checks if one.progress.state in (*CLAIMABLE, State.IN_PROGRESS)
    ]
    if len(open_ones) == 1:
        return open_ones[0]
    if not open_ones:
        return f"no check of task {task.task_id} waits for a review now"
    names = ", ".join(one.task_id for one in open_ones)
    return f"several checks review task {task.task_id}: say which one ({names})"


def _not_now(
    arrived: ArrivedMessage, seen: str | None, *, is_taken_up: bool
) -> str | None:
    task = arrived.task
    if task.progress.state is not State.READY_TO_CHECK or task.product is None:
        return f"task {task.task_id} is {task.progress.state} and has nothing to review now"
    if arrived.plan.state is not PlanState.ACTIVE and not is_taken_up:
        return (
            f"plan {arrived.plan.plan_id} is {arrived.plan.state}: nothing in it moves"
        )
    if seen is None:
        raise ProductUnnamed(
            "a review must say which product it saw",
            way_out=f"name {task.product[:12]} if it is the current one",
        )
    if len(seen) < _SHORTEST or not task.product.startswith(seen.lower()):
        return f"stale: the review saw {seen[:12]}, the current product of task {task.task_id} is {task.product[:12]}"
    return None


def _not_theirs(
    speaker: TaskRecord, attempt: int | None, holder: str | None
) -> str | None:
    if attempt not in (None, speaker.progress.standing.counters.attempts):
        return f"attempt {attempt} of task {speaker.task_id} is over"
    return not_theirs(speaker, holder)


def _judge_review(
    tx: Transaction, arrived: ArrivedMessage, check_task: TaskRecord | None
) -> Receipt:
    others = _others(tx, arrived.task, check_task)
    of_task = replace(
        case_of(tx, arrived.task, others), is_behind=is_behind(tx, arrived.task)
    )
    case: dict[str, Any] = {"task": asdict(of_task), "product": arrived.task.product}
    if check_task is not None:
        case["check"] = asdict(case_of(tx, check_task))
    judged = judge_arrived(arrived, case)

    def act() -> dict[str, Any]:
        if isinstance(judged.result, Rejected) and check_task is not None:
            return _fail_check(tx, arrived, check_task, judged)
        return _take_effect(tx, arrived, check_task, judged)

    return settle(tx, arrived, judged, case, act)


def _fail_check(
    tx: Transaction,
    arrived: ArrivedMessage,
    check_task: TaskRecord,
    judged: JudgedMessage,
) -> dict[str, Any]:
    """The CHECK that spoke has failed; the product is left alone."""
    tx.rule(check_task.task_id, judged.ruling, {"message": arrived.message_id})
    return {
        "check": check_task.task_id,
        "check_state": tx.progress(check_task.task_id).state,
    }


def _others(tx: Transaction, task: TaskRecord, check_task: TaskRecord | None) -> int:
    """Checks of the same product that are still wanted and have not approved."""
    if check_task is None:
        return 0
    others = [
        one for one in tx.node(task.task_id).checked_by if one != check_task.task_id
    ]
    return sum(
        tx.progress(one).active and tx.progress(one).state is not State.DONE
        for one in others
    )


def _take_effect(
    tx: Transaction,
    arrived: ArrivedMessage,
    check_task: TaskRecord | None,
    judged: JudgedMessage,
) -> dict[str, Any]:
    task, why = arrived.task, {"message": arrived.message_id}
    result, ruling = judged.result, judged.ruling
    if isinstance(result, Accepted):
        _keep_review(tx, arrived, check_task, result.value)
    if any(event is Event.APPROVED for event, _ in ruling.steps):
        approve_product(tx, task)
    tx.rule(task.task_id, ruling, why)
    if tx.progress(task.task_id).state is State.DONE:
        supply_from_artifact(tx, tx.task(task.task_id))
    if check_task is None:
        tx.save_task(task.task_id, lease=None)  # whoever had it has spoken
        return {}
    for event, waiting in ruling.check_steps:
        if (
            tx.progress(check_task.task_id).state not in TERMINAL
        ):  # its goal may have been done with the product
            tx.happen(check_task.task_id, event, waiting=waiting, why=why)
    return {
        "check": check_task.task_id,
        "check_state": tx.progress(check_task.task_id).state,
    }


def approve_product(tx: Transaction, task: TaskRecord) -> None:
    """The current version of a product is the approved one."""
    current = next(
        one for one in reversed(tx.products(task.task_id)) if one.sha256 == task.product
    )
    tx.replace(replace(current, approved_at=tx.now))


def _keep_review(
    tx: Transaction,
    arrived: ArrivedMessage,
    check_task: TaskRecord | None,
    said: Review,
) -> None:
    tx.add(
        ReviewRecord(
            message_id=arrived.message_id,
            plan_id=arrived.plan.plan_id,
            subject=arrived.task.task_id,
            check_task_id=check_task.task_id if check_task else None,
            product=arrived.task.product or "",
            total_score=said.total_score,
            action_required=said.action_required,
            document=tx.keep(dump_json(said).encode()),
            at=tx.now,
        )
    )


def review_plan(ledger: Ledger, raw: bytes, plan_id: str) -> Receipt:
    """Hand in a review of a plan. Nothing in the plan begins before it is approved."""
    must_fit(raw)
    with ledger.write() as tx:
        sha256 = tx.keep(raw)
        plan = tx.lock(plan_id)
        before = [
            one
            for one in tx.find(MessageRecord, subject=plan_id, sha256=sha256)
            if one.attempt == plan.revision and one.kind == "PLAN_REVIEW"
        ]
        if before and plan.state is not PlanState.IN_REVIEW:
            return Receipt(before[-1].answer, repeated=True)
        message_id = f"{plan_id}:PLAN_REVIEW:{plan.revision}:{sha256}:{len(before)}"
        return _judge_plan_review(tx, plan, raw, sha256, message_id)


def _judge_plan_review(
    tx: Transaction, plan: PlanRecord, raw: bytes, sha256: str, message_id: str
) -> Receipt:
    if plan.state is not PlanState.IN_REVIEW:
        return Receipt(
            {
                "status": "refused",
                "plan_id": plan.plan_id,
                "why": f"plan {plan.plan_id} is {plan.state}: there is nothing to review",
            }
        )
    case = {"rounds": plan.rounds, "failures": plan.review_failures}
    judged = judge_plan_review(
        raw, Grounds(subject=plan.plan_id, rules=plan.rules, case=case)
    )
    result, ruling = judged.result, judged.ruling
    accepted = isinstance(result, Accepted)
    entry = tx.record(
        plan.plan_id, "MESSAGE", None, {"message": message_id, "accepted": accepted}
    )
    for event in ruling.events:
        tx.move_plan(plan.plan_id, event, {"message": message_id})
    tx.save_plan(
        plan.plan_id,
        rounds=plan.rounds + (PlanEvent.RETURNED in ruling.events),
        review_failures=plan.review_failures + (PlanEvent.MISREVIEWED in ruling.events),
    )
    if ruling.ask is not None:
        tx.ask(plan.plan_id, None, ruling.ask)
    status: Status = "accepted" if accepted else "rejected"
    content = {
        "status": status,
        "plan_id": plan.plan_id,
        "state": tx.plan(plan.plan_id).state,
        "outcome": ruling.outcome,
        "reason_code": ruling.reason,
        "messages": list(ruling.messages),
        "violations": violations_of(result),
    }
    tx.add(
        MessageRecord(
            message_id=message_id,
            plan_id=plan.plan_id,
            subject=plan.plan_id,
            kind="PLAN_REVIEW",
            attempt=plan.revision,
            sha256=sha256,
            accepted=accepted,
            case=case,
            answer=content,
            seq=entry.seq,
            at=tx.now,
        )
    )
    head = tx.plan(plan.plan_id).head
    tx.add(
        VerdictRecord(
            message_id=message_id,
            plan_id=plan.plan_id,
            subject=plan.plan_id,
            outcome=ruling.outcome,
            reason_code=ruling.reason,
            messages=ruling.messages,
            head_seq=head.seq,
            head_hash=head.hash,
            at=tx.now,
        )
    )
    said = {
        "message": message_id,
        "outcome": ruling.outcome,
        "reason_code": ruling.reason,
    }
    tx.record(plan.plan_id, "VERDICT", None, said)
    return Receipt(content)
