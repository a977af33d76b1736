"""Importing a plan: all of it enters the ledger, in one transaction."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from accordance.contracts.catalogue.plan import Plan, Requirement
from accordance.contracts.context import ROLES
from accordance.contracts.violation import Notice, Repair
from accordance.domain.chain import canonical
from accordance.domain.plan import PlanGraph, plan_graph
from accordance.domain.plan_lifecycle import (
    PLAN_LIFECYCLE,
    PlanEvent,
    PlanState,
)
from accordance.domain.progress import PlanInMemory, begin
from accordance.domain.records import PlanRecord, RequirementRecord, Rules, TaskRecord
from accordance.domain.ruling import Ask, QuestionKind
from accordance.errors import AccordanceError, Conflict, NotFound
from accordance.store.blobs.sources import KeptBlob
from accordance.store.ledger import Ledger, Transaction
from accordance.store.rows import rules_to_json
from accordance.store.storage import EdgeRow, NodeRow
from accordance.work.coding_tasks import InvalidTasks, check_tasks


class UnfitPlan(AccordanceError):
    """A plan that honours its contract and still cannot be stored."""

    code = "unfit-plan"


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcome of an import."""

    plan: PlanRecord
    is_new: bool


@dataclass(frozen=True, slots=True)
class Source:
    """What a plan was read from: the original bytes, and how they were read."""

    raw: bytes
    repairs: tuple[Repair, ...] = ()
    warnings: tuple[Notice, ...] = ()

    def keep(self, tx: Transaction) -> dict[str, Any]:
        """Keep the source; return what the event of the import says of it."""
        payload: dict[str, Any] = {
            "raw": tx.keep(self.raw),
            "repairs": len(self.repairs),
            "warnings": len(self.warnings),
        }
        if self.repairs or self.warnings:
            reading = {
                "repairs": [repair.to_json() for repair in self.repairs],
                "warnings": [warning.to_json() for warning in self.warnings],
            }
            text = canonical(reading)
            payload["reading"] = tx.keep(text.encode("utf-8", "replace"))
        return payload


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
    """Store a plan that honours its contract.

    The same plan again changes nothing, unless its review is waived now.

    A plan in which nothing has begun may be replaced; a running plan may not. `source`,
    what the plan was read from, is kept with it. `roles` are those that its coding
    tasks may name. `watch` is called for every node, `also` in the same transaction.

    Raises Conflict, UnfitPlan, and InvalidTasks for coding tasks that could not be
    judged by.
    """
    refuse_unstorable_ids(plan)
    violations = check_tasks(plan, roles)
    if violations:
        raise InvalidTasks(violations)

    graph = plan_graph(plan)
    progress = begin(graph, missing_inputs(plan))

    with _written_document(plan) as document, ledger.write() as tx:
        sha256 = tx.keep_blob(document)
        old = _earlier_plan(tx, plan.plan.plan_id)
        if old is not None and old.document == sha256:
            _waive_review(tx, old, waived_by)
            return Imported(tx.plan(old.plan_id), is_new=False)

        record = _plan_record(plan, sha256, rules, tx.now)
        if old is not None:
            record = _next_revision(record, old)
        _refuse_foreign_tasks(tx, plan)

        nodes = _watched(node_rows(plan, graph, progress, tx.now), watch)
        tx.begin_plan(record, nodes, edge_rows(plan), requirement_rows(plan))
        _record_import(tx, plan, record, source)
        ask_for_confirmations(tx, plan, plan.requirements)
        also(tx)
        if waived_by is None:
            tx.ask_for_review(record.plan_id)
        else:
            tx.move_plan(record.plan_id, PlanEvent.WAIVED, {"by": waived_by})
        return Imported(tx.plan(record.plan_id), is_new=True)


