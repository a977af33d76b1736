"""which queues each worker serves"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("accordance_workers", sa.Column("queues", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("accordance_workers", "queues")
