"""the ledger's own chain, a plan's constraints, the seeds' names of columns"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "ledger_events",
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_ledger_events")),
    )
    op.add_column("plans", sa.Column("constraints", sa.Text(), nullable=True))
    op.add_column(
        "task_events", sa.Column("type", sa.String(length=32), _copy_of("kind"))
    )
    op.add_column(
        "task_nodes", sa.Column("status", sa.String(length=16), _copy_of("state"))
    )
    op.add_column(
        "task_nodes", sa.Column("attempt_count", sa.Integer(), _copy_of("attempts"))
    )


def _copy_of(column: str) -> sa.Computed:
    """Return the value of a column that repeats another.

    PostgreSQL before 18 can only store it; SQLite cannot add a stored column.
    """
    is_stored = op.get_bind().dialect.name == "postgresql"
    return sa.Computed(column, persisted=True if is_stored else None)


def downgrade() -> None:
    op.drop_column("task_nodes", "attempt_count")
    op.drop_column("task_nodes", "status")
    op.drop_column("task_events", "type")
    op.drop_column("plans", "constraints")
    op.drop_table("ledger_events")
