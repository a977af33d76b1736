"""Errors of accordance as those of A2A; a client never meets a fault of the server."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from a2a.utils.errors import (
    A2AError,
    ContentTypeNotSupportedError,
    InternalError,
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from accordance.errors import AccordanceError, Category, NotFound

log: Final = logging.getLogger("accordance.a2a")
_KINDS: Final[dict[Category, type[A2AError]]] = {
    Category.USAGE: InvalidParamsError,
    Category.NOT_FOUND: InvalidParamsError,
    Category.CONFLICT: UnsupportedOperationError,
    Category.AUTH: UnsupportedOperationError,
    Category.REJECTED: InvalidParamsError,
    Category.UNAVAILABLE: InternalError,
}
_OWN_KINDS: Final[dict[str, type[A2AError]]] = {
    "unfit-upload": ContentTypeNotSupportedError,
}
"""Codes whose error is not that of their category."""
_MOST_VIOLATIONS: Final = 50


def refusal(error: AccordanceError, *, cancelling: bool = False) -> A2AError:
    """Return the error of A2A for an error of ours, with our code."""
    kind = _OWN_KINDS.get(error.code, _KINDS[error.category])
    if isinstance(error, NotFound) and error.what == "task":
        kind = TaskNotFoundError
    elif cancelling and error.category in (Category.CONFLICT, Category.USAGE):
        kind = TaskNotCancelableError
    data = {"code": error.code}
    if error.way_out:
        data["wayOut"] = _plain(error.way_out)
    violations = getattr(error, "violations", None)
    if isinstance(violations, tuple):
        shown = violations[:_MOST_VIOLATIONS]
        data["violations"] = json.dumps(shown, ensure_ascii=False)
    return kind(_plain(str(error)), data)


def _plain(text: str) -> str:
    return " ".join(text.split()).encode("utf-8", "replace").decode()


@contextmanager
def translated(*, cancelling: bool = False) -> Iterator[None]:
    """Raise errors of accordance as those of A2A; what is unknown goes to the log."""
    try:
        yield
    except A2AError:
        raise
    except AccordanceError as error:
        raise refusal(error, cancelling=cancelling) from error
    except Exception as error:
        log.exception("a fault of the server")
        raise InternalError("the server has met a fault of its own") from error
