"""Where every chain of a ledger ends, written down to be kept elsewhere.

A chain shows that nothing in it was changed, as long as nobody makes all of it anew. Whoever has an anchor from before sees
that, too: the event that was the last one then is no longer the same.

An anchor is an in-toto Statement; signed, it lies in a DSSE envelope.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from accordance.audit.findings import UNREADABLE, AuditFindings
from accordance.domain.chain import EMPTY, ChainEntry, Head, canonical
from accordance.errors import AccordanceError
from accordance.store.ledger import Transaction

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "urn:accordance:heads:v1"
_SUBJECT: Final = "ledger"


class InvalidAnchor(AccordanceError):
    """A file that is no anchor, or one whose signature does not hold."""

    code = "invalid-anchor"


class UnreadableAnchor(InvalidAnchor):
    """The file is no anchor."""

    code = "unreadable-anchor"


class UnsignedAnchor(InvalidAnchor):
    """A key was given, and the anchor has no signature."""

    code = "unsigned-anchor"


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where the chains ended at a time: the ledger's own, and that of every plan."""

    at: str
    ledger: Head
    plans: Mapping[str, Head]

    @property
    def root(self) -> str:
        """One hash over all of it."""
        return hashlib.sha256(canonical(self._heads()).encode()).hexdigest()

    def _heads(self) -> dict[str, Any]:
        plans = [
            {"plan_id": plan_id, **_told(self.plans[plan_id])}
            for plan_id in sorted(self.plans)
        ]
        return {"at": self.at, "ledger": _told(self.ledger), "plans": plans}

    def statement(self) -> dict[str, Any]:
        """The anchor as it is written down."""
        return {
            "_type": STATEMENT,
            "subject": [{"name": _SUBJECT, "digest": {"sha256": self.root}}],
            "predicateType": PREDICATE,
            "predicate": self._heads(),
        }


def _told(head: Head) -> dict[str, Any]:
    return {"events": head.seq, "head": head.hash}


def anchor_of(tx: Transaction) -> Anchor:
    """Where the chains end now."""
    plans = {plan_id: tx.plan(plan_id).head for plan_id in tx.plan_ids()}
    return Anchor(tx.now, tx.last_of_ledger(), plans)


def anchor_file(anchor: Anchor, private: Path | None) -> str:
    """The text of an anchor's file, signed if there is a key."""
    statement = json.dumps(anchor.statement(), indent=2, ensure_ascii=False)
    if private is None:
        return f"{statement}\n"
    from accordance.workspace.attestation import sign

    return f"{json.dumps(sign(statement.encode(), private), indent=2)}\n"


def read_anchor(raw: bytes, public: Path | None) -> tuple[Anchor, str]:
    """The anchor in a file, and what is known of its signature. With a key the signature must hold. Raises InvalidAnchor."""
    try:
        document = json.loads(raw)
        is_signed = "payload" in document
        statement = (
            json.loads(base64.b64decode(document["payload"])) if is_signed else document
        )
        anchor = _anchor_in(statement)
    except UNREADABLE:
        raise UnreadableAnchor("it is no anchor that can be read") from None
    if public is None:
        return anchor, "not checked, no key was given" if is_signed else "none"
    from accordance.workspace.attestation import signed_by

    if not is_signed:
        raise UnsignedAnchor("nobody signed it")
    if not signed_by(document, public):
        raise InvalidAnchor(
            "it was not signed with this key, or what it signs was changed"
        )
    return anchor, "holds"


def _anchor_in(statement: Mapping[str, Any]) -> Anchor:
    heads = statement["predicate"]
    plans = {str(one["plan_id"]): _head(one) for one in heads["plans"]}
    anchor = Anchor(str(heads["at"]), _head(heads["ledger"]), plans)
    if statement != anchor.statement():
        raise ValueError("something in it does not fit the rest")
    return anchor


def _head(told: Mapping[str, Any]) -> Head:
    return Head(seq=int(told["events"]), hash=str(told["head"]))


def compare_with(
    anchor: Anchor, tx: Transaction, found: Iterable[AuditFindings]
) -> None:
    """Every chain that was anchored is still there, with the event at its place that was the last one then."""
    when = f"the anchor of {anchor.at[:19]}"
    for one in found:
        if one.plan_id is None:
            _compare(anchor.ledger, tx.ledger_entries(), one, when)
        elif one.plan_id in anchor.plans:
            head = anchor.plans[one.plan_id]
            _compare(
                head, tx.entries(one.plan_id, after=head.seq - 1, limit=1), one, when
            )


def missing_plans(
    anchor: Anchor, found: Iterable[AuditFindings]
) -> list[AuditFindings]:
    """Findings for the plans that were anchored and that the ledger no longer knows."""
    known = {one.plan_id for one in found}
    lost = [AuditFindings(plan_id) for plan_id in sorted(anchor.plans.keys() - known)]
    for one in lost:
        one.missing(
            f"plans {one.plan_id}: is in the anchor of {anchor.at[:19]}, and not in the ledger"
        )
    return lost


def _compare(
    head: Head, entries: Iterable[ChainEntry], found: AuditFindings, when: str
) -> None:
    if head == EMPTY:
        return
    try:
        now = next((entry.hash for entry in entries if entry.seq == head.seq), None)
    except UNREADABLE:
        return  # an event that cannot be read is a finding already
    if now is None:
        found.missing(f"event {head.seq}, the last one in {when}, is missing")
    elif now != head.hash:
        found.broken(
            f"event {head.seq} is not the one in {when}: the chain was made anew since then"
        )
