"""webhooks that follow a single task"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("webhooks", sa.Column("push", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("webhooks", "push")