def _waive_review(tx: Transaction, plan: PlanRecord, waived_by: str | None) -> None:
    """Let a plan begin that waits for a review which is not wanted after all."""
    if waived_by is not None and plan.state is PlanState.IN_REVIEW:
        tx.move_plan(plan.plan_id, PlanEvent.WAIVED, {"by": waived_by})


def missing_inputs(plan: Plan) -> Counter[str]:
    """Return how many required inputs each task misses at the beginning."""
    required = [need for need in plan.requirements if need.required]
    return Counter(need.task_id for need in required)


def document_of(plan: Plan) -> bytes:
    """The plan with the keys it was sent with, normalised, a node or edge per line."""
    return b"".join(_document_pieces(plan))


@contextmanager
def _written_document(plan: Plan) -> Iterator[KeptBlob]:
    """Write the document of a plan into a file that is there for the block.

    A plan may be large, and is in memory once already.
    """
    digest = hashlib.sha256()
    with tempfile.NamedTemporaryFile(prefix="accordance-plan-") as file:
        for piece in _document_pieces(plan):
            digest.update(piece)
            file.write(piece)
        file.flush()
        yield KeptBlob(digest.hexdigest(), file.tell(), Path(file.name))


def _document_pieces(plan: Plan) -> Iterator[bytes]:
    head = plan.model_dump(
        mode="json", exclude={"nodes", "edges"}, exclude_unset=True, by_alias=True
    )
    head = {"schema_version": plan.schema_version, **head}
    opening = json.dumps(head, ensure_ascii=False).encode()

    yield opening.removesuffix(b"}")
    for name, parts in (("nodes", plan.nodes), ("edges", plan.edges)):
        yield f',\n"{name}": ['.encode()
        separator = b"\n"
        for part in parts:
            serializer = part.__pydantic_serializer__
            yield separator
            yield serializer.to_json(part, exclude_unset=True, by_alias=True)
            separator = b",\n"
        yield b"]"
    yield b"}\n"


def _watched(
    nodes: Iterator[NodeRow], watch: Callable[[int], None]
) -> Iterator[NodeRow]:
    for node in nodes:
        watch(1)
        yield node


def _earlier_plan(tx: Transaction, plan_id: str) -> PlanRecord | None:
    try:
        return tx.lock(plan_id)
    except NotFound:
        return None


def _plan_record(plan: Plan, document: str, rules: Rules, now: str) -> PlanRecord:
    head = plan.plan
    dumped = head.model_dump(mode="json", include={"constraints"}, by_alias=True)
    return PlanRecord(
        plan_id=head.plan_id,
        title=head.title,
        owner_agent_id=head.owner_agent_id,
        root_task_id=head.root_task_id,
        created_at=head.created_at,
        state=PlanState.IN_REVIEW,
        document=document,
        nodes=len(plan.nodes),
        imported_at=now,
        constraints=dumped["constraints"],
        rules=rules,
    )


def _next_revision(record: PlanRecord, old: PlanRecord) -> PlanRecord:
    """The record of a plan that replaces an earlier revision. Raises Conflict."""
    is_over = old.state is PlanState.CANCELLED or old.archived_at is not None
    if is_over:
        raise Conflict(
            f"plan {old.plan_id} is over and cannot be replaced;"
            " give the new plan its own plan_id"
        )
    may_be_replaced = PlanEvent.IMPORTED in PLAN_LIFECYCLE[old.state]
    if not may_be_replaced or old.run_started_at is not None:
        raise Conflict(
            f"plan {old.plan_id} is already running and cannot be replaced;"
            " amend it, or give the new plan its own plan_id"
        )
    return replace(
        record,
        revision=old.revision + 1,
        rounds=old.rounds,
        review_failures=old.review_failures,
        head=old.head,
    )


def _record_import(
    tx: Transaction, plan: Plan, record: PlanRecord, source: Source | None
) -> None:
    payload: dict[str, Any] = {
        "document": record.document,
        "nodes": len(plan.nodes),
        "edges": len(plan.edges),
        "revision": record.revision,
        "rules": rules_to_json(record.rules),
    }
    if source:
        payload.update(source.keep(tx))
    tx.record(record.plan_id, PlanEvent.IMPORTED, None, payload)


