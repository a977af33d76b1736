"""Checking that every blob an event names is still there and unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from accordance.audit.findings import (
    UNREADABLE,
    AuditFindings,
    check_blob,
    fetch,
)
from accordance.audit.kept_evidence import check_evidence
from accordance.domain.chain import ChainEntry
from accordance.domain.lifecycle import Event
from accordance.domain.plan_lifecycle import PlanEvent
from accordance.store.ledger import Transaction
from accordance.work.contracts_for import HELD_TO
from accordance.work.kept_evidence import EVIDENCE_KEPT
from accordance.work.run_log import MODEL_ANSWER, PLAN_WRITTEN, PROMPTED, RAN

_ALWAYS_NAMED: Final = {
    PROMPTED: ("recipe", "the recipe of a prompt"),
    MODEL_ANSWER: ("answer", "the answer of a model"),
    PLAN_WRITTEN: ("sha256", "a plan that was written"),
}
"""By the kind of event: the key that holds a hash, and what it is the hash of."""

_PLAN_SOURCES: Final = (
    ("raw", "what the plan was read from"),
    ("reading", "what the plan was read from"),
)
_PERHAPS_NAMED: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    RAN: (("report", "the report of a run"),),
    PlanEvent.IMPORTED: _PLAN_SOURCES,
    PlanEvent.AMENDED: _PLAN_SOURCES,
}
"""The same for keys that an event may lack."""


class NamedBlobs:
    """The prompts, answers, reports and documents that events name, each read once."""

    def __init__(self, tx: Transaction, findings: AuditFindings) -> None:
        self._tx = tx
        self._findings = findings
        self._seen: set[str] = set()

    def see(self, entry: ChainEntry) -> None:
        """Check the blobs that an event names."""
        if entry.kind == EVIDENCE_KEPT:
            check_evidence(self._tx, entry, self._findings)
            return
        if entry.kind == RAN:
            self._see_logs(entry)
        for sha256, label in _blobs_named_by(entry):
            content = self._fetch(sha256, f"event {entry.seq}: {label}")
            if entry.kind == PROMPTED and content:
                self._see_parts(content, entry.seq)

    def _see_logs(self, entry: ChainEntry) -> None:
        logs: Mapping[str, Any] = entry.payload.get("logs") or {}  # type: ignore[assignment]
        about = f"task {entry.task_id}, attempt {entry.payload.get('attempt')}"
        for name, (sha256, _) in logs.items():
            if sha256 not in self._seen:
                self._seen.add(sha256)
                label = f"{about}: the log {name}"
                check_blob(self._tx, sha256, label, self._findings)

    def _see_parts(self, recipe: bytes, seq: int) -> None:
        """Check the parts of a prompt, which its recipe names."""
        try:
            parts = json.loads(recipe)["parts"]
            blobs = [(part["name"], part["sha256"]) for part in parts]
        except UNREADABLE:
            self._findings.broken(f"event {seq}: the recipe of a prompt cannot be read")
            return

        for name, sha256 in blobs:
            self._fetch(sha256, f"event {seq}: the part {name} of a prompt")

    def _fetch(self, sha256: str, label: str) -> bytes | None:
        """The blob, when it is named for the first time."""
        if sha256 in self._seen:
            return None
        self._seen.add(sha256)
        return fetch(self._tx, sha256, label, self._findings)


def _blobs_named_by(entry: ChainEntry) -> Iterator[tuple[str, str]]:
    """The hashes that an event names, each with what it is the hash of."""
    payload: Mapping[str, Any] = entry.payload
    if entry.kind in _ALWAYS_NAMED:
        key, label = _ALWAYS_NAMED[entry.kind]
        yield str(payload.get(key)), label

    for key, label in _PERHAPS_NAMED.get(entry.kind, ()):
        if key in payload:
            yield str(payload[key]), label

    held_to = payload.get(HELD_TO)
    if entry.kind == Event.CLAIMED and isinstance(held_to, dict):
        yield str(held_to.get("agents")), "the registry of research agents"
