"""when a plan was paused and archived"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # empty at first, so that the seals of old rows still hold
    op.add_column("plans", sa.Column("paused_at", sa.String(length=32)))
    op.add_column("plans", sa.Column("archived_at", sa.String(length=32)))


def downgrade() -> None:
    op.drop_column("plans", "archived_at")
    op.drop_column("plans", "paused_at")
