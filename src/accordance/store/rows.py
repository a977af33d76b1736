"""Records to rows and back: how a record lies in its table."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache, partial, wraps
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import Row, Table

from accordance.domain.chain import ChainEntry, Head
from accordance.domain.fuses import fuses_from
from accordance.domain.lifecycle import (
    Counters,
    State,
    TaskStanding,
    Waiting,
)
from accordance.domain.plan_lifecycle import PlanState
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
from accordance.domain.turns import turn_of
from accordance.domain.usage import Budget
from accordance.errors import (
    BlobChanged,
    InvalidFuses,
    InvalidRubric,
    LedgerDamaged,
)
from accordance.store import tables
from accordance.store.blobs.sources import KeptBlob

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
_COUNTERS: Final = tuple(counter.name for counter in fields(Counters))
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
_NO_LEASE: Final[Mapping[str, None]] = {
    "lease_holder": None,
    "lease_until": None,
    "lease_product": None,
    "lease_tokens": None,
    "lease_cost": None,
}
_counters_of: Final = attrgetter(*_COUNTERS)
_counts_of: Final = attrgetter(*_COUNTS)
_plain_of: Final = attrgetter(*_PLAIN)


def hash_of(content: bytes) -> str:
    """Return the name of a blob."""
    return hashlib.sha256(content).hexdigest()


def pieces_of(sha256: str, content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the rows of a blob, made one at a time."""
    whole = memoryview(content)
    starts = range(0, len(content) or 1, _PIECE)
    for part, start in enumerate(starts):
        piece = whole[start : start + _PIECE]
        yield {"sha256": sha256, "part": part, "content": bytes(piece)}


def pieces_of_file(kept: KeptBlob) -> Iterator[dict[str, Any]]:
    """Yield the rows of a blob that is in a file.

    Raises BlobChanged at the end if the file is not what was measured.
    """
    digest = hashlib.sha256()
    with Path(str(kept.content)).open("rb") as file:
        for part, content in enumerate(iter(partial(file.read, _PIECE), b"")):
            digest.update(content)
            yield {"sha256": kept.sha256, "part": part, "content": content}
    if digest.hexdigest() != kept.sha256:
        raise BlobChanged(kept.sha256, str(kept.content))


def record_row(record: Any) -> dict[str, Any]:
    """Return the row of a record whose fields are its columns."""
    kind: Any = type(record)
    names, values_of = _fields_of(kind)
    return dict(zip(names, values_of(record), strict=True))


@cache
def _fields_of(
    kind: type[Any],
) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """Return the names of a record's fields, and what reads all of them at once."""
    names = tuple(each.name for each in fields(kind))
    return names, attrgetter(*names)


Reads = TypeVar("Reads", bound=Callable[..., Any])


def _readable(read: Reads) -> Reads:
    """Say which row cannot be read, where it was changed from outside."""

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
    """Return the record of a row."""
    values = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name for it
    for name in _LISTS & values.keys():
        values[name] = tuple(values[name])
    if kind is QuestionRecord:
        values["kind"] = QuestionKind(values["kind"])
    return kind(**values)


def plan_row(plan: PlanRecord) -> dict[str, Any]:
    """Return the row of a plan."""
    row = record_row(plan)
    head: Head = row.pop("head")
    row["head_seq"] = head.seq
    row["head_hash"] = head.hash
    row["rules"] = rules_to_json(plan.rules)
    return row


@_readable
def plan_from(row: Row[Any]) -> PlanRecord:
    """Return the plan of a row."""
    values = dict(row._mapping)  # noqa: SLF001
    head = Head(seq=values.pop("head_seq"), hash=values.pop("head_hash"))
    state = PlanState(values.pop("state"))
    rules = rules_from_json(values.pop("rules"))
    return PlanRecord(**values, state=state, rules=rules, head=head)


def rules_to_json(rules: Rules) -> dict[str, Any]:
    """Return the rules of a plan as JSON."""
    return {
        "fuses": rules.fuses.model_dump(),
        "plan_rubric": _rubric_to_json(rules.plan_rubric),
        "node_rubric": _rubric_to_json(rules.node_rubric),
    }


def _rubric_to_json(rubric: Rubric) -> dict[str, Any]:
    return {
        "name": rubric.name,
        "maxima": dict(rubric.maxima),
        "approve_at": rubric.approve_at,
    }


