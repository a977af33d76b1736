"""Deleting a plan that is over: its rows go, a tombstone stays.

The tombstone lies in the ledger's own chain. The evidence (bundles, products and logs on
disk, and the blobs of the ledger) is kept or removed, as the person says, or else as
the settings say.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.chain import Payload, canonical
from accordance.domain.lifecycle import State
from accordance.domain.naming import safe_name
from accordance.domain.plan_lifecycle import IS_OVER, PlanState
from accordance.domain.records import MessageRecord, PlanRecord
from accordance.domain.tombstones import Tombstone, ranges_of
from accordance.errors import UnfitPlanState
from accordance.project.home import Home
from accordance.store.ledger import Ledger, Transaction
from accordance.store.seals import (
    PLAN_DELETED,
    ROWS_WRITTEN,
    SEALS,
    belongs_to_a_plan,
    blobs_in,
    sealed_tables,
    seals,
)
from accordance.work.lease_times import seconds_between
from accordance.work.plan_life import state_of

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_MAY_BE_DELETED: Final = IS_OVER | {PlanState.ARCHIVED}
_SECONDS_PER_DAY: Final = 24 * 60 * 60
_LARGEST_INDEX: Final = 64 << 20
"""Bytes of a recipe or a manifest, which names further blobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What deleting a plan takes away, and what it leaves."""

    plan: PlanRecord
    state: PlanState
    tombstone: Tombstone
    folders: tuple[Path, ...]  # of its evidence
    blobs: tuple[str, ...]
    """The blobs that nothing else in the ledger names."""
    other_blobs: tuple[str, ...]
    """Those that its chain sealed and that stay: others name them, or all are kept."""
    removes_evidence: bool


def prepare(
    tx: Transaction,
    home: Home,
    plan_id: str,
    *,
    removes_evidence: bool | None,
    evidence_days: int | None,
) -> Deletion:
    """Work out what deleting a plan would do. Nothing is changed.

    Raises UnfitPlanState for a plan that is not over.
    """
    plan = tx.plan(plan_id)
    state = _must_be_over(tx, plan)
    entries = list(tx.entries(plan_id))
    if removes_evidence is None:
        age = seconds_between(entries[-1].at, tx.now)
        is_due = evidence_days is not None and age > evidence_days * _SECONDS_PER_DAY
        removes_evidence = is_due

    sealed: dict[str, None] = {}
    for entry in entries:
        if entry.kind in SEALS:
            sealed.update(dict.fromkeys(blobs_in(entry.payload)))
    used = _named_elsewhere(tx, plan_id, set(sealed)) if removes_evidence else sealed
    tombstone = Tombstone(
        plan_id=plan_id,
        title=plan.title,
        head=plan.head,
        numbers=ranges_of(entry.number or 0 for entry in entries),
    )
    return Deletion(
        plan=plan,
        state=state,
        tombstone=tombstone,
        folders=tuple(_evidence_of(tx, home, plan_id)),
        blobs=tuple(name for name in sealed if name not in used),
        other_blobs=tuple(name for name in sealed if name in used),
        removes_evidence=removes_evidence,
    )


def _must_be_over(tx: Transaction, plan: PlanRecord) -> PlanState:
    state = state_of(tx, plan)
    if state not in _MAY_BE_DELETED:
        raise UnfitPlanState(
            f"plan {plan.plan_id} is {state}, and only a plan that is over is deleted",
            way_out="cancel it first",
        )
    for task in tx.tasks(plan.plan_id, State.IN_PROGRESS):
        raise UnfitPlanState(
            f"task {task.task_id} of plan {plan.plan_id} is still in work",
            way_out="wait until it ends, or release it",
        )
    return state


def _evidence_of(tx: Transaction, home: Home, plan_id: str) -> Iterator[Path]:
    """Yield the folders of a plan's bundles, products and logs that are there."""
    folders = []
    for task in tx.tasks(plan_id):
        folders.append(home.artifacts(task.task_id))
        folders.append(home.runs / safe_name(task.task_id))
    for message in tx.find(MessageRecord, plan_id=plan_id, kind="SUBMISSION"):
        bundle = message.case.get("bundle")
        if bundle is not None:
            folders.append(home.root / str(bundle))

    root = home.root.resolve()
    for folder in dict.fromkeys(folders):
        is_inside = folder.resolve().is_relative_to(root)
        if is_inside and folder.is_dir():
            yield folder


def _named_elsewhere(tx: Transaction, plan_id: str, names: set[str]) -> set[str]:
    """Return those blobs that other plans name, and what those blobs name in turn."""
    planned = [table for table in sealed_tables() if belongs_to_a_plan(table)]
    used: set[str] = set()
    for plan in tx.plans():
        if plan.plan_id == plan_id:
            continue
        for entry in tx.entries(plan.plan_id):
            used |= names & set(_HASH.findall(canonical(entry.payload)))
        for table in planned:
            for values in tx.stored(table, plan.plan_id):
                used |= names & set(_HASH.findall(repr(values)))

    remaining = list(used)
    while remaining:
        name = remaining.pop()
        if (tx.blob_size(name) or 0) > _LARGEST_INDEX:
            continue  # a file, not a list of others
        text = tx.blob(name).decode("utf-8", "replace")
        further = (names & set(_HASH.findall(text))) - used
        used |= further
        remaining += further
    return used


def delete(
    ledger: Ledger,
    home: Home,
    plan_id: str,
    *,
    by: str,
    reason: str | None = None,
    removes_evidence: bool | None = None,
    evidence_days: int | None = None,
) -> Deletion:
    """Delete a plan that is over. Raises UnfitPlanState.

    The files go after the rows: a process that is killed between them leaves files
    that nothing names, and never rows whose evidence is gone.
    """
    with ledger.write() as tx:
        tx.lock(plan_id)
        deletion = prepare(
            tx,
            home,
            plan_id,
            removes_evidence=removes_evidence,
            evidence_days=evidence_days,
        )
        payload = {
            **deletion.tombstone.to_json(),
            "by": by,
            "reason": reason,
            "evidence": "removed" if deletion.removes_evidence else "kept",
        }
        tx.forget_plan(plan_id)
        tx.forget_blobs(deletion.blobs)
        events: list[tuple[str, Payload]] = [(PLAN_DELETED, payload)]
        events += [(ROWS_WRITTEN, seal) for seal in seals((), deletion.other_blobs)]
        tx.record_in_ledger(events)

    if deletion.removes_evidence:
        for folder in deletion.folders:
            shutil.rmtree(folder, ignore_errors=True)
    return deletion
