"""The hash chain of a plan's events.

Each event carries the hash of the event before, so that none can be changed or left
out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

Payload: TypeAlias = Mapping[str, object]

BEGINNING: Final = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The end of a chain: how many events it has, and the hash of the last."""

    seq: int = 0
    hash: str = BEGINNING


EMPTY: Final = Head()
_CANONICAL: Final = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEntry:
    """An event, as it was stored.

    `seq` is its place in its chain. `number` is its place among all events of the
    ledger; it is given when the transaction ends, and no hash covers it.
    """

    plan_id: str
    seq: int
    kind: str
    task_id: str | None
    at: str
    payload: Payload
    hash: str
    number: int | None = None


def next_entry(
    head: Head,
    *,
    plan_id: str,
    kind: str,
    task_id: str | None,
    at: str,
    payload: Payload,
) -> ChainEntry:
    """Return the entry that follows the head of a chain."""
    seq = head.seq + 1
    content = canonical([head.hash, plan_id, seq, kind, task_id, at, payload])
    digest = hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()
    return ChainEntry(
        plan_id=plan_id,
        seq=seq,
        kind=kind,
        task_id=task_id,
        at=at,
        payload=payload,
        hash=digest,
    )


def canonical(value: object) -> str:
    """Return JSON in which every value has a single spelling."""
    return _CANONICAL.encode(value)
