"""What a worker can do: kept with its heartbeat, so that every process knows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accordance.domain.executor_specs import Spec
from accordance.domain.routing import Route
from accordance.errors import UnknownLabel


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a worker says of itself."""

    release: str = ""  # of accordance
    host: str = ""
    pid: int = 0
    labels: tuple[str, ...] = ()
    isolation: str = "none"  # the strongest level that works there
    memory_mb: int | None = None
    concurrency: int | None = None  # attempts at once; None: as its executors allow
    lacking: Mapping[str, str] = field(default_factory=dict)
    """By executor that cannot start there: what it lacks."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {
            "release": self.release,
            "host": self.host,
            "pid": self.pid,
            "labels": list(self.labels),
            "isolation": self.isolation,
            "memory_mb": self.memory_mb,
            "concurrency": self.concurrency,
            "lacking": dict(self.lacking),
        }


def capabilities_from(document: Mapping[str, Any]) -> Capabilities:
    """Return what a worker, perhaps of another release, says of itself."""
    known = {name: document[name] for name in _FIELDS if name in document}
    if "labels" in known:
        known["labels"] = tuple(known["labels"])
    return Capabilities(**known)


_FIELDS: Final = tuple(Capabilities.__dataclass_fields__)


def asked_labels(executors: Iterable[Spec], routes: Iterable[Route]) -> frozenset[str]:
    """Return every label that an executor or a route asks of workers."""
    labels: set[str] = set()
    for spec in executors:
        labels.update(spec.labels)
    for route in routes:
        labels.update(route.labels)
    return frozenset(labels)


def must_be_asked_for(labels: Iterable[str], asked: frozenset[str]) -> None:
    """Refuse a label that no task asks for: most likely it is misspelt.

    Raises UnknownLabel.
    """
    for label in labels:
        if label not in asked:
            raise UnknownLabel(label, asked)
