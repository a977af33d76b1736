"""What the code of an error means."""

from __future__ import annotations

from collections.abc import Iterator

from accordance.errors import AccordanceError, UnknownCode
from accordance.server.problems import status_of
from accordance.service.views.base import View


class ErrorPageView(View):
    """An error by its code."""

    code: str
    status: int
    meaning: str


def page_of(code: str) -> ErrorPageView:
    """Return the page of a code. Raises UnknownCode."""
    known = {error.code: error for error in _below(AccordanceError)}
    error = known.get(code)
    if error is None:
        raise UnknownCode(code, known)
    meaning = " ".join((error.__doc__ or "").split())
    return ErrorPageView(
        code=code,
        status=status_of(error),
        meaning=meaning,
    )


def _below(error: type[AccordanceError]) -> Iterator[type[AccordanceError]]:
    for child in error.__subclasses__():
        yield child
        yield from _below(child)
