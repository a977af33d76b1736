"""The root of the error tree, and what an error means to its caller."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar


class Category(Enum):
    """What an error means to the caller, whatever it called with."""

    USAGE = "the request cannot be carried out as it was made"
    NOT_FOUND = "what was named does not exist"
    CONFLICT = "another process was first, or it is too late"
    AUTH = "this user is not allowed to do it"
    REJECTED = "what was checked does not hold"
    UNAVAILABLE = "a file, a database or this machine cannot do it"


class AccordanceError(Exception):
    """The root of every error accordance raises on purpose.

    A way out names no option of a command: a face adds its own, by the error's
    code.
    """

    code: str = "error"
    category: ClassVar[Category] = Category.USAGE

    def __init__(self, *args: object, way_out: str = "") -> None:
        super().__init__(*args)
        self._way_out = way_out

    @property
    def text(self) -> str:
        """What is wrong."""
        return super().__str__()

    @property
    def way_out(self) -> str:
        """What to do about it; empty where the text says it all."""
        return self._way_out

    def __str__(self) -> str:
        if not self.way_out:
            return self.text
        return f"{self.text}; {self.way_out}"
