"""what attempts reserve, what workers can do, pauses that all of them keep"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # empty at first, so that the seals of old rows still hold
    op.add_column("task_nodes", sa.Column("lease_tokens", sa.BigInteger()))
    op.add_column("task_nodes", sa.Column("lease_cost", sa.Float()))
    op.add_column("accordance_workers", sa.Column("about", sa.Text()))
    drain_at = sa.Column("drain_at", sa.DateTime(timezone=True))
    op.add_column("accordance_workers", drain_at)
    op.create_table(
        "queue_pauses",
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("ends_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("queue", name=op.f("pk_queue_pauses")),
    )


def downgrade() -> None:
    op.drop_table("queue_pauses")
    op.drop_column("accordance_workers", "drain_at")
    op.drop_column("accordance_workers", "about")
    op.drop_column("task_nodes", "lease_cost")
    op.drop_column("task_nodes", "lease_tokens")
