"""A message comes in: stored, checked, ruled, and the plan moves. One transaction, whatever it holds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from accordance.contracts.catalogue.action import INPUTS, Action
from accordance.contracts.catalogue.answer import AgentAnswer
from accordance.contracts.contract import Contract
from accordance.contracts.limits import LIMITS
from accordance.contracts.pins import normal_path
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.chain import Payload
from accordance.domain.lifecycle import CLAIMABLE, Event, State
from accordance.domain.naming import versioned
from accordance.domain.plan_review import PlanState
from accordance.domain.records import (
    UNSPENT,
    ArtifactRecord,
    MessageRecord,
    PlanRecord,
    RequirementRecord,
    TaskRecord,
    VerdictRecord,
)
from accordance.domain.research.answers import awaits_a_person
from accordance.domain.ruling import QuestionKind, TaskHistory
from accordance.domain.verdict import Verdict
from accordance.errors import AccordanceError, Unparseable
from accordance.project.home import Home, write_file
from accordance.store.ledger import Ledger, Transaction
from accordance.work.coding_tasks import coding_task
from accordance.work.contracts_for import ACTIONS, contract_under, held_to
from accordance.work.message_kinds import Grounds, JudgedMessage, Kind, judge_message
from accordance.work.project_routes import holding_for
from accordance.work.receipts import Receipt, Status, violations_of

_NAME_IT: Final = "say which task it is for"


class TaskUnnamed(AccordanceError):
    """Nobody can tell which task a message is for."""

    code = "task-unnamed"


class MessageTooLarge(AccordanceError):
    """A message that no contract takes, whatever it says: it is not even kept."""

    code = "message-too-large"


def must_fit(raw: bytes) -> None:
    """Refuse a message that is too large, before anything of it is stored. Raises MessageTooLarge."""
    if len(raw) > LIMITS.max_bytes:
        raise MessageTooLarge(
            f"the message is larger than {LIMITS.max_bytes >> 20} MiB; nothing of it was stored and no attempt was counted;"
            " hand in a smaller one"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivedMessage:
    """A message at the door: its bytes kept, its task known, not yet judged."""

    plan: PlanRecord
    task: TaskRecord
    kind: Kind
    raw: bytes
    sha256: str
    copies: int = 0  # how often the same words were said before and counted as a message of their own

    @property
    def attempt(self) -> int:
        return self.task.progress.standing.counters.attempts

    @property
    def message_id(self) -> str:
        return self.name_in(self.attempt)

    def name_in(self, attempt: int) -> str:
        """What the message is called in an attempt."""
        again = f":{self.copies}" if self.copies else ""
        return f"{self.task.task_id}:{self.kind}:{attempt}:{self.sha256}{again}"


class Product(NamedTuple):
    """What a task has produced."""

    name: str
    format: str
    content: bytes
    summary: str | None = None
    file: str | None = (
        None  # what its file is to be called, without a version; else it goes by its name
    )


def submit(
    ledger: Ledger,
    home: Home,
    raw: bytes,
    *,
    task_id: str | None = None,
    attempt: int | None = None,
    holder: str | None = None,
) -> Receipt:
    """Hand in an executor's message for a task. The same message again gets the same answer.

    Whoever names their attempt, or themselves as the `holder` of the task, is refused if it is not theirs any more.
    """
    with receive(ledger, raw, task_id) as (tx, named):
        return submit_in(tx, home, raw, named, attempt, holder)


@contextmanager
def receive(
    ledger: Ledger, raw: bytes, task_id: str | None
) -> Iterator[tuple[Transaction, str]]:
    """Open the transaction in which a message is handed in for a task.

    Yields it with the id of the task, which the message names itself where the caller
    does not. Raises MessageTooLarge, TaskUnnamed.
    """
    must_fit(raw)
    named = task_id or named_task(raw)
    with ledger.write() as tx:
        yield tx, named


def submit_in(
    tx: Transaction,
    home: Home,
    raw: bytes,
    named: str,
    attempt: int | None = None,
    holder: str | None = None,
    *,
    has_stronger: bool = False,
) -> Receipt:
    """The same in a transaction of the caller's, who may know of a stronger model to be asked next."""
    arrived = arrive(tx, named, "ACTION", raw)
    repeated = repeated_answer(tx, arrived, attempt)
    if repeated is not None:
        return repeated
    if arrived.task.checks is not None:
        why = f"{named} reviews task {arrived.task.checks}: hand its review in with `accordance task review`"
        return refuse(tx, arrived, why)
    if coding_task(tx, arrived.task) is not None:
        why = f"{named} changes a repository: it is handed in with the clone that it was made in"
        return refuse(tx, arrived, why)
    if why_not := not_now(arrived, attempt) or not_theirs(arrived.task, holder):
        return refuse(tx, arrived, why_not)
    if arrived.task.progress.state in CLAIMABLE:
        begin_attempt(tx, arrived.task, "submit", holding_for(home)(tx, arrived.task))
    return _judge_action(
        tx, home, arrive(tx, named, "ACTION", raw), has_stronger=has_stronger
    )