def refuse_unstorable_ids(plan: Plan) -> None:
    """Refuse ids with a NUL character: not every database keeps them unchanged."""
    ids = [plan.plan.plan_id]
    ids += [node.task_id for node in plan.nodes]
    ids += [need.requirement_id for need in plan.requirements]
    for name in ids:
        if "\0" in name:
            raise UnfitPlan(
                f"the id {name!r} contains a NUL character, which not every database"
                " can store; remove it"
            )


def _refuse_foreign_tasks(tx: Transaction, plan: Plan) -> None:
    """Refuse a plan whose root belongs to another plan. Raises Conflict.

    A task's id identifies it across plans. Copies of a plan share the root first, so
    checking the root is enough.
    """
    try:
        root = tx.task(plan.plan.root_task_id)
    except NotFound:
        return
    if root.plan_id != plan.plan.plan_id:
        raise Conflict(
            f"task {root.task_id} already belongs to plan {root.plan_id};"
            " give every task its own id"
        )


# -- the rows of a plan


def node_rows(
    plan: Plan, graph: PlanGraph, progress: PlanInMemory, now: str
) -> Iterator[NodeRow]:
    """Yield the tasks of a plan at its beginning."""
    for place, node in enumerate(plan.nodes):
        position = graph[node.task_id]
        task = TaskRecord(
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
            is_work=position.is_work,
            checks=position.checks,
            is_checked=bool(position.checked_by),
            progress=progress.at[node.task_id],
            updated_at=now,
        )
        # the best candidate names its group of alternatives: no other group has it
        rivals = position.rivals
        group = rivals[0] if rivals else None
        yield NodeRow(task=task, combine=position.combine, rival_group=group)


def edge_rows(plan: Plan) -> Iterator[EdgeRow]:
    """Yield the edges of a plan."""
    plan_id = plan.plan.plan_id
    for place, edge in enumerate(plan.edges):
        metadata = None
        if edge.metadata:
            metadata = edge.metadata.model_dump(exclude_unset=True)
        yield EdgeRow(
            plan_id=plan_id,
            edge_id=edge.edge_id,
            place=place,
            from_task_id=edge.from_task_id,
            to_task_id=edge.to_task_id,
            edge_type=edge.edge_type,
            metadata=metadata,
        )


def requirement_rows(plan: Plan) -> Iterator[RequirementRecord]:
    """Yield what the tasks of a plan need from outside."""
    for need in plan.requirements:
        yield RequirementRecord(
            plan_id=plan.plan.plan_id,
            requirement_id=need.requirement_id,
            task_id=need.task_id,
            name=need.name,
            kind=need.kind,
            required=bool(need.required),
            min_count=need.min_count,
            allowed_types=tuple(need.allowed_types),
            keywords=_keywords(need),
            source=need.source,
            key=need.name.casefold(),
        )


def _keywords(need: Requirement) -> tuple[str, ...]:
    if need.validation is None or not need.validation.filename_keywords:
        return ()
    return tuple(need.validation.filename_keywords)


def ask_for_confirmations(
    tx: Transaction, plan: Plan, needs: Iterable[Requirement]
) -> None:
    """Ask a person for the confirmations among what tasks of a plan need."""
    titles = {node.task_id: node.title for node in plan.nodes}
    for need in needs:
        if need.kind != "CONFIRMATION" or not need.required:
            continue
        name = json.dumps(need.name, ensure_ascii=False)
        ask = Ask(
            kind=QuestionKind.CONFIRMATION,
            text=f"{titles[need.task_id]}: please confirm {name}",
            details={"requirement_id": need.requirement_id},
        )
        tx.ask(plan.plan.plan_id, need.task_id, ask)
