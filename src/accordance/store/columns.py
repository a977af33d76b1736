"""The columns of the ledger's tables: their types, and what several tables share."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import Column, Dialect, ForeignKey, String, Text, TypeDecorator

from accordance.errors import LedgerDamaged


def storable(value: str | None) -> str | None:
    """Return a text as a database keeps it."""
    if value is None:
        return None
    if value.isascii() and "\0" not in value:
        return value

    visible = value.replace("\0", "\u2400")
    return visible.encode("utf-8", "replace").decode()


_JSON: Final = json.JSONEncoder()


def json_text(value: object) -> str | None:
    """Return a JSON value as a database keeps it."""
    return None if value is None else _JSON.encode(value)


class Words(TypeDecorator[str]):
    """Text from outside.

    PostgreSQL keeps no NUL; its picture is kept instead, and the bytes themselves are
    in a blob. Half a character, as a program's garbage may hold, is kept by no
    database: a question mark stands for it.
    """

    impl: type[String] = Text
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[str | None], str | None]:  # noqa: ARG002
        """Return the function itself: plans bring millions of words."""
        return storable


class Id(Words):
    """An id that a request names: it may hold whatever a person can type."""

    impl = String
    cache_ok = True


class Json(TypeDecorator[Any]):
    """A JSON value as text, in plain ASCII: both databases keep it to the letter."""

    impl = Text
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[object], str | None]:  # noqa: ARG002
        """Return the function itself: plans bring many thousands of values."""
        return json_text

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        if value is None:
            return None
        try:
            return json.loads(value)
        except (ValueError, TypeError, RecursionError):
            beginning = str(value)[:40]
            raise LedgerDamaged(f"a JSON value cannot be read: {beginning!r}") from None


def hash_column(name: str, **options: Any) -> Column[str]:
    """Return a column for a SHA-256 in hex digits."""
    return Column(name, String(64), **options)


def time_column(name: str, **options: Any) -> Column[str]:
    """Return a column for a time as the ledger writes it."""
    return Column(name, String(32), **options)


def plan_column() -> Column[str]:
    """Return the column for the plan that a row belongs to."""
    return Column("plan_id", Words, ForeignKey("plans.plan_id"), nullable=False)