def rules_from_json(value: Mapping[str, Any]) -> Rules:
    """Return the rules of a plan."""
    return Rules(
        fuses=fuses_from(value["fuses"]),
        plan_rubric=Rubric(**value["plan_rubric"]),
        node_rubric=Rubric(**value["node_rubric"]),
    )


def task_row(task: TaskRecord) -> dict[str, Any]:
    """Return the row of a task, without the columns that only the plan knows."""
    return {
        **dict(zip(_PLAIN, _plain_of(task), strict=True)),
        "tags": list(task.tags),
        **progress_row(task.progress),
        **lease_row(task.lease),
        "queue": turn_of(task),
    }


def moving_row(task: TaskRecord) -> dict[str, Any]:
    """Return the columns of a task that change while its plan is carried out."""
    return {
        "task_id": task.task_id,
        "product": task.product,
        "last_error": task.last_error,
        "same_errors": task.same_errors,
        "updated_at": task.updated_at,
        **progress_row(task.progress),
        **lease_row(task.lease),
        "queue": turn_of(task),
    }


def changed_plans(
    before: Mapping[str, PlanRecord], after: Mapping[str, PlanRecord]
) -> list[dict[str, Any]]:
    """Return the rows of the plans that have changed.

    Most of the time only counts and heads have; then the rows have no other columns.
    """
    changed = [after[key] for key, plan in before.items() if after[key] != plan]
    if all(_only_counts_moved(before[plan.plan_id], plan) for plan in changed):
        return [_counts_of_plan(plan) for plan in changed]
    return [plan_row(plan) for plan in changed]


def _only_counts_moved(before: PlanRecord, after: PlanRecord) -> bool:
    moved = replace(
        before,
        calls=after.calls,
        tokens=after.tokens,
        cost=after.cost,
        head=after.head,
    )
    return moved == after


def _counts_of_plan(plan: PlanRecord) -> dict[str, Any]:
    return {
        "plan_id": plan.plan_id,
        "calls": plan.calls,
        "tokens": plan.tokens,
        "cost": plan.cost,
        "head_seq": plan.head.seq,
        "head_hash": plan.head.hash,
    }


def progress_row(at: NodeProgress) -> dict[str, Any]:
    """Return the columns for where a task stands."""
    standing = at.standing
    return {
        "state": standing.state.value,
        "waiting": standing.waiting.value if standing.waiting else None,
        "active": at.active,
        "excused": at.excused,
        **dict(zip(_COUNTS, _counts_of(at), strict=True)),
        **dict(zip(_COUNTERS, _counters_of(standing.counters), strict=True)),
        "forgiven": None
        if standing.forgiven == _NEVER
        else standing.forgiven.to_json(),
    }


def lease_row(lease: Lease | None) -> dict[str, Any]:
    """Return the columns of a lease."""
    if lease is None:
        return dict(_NO_LEASE)
    reserved = lease.reserved
    return {
        "lease_holder": lease.holder,
        "lease_until": lease.until,
        "lease_product": lease.product,
        "lease_tokens": reserved.tokens if reserved else None,
        "lease_cost": reserved.cost if reserved else None,
    }


def reserved_from(tokens: int | None, cost: float | None) -> Budget | None:
    """Return what the holder of a lease has reserved, if anything."""
    if tokens is None and cost is None:
        return None
    return Budget(tokens=tokens, cost=cost)


def state_from(value: str) -> State:
    """Return the state of that name. Raises LedgerDamaged."""
    try:
        return State(value)
    except ValueError as error:
        raise LedgerDamaged(str(error)) from None


@_readable
def task_from(row: Row[Any]) -> TaskRecord:
    """Return the task of a row."""
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
            reserved=reserved_from(values["lease_tokens"], values["lease_cost"]),
        )
    return TaskRecord(
        **{name: values[name] for name in _PLAIN},
        tags=tuple(values["tags"]),
        progress=progress,
        lease=lease,
    )


@_readable
def entry_from(row: Row[Any]) -> ChainEntry:
    """Return the event of a row; the ledger's own have neither plan nor task."""
    values: dict[str, Any] = {"plan_id": "", "task_id": None, **row._mapping}  # noqa: SLF001
    if not isinstance(values["payload"], dict):
        raise TypeError(f"its payload is no object: {values['payload']!r:.40}")
    return ChainEntry(**values)


Loader = Callable[[Row[Any]], Any]
