"""Values read from the documents of plans, remembered for the plans used last.

A plan's document never changes, so it is parsed once for all tasks of the plan.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from accordance.contracts.limits import Limits
from accordance.domain.records import PlanRecord
from accordance.store.ledger import Transaction

DOCUMENT_LIMITS: Final = Limits(max_bytes=1 << 30)
"""For our own copy of a plan, which was checked when it was imported."""
_MAX_PLANS: Final = 16

ValueT = TypeVar("ValueT")


class DocumentReader(Generic[ValueT]):
    """Reads a value from plan documents, and remembers it for a few plans."""

    def __init__(self, read: Callable[[bytes], ValueT], size: int = _MAX_PLANS) -> None:
        self._read = read
        self._size = size
        self._values: dict[str, ValueT] = {}
        self._writing = threading.Lock()

    def __len__(self) -> int:
        """How many plans are remembered."""
        return len(self._values)

    def value(self, tx: Transaction, plan: PlanRecord) -> ValueT:
        """The value read from the document of a plan."""
        value = self._values.get(plan.document)
        if value is None:
            value = self._read(tx.blob(plan.document))
            self._remember(plan.document, value)
        return value

    def _remember(self, document: str, value: ValueT) -> None:
        with self._writing:
            if len(self._values) >= self._size:
                oldest = next(iter(self._values))
                del self._values[oldest]
            self._values[document] = value