def named_task(raw: bytes) -> str:
    """The task a message says it is for."""
    try:
        named = parse_object(raw).get("task_id")
    except Unparseable as flaw:
        raise TaskUnnamed(
            f"the message cannot be read ({flaw})", way_out=_NAME_IT
        ) from None
    if not isinstance(named, str):
        raise TaskUnnamed("the message names no task_id", way_out=_NAME_IT)
    return named


def arrive(tx: Transaction, task_id: str, kind: Kind, raw: bytes) -> ArrivedMessage:
    """Keep the bytes, hold the plan, see where the task stands."""
    sha256 = tx.keep(raw)
    plan = tx.lock(tx.task(task_id).plan_id)
    return ArrivedMessage(
        plan=plan, task=tx.task(task_id), kind=kind, raw=raw, sha256=sha256
    )


def repeated_answer(
    tx: Transaction, arrived: ArrivedMessage, attempt: int | None
) -> Receipt | None:
    """The answer, if the very same message for the same attempt came before; a refusal, if the task has moved on since."""
    repeated = _answer_to(
        tx, arrived.name_in(arrived.attempt if attempt is None else attempt)
    )
    if repeated is None or attempt is not None:
        return repeated
    moved_on = _unchanged_though_it_moved_on(arrived, repeated)
    return repeated if moved_on is None else refuse(tx, arrived, moved_on)


def _unchanged_though_it_moved_on(
    arrived: ArrivedMessage, before: Receipt
) -> str | None:
    """Why a message is not answered as before: somebody has since returned the task, or given it another chance.

    The answer it got then would say that all is well, while the task waits for something else. With its attempt named, a
    message that is only sent again still gets it.
    """
    task, state = arrived.task, arrived.task.progress.state
    if state not in CLAIMABLE or before.content.get("state") == state:
        return None
    return (
        f"task {task.task_id} is {state}, and this is the very message of attempt {arrived.attempt}: nothing in it has"
        f" changed; hand in another one, or this one again as attempt {arrived.attempt + 1}"
    )


def _answer_to(tx: Transaction, message_id: str) -> Receipt | None:
    found = tx.find(MessageRecord, message_id=message_id)
    return Receipt(found[0].answer, repeated=True) if found else None


def begin_attempt(
    tx: Transaction, task: TaskRecord, holder: str, held: Payload | None = None
) -> None:
    """An attempt begins, held to a contract; with the first one the plan's run does."""
    tx.happen(task.task_id, Event.CLAIMED, why={"holder": holder, **(held or {})})
    if tx.plan(task.plan_id).run_started_at is None:
        tx.save_plan(task.plan_id, run_started_at=tx.now, **UNSPENT)


def not_now(arrived: ArrivedMessage, attempt: int | None) -> str | None:
    """Why nothing is taken for a task at present, or not for that attempt, if so."""
    state, current = arrived.task.progress.state, arrived.attempt
    if state not in CLAIMABLE and state is not State.IN_PROGRESS:
        return f"task {arrived.task.task_id} is {state} and takes no action now"
    if arrived.plan.state is not PlanState.ACTIVE and state in CLAIMABLE:
        return f"plan {arrived.plan.plan_id} is {arrived.plan.state}: nothing in it may begin"
    upcoming = current if state is State.IN_PROGRESS else current + 1
    if attempt is not None and attempt != upcoming:
        return f"attempt {attempt} of task {arrived.task.task_id} is over; the current one is {upcoming}"
    return None


