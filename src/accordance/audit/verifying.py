"""Recomputing a ledger: its chain, every state from the events, every verdict.

Integrity: what is there is what was written. Completeness: nothing that was written
is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from accordance.audit.causes import GOING_ON, verify_causes
from accordance.audit.chains import compare_head, linked_entries, reason_of
from accordance.audit.findings import (
    UNREADABLE,
    AuditFindings,
    check_blob,
    fetch,
)
from accordance.audit.kept_blobs import NamedBlobs
from accordance.audit.landings import verify_landings
from accordance.audit.messages import (
    Announced,
    verify_changes,
    verify_messages,
    verify_verdicts,
)
from accordance.audit.numbers import verify_numbers
from accordance.audit.plan_states import PlanStates
from accordance.audit.replaying import AttemptContracts, PlanReplay
from accordance.audit.reservations import Reservations
from accordance.audit.rows import Rows, planned_tables, unplanned_tables
from accordance.changes.plan_rebasing import REBASED
from accordance.changes.settling import JUDGED
from accordance.domain.chain import ChainEntry
from accordance.domain.records import ArtifactRecord, PlanRecord, ReviewRecord
from accordance.domain.tombstones import tombstone_from
from accordance.errors import NotFound
from accordance.store.ledger import Transaction
from accordance.store.seals import PLAN_BEGAN, PLAN_DELETED
from accordance.store.tables import TASK_EVENTS

_ANNOUNCING: Final = ("MESSAGE", "MESSAGE_REFUSED", "VERDICT", JUDGED, REBASED)
"""The events that announce a message or a verdict."""


def verify_ledger(tx: Transaction, root: Path | None = None) -> list[AuditFindings]:
    """Recompute everything: return findings for each plan, and last for the rest.

    The rest is what belongs to no plan: the ledger's own chain and the blobs.
    """
    own = AuditFindings(None)
    rows = Rows(own)
    begun_plans = _read_ledger_chain(tx, rows, own)

    plan_ids = sorted(tx.plan_ids() | begun_plans)
    by_plan = [verify_plan(tx, plan_id, root) for plan_id in plan_ids]
    for findings in by_plan:
        if findings.plan_id not in begun_plans:
            findings.missing("the ledger's event that began the plan is missing")

    rows.compare(tx, unplanned_tables())
    _verify_strays(tx, own)
    verify_numbers(tx, [*by_plan, own], own)
    named = rows.blobs.union(*(findings.named for findings in by_plan))
    _verify_blobs(tx, named, own)
    return [*by_plan, own]


def _read_ledger_chain(tx: Transaction, rows: Rows, own: AuditFindings) -> set[str]:
    """Read the ledger's own chain; return the plans that began according to it."""
    begun_plans = set()
    for entry in linked_entries(tx.ledger_entries(), own):
        rows.see(entry)
        if entry.kind == PLAN_BEGAN:
            begun_plans.add(str(entry.payload.get("plan_id")))
        elif entry.kind == PLAN_DELETED:
            begun_plans.discard(str(entry.payload.get("plan_id")))
            _read_tombstone(entry, own)
    return begun_plans


def _read_tombstone(entry: ChainEntry, own: AuditFindings) -> None:
    try:
        tombstone = tombstone_from(entry.payload)
    except UNREADABLE:
        own.broken(f"event {entry.seq}: the tombstone of a plan cannot be read")
        return
    own.deleted.append(tombstone)
    own.notices.append(
        f"plan {tombstone.plan_id} was deleted at {entry.at[:19]}, after"
        f" {tombstone.head.seq} events"
    )


def _verify_strays(tx: Transaction, findings: AuditFindings) -> None:
    """Check that every row belongs to a plan that is there."""
    plans = tx.plan_ids()
    for table in (*planned_tables(), TASK_EVENTS):
        for plan_id in sorted(tx.plan_ids(table) - plans):
            findings.broken(f"{table.name}: rows of plan {plan_id}, which is not there")


def _verify_blobs(tx: Transaction, named: set[str], findings: AuditFindings) -> None:
    """Check that every blob matches its hash, and that events name all of them."""
    stored = set()
    for sha256, recomputed in tx.blobs():
        findings.blobs += 1
        stored.add(sha256)
        if recomputed != sha256:
            findings.broken(f"blobs {sha256[:12]}: is not what was kept")
        if sha256 not in named:
            findings.broken(f"blobs {sha256[:12]}: a row that no event explains")

    for sha256 in sorted(named - stored):
        findings.missing(f"blobs {sha256[:12]}: is missing")


