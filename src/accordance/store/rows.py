"""Records to rows and back. One place knows how a record lies in its table."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from functools import wraps
from operator import attrgetter
from typing import Any, Final, TypeVar

from sqlalchemy import Row, Table

from accordance.domain.chain import ChainEntry, Head
from accordance.domain.fuses import fuses_from
from accordance.domain.lifecycle import (
    CLAIMABLE,
    Counters,
    State,
    TaskStanding,
    Waiting,
)
from accordance.domain.plan_review import PlanState
from accordance.domain.progress import NodeProgress
from accordance.domain.records import (
    ArtifactRecord,
    EvidenceRecord,
    FileRecord,
    Lease,
    MessageRecord,
    PlanRecord,
    QuestionRecord,
    RequirementRecord,
    ReviewRecord,
    Rules,
    TaskRecord,
    VerdictRecord,
)
from accordance.domain.rubric import Rubric
from accordance.domain.task_ruling import QuestionKind
from accordance.errors import InvalidFuses, InvalidRubric, LedgerDamaged
from accordance.store import tables

TABLES: Final[Mapping[type, Table]] = {
    MessageRecord: tables.MESSAGES,
    VerdictRecord: tables.VERDICTS,
    ArtifactRecord: tables.ARTIFACTS,
    ReviewRecord: tables.REVIEWS,
    QuestionRecord: tables.QUESTIONS,
    RequirementRecord: tables.REQUIREMENTS,
    EvidenceRecord: tables.EVIDENCES,
    FileRecord: tables.INPUT_FILES,
}
ORDERS: Final[Mapping[type, tuple[str, ...]]] = {
    MessageRecord: ("seq",),
    VerdictRecord: ("head_seq",),
    ArtifactRecord: ("task_id", "version"),
    ReviewRecord: ("at", "message_id"),
    QuestionRecord: ("asked_at", "question_id"),
    RequirementRecord: ("task_id", "requirement_id"),
    EvidenceRecord: ("added_at", "reference"),
    FileRecord: ("path",),
}
_LISTS: Final = frozenset(("messages", "allowed_types", "keywords"))
_COUNTERS: Final = tuple(one.name for one in fields(Counters))
_COUNTS: Final = (
    "waits_on",
    "closed_gates",
    "missing_inputs",
    "open_parts",
    "done_parts",
    "dead_parts",
)
_PLAIN: Final = (
    "task_id",
    "plan_id",
    "place",
    "node_type",
    "title",
    "owner_agent_id",
    "priority",
    "goal_statement",
    "rationale",
    "is_work",
    "checks",
    "is_checked",
    "product",
    "last_error",
    "same_errors",
    "updated_at",
)
_PIECE: Final = 1 << 20  # bytes
_NEVER: Final = Counters()
_counters_of: Final = attrgetter(*_COUNTERS)
_counts_of: Final = attrgetter(*_COUNTS)
_plain_of: Final = attrgetter(*_PLAIN)

RETURNED, TO_REVIEW, NEW = range(3)


def turn_of(
    state: State, *, is_work: bool, is_checked: bool, is_leased: bool
) -> int | None:
    """When a task is taken up: returned work first, then products to review, then new work. None: not now."""
    if state in CLAIMABLE and is_work:
        return RETURNED if state is State.TO_BE_MODIFY else NEW
    return (
        TO_REVIEW
        if state is State.READY_TO_CHECK and not is_checked and not is_leased
        else None
    )


def turn_of_task(task: TaskRecord) -> int | None:
    """When a task is taken up, as it stands."""
    return turn_of(
        task.progress.state,
        is_work=task.is_work,
        is_checked=task.is_checked,
        is_leased=task.lease is not None,
    )


def hash_of(content: bytes) -> str:
    """The name of a blob."""
    return hashlib.sha256(content).hexdigest()


def pieces_of(content: bytes) -> Iterator[dict[str, Any]]:
    """The rows of a blob, made one at a time."""
    sha256, whole = hash_of(content), memoryview(content)
    for part, at in enumerate(range(0, len(content) or 1, _PIECE)):
        yield {
            "sha256": sha256,
            "part": part,
            "content": bytes(whole[at : at + _PIECE]),
        }


def record_row(record: Any) -> dict[str, Any]:
    """A record whose fields are its row."""
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


Reads = TypeVar("Reads", bound=Callable[..., Any])


def _readable(read: Reads) -> Reads:
    """Say which row cannot be read, where somebody has changed it from outside."""

    @wraps(read)
    def reading(*given: Any) -> Any:
        try:
            return read(*given)
        except (
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
            InvalidFuses,
            InvalidRubric,
        ) as error:
            first, second, *_ = given[-1]._mapping.items()  # noqa: SLF001 - the key of a row comes first
            named = " and ".join(
                f"{name} {str(value)[:40]!r}" for name, value in (first, second)
            )
            raise LedgerDamaged(f"the row with {named}: {error}") from None

    return reading  # type: ignore[return-value]


@_readable
def record_from(kind: type[Any], row: Row[Any]) -> Any:
    """The record of a row."""
    values = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name for it
    for name in _LISTS & values.keys():
        values[name] = tuple(values[name])
    if kind is QuestionRecord:
        values["kind"] = QuestionKind(values["kind"])
    return kind(**values)


def plan_row(plan: PlanRecord) -> dict[str, Any]:
    """A plan as its row."""
    row = record_row(plan)
    head: Head = row.pop("head")
    return {
        **row,
        "rules": rules_to_json(plan.rules),
        "head_seq": head.seq,
        "head_hash": head.hash,
    }


@_readable
def plan_from(row: Row[Any]) -> PlanRecord:
    """The plan of a row."""
    values = dict(row._mapping)  # noqa: SLF001
    head = Head(seq=values.pop("head_seq"), hash=values.pop("head_hash"))
    state, rules = PlanState(values.pop("state")), rules_from_json(values.pop("rules"))
    return PlanRecord(**values, state=state, rules=rules, head=head)


def rules_to_json(rules: Rules) -> dict[str, Any]:
    """What a plan is held to, as JSON."""
    rubrics = {"plan_rubric": rules.plan_rubric, "node_rubric": rules.node_rubric}
    return {
        "fuses": rules.fuses.model_dump(),
        **{
            name: {
                "name": rubric.name,
                "maxima": dict(rubric.maxima),
                "approve_at": rubric.approve_at,
            }
            for name, rubric in rubrics.items()
        },
    }


def rules_from_json(value: Mapping[str, Any]) -> Rules:
    """What a plan is held to."""
    return Rules(
        fuses=fuses_from(value["fuses"]),
        plan_rubric=Rubric(**value["plan_rubric"]),
        node_rubric=Rubric(**value["node_rubric"]),
    )


def task_row(task: TaskRecord) -> dict[str, Any]:
    """A task as its row, but for what only the plan knows."""
    return {
        **dict(zip(_PLAIN, _plain_of(task), strict=True)),
        "tags": list(task.tags),
        **progress_row(task.progress),
        **lease_row(task.lease),
        "queue": turn_of_task(task),
    }


def changes(
    as_row: Callable[[Any], dict[str, Any]],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The records that have changed, each with every column in which any of them has: one statement writes them all."""
    pairs = [(key, as_row(old), as_row(after[key])) for key, old in before.items()]
    names = sorted(
        {
            name
            for _, was, now in pairs
            for name, value in now.items()
            if value != was[name]
        }
    )
    return [
        {"key": key, **{name: now[name] for name in names}}
        for key, was, now in pairs
        if was != now
    ]


