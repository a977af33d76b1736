"""a number for every event across plans, and indexes for lists in pages"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# Old events are numbered by their time. A clock that went back within a chain must
# not turn the chain round, so an event counts as no older than the one before it.
_IN_ORDER = """
CREATE TEMPORARY TABLE numbered_events AS
SELECT plan_id, seq, row_number() OVER (ORDER BY no_older, plan_id, seq) AS number
FROM (
  SELECT plan_id, seq,
         max(at) OVER (PARTITION BY plan_id ORDER BY seq) AS no_older
  FROM (
    SELECT plan_id, seq, at FROM task_events
    UNION ALL
    SELECT '' AS plan_id, seq, at FROM ledger_events
  ) AS all_events
) AS timed_events
"""
_FILL_PLANS = """
UPDATE task_events SET number = (
  SELECT numbered.number FROM numbered_events AS numbered
  WHERE numbered.plan_id = task_events.plan_id AND numbered.seq = task_events.seq
)
"""
_FILL_LEDGER = """
UPDATE ledger_events SET number = (
  SELECT numbered.number FROM numbered_events AS numbered
  WHERE numbered.plan_id = '' AND numbered.seq = ledger_events.seq
)
"""
_FILL_COUNTER = """
INSERT INTO counters (name, number) SELECT 'events', count(*) FROM numbered_events
"""


def upgrade() -> None:
    op.create_table(
        "counters",
        sa.Column("name", sa.String(length=16), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counters")),
    )
    op.add_column("task_events", sa.Column("number", sa.BigInteger(), nullable=True))
    op.add_column("ledger_events", sa.Column("number", sa.BigInteger(), nullable=True))
    _number_old_events()
    op.create_index("ix_task_events_number", "task_events", ["number"], unique=True)
    op.create_index("ix_ledger_events_number", "ledger_events", ["number"], unique=True)
    _index_lists()


def _number_old_events() -> None:
    op.execute(_IN_ORDER)
    op.execute("CREATE UNIQUE INDEX ix_numbered ON numbered_events (plan_id, seq)")
    op.execute(_FILL_PLANS)
    op.execute(_FILL_LEDGER)
    op.execute(_FILL_COUNTER)
    op.execute("DROP TABLE numbered_events")


def _index_lists() -> None:
    op.create_index(
        "ix_plans_newest", "plans", [sa.text("imported_at DESC"), "plan_id"]
    )

    op.drop_index("ix_task_nodes_state", "task_nodes")
    op.create_index("ix_task_nodes_state", "task_nodes", ["plan_id", "state", "place"])
    is_dead = sa.text("state = 'DEAD_LETTER'")
    op.create_index(
        "ix_task_nodes_dead",
        "task_nodes",
        ["plan_id", "place"],
        sqlite_where=is_dead,
        postgresql_where=is_dead,
    )

    op.drop_index("ix_questions_open", "questions")
    is_open = sa.text("answered_at IS NULL")
    op.create_index("ix_questions_asked", "questions", ["asked_at", "question_id"])
    op.create_index(
        "ix_questions_open",
        "questions",
        ["asked_at", "question_id"],
        sqlite_where=is_open,
        postgresql_where=is_open,
    )


def downgrade() -> None:
    op.drop_index("ix_questions_open", "questions")
    op.drop_index("ix_questions_asked", "questions")
    op.create_index("ix_questions_open", "questions", ["answered_at", "asked_at"])
    op.drop_index("ix_task_nodes_dead", "task_nodes")
    op.drop_index("ix_task_nodes_state", "task_nodes")
    op.create_index("ix_task_nodes_state", "task_nodes", ["plan_id", "state"])
    op.drop_index("ix_plans_newest", "plans")
    op.drop_index("ix_ledger_events_number", "ledger_events")
    op.drop_index("ix_task_events_number", "task_events")
    op.drop_column("ledger_events", "number")
    op.drop_column("task_events", "number")
    op.drop_table("counters")
