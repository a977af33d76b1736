"""Values of a ledger that accordance never wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from accordance.errors import LedgerDamaged


@contextmanager
def blaming_the_ledger(what: str) -> Iterator[None]:
    """Blame the ledger for values of another shape. Raises LedgerDamaged.

    What is shown is taken from details that only accordance writes: a key that is
    missing, or a list in place of a table, comes from outside.
    """
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise LedgerDamaged(f"{what} cannot be shown ({error})") from error
