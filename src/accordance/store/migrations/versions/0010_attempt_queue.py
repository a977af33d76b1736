"""attempts that are queued or in work"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attempt_queue",
        sa.Column("workflow", sa.Text(), nullable=False),
        sa.Column("plan_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("product", sa.Text(), nullable=True),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("lease", sa.String(length=32), nullable=False),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.String(length=32), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("claim", sa.Integer(), nullable=False),
        sa.Column("recoveries", sa.Integer(), nullable=False),
        sa.Column("kept", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("queued_at", sa.Float(), nullable=False),
        sa.Column("begun_at", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("workflow", name=op.f("pk_attempt_queue")),
    )
    op.create_table(
        "attempt_starts",
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("begun_at", sa.Float(), nullable=False),
    )
    op.create_index("ix_attempt_starts_queue", "attempt_starts", ["queue", "begun_at"])


def downgrade() -> None:
    op.drop_index("ix_attempt_starts_queue", "attempt_starts")
    op.drop_table("attempt_starts")
    op.drop_table("attempt_queue")
