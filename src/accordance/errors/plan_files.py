"""Errors of plan files: what is wrong in which line, and what a format cannot say."""

from __future__ import annotations

from accordance.errors.base import AccordanceError, Category


class InvalidPlanFile(AccordanceError):
    """A plan file that cannot be read as a plan. Names the line and the way out."""

    code = "invalid-plan-file"
    category = Category.REJECTED

    def __init__(
        self,
        reason: str,
        line: int = 0,
        file: str = "",
        way_out: str = "",
    ) -> None:
        super().__init__(reason, line, file, way_out=way_out)
        self.reason = reason
        self.line = line
        self.file = file

    def in_file(self, file: str) -> InvalidPlanFile:
        """Return the same error with the name of its file."""
        return InvalidPlanFile(self.reason, self.line, file, self.way_out)

    @property
    def text(self) -> str:
        """The file, the line, and what is wrong there."""
        place = self.file
        if self.line:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        if place:
            return f"{place}: {self.reason}"
        return self.reason


class NotExpressible(AccordanceError):
    """A plan says something that the wanted format cannot say; nothing is dropped."""

    code = "not-expressible"
    category = Category.REJECTED
