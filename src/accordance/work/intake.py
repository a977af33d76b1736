"""The intake of messages: each is stored, checked, ruled on, and moves the plan.

All of that happens in one transaction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from accordance.contracts.catalogue.action import Action
from accordance.contracts.contract import Contract
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.chain import Payload
from accordance.domain.lifecycle import CLAIMABLE, Event, State
from accordance.domain.plan_review import PlanRuling
from accordance.domain.records import (
    UNSPENT,
    MessageRecord,
    TaskRecord,
    VerdictRecord,
)
from accordance.domain.ruling import Ruling, TaskHistory
from accordance.domain.verdict import Verdict
from accordance.project.home import Home
from accordance.store.ledger import Ledger, Transaction
from accordance.telemetry import names, tracing
from accordance.work.arrivals import (
    ArrivedMessage,
    arrive,
    not_now,
    not_theirs,
    receive,
)
from accordance.work.coding_tasks import coding_task
from accordance.work.contracts_for import ACTIONS, contract_under, held_to
from accordance.work.document_requests import require_documents
from accordance.work.message_kinds import Grounds, JudgedMessage, judge_message
from accordance.work.products import product_in, store_product
from accordance.work.project_routes import holding_for
from accordance.work.receipts import Receipt, Status, violations_of

# -- handing in


def submit(
    ledger: Ledger,
    home: Home,
    raw: bytes,
    *,
    task_id: str | None = None,
    attempt: int | None = None,
    holder: str | None = None,
) -> Receipt:
    """Hand in an executor's message for a task.

    The same message again gets the same answer. A worker who names their `attempt`, or
    themselves as the `holder` of the task, is refused if the task is no longer theirs.
    """
    with receive(ledger, raw, task_id) as (tx, named):
        return submit_in(tx, home, raw, named, attempt, holder)


def submit_in(
    tx: Transaction,
    home: Home,
    raw: bytes,
    task_id: str,
    attempt: int | None = None,
    holder: str | None = None,
    *,
    has_stronger: bool = False,
) -> Receipt:
    """Hand in a message in a transaction of the caller's; see `submit`.

    `has_stronger`: there is a stronger model that may be asked next.
    """
    arrived = arrive(tx, task_id, "ACTION", raw)
    repeated = repeated_answer(tx, arrived, attempt)
    if repeated is not None:
        return repeated

    refusal = (
        _why_no_action(tx, arrived.task)
        or not_now(arrived, attempt)
        or not_theirs(arrived.task, holder)
    )
    if refusal:
        return refuse(tx, arrived, refusal)

    if arrived.task.progress.state in CLAIMABLE:
        terms = holding_for(home)(tx, arrived.task)
        begin_attempt(tx, arrived.task, "submit", terms)
    arrived = arrive(tx, task_id, "ACTION", raw)
    return _judge_action(tx, home, arrived, has_stronger=has_stronger)


def begin_attempt(
    tx: Transaction, task: TaskRecord, holder: str, terms: Payload | None = None
) -> None:
    """Begin an attempt, held to a contract; the first attempt begins the plan's run."""
    tx.happen(task.task_id, Event.CLAIMED, why={"holder": holder, **(terms or {})})
    if tx.plan(task.plan_id).run_started_at is None:
        tx.save_plan(task.plan_id, run_started_at=tx.now, **UNSPENT)


# -- messages that came before


def repeated_answer(
    tx: Transaction, arrived: ArrivedMessage, attempt: int | None
) -> Receipt | None:
    """Return the answer that the very same message got in the same attempt, if any.

    If the task has moved on since, the message is refused instead. With its attempt
    named, a message that is only sent again still gets its answer.
    """
    if attempt is not None:
        return _answer_to(tx, arrived, arrived.id_in(attempt))

    earlier = _answer_to(tx, arrived, arrived.message_id)
    if earlier is None:
        return None
    refusal = _why_not_repeated(arrived, earlier)
    return earlier if refusal is None else refuse(tx, arrived, refusal)