def verify_plan(
    tx: Transaction,
    plan: PlanRecord | str,
    root: Path | None = None,
) -> AuditFindings:
    """Recompute everything that is known of a plan.

    The evidence of its changes lies below `root`, the project folder.
    """
    plan_id = plan if isinstance(plan, str) else plan.plan_id
    audit = _PlanAudit(tx, plan_id)
    audit.read_chain()
    audit.compare_rows()

    record = audit.plan_record()
    if record is not None:
        audit.compare_records(record, root)
    return audit.findings


class _PlanAudit:
    """The audit of a plan: its chain is read once, then its records are compared."""

    def __init__(self, tx: Transaction, plan_id: str) -> None:
        self.findings = AuditFindings(plan_id)
        self._tx = tx
        self._plan_id = plan_id
        self._rows = Rows(self.findings)
        self._replay = PlanReplay(tx, self.findings, self._rows)
        self._states = PlanStates(self.findings)
        self._reservations = Reservations(self.findings, self._replay)
        self._blobs = NamedBlobs(tx, self.findings)
        self._contracts = AttemptContracts()
        self._hashes: dict[int, str] = {}
        self._announced: dict[str, Announced] = {kind: {} for kind in _ANNOUNCING}
        self._gone_on: list[ChainEntry] = []

    def read_chain(self) -> None:
        """Read the events of the plan, and gather what they say of its records."""
        for entry in linked_entries(self._tx.entries(self._plan_id), self.findings):
            self._hashes[entry.seq] = entry.hash
            self._see(entry)
            self._rows.see(entry)
            if entry.kind in GOING_ON:
                self._gone_on.append(entry)
            if entry.kind in self._announced:
                message_id = str(entry.payload.get("message"))
                self._announced[entry.kind][message_id] = entry.payload

    def _see(self, entry: ChainEntry) -> None:
        try:
            self._replay.see(entry)
            self._states.see(entry)
            self._reservations.see(entry)
            self._blobs.see(entry)
            self._contracts.see(entry)
        except UNREADABLE:
            self.findings.broken(f"event {entry.seq} ({entry.kind}) cannot be read")

    def compare_rows(self) -> None:
        """Compare every row of the plan with what the events say of it."""
        self._rows.compare(self._tx, planned_tables(), self._plan_id)
        self.findings.named = self._rows.blobs

    def plan_record(self) -> PlanRecord | None:
        """The row of the plan; None, with a finding, if it is gone or unreadable."""
        try:
            return self._tx.plan(self._plan_id)
        except NotFound:
            self.findings.missing(f"plans {self._plan_id}: the row is missing")
        except UNREADABLE as error:
            reason = reason_of(error)
            self.findings.broken(f"plans {self._plan_id}: cannot be read ({reason})")
        return None

    def compare_records(self, plan: PlanRecord, root: Path | None) -> None:
        """Recompute the states, messages, changes and verdicts of the plan."""
        tx, findings = self._tx, self.findings
        compare_head(plan, self._hashes, findings)
        self._states.compare(plan)
        revisions = self._replay.revisions

        with _readable("tasks", findings):
            self._replay.compare(plan)

        with _readable("reservations", findings):
            self._reservations.compare(tx, plan)

        with _readable("messages", findings):
            announced = self._announced["MESSAGE"] | self._announced["MESSAGE_REFUSED"]
            contracts = self._contracts.by_attempt
            verify_messages(tx, plan, announced, revisions, contracts, findings)

        with _readable("changes", findings):
            judged = self._announced[JUDGED]
            verify_changes(tx, plan, judged, revisions, root, findings)

        with _readable("landed changes", findings):
            verify_landings(tx, plan, self._announced[REBASED], findings)

        with _readable("verdicts", findings):
            announced = self._announced["VERDICT"]
            verify_verdicts(tx, plan, announced, self._hashes, findings)

        with _readable("questions", findings):
            verify_causes(tx, plan, self._gone_on, findings)

        with _readable("products", findings):
            _verify_products(tx, plan, findings)


@contextmanager
def _readable(label: str, findings: AuditFindings) -> Iterator[None]:
    """Note unreadable rows as a finding; the rest of their table is not looked at."""
    try:
        yield
    except UNREADABLE as error:
        reason = reason_of(error)
        findings.broken(f"the {label} of the plan cannot be read ({reason})")


def _verify_products(
    tx: Transaction,
    plan: PlanRecord,
    findings: AuditFindings,
) -> None:
    for artifact in tx.find(ArtifactRecord, plan_id=plan.plan_id):
        label = f"task {artifact.task_id}: the artifact {artifact.file_name}"
        check_blob(tx, artifact.sha256, label, findings)
    for review in tx.find(ReviewRecord, plan_id=plan.plan_id):
        fetch(tx, review.document, "the review", findings)
