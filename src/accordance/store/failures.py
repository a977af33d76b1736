"""What a database says when it cannot, in our words, with the way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from accordance.errors import (
    Conflict,
    LedgerAddress,
    LedgerBusy,
    LedgerDenied,
    LedgerError,
    LedgerUnavailable,
    LedgerUnreachable,
)

_SAYINGS: Final = (
    ("database is locked", LedgerBusy, "another process holds it; try again"),
    ("lock timeout", LedgerBusy, "another process holds it; try again"),
    ("deadlock detected", LedgerBusy, "another process holds it; try again"),
    ("could not serialize", LedgerBusy, "another process was faster; try again"),
    ("disk is full", LedgerUnavailable, "the disk is full; make room and try again"),
    ("no space left", LedgerUnavailable, "the disk is full; make room and try again"),
    (
        "disk i/o error",
        LedgerUnavailable,
        "the disk failed to read or write; is it full or gone?",
    ),
    (
        "readonly database",
        LedgerDenied,
        "it may not be written; check who owns the file and its folder",
    ),
    (
        "unable to open database",
        LedgerUnavailable,
        "the folder is missing or may not be written",
    ),
    ("not a database", LedgerAddress, "the file is something else; name another file"),
    ("malformed", LedgerUnavailable, "the file is damaged; take the last backup"),
    ("no such table", LedgerUnavailable, "it is no ledger, or half a ledger"),
    ("password authentication", LedgerDenied, "the user or password is wrong"),
    ("no password supplied", LedgerDenied, "a password is needed"),
    (
        "permission denied",
        LedgerDenied,
        "this user may not; ask the owner of the database",
    ),
    (
        "no pg_hba.conf entry",
        LedgerDenied,
        "the server lets this user in from elsewhere only",
    ),
    ("read-only transaction", LedgerDenied, "the database may only be read"),
    (
        "does not exist",
        LedgerUnreachable,
        "the database or user is missing; create it first",
    ),
    (
        "invalid connection option",
        LedgerAddress,
        "the address has an option PostgreSQL does not know",
    ),
    (
        "invalid uri query parameter",
        LedgerAddress,
        "the address has an option PostgreSQL does not know",
    ),
    ("invalid integer value", LedgerAddress, "an option of the address is no number"),
    ("invalid port number", LedgerAddress, "the address has a port that is none"),
)
_UNREACHABLE: Final = (
    "connection refused",
    "connection failed",
    "could not translate host name",
    "failed to resolve host",
    "name or service not known",
    "timeout expired",
    "connection timeout",
    "no such file or directory",  # a socket
    "network is unreachable",
)


@contextmanager
def translated(engine: Engine) -> Iterator[None]:
    """Translate errors of a database to ours. The transaction was undone."""
    try:
        yield
    except IntegrityError as error:
        if "unique" not in str(error.orig).casefold():
            raise  # a fault of ours, not of the caller
        raise Conflict(f"another process was first: {_first_line(error)}") from error
    except PoolTimeout as error:
        raise LedgerBusy(
            f"{where(engine)}: no connection became free; try again"
        ) from error
    except DBAPIError as error:
        raise translate(error, engine) from error
    except SQLAlchemyError as error:
        raise LedgerUnavailable(f"{where(engine)}: {_first_line(error)}") from error


def translate(error: DBAPIError, engine: Engine) -> LedgerError:
    """Return the error that fits what the database reports."""
    report = str(error.orig).casefold()
    ledger = where(engine)
    for words, kind, way_out in _SAYINGS:
        if words in report:
            return kind(f"{ledger}: {way_out}")

    reason = _first_line(error)
    is_unreachable = any(words in report for words in _UNREACHABLE)
    if is_unreachable and not error.connection_invalidated:
        return LedgerUnreachable(
            f"{ledger}: the database does not answer ({reason}); is it running, and is"
            " the address right?"
        )
    if error.connection_invalidated or engine.dialect.name == "postgresql":
        return LedgerUnavailable(
            f"{ledger}: the connection broke ({reason}); nothing was changed, try again"
        )
    return LedgerUnavailable(f"{ledger}: {reason}")


def where(engine: Engine) -> str:
    """Name the database, without its password.

    Options are left out too, since they may hold another password.
    """
    if engine.dialect.name == "sqlite":
        return f"ledger {engine.url.database}"
    url = engine.url.set(query={})
    return f"ledger {url.render_as_string(hide_password=True)}"


def _first_line(error: SQLAlchemyError) -> str:
    cause = getattr(error, "orig", None) or error
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(error).__name__
