"""Messages that no ledger could take: they are kept beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from accordance.errors import (
    LedgerDamaged,
    LedgerError,
)
from accordance.project.home import Home, write_file


@contextmanager
def rescued(home: Home, raw: bytes) -> Iterator[None]:
    """Keep a message that cannot be stored beside the ledger.

    So it is not lost; the error says where it lies.
    """
    try:
        yield
    except LedgerError as error:
        digest = hashlib.sha256(raw).hexdigest()
        path = home.unsent / f"{digest[:16]}.json"
        try:
            write_file(path, raw)
        except LedgerError:
            raise error from None  # there is no place for it here
        what = error.what if isinstance(error, LedgerDamaged) else str(error)
        raise type(error)(f"{what}; the message is kept in {path}") from error
