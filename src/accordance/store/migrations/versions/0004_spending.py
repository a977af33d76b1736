"""what a plan's run has cost"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "plans",
        sa.Column("tokens", sa.BigInteger(), nullable=False, server_default="0"),
    )
    op.add_column(
        "plans", sa.Column("cost", sa.Float(), nullable=False, server_default="0")
    )


def downgrade() -> None:
    op.drop_column("plans", "cost")
    op.drop_column("plans", "tokens")
