"""blobs in a store beside the database, and inputs that several machines share"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "blob_objects",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "loose_blobs",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_loose_blobs_since", "loose_blobs", ["since"])
    op.create_table(
        "blob_stores",
        sa.Column("name", sa.String(16), primary_key=True),
        sa.Column("ledger_id", sa.String(32), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
    )
    # old records keep their seals: an empty column counts for nothing
    op.add_column("input_files", sa.Column("gone_at", sa.String(32), nullable=True))


def downgrade() -> None:
    op.drop_column("input_files", "gone_at")
    op.drop_table("blob_stores")
    op.drop_index("ix_loose_blobs_since", "loose_blobs")
    op.drop_table("loose_blobs")
    op.drop_table("blob_objects")
