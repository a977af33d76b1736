"""Events in sentences: what an event points at is looked up in the ledger."""

from __future__ import annotations

from dataclasses import dataclass, field

from accordance.domain.lifecycle import Event
from accordance.domain.records import MessageRecord, VerdictRecord
from accordance.errors import NotFound
from accordance.rendering.event_sentences import Happening, sentence
from accordance.service.damage import blaming_the_ledger
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
        """Return what happened, in a sentence. Raises LedgerDamaged."""
        what = f"event {event.number}"
        with self.project.ledger.read() as tx, blaming_the_ledger(what):
            return sentence(self._happening(tx, event))

    def _happening(self, tx: Transaction, event: EventView) -> Happening:
        message = _message_of(tx, event)
        is_review = message is not None and _is_of_reviewer(message)
        attempt, who = None, None
        if event.task_id and event.kind in _ABOUT_ATTEMPTS:
            attempt, who = _attempt_before(tx, event, is_review=is_review)
        if message is not None:
            attempt = message.attempt
        return Happening(
            kind=event.kind,
            subject=self._title(tx, event),
            payload=event.payload,
            attempt=attempt,
            is_review=is_review,
            who=who,
            why=_reason(tx, event),
        )

    def _title(self, tx: Transaction, event: EventView) -> str:
        """Return the title of the task, else of the plan; the ledger has none."""
        name = event.task_id or event.plan_id
        if name is None:  # of the ledger's own chain
            name = str(event.payload.get("plan_id", "the ledger"))
        if name not in self._titles:
            self._titles[name] = _title_of(tx, event) or name
        return self._titles[name]


def _title_of(tx: Transaction, event: EventView) -> str | None:
    """Return a title; None for what is known by its events alone."""
    try:
        if event.task_id:
            return tx.task(event.task_id).title
        plan_id = event.plan_id or event.payload.get("plan_id")
        return tx.plan(str(plan_id)).title
    except NotFound:
        return None


def _message_of(tx: Transaction, event: EventView) -> MessageRecord | None:
    """Return the message that an event is about."""
    if event.kind not in ("MESSAGE", "VERDICT"):
        return None
    messages = tx.find(MessageRecord, message_id=event.payload.get("message"))
    return messages[0] if messages else None


def _is_of_reviewer(message: MessageRecord) -> bool:
    """Whether a reviewer sent it, or failed to: then its case names the product."""
    return message.kind == "REVIEW" or "product" in message.case


def _reason(tx: Transaction, event: EventView) -> str:
    """Return the reason of a verdict in words."""
    if event.kind != "VERDICT":
        return ""
    verdicts = tx.find(VerdictRecord, message_id=event.payload.get("message"))
    reasons = verdicts[0].messages if verdicts else ()
    return reasons[0] if reasons else ""


def _attempt_before(
    tx: Transaction,
    event: EventView,
    *,
    is_review: bool,
) -> tuple[int | None, str | None]:
    """Return the attempt that an event belongs to, and who makes it.

    The executor is known once it has its prompt; until then the worker that took the task up.
    """
    attempt = 0
    who: str | None = None
    for entry in tx.entries_of(event.task_id or ""):
        if entry.seq > event.seq:
            break
        if entry.kind in _ATTEMPT_BEGINS:
            attempt += 1
        if entry.kind == PROMPTED and entry.payload["kind"] == _run_kind(is_review):
            who = str(entry.payload["executor"])
        elif entry.kind == Event.CLAIMED and not is_review:
            who = str(entry.payload.get("holder"))
    return attempt or None, who


def _run_kind(is_review: bool) -> str:
    return "review" if is_review else "action"
