"""Anchors: where every chain of a ledger ends, written down to be kept elsewhere.

A chain proves that none of its events was changed, unless all of it is forged anew. An
anchor from before exposes that as well: the event that was the last then has changed.

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
    """A file that is no anchor, or whose signature does not hold."""

    code = "invalid-anchor"


class UnreadableAnchor(InvalidAnchor):
    """The file is no anchor."""

    code = "unreadable-anchor"


class UnsignedAnchor(InvalidAnchor):
    """A key was given, but the anchor has no signature."""

    code = "unsigned-anchor"


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where the chains ended at a time: the ledger's own and that of every plan."""

    at: str
    ledger: Head
    plans: Mapping[str, Head]

    @property
    def root(self) -> str:
        """The hash over all heads."""
        heads = canonical(self._heads())
        return hashlib.sha256(heads.encode()).hexdigest()

    def _heads(self) -> dict[str, Any]:
        plans = []
        for plan_id in sorted(self.plans):
            head = _head_to_json(self.plans[plan_id])
            plans.append({"plan_id": plan_id, **head})
        return {
            "at": self.at,
            "ledger": _head_to_json(self.ledger),
            "plans": plans,
        }

    def statement(self) -> dict[str, Any]:
        """The anchor as an in-toto Statement."""
        return {
            "_type": STATEMENT,
            "subject": [{"name": _SUBJECT, "digest": {"sha256": self.root}}],
            "predicateType": PREDICATE,
            "predicate": self._heads(),
        }


def _head_to_json(head: Head) -> dict[str, Any]:
    return {"events": head.seq, "head": head.hash}


def anchor_of(tx: Transaction) -> Anchor:
    """Return an anchor of the chains as they end now."""
    plans = {plan_id: tx.plan(plan_id).head for plan_id in tx.plan_ids()}
    return Anchor(tx.now, tx.last_of_ledger(), plans)


def anchor_file(anchor: Anchor, private: Path | None) -> str:
    """Return the text of an anchor's file, signed if there is a private key."""
    statement = json.dumps(anchor.statement(), indent=2, ensure_ascii=False)
    if private is None:
        return f"{statement}\n"

    from accordance.workspace.attestation import sign

    envelope = sign(statement.encode(), private)
    return f"{json.dumps(envelope, indent=2)}\n"


def read_anchor(raw: bytes, public: Path | None) -> tuple[Anchor, str]:
    """Read an anchor's file; return the anchor, and what is known of its signature.

    With a public key the signature must hold. Raises InvalidAnchor.
    """
    try:
        document = json.loads(raw)
        is_signed = "payload" in document
        statement = document
        if is_signed:
            statement = json.loads(base64.b64decode(document["payload"]))
        anchor = _anchor_in(statement)
    except UNREADABLE:
        raise UnreadableAnchor("it is not a readable anchor") from None

    if public is None:
        return anchor, "not checked, no key was given" if is_signed else "none"

    _check_signature(document, public, is_signed=is_signed)
    return anchor, "holds"


def _check_signature(
    document: dict[str, Any],
    public: Path,
    *,
    is_signed: bool,
) -> None:
    from accordance.workspace.attestation import signed_by

    if not is_signed:
        raise UnsignedAnchor("it is not signed")
    if not signed_by(document, public):
        raise InvalidAnchor(
            "it was not signed with this key, or its content was changed afterwards"
        )


def _anchor_in(statement: Mapping[str, Any]) -> Anchor:
    heads = statement["predicate"]
    plans = {str(plan["plan_id"]): _head_from_json(plan) for plan in heads["plans"]}
    anchor = Anchor(str(heads["at"]), _head_from_json(heads["ledger"]), plans)

    if statement != anchor.statement():
        raise ValueError("the parts of the statement contradict each other")
    return anchor


def _head_from_json(document: Mapping[str, Any]) -> Head:
    return Head(seq=int(document["events"]), hash=str(document["head"]))


def compare_with(
    anchor: Anchor,
    tx: Transaction,
    audits: Iterable[AuditFindings],
) -> None:
    """Check that every anchored chain still holds the event that was its last then."""
    when = f"the anchor of {anchor.at[:19]}"
    for findings in audits:
        plan_id = findings.plan_id
        if plan_id is None:
            _compare(anchor.ledger, tx.ledger_entries(), findings, when)
        elif plan_id in anchor.plans:
            head = anchor.plans[plan_id]
            entries = tx.entries(plan_id, after=head.seq - 1, limit=1)
            _compare(head, entries, findings, when)


def missing_plans(
    anchor: Anchor, audits: Iterable[AuditFindings]
) -> list[AuditFindings]:
    """Return findings for the anchored plans that the ledger no longer knows."""
    all_findings = list(audits)
    known = {findings.plan_id for findings in all_findings}
    known |= _deleted_since(anchor, all_findings)
    lost = []
    for plan_id in sorted(anchor.plans.keys() - known):
        findings = AuditFindings(plan_id)
        findings.missing(
            f"plans {plan_id}: is in the anchor of {anchor.at[:19]},"
            " and not in the ledger"
        )
        lost.append(findings)
    return lost


def _deleted_since(anchor: Anchor, audits: Iterable[AuditFindings]) -> set[str | None]:
    """The anchored plans that were deleted later, with all events of then."""
    deleted: set[str | None] = set()
    for findings in audits:
        for tombstone in findings.deleted:
            head = anchor.plans.get(tombstone.plan_id)
            if head is not None and tombstone.head.seq >= head.seq:
                deleted.add(tombstone.plan_id)
    return deleted


def _compare(
    head: Head,
    entries: Iterable[ChainEntry],
    findings: AuditFindings,
    when: str,
) -> None:
    if head == EMPTY:
        return

    try:
        hashes = (entry.hash for entry in entries if entry.seq == head.seq)
        current_hash = next(hashes, None)
    except UNREADABLE:
        return  # an event that cannot be read is a finding already

    if current_hash is None:
        findings.missing(f"event {head.seq}, the last event in {when}, is missing")
    elif current_hash != head.hash:
        findings.broken(
            f"event {head.seq} is not that of {when}:"
            " the chain was rewritten since then"
        )