def _why_not_repeated(arrived: ArrivedMessage, earlier: Receipt) -> str | None:
    """Why a message does not get its earlier answer, if so.

    The task was returned or given another chance since. The answer would say that all
    is well, while the task waits for another message.
    """
    task, state = arrived.task, arrived.task.progress.state
    if state not in CLAIMABLE or earlier.content.get("state") == state:
        return None
    return (
        f"task {task.task_id} is {state}, and this is the very message of attempt"
        f" {arrived.attempt}: nothing in it has changed; hand in another message, or this"
        f" message again as attempt {arrived.attempt + 1}"
    )


def _answer_to(
    tx: Transaction, arrived: ArrivedMessage, message_id: str
) -> Receipt | None:
    """Return the answer that a message about the same task got, if any."""
    task_id = arrived.task.task_id
    messages = tx.find(MessageRecord, subject=task_id, message_id=message_id)
    return Receipt(messages[0].answer, repeated=True) if messages else None


# -- refusing


def _why_no_action(tx: Transaction, task: TaskRecord) -> str | None:
    """Why a task takes no action at all, if so."""
    if task.checks is not None:
        return (
            f"{task.task_id} reviews task {task.checks}:"
            " hand its review in with `accordance task review`"
        )
    if coding_task(tx, task) is not None:
        return (
            f"{task.task_id} changes a repository:"
            " it is handed in with the clone that it was made in"
        )
    return None


def refuse(tx: Transaction, arrived: ArrivedMessage, why: str) -> Receipt:
    """Keep a message that changes nothing: it came too late, or for something else.

    The same message may be taken later, so a refusal is not its answer for good: the
    reason is part of its id, and the same refusal is written down only once.
    """
    plan_id, task_id = arrived.plan.plan_id, arrived.task.task_id
    reason_hash = hashlib.sha256(why.encode()).hexdigest()
    message_id = f"{arrived.message_id}:{reason_hash[:12]}"
    repeated = _answer_to(tx, arrived, message_id)
    if repeated is not None:
        return repeated

    payload = {"message": message_id, "why": why}
    entry = tx.record(plan_id, "MESSAGE_REFUSED", task_id, payload)
    content = {"status": "refused", "task_id": task_id, "why": why}
    note(
        tx,
        arrived,
        entry.seq,
        accepted=False,
        case={"refused": why},
        content=content,
        message_id=message_id,
    )
    return Receipt(content)


# -- judging and settling


def history_of(
    tx: Transaction,
    task: TaskRecord,
    other_checks: int = 0,
    *,
    has_stronger: bool = False,
) -> TaskHistory:
    """Return what counts for the ruling on a message beside the message itself."""
    rivals = tx.node(task.task_id).rivals
    return TaskHistory(
        used=task.progress.standing.used,
        last_error=task.last_error,
        same_errors=task.same_errors,
        has_rival=any(tx.progress(rival).state is State.ABANDONED for rival in rivals),
        other_checks=other_checks,
        has_stronger=has_stronger,
    )


def judge_arrived(
    arrived: ArrivedMessage,
    case: Mapping[str, Any],
    *,
    contract: Contract[Any] = ACTIONS,
    verdict: Verdict | None = None,
) -> JudgedMessage:
    """Judge a message by the case that is about to be stored with it."""
    grounds = Grounds(
        subject=arrived.task.task_id,
        rules=arrived.plan.rules,
        case=case,
        contract=contract,
        verdict=verdict,
    )
    with tracing.span(names.CHECK, names.of_contract(contract.version)) as span:
        judged = judge_message(arrived.kind, arrived.raw, grounds)
        _describe(span, judged)
    return judged


def _describe(span: tracing.Span, judged: JudgedMessage) -> None:
    """Say in a span what came of the check of a message."""
    result = judged.result
    if isinstance(result, Accepted):
        repairs = len(result.repairs)
        span.set(names.of_check(accepted=True, repairs=repairs, violations=0))
    elif isinstance(result, Rejected):
        span.set(names.of_check(accepted=False, repairs=0, violations=result.total))
        span.fail(result.violations[0].code)


