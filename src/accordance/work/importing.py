"""A plan enters the ledger: all of it, at its beginning, in one transaction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

from accordance.contracts.catalogue.plan import Plan, Requirement
from accordance.contracts.context import ROLES
from accordance.contracts.violation import Notice, Repair
from accordance.domain.chain import canonical
from accordance.domain.plan import PlanGraph, plan_graph
from accordance.domain.plan_review import PlanEvent, PlanState
from accordance.domain.progress import PlanInMemory, begin
from accordance.domain.records import PlanRecord, RequirementRecord, Rules, TaskRecord
from accordance.domain.ruling import Ask, QuestionKind
from accordance.errors import AccordanceError, Conflict, NotFound
from accordance.store.ledger import EdgeRow, Ledger, NodeRow, Transaction
from accordance.store.rows import rules_to_json
from accordance.work.coding_tasks import InvalidTasks, check_tasks


class UnfitPlan(AccordanceError):
    """A plan that honours its contract and still cannot be kept."""

    code = "unfit-plan"


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import."""

    plan: PlanRecord
    is_new: bool
    document: bytes


@dataclass(frozen=True, slots=True)
class Source:
    """What a plan was read from: the bytes as they came, and what was made of them on the way."""

    raw: bytes
    repairs: tuple[Repair, ...] = ()
    warnings: tuple[Notice, ...] = ()

    def keep(self, tx: Transaction) -> dict[str, Any]:
        """Keep all of it; what the import's event says of it."""
        said: dict[str, Any] = {
            "raw": tx.keep(self.raw),
            "repairs": len(self.repairs),
            "warnings": len(self.warnings),
        }
        if self.repairs or self.warnings:
            reading = {
                "repairs": [repair.to_json() for repair in self.repairs],
                "warnings": [warning.to_json() for warning in self.warnings],
            }
            said["reading"] = tx.keep(canonical(reading).encode("utf-8", "replace"))
        return said


def import_plan(  # noqa: PLR0913 - what is imported, from where, and what goes with it
    ledger: Ledger,
    plan: Plan,
    rules: Rules,
    *,
    source: Source | None = None,
    waived_by: str | None = None,
    roles: Collection[str] = ROLES,
    watch: Callable[[int], None] = lambda _: None,
    also: Callable[[Transaction], None] = lambda _: None,
) -> Imported:
    """Write down a plan that honours its contract. The same plan again changes nothing.

    A plan that nothing has begun in yet may be replaced; one that runs may not. Raises Conflict, UnfitPlan, and InvalidTasks for tasks
    that change a repository and could not be judged by; `roles` are those they may name. `source`, what the plan was read from,
    is kept with it. `watch` hears of each node, `also`
    is done in the same transaction.
    """
    _refuse_names_nobody_can_keep(plan)
    if faults := check_tasks(plan, roles):
        raise InvalidTasks(faults)
    document = _document(plan)
    graph = plan_graph(plan)
    progress = begin(graph, missing_inputs(plan))
    with ledger.write() as tx:
        sha256 = tx.keep(document)
        old = _earlier(tx, plan.plan.plan_id)
        if old is not None and old.document == sha256:
            return Imported(old, is_new=False, document=document)
        record = _record(plan, sha256, rules, tx.now, old)
        _refuse_foreign_tasks(tx, plan)
        tx.begin_plan(
            record,
            _watched(node_rows(plan, graph, progress, tx.now), watch),
            edge_rows(plan),
            requirement_rows(plan),
        )
        said = {"document": sha256, "nodes": len(plan.nodes), "edges": len(plan.edges)}
        held_to = {"revision": record.revision, "rules": rules_to_json(rules)}
        read_from = source.keep(tx) if source else {}
        tx.record(
            record.plan_id, PlanEvent.IMPORTED, None, {**said, **held_to, **read_from}
        )
        _ask_for_confirmations(tx, plan)
        also(tx)
        if waived_by is not None:
            tx.move_plan(record.plan_id, PlanEvent.WAIVED, {"by": waived_by})
        return Imported(tx.plan(record.plan_id), is_new=True, document=document)


def _document(plan: Plan) -> bytes:
    """The plan in the words it was sent with, normalised, a node or an edge to a line.

    Written line by line, because a plan may be large and is there once already.
    """
    head = plan.model_dump(
        mode="json", exclude={"nodes", "edges"}, exclude_unset=True, by_alias=True
    )
    out = BytesIO()
    out.write(
        json.dumps(
            {"schema_version": plan.schema_version, **head}, ensure_ascii=False
        ).encode()[:-1]
    )
    for name, parts in (("nodes", plan.nodes), ("edges", plan.edges)):
        out.write(f',\n"{name}": ['.encode())
        for at, part in enumerate(parts):
            out.write(b",\n" if at else b"\n")
            out.write(
                part.__pydantic_serializer__.to_json(
                    part, exclude_unset=True, by_alias=True
                )
            )
        out.write(b"]")
    out.write(b"}\n")
    return out.getvalue()


def _watched(
    nodes: Iterator[NodeRow], watch: Callable[[int], None]
) -> Iterator[NodeRow]:
    for node in nodes:
        watch(1)
        yield node