def progress_row(at: NodeProgress) -> dict[str, Any]:
    """Where a task stands, as columns."""
    standing = at.standing
    return {
        "state": standing.state.value,
        "waiting": standing.waiting.value if standing.waiting else None,
        "active": at.active,
        "excused": at.excused,
        **dict(zip(_COUNTS, _counts_of(at), strict=True)),
        **dict(zip(_COUNTERS, _counters_of(standing.counters), strict=True)),
        "forgiven": None if standing.forgiven == _NEVER else asdict(standing.forgiven),
    }


def lease_row(lease: Lease | None) -> dict[str, Any]:
    """A lease as columns."""
    if lease is None:
        return {"lease_holder": None, "lease_until": None, "lease_product": None}
    return {
        "lease_holder": lease.holder,
        "lease_until": lease.until,
        "lease_product": lease.product,
    }


def state_from(value: str) -> State:
    """The state of that name."""
    try:
        return State(value)
    except ValueError as error:
        raise LedgerDamaged(str(error)) from None


@_readable
def task_from(row: Row[Any]) -> TaskRecord:
    """The task of a row."""
    values = row._mapping  # noqa: SLF001
    standing = TaskStanding(
        state=State(values["state"]),
        waiting=Waiting(values["waiting"]) if values["waiting"] else None,
        counters=Counters(**{name: values[name] for name in _COUNTERS}),
        forgiven=Counters(**values["forgiven"]) if values["forgiven"] else Counters(),
    )
    progress = NodeProgress(
        standing=standing,
        active=values["active"],
        excused=values["excused"],
        **{name: values[name] for name in _COUNTS},
    )
    lease = None
    if values["lease_until"]:
        lease = Lease(
            holder=values["lease_holder"],
            until=values["lease_until"],
            product=values["lease_product"],
        )
    return TaskRecord(
        **{name: values[name] for name in _PLAIN},
        tags=tuple(values["tags"]),
        progress=progress,
        lease=lease,
    )


@_readable
def entry_from(row: Row[Any]) -> ChainEntry:
    """The event of a row; the ledger's own have neither plan nor task."""
    values: dict[str, Any] = {"plan_id": "", "task_id": None, **row._mapping}  # noqa: SLF001
    if not isinstance(values["payload"], dict):
        raise TypeError(f"its payload is no object: {values['payload']!r:.40}")
    return ChainEntry(**values)


Loader = Callable[[Row[Any]], Any]
