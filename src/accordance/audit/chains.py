"""Recomputing the hash chain of events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from accordance.audit.findings import UNREADABLE, AuditFindings
from accordance.audit.numbers import verify_number
from accordance.domain.chain import EMPTY, ChainEntry, Head, next_entry
from accordance.domain.records import PlanRecord
from accordance.errors import LedgerDamaged


def linked_entries(
    entries: Iterator[ChainEntry], findings: AuditFindings
) -> Iterator[ChainEntry]:
    """Yield the events of a chain after checking each against its predecessor.

    The findings count the events and keep the head of the chain as it grows.
    """
    try:
        for entry in entries:
            _compare_with_head(entry, findings)
            verify_number(entry, findings)
            findings.head = Head(seq=entry.seq, hash=entry.hash)
            findings.events += 1
            yield entry
    except UNREADABLE as error:
        reason = reason_of(error)
        findings.broken(f"event {findings.head.seq + 1} cannot be read ({reason})")


def _compare_with_head(entry: ChainEntry, findings: AuditFindings) -> None:
    head = findings.head
    next_seq = head.seq + 1

    if entry.seq != next_seq:
        findings.missing(f"events {next_seq} to {entry.seq - 1} are missing")
    elif not _follows(head, entry):
        findings.broken(f"event {entry.seq} ({entry.kind}) is not what was written")


def _follows(head: Head, entry: ChainEntry) -> bool:
    """Whether the hash of an event follows from its content and its predecessor."""
    recomputed = next_entry(
        head,
        plan_id=entry.plan_id,
        kind=entry.kind,
        task_id=entry.task_id,
        at=entry.at,
        payload=entry.payload,
    )
    return recomputed.hash == entry.hash


def compare_head(
    plan: PlanRecord,
    hashes: Mapping[int, str],
    findings: AuditFindings,
) -> None:
    """Check that the chain ends at the event which the plan's row names as the last."""
    last_seq = findings.head.seq
    last_hash = hashes.get(last_seq, EMPTY.hash)

    if last_seq < plan.head.seq:
        findings.missing(
            f"plans {plan.plan_id}: events {last_seq + 1} to {plan.head.seq}"
            " are missing"
        )
        return

    if last_seq > plan.head.seq or last_hash != plan.head.hash:
        findings.broken(
            f"plans {plan.plan_id}: the chain does not end where the plan says"
            f" (event {plan.head.seq})"
        )


def reason_of(error: Exception) -> str:
    """Why a record cannot be read, in a few words."""
    if isinstance(error, LedgerDamaged):
        return error.what
    return str(error)
