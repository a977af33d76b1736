"""research answers"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "research_answers",
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("request", sa.String(length=64), nullable=False),
        sa.Column("contract", sa.String(length=64), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("at", sa.String(length=32), nullable=False),
        sa.Column("selected", sa.Text(), nullable=False),
        sa.Column("offered", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint(
            "agent_id",
            "request",
            "contract",
            "digest",
            name=op.f("pk_research_answers"),
        ),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_research_answers_request",
        "research_answers",
        ["request", "agent_id"],
        unique=False,
    )


def downgrade() -> None:
    op.drop_index("ix_research_answers_request", table_name="research_answers")
    op.drop_table("research_answers")
