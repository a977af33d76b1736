"""Events in sentences: what an event points at is looked up in the ledger."""

from __future__ import annotations

from dataclasses import dataclass, field

from accordance.domain.chain import ChainEntry
from accordance.domain.lifecycle import Event
from accordance.domain.records import MessageRecord, VerdictRecord
from accordance.errors import NotFound
from accordance.rendering.event_sentences import Happening, sentence
from accordance.service.project import Project
from accordance.service.views.events import EventView
from accordance.store.ledger import Transaction
from accordance.work.run_log import PROMPTED

_ATTEMPT_BEGINS = (Event.CLAIMED, Event.ASKED_AGAIN)
_ABOUT_ATTEMPTS = frozenset(
    (
        Event.CLAIMED,
        Event.LEASE_LOST,
        Event.IDLED,
        Event.PRODUCED,
        Event.ASKED,
        Event.STALLED,
        Event.ERRED,
        "MESSAGE",
        "VERDICT",
    )
)
"""Events whose sentence names the attempt and who made it."""


@dataclass
class EventNarrator:
    """Tells events in sentences; titles are looked up once."""

    project: Project
    _titles: dict[str, str] = field(default_factory=dict, init=False)

    def sentence(self, event: EventView) -> str:
        """Return what happened, in a sentence."""
        with self.project.ledger.read() as tx:
            happening = self._happening(tx, event)
        return sentence(happening)

    def _happening(self, tx: Transaction, event: EventView) -> Happening:
        attempt, who, why = None, None, ""
        if event.kind == "VERDICT":
            attempt, why = _verdict_details(tx, event)
        if event.task_id and event.kind in _ABOUT_ATTEMPTS:
            number, who = _attempt_before(tx, event)
            attempt = attempt or number
        return Happening(
            kind=event.kind,
            subject=self._title(tx, event),
            payload=event.payload,
            attempt=attempt,
            who=who,
            why=why,
        )

    def _title(self, tx: Transaction, event: EventView) -> str:
        """Return the title of the task, else of the plan; the ledger has none."""
        name = event.task_id or event.plan_id
        if name is None:
            return str(event.payload.get("plan_id", "the ledger"))
        if name not in self._titles:
            self._titles[name] = _title_of(tx, event) or name
        return self._titles[name]


def _title_of(tx: Transaction, event: EventView) -> str | None:
    """Return a title; None for what is known by its events alone."""
    try:
        if event.task_id:
            return tx.task(event.task_id).title
        return tx.plan(event.plan_id or "").title
    except NotFound:
        return None


def _verdict_details(tx: Transaction, event: EventView) -> tuple[int | None, str]:
    """Return the attempt of a verdict and its reason in words."""
    message_id = event.payload.get("message")
    messages = tx.find(MessageRecord, message_id=message_id)
    verdicts = tx.find(VerdictRecord, message_id=message_id)
    attempt = messages[0].attempt if messages else None
    reasons = verdicts[0].messages if verdicts else ()
    return attempt, reasons[0] if reasons else ""


def _attempt_before(tx: Transaction, event: EventView) -> tuple[int | None, str | None]:
    """Return the attempt that an event belongs to, and who makes it.

    The executor is known once it has its prompt; until then whoever took the task up.
    """
    attempt = 0
    who: str | None = None
    for entry in tx.entries_of(event.task_id or ""):
        if entry.seq > event.seq:
            break
        if entry.kind in _ATTEMPT_BEGINS:
            attempt += 1
        who = _worker_in(entry) or who
    return attempt or None, who


def _worker_in(entry: ChainEntry) -> str | None:
    """Return who works on a task from this event on, if it says so."""
    if entry.kind == Event.CLAIMED:
        holder = entry.payload.get("holder")
        return str(holder) if holder else None
    if entry.kind == PROMPTED:
        return str(entry.payload.get("executor"))
    return None
