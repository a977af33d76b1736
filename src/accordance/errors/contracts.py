"""Errors of contracts: invalid definitions, and texts that cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accordance.errors.base import AccordanceError


class Unparseable(AccordanceError):
    """The text is not a single JSON object. Names the broken rule and the place."""

    code = "unparseable"

    def __init__(
        self,
        code: str,
        *,
        expected: str,
        actual: str,
        path: str = "$",
        offset: int = 0,
    ) -> None:
        super().__init__(code, expected, actual, path, offset)
        self.code = code
        self.expected = expected
        self.actual = actual
        self.path = path
        self.offset = offset

    @property
    def text(self) -> str:
        """The rule, and what stands there instead."""
        place = f"{self.code} at offset {self.offset}"
        return f"{place}: expected {self.expected}, got {self.actual}"


class ContractAlreadyRegistered(AccordanceError):
    """A version never changes its meaning: a second definition is refused."""

    code = "contract-already-registered"

    def __init__(self, name: str, holder: str = "") -> None:
        super().__init__(name, holder)
        self.name = name
        self.holder = holder

    @property
    def text(self) -> str:
        """The name, and what it is registered for."""
        holder = f" for {self.holder}" if self.holder else ""
        return f"{self.name!r} is already registered{holder}"

    @property
    def way_out(self) -> str:
        """Another name, or another registry."""
        return (
            "a version is never redefined: choose a new name, or use a separate "
            "Registry"
        )


class InvalidContract(AccordanceError):
    """A contract definition that could never work."""

    code = "invalid-contract"


class InvalidContext(AccordanceError):
    """A context that does not fit the messages it is meant for."""

    code = "invalid-context"


class InvalidPath(AccordanceError):
    """A JSON path that cannot be read, or that leads nowhere in the given value."""

    code = "invalid-path"


class InvalidPattern(AccordanceError):
    """A pin that leaves the repository or cannot be matched safely."""

    code = "invalid-pattern"


class NotAccepted(AccordanceError):
    """A model was asked as often as allowed, and no answer honoured the contract."""

    code = "not-accepted"

    def __init__(self, attempts: Sequence[Any], last: str) -> None:
        self.attempts = tuple(attempts)
        self.last = last
        super().__init__(self.attempts, last)

    @property
    def text(self) -> str:
        """How often the model was asked, and what was wrong with its last answer."""
        count = len(self.attempts)
        attempts = "1 attempt" if count == 1 else f"{count} attempts"
        return f"no answer was accepted in {attempts}; the last answer: {self.last}"
