"""Alembic's entry: it runs on the connection that `opening` hands over."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from sqlalchemy import TypeDecorator

from accordance.store.opening import VERSION_TABLE
from accordance.store.tables import METADATA


def in_plain_types(kind: str, item: Any, _: object) -> str | Literal[False]:
    """Render plain types: a migration describes the database, not our code."""
    return "sa.Text()" if kind == "type" and isinstance(item, TypeDecorator) else False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    render_item=in_plain_types,
)
context.run_migrations()
