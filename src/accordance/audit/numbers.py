"""The numbers of events across plans: each once, in order, none left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Final

from accordance.audit.findings import AuditFindings
from accordance.domain.chain import ChainEntry
from accordance.store.ledger import Transaction
from accordance.store.seals import sealed_columns
from accordance.store.tables import (
    COUNTERS,
    EVENT_COUNTER,
    QUESTION_COUNTER,
    QUESTIONS,
)

_NAMED: Final = 3  # wrong numbers that are named; the others follow from them


def verify_number(entry: ChainEntry, findings: AuditFindings) -> None:
    """Hold the number of an event against that of the event before it in its chain."""
    if not isinstance(entry.number, int):
        findings.broken(f"event {entry.seq} ({entry.kind}) has no number")
        return

    previous = findings.numbers[-1] if findings.numbers else 0
    if findings.numbers and entry.number <= previous:
        findings.broken(
            f"event {entry.seq} ({entry.kind}): its number {entry.number} is not behind"
            f" {previous}, that of the event before it"
        )
    findings.numbers.append(entry.number)


def verify_numbers(
    tx: Transaction,
    chains: Iterable[AuditFindings],
    own: AuditFindings,
) -> None:
    """Hold the numbers of all chains together against each other and the counter."""
    times: Counter[int] = Counter()
    for chain in chains:
        times.update(chain.numbers)
    for tombstone in own.deleted:
        times.update(tombstone.all_numbers)

    twice = [number for number, count in times.items() if count > 1]
    for number in sorted(twice)[:_NAMED]:
        own.broken(f"two events have the number {number}")

    expected = range(1, len(times) + 1)
    missing = (number for number in expected if number not in times)
    for number in islice(missing, _NAMED):
        own.missing(f"the event with number {number} is missing")

    last = max(times, default=0)
    _verify_counter(tx, last, own)


def _verify_counter(tx: Transaction, last: int, own: AuditFindings) -> None:
    counters: dict[object, object] = dict(tx.stored(COUNTERS))
    counted = counters.pop(EVENT_COUNTER, None)
    if counted is None:
        own.missing(f"counters {EVENT_COUNTER}: the row is missing")
    elif counted != last:
        own.broken(
            f"counters {EVENT_COUNTER}: says {counted}, the last event has number {last}"
        )
    _verify_question_counter(tx, counters.pop(QUESTION_COUNTER, None), own)
    for name in sorted(counters, key=str):
        own.broken(f"counters {name}: a row that no event explains")


def _verify_question_counter(
    tx: Transaction,
    counted: object,
    own: AuditFindings,
) -> None:
    """The counter is not behind any question, so that no number comes twice."""
    if not isinstance(counted, int):
        own.missing(f"counters {QUESTION_COUNTER}: the row is missing")
        return
    last = _highest_question_number(tx)
    if last > counted:
        own.broken(
            f"counters {QUESTION_COUNTER}: says {counted}, a question has number {last}"
        )


def _highest_question_number(tx: Transaction) -> int:
    names = [column.name for column in sealed_columns(QUESTIONS)]
    place = names.index("number")
    highest = 0
    for values in tx.stored(QUESTIONS):
        number = values[place]
        if isinstance(number, int):
            highest = max(highest, number)
    return highest