def not_theirs(task: TaskRecord, holder: str | None) -> str | None:
    """Why nothing is taken from whoever says that they have a task, if they do not."""
    if holder is None or (task.lease is not None and task.lease.holder == holder):
        return None
    has_it = f"; {task.lease.holder} has it" if task.lease else ""
    return f"task {task.task_id} is not with {holder} now{has_it}"


def refuse(tx: Transaction, arrived: ArrivedMessage, why: str) -> Receipt:
    """Keep a message that changes nothing: it came too late, or is meant for something else.

    Its time may still come, so it is not the answer to the message: only the same refusal is not written down twice.
    """
    name = f"{arrived.message_id}:{hashlib.sha256(why.encode()).hexdigest()[:12]}"
    if (repeated := _answer_to(tx, name)) is not None:
        return repeated
    said = {"message": name, "why": why}
    entry = tx.record(
        arrived.plan.plan_id, "MESSAGE_REFUSED", arrived.task.task_id, said
    )
    content = {"status": "refused", "task_id": arrived.task.task_id, "why": why}
    note(
        tx,
        arrived,
        entry.seq,
        accepted=False,
        case={"refused": why},
        content=content,
        name=name,
    )
    return Receipt(content)


def note(
    tx: Transaction,
    arrived: ArrivedMessage,
    seq: int,
    *,
    accepted: bool,
    case: Mapping[str, Any],
    content: Mapping[str, Any],
    name: str | None = None,
) -> None:
    """Write down a message with what it was judged by and what was answered."""
    tx.add(
        MessageRecord(
            message_id=name or arrived.message_id,
            plan_id=arrived.plan.plan_id,
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
    )
    tx.save_plan(arrived.plan.plan_id, calls=tx.plan(arrived.plan.plan_id).calls + 1)


def case_of(
    tx: Transaction,
    task: TaskRecord,
    other_checks: int = 0,
    *,
    has_stronger: bool = False,
) -> TaskHistory:
    """What counts beside a message for a task."""
    rivals = tx.node(task.task_id).rivals
    return TaskHistory(
        used=task.progress.standing.used,
        last_error=task.last_error,
        same_errors=task.same_errors,
        has_rival=any(tx.progress(rival).state is State.ABANDONED for rival in rivals),
        other_checks=other_checks,
        has_stronger=has_stronger,
    )


def settle(
    tx: Transaction,
    arrived: ArrivedMessage,
    judged: JudgedMessage,
    case: Mapping[str, Any],
    act: Callable[[], dict[str, Any]],
) -> Receipt:
    """Let a ruling take effect: event, moves, verdict, answer; `act` does what only this kind of message does."""
    result, ruling = judged.result, judged.ruling
    accepted = isinstance(result, Accepted)
    plan_id, task_id = arrived.plan.plan_id, arrived.task.task_id
    said = {"message": arrived.message_id, "kind": arrived.kind, "accepted": accepted}
    entry = tx.record(plan_id, "MESSAGE", task_id, said)
    extra = act()
    status: Status = "accepted" if accepted else "rejected"
    content = {
        "status": status,
        "task_id": task_id,
        "attempt": arrived.attempt,
        "state": tx.progress(task_id).state,
        "waiting": tx.progress(task_id).standing.waiting,
        "outcome": ruling.outcome,
        "reason_code": ruling.reason,
        "messages": list(ruling.messages),
        "violations": violations_of(result),
        **extra,
    }
    note(tx, arrived, entry.seq, accepted=accepted, case=case, content=content)
    if ruling.outcome is not None:
        head = tx.plan(plan_id).head
        tx.add(
            VerdictRecord(
                message_id=arrived.message_id,
                plan_id=plan_id,
                subject=task_id,
                outcome=ruling.outcome,
                reason_code=ruling.reason,
                messages=ruling.messages,
                head_seq=head.seq,
                head_hash=head.hash,
                at=tx.now,
            )
        )
        said = {
            "message": arrived.message_id,
            "outcome": ruling.outcome,
            "reason_code": ruling.reason,
        }
        tx.record(plan_id, "VERDICT", task_id, said)
    return Receipt(content)


def _judge_action(
    tx: Transaction, home: Home, arrived: ArrivedMessage, *, has_stronger: bool
) -> Receipt:
    task = arrived.task
    case = {"task": asdict(case_of(tx, task, has_stronger=has_stronger))}
    judged = judge_arrived(
        arrived, case, contract=contract_under(tx, task, held_to(tx, task))
    )

    def act() -> dict[str, Any]:
        extra: dict[str, Any] = {}
        product = product_in(judged.result, arrived.raw)
        if product is not None:
            extra["artifact"] = store_product(tx, home, arrived, product)
        tx.rule(task.task_id, judged.ruling, {"message": arrived.message_id})
        action = judged.result.value if isinstance(judged.result, Accepted) else None
        if isinstance(action, Action) and action.result_type == "NEEDS_INPUT":
            extra["question"] = _require_documents(tx, task, action)
        return extra

    return settle(tx, arrived, judged, case, act)


def judge_arrived(
    arrived: ArrivedMessage,
    case: Mapping[str, Any],
    *,
    contract: Contract[Any] = ACTIONS,
    verdict: Verdict | None = None,
) -> JudgedMessage:
    """Judge a message by the case that is about to be written down with it."""
    grounds = Grounds(
        subject=arrived.task.task_id,
        rules=arrived.plan.rules,
        case=case,
        contract=contract,
        verdict=verdict,
    )
    return judge_message(arrived.kind, arrived.raw, grounds)


def product_in(result: Accepted[Any] | Rejected, raw: bytes) -> Product | None:
    """The product a message brings. An answer is one as it is, also when a person has to approve it first."""
    if isinstance(result, Rejected):
        return Product("answer", "json", raw) if awaits_a_person(result) else None
    said = result.value
    if isinstance(said, AgentAnswer):
        return Product("answer", "json", raw, said.content.summary)
    if said.artifact is None or said.result_type != "ARTIFACT":
        return None
    made = said.artifact
    hinted = (
        (made.path_hint or "").rpartition("/")[2].strip()
    )  # its folder is the task's, by the contract
    return Product(
        made.name, made.format, made.content.encode(), made.summary, hinted or None
    )


def store_product(
    tx: Transaction, home: Home, arrived: ArrivedMessage, product: Product
) -> dict[str, Any]:
    """A new version of a task's product, in the ledger and as a file. Earlier versions stay."""
    task = arrived.task
    version = len(tx.products(task.task_id)) + 1
    record = ArtifactRecord(
        plan_id=task.plan_id,
        task_id=task.task_id,
        version=version,
        attempt=arrived.attempt,
        name=product.name,
        file_name=versioned(product.file or product.name, product.format, version),
        format=product.format,
        sha256=tx.keep(product.content),
        summary=product.summary,
        created_at=tx.now,
    )
    tx.add(record)
    tx.save_task(task.task_id, product=record.sha256)
    path = home.artifacts(task.task_id) / record.file_name
    write_file(path, product.content)
    return {
        "sha256": record.sha256,
        "version": version,
        "path": str(path.relative_to(home.root)),
    }


def _require_documents(tx: Transaction, task: TaskRecord, action: Action) -> str:
    """What the attempt asks for, as requirements that files can answer."""
    question = tx.open_questions(task_id=task.task_id, kind=QuestionKind.DOCUMENTS)[-1]
    for at, doc in enumerate(
        action.needs_input.required_docs if action.needs_input else ()
    ):
        tx.add(
            RequirementRecord(
                plan_id=task.plan_id,
                requirement_id=f"{question.question_id}.{at + 1}",
                task_id=task.task_id,
                name=doc.name,
                kind="FILE",
                required=True,
                min_count=1,
                allowed_types=tuple(doc.accepted_types),
                keywords=(doc.name,),
                source="USER",
                key=doc.name.casefold(),
                suggested_path=_below_inputs(doc.suggested_path),
                question_id=question.question_id,
            )
        )
    tx.save_plan(
        task.plan_id, inputs_seen=None
    )  # the files that are there may be what is asked for
    return question.question_id


def _below_inputs(path: str) -> str:
    """A path under workspace/inputs/, as seen from there; a folder keeps its slash."""
    below = f"{normal_path(path)}/".removeprefix(INPUTS)
    return below if path.endswith("/") else below.rstrip("/")
