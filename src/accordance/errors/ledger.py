"""Errors of the ledger. Whatever is raised here, nothing was changed."""

from __future__ import annotations

from accordance.errors.base import AccordanceError, Category


class LedgerError(AccordanceError):
    """The ledger could not do it. Nothing has changed."""

    code = "ledger-error"


class LedgerBusy(LedgerError):
    """Another process holds the ledger for too long."""

    code = "ledger-busy"
    category = Category.CONFLICT


class LedgerUnavailable(LedgerError):
    """The ledger cannot be opened, read or written."""

    code = "ledger-unavailable"
    category = Category.UNAVAILABLE


class LedgerAddress(LedgerUnavailable):
    """The path or URL cannot be that of a ledger."""

    code = "ledger-address"
    category = Category.USAGE


class LedgerUnreachable(LedgerUnavailable):
    """The database server does not answer, or has no such database."""

    code = "ledger-unreachable"
    category = Category.NOT_FOUND


class LedgerDenied(LedgerUnavailable):
    """This user has no access to the database, the file or the folder."""

    code = "ledger-denied"
    category = Category.AUTH


class LedgerDamaged(LedgerError):
    """Something in the ledger was not written by accordance."""

    code = "ledger-damaged"
    category = Category.REJECTED

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    @property
    def text(self) -> str:
        """What is not as it was written."""
        return f"the ledger was changed from outside: {self.what}"

    @property
    def way_out(self) -> str:
        """Verify the whole ledger."""
        return "verify the ledger to see what else has changed"


class LedgerTooOld(LedgerError):
    """The ledger has to be upgraded first, and may only be read here."""

    code = "ledger-too-old"


class LedgerMissing(LedgerError):
    """There is no ledger at that place."""

    code = "ledger-missing"
    category = Category.NOT_FOUND


class LedgerTooNew(LedgerError):
    """The ledger was written by a newer accordance."""

    code = "ledger-too-new"
