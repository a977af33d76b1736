"""what attempts reserve of their plan's budget"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # empty at first, so that the seals of old rows still hold
    op.add_column("task_nodes", sa.Column("lease_tokens", sa.BigInteger()))
    op.add_column("task_nodes", sa.Column("lease_cost", sa.Float()))


def downgrade() -> None:
    op.drop_column("task_nodes", "lease_cost")
    op.drop_column("task_nodes", "lease_tokens")