def _judge_action(
    tx: Transaction, home: Home, arrived: ArrivedMessage, *, has_stronger: bool
) -> Receipt:
    task = arrived.task
    history = history_of(tx, task, has_stronger=has_stronger)
    case = {"task": history.to_json()}
    contract = contract_under(tx, task, held_to(tx, task))
    judged = judge_arrived(arrived, case, contract=contract)

    def act() -> dict[str, Any]:
        return _take_effect(tx, home, arrived, judged)

    return settle(tx, arrived, judged, case, act)


def _take_effect(
    tx: Transaction, home: Home, arrived: ArrivedMessage, judged: JudgedMessage
) -> dict[str, Any]:
    """Store the product of an action, move its task, and ask for missing documents."""
    task, result = arrived.task, judged.result
    extra: dict[str, Any] = {}

    product = product_in(result, arrived.raw)
    if product is not None:
        extra["artifact"] = store_product(tx, home, task, product)
    tx.rule(task.task_id, judged.ruling, {"message": arrived.message_id})

    action = result.value if isinstance(result, Accepted) else None
    if isinstance(action, Action) and action.result_type == "NEEDS_INPUT":
        extra["question"] = require_documents(tx, task, action)
    return extra


def settle(
    tx: Transaction,
    arrived: ArrivedMessage,
    judged: JudgedMessage,
    case: Mapping[str, Any],
    act: Callable[[], dict[str, Any]],
) -> Receipt:
    """Let a ruling take effect: the event, the moves, the answer and the verdict.

    `act` does what only this kind of message does, and returns what to add to the
    answer.
    """
    result, ruling = judged.result, judged.ruling
    accepted = isinstance(result, Accepted)
    plan_id, task_id = arrived.plan.plan_id, arrived.task.task_id
    message_id = arrived.message_id

    payload = {"message": message_id, "kind": arrived.kind, "accepted": accepted}
    entry = tx.record(plan_id, "MESSAGE", task_id, payload)
    extra = act()

    status: Status = "accepted" if accepted else "rejected"
    progress = tx.progress(task_id)
    content = {
        "status": status,
        "task_id": task_id,
        "attempt": arrived.attempt,
        "state": progress.state,
        "waiting": progress.standing.waiting,
        "outcome": ruling.outcome,
        "reason_code": ruling.reason,
        "messages": list(ruling.messages),
        "violations": violations_of(result),
        **extra,
    }
    note(tx, arrived, entry.seq, accepted=accepted, case=case, content=content)
    note_verdict(tx, message_id, plan_id, task_id, ruling)
    return Receipt(content)


def note(
    tx: Transaction,
    arrived: ArrivedMessage,
    seq: int,
    *,
    accepted: bool,
    case: Mapping[str, Any],
    content: Mapping[str, Any],
    message_id: str | None = None,
) -> None:
    """Store a message with the case it was judged by and the answer it got."""
    plan_id = arrived.plan.plan_id
    message = MessageRecord(
        message_id=message_id or arrived.message_id,
        plan_id=plan_id,
        subject=arrived.task.task_id,
        kind=arrived.kind,
        attempt=arrived.attempt,
        sha256=arrived.sha256,
        accepted=accepted,
        case=case,
        answer=content,
        seq=seq,
        at=tx.now,
    )
    tx.add(message)
    tx.save_plan(plan_id, calls=tx.plan(plan_id).calls + 1)


def note_verdict(
    tx: Transaction,
    message_id: str,
    plan_id: str,
    task_id: str | None,
    ruling: Ruling | PlanRuling,
) -> None:
    """Store the verdict of a ruling, if any, and announce it in the chain.

    It is stored with the head of the chain. Without a task the verdict is on the plan.
    """
    if ruling.outcome is None:
        return

    head = tx.plan(plan_id).head
    verdict = VerdictRecord(
        message_id=message_id,
        plan_id=plan_id,
        subject=task_id or plan_id,
        outcome=ruling.outcome,
        reason_code=ruling.reason,
        messages=ruling.messages,
        head_seq=head.seq,
        head_hash=head.hash,
        at=tx.now,
    )
    tx.add(verdict)

    payload = {
        "message": message_id,
        "outcome": ruling.outcome,
        "reason_code": ruling.reason,
    }
    tx.record(plan_id, "VERDICT", task_id, payload)