def missing_inputs(plan: Plan) -> Counter[str]:
    """How many required inputs each task misses at the beginning."""
    return Counter(one.task_id for one in plan.requirements if one.required)


def _earlier(tx: Transaction, plan_id: str) -> PlanRecord | None:
    try:
        return tx.lock(plan_id)
    except NotFound:
        return None


def _record(
    plan: Plan, document: str, rules: Rules, now: str, old: PlanRecord | None
) -> PlanRecord:
    head = plan.plan
    record = PlanRecord(
        plan_id=head.plan_id,
        title=head.title,
        owner_agent_id=head.owner_agent_id,
        root_task_id=head.root_task_id,
        created_at=head.created_at,
        state=PlanState.IN_REVIEW,
        document=document,
        nodes=len(plan.nodes),
        imported_at=now,
        constraints=head.model_dump(
            mode="json", include={"constraints"}, by_alias=True
        )["constraints"],
        rules=rules,
    )
    if old is None:
        return record
    if old.state is PlanState.ACTIVE or old.run_started_at is not None:
        raise Conflict(
            f"plan {old.plan_id} runs already and is not replaced; give the new plan a plan_id of its own"
        )
    return replace(
        record,
        revision=old.revision + 1,
        rounds=old.rounds,
        review_failures=old.review_failures,
        head=old.head,
    )


def _refuse_names_nobody_can_keep(plan: Plan) -> None:
    """Not every database keeps a NUL, and a name that changes on the way is no name."""
    names = (
        plan.plan.plan_id,
        *(node.task_id for node in plan.nodes),
        *(one.requirement_id for one in plan.requirements),
    )
    if bad := next((name for name in names if "\0" in name), None):
        raise UnfitPlan(
            f"the id {bad!r} holds a NUL character, which not every database keeps; leave it out"
        )


def _refuse_foreign_tasks(tx: Transaction, plan: Plan) -> None:
    """A task's id says which task is meant, so no two plans share one. Asked of the root: copies share it first."""
    try:
        other = tx.task(plan.plan.root_task_id)
    except NotFound:
        return
    if other.plan_id != plan.plan.plan_id:
        raise Conflict(
            f"task {other.task_id} belongs to plan {other.plan_id} already; give every task an id of its own"
        )


def node_rows(
    plan: Plan, graph: PlanGraph, progress: PlanInMemory, now: str
) -> Iterator[NodeRow]:
    """The tasks of a plan at its beginning."""
    groups = _groups(graph)
    for place, node in enumerate(plan.nodes):
        known = graph[node.task_id]
        yield NodeRow(
            task=TaskRecord(
                task_id=node.task_id,
                plan_id=plan.plan.plan_id,
                place=place,
                node_type=node.node_type,
                title=node.title,
                owner_agent_id=node.owner_agent_id,
                priority=node.priority,
                tags=tuple(node.tags),
                goal_statement=node.goal_statement,
                rationale=node.rationale,
                is_work=known.is_work,
                checks=known.checks,
                is_checked=bool(known.checked_by),
                progress=progress.at[node.task_id],
                updated_at=now,
            ),
            combine=known.combine,
            rival_group=groups.get(node.task_id),
        )


def _groups(graph: PlanGraph) -> dict[str, str]:
    """A name for each group of alternatives: that of its best candidate, which no other group has."""
    return {task: graph[task].rivals[0] for task in graph if graph[task].rivals}


def edge_rows(plan: Plan) -> Iterator[EdgeRow]:
    """The edges of a plan."""
    for place, edge in enumerate(plan.edges):
        yield EdgeRow(
            plan_id=plan.plan.plan_id,
            edge_id=edge.edge_id,
            place=place,
            from_task_id=edge.from_task_id,
            to_task_id=edge.to_task_id,
            edge_type=edge.edge_type,
            metadata=edge.metadata.model_dump(exclude_unset=True)
            if edge.metadata
            else None,
        )


def requirement_rows(plan: Plan) -> Iterator[RequirementRecord]:
    """What the tasks of a plan need from outside."""
    for one in plan.requirements:
        yield RequirementRecord(
            plan_id=plan.plan.plan_id,
            requirement_id=one.requirement_id,
            task_id=one.task_id,
            name=one.name,
            kind=one.kind,
            required=bool(one.required),
            min_count=one.min_count,
            allowed_types=tuple(one.allowed_types),
            keywords=_keywords(one),
            source=one.source,
            key=one.name.casefold(),
        )


def _keywords(requirement: Requirement) -> tuple[str, ...]:
    validation = requirement.validation
    return tuple((validation and validation.filename_keywords) or ())


def _ask_for_confirmations(tx: Transaction, plan: Plan) -> None:
    titles = {node.task_id: node.title for node in plan.nodes}
    for one in plan.requirements:
        if one.kind == "CONFIRMATION" and one.required:
            text = f"{titles[one.task_id]}: please confirm {json.dumps(one.name, ensure_ascii=False)}"
            ask = Ask(
                kind=QuestionKind.CONFIRMATION,
                text=text,
                details={"requirement_id": one.requirement_id},
            )
            tx.ask(plan.plan.plan_id, one.task_id, ask)
