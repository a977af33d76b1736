"""numbers of questions, and the cause that several have in common"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # old questions keep their seals: both columns stay empty, and count for nothing
    op.add_column("questions", sa.Column("number", sa.Integer(), nullable=True))
    op.add_column("questions", sa.Column("cause", sa.Text(), nullable=True))
    op.create_index("ix_questions_number", "questions", ["number"], unique=True)
    is_open = sa.text("answered_at IS NULL")
    op.create_index(
        "ix_questions_cause",
        "questions",
        ["plan_id", "cause", "asked_at", "question_id"],
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    op.execute("INSERT INTO counters (name, number) VALUES ('questions', 0)")


def downgrade() -> None:
    op.execute("DELETE FROM counters WHERE name = 'questions'")
    op.drop_index("ix_questions_cause", "questions")
    op.drop_index("ix_questions_number", "questions")
    op.drop_column("questions", "cause")
    op.drop_column("questions", "number")
