"""The ledger's tables.

`plans`, `task_nodes`, `task_edges` and `task_events` are named by the seeds. The
migrations in `migrations/` make these tables; a test compares the two. Column names are
the field names of the records in `domain/records` wherever a record is one row.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Computed,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)

from accordance.store.columns import (
    Json,
    Words,
    hash_column,
    plan_column,
    time_column,
)

METADATA: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

BLOBS: Final = Table(
    "blobs",
    METADATA,
    hash_column("sha256", primary_key=True),  # of the whole
    # large ones lie in pieces
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)

BLOB_OBJECTS: Final = Table(
    "blob_objects",
    METADATA,
    hash_column("sha256", primary_key=True),
    Column("size", BigInteger, nullable=False),
)
"""Blobs whose bytes lie in the blob store, all of them before the row was written."""

LOOSE_BLOBS: Final = Table(
    "loose_blobs",
    METADATA,
    hash_column("sha256", primary_key=True),
    # by the database's clock
    Column("since", DateTime(timezone=True), nullable=False),
    Index("ix_loose_blobs_since", "since"),
)
"""Blobs on their way into the store or out of it: no row names them."""

BLOB_STORES: Final = Table(
    "blob_stores",
    METADATA,
    Column("name", String(16), primary_key=True),
    Column("ledger_id", String(32), nullable=False),  # by which the store is labelled
    Column("place", Words, nullable=False),
)
"""Where the blob store of this ledger is; a single row."""

PLANS: Final = Table(
    "plans",
    METADATA,
    Column("plan_id", Words, primary_key=True),
    Column("title", Words, nullable=False),
    Column("owner_agent_id", Words, nullable=False),
    Column("root_task_id", Words, nullable=False),
    Column("created_at", Words, nullable=False),  # as the plan says it
    Column("state", String(16), nullable=False),
    hash_column("document", nullable=False),
    Column("nodes", Integer, nullable=False),
    Column("constraints", Json),  # as the plan says them
    time_column("imported_at", nullable=False),
    Column("rules", Json, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("rounds", Integer, nullable=False),
    Column("review_failures", Integer, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("cost", Float, nullable=False),
    time_column("run_started_at"),
    hash_column("inputs_seen"),
    time_column("paused_at"),
    time_column("archived_at"),
    Column("head_seq", Integer, nullable=False),
    hash_column("head_hash", nullable=False),
)
Index("ix_plans_newest", PLANS.c.imported_at.desc(), PLANS.c.plan_id)

TASK_NODES: Final = Table(
    "task_nodes",
    METADATA,
    Column("task_id", Words, primary_key=True),
    plan_column(),
    Column("place", Integer, nullable=False),
    Column("node_type", String(8), nullable=False),
    Column("title", Words, nullable=False),
    Column("owner_agent_id", Words, nullable=False),
    Column("priority", BigInteger, nullable=False),
    Column("tags", Json, nullable=False),
    Column("goal_statement", Words),
    Column("rationale", Words),
    Column("is_work", Boolean, nullable=False),
    Column("combine", String(3), nullable=False),
    Column("checks", Words),
    Column("is_checked", Boolean, nullable=False),
    Column("rival_group", Words),
    # where it stands
    Column("state", String(16), nullable=False),
    Column("waiting", String(16)),
    Column("active", Boolean, nullable=False),
    Column("excused", Boolean, nullable=False),
    Column("waits_on", Integer, nullable=False),
    Column("closed_gates", Integer, nullable=False),
    Column("missing_inputs", Integer, nullable=False),
    Column("open_parts", Integer, nullable=False),
    Column("done_parts", Integer, nullable=False),
    Column("dead_parts", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("parse_failures", Integer, nullable=False),
    Column("idle_rounds", Integer, nullable=False),
    Column("review_rounds", Integer, nullable=False),
    Column("review_failures", Integer, nullable=False),
    Column("forgiven", Json),
    # who has it, and what came of it
    # its turn among what can be taken up; NULL if it cannot be
    Column("queue", Integer),
    Column("lease_holder", Words),
    time_column("lease_until"),
    hash_column("lease_product"),
    Column("lease_tokens", BigInteger),  # what the holder has reserved
    Column("lease_cost", Float),
    hash_column("product"),
    Column("last_error", Words),
    Column("same_errors", Integer, nullable=False),
    time_column("updated_at", nullable=False),
    # by the seeds' names
    Column("status", String(16), Computed("state")),
    Column("attempt_count", Integer, Computed("attempts")),
)
# The migrations make these indexes partial on PostgreSQL too. It is not repeated here:
# `postgresql_where` would import that whole dialect in every command on SQLite.
_HAS_TURN: Final = text("queue IS NOT NULL")
Index(
    "ix_task_nodes_turn",
    TASK_NODES.c.plan_id,
    TASK_NODES.c.queue,
    TASK_NODES.c.priority.desc(),
    TASK_NODES.c.place,
    sqlite_where=_HAS_TURN,
)
Index("ix_task_nodes_place", TASK_NODES.c.plan_id, TASK_NODES.c.place)
Index(
    "ix_task_nodes_state",
    TASK_NODES.c.plan_id,
    TASK_NODES.c.state,
    TASK_NODES.c.place,
)
_IS_DEAD: Final = text("state = 'DEAD_LETTER'")
Index(
    "ix_task_nodes_dead",
    TASK_NODES.c.plan_id,
    TASK_NODES.c.place,
    sqlite_where=_IS_DEAD,
)
_HAS_LEASE: Final = text("lease_until IS NOT NULL")
Index(
    "ix_task_nodes_lease",
    TASK_NODES.c.plan_id,
    TASK_NODES.c.lease_until,
    sqlite_where=_HAS_LEASE,
)
_CHECKS: Final = text("checks IS NOT NULL")
Index(
    "ix_task_nodes_checks",
    TASK_NODES.c.checks,
    sqlite_where=_CHECKS,
)
_RIVALS: Final = text("rival_group IS NOT NULL")
Index(
    "ix_task_nodes_rivals",
    TASK_NODES.c.rival_group,
    sqlite_where=_RIVALS,
)

TASK_EDGES: Final = Table(
    "task_edges",
    METADATA,
    Column("plan_id", Words, ForeignKey("plans.plan_id"), primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("edge_id", Words, nullable=False),
    Column("from_task_id", Words, nullable=False),
    Column("to_task_id", Words, nullable=False),
    Column("edge_type", String(12), nullable=False),
    Column("metadata", Json),
    Index("ix_task_edges_from", "from_task_id", "edge_type", "place"),
    Index("ix_task_edges_to", "to_task_id", "edge_type", "place"),
)

TASK_EVENTS: Final = Table(
    "task_events",
    METADATA,
    Column("plan_id", Words, ForeignKey("plans.plan_id"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("kind", String(32), nullable=False),
    Column("task_id", Words),
    time_column("at", nullable=False),
    Column("payload", Json, nullable=False),
    hash_column("hash", nullable=False),
    Column("number", BigInteger),  # among all events of the ledger
    Column("type", String(32), Computed("kind")),  # the seeds' name for it
    Index("ix_task_events_task", "task_id", "seq"),
    Index("ix_task_events_number", "number", unique=True),
)

LEDGER_EVENTS: Final = Table(
    "ledger_events",
    METADATA,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(32), nullable=False),
    time_column("at", nullable=False),
    Column("payload", Json, nullable=False),
    hash_column("hash", nullable=False),
    Column("number", BigInteger),  # among all events of the ledger
    Index("ix_ledger_events_number", "number", unique=True),
)
"""Of the ledger as a whole: plans that began, rows that belong to no plan."""

COUNTERS: Final = Table(
    "counters",
    METADATA,
    Column("name", String(16), primary_key=True),
    Column("number", BigInteger, nullable=False),
)
"""How many events and questions there ever were.

A transaction that adds some holds the row.
"""

EVENT_COUNTER: Final = "events"
QUESTION_COUNTER: Final = "questions"

MESSAGES: Final = Table(
    "messages",
    METADATA,
    Column("message_id", Words, primary_key=True),
    plan_column(),
    Column("subject", Words, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("attempt", Integer, nullable=False),
    hash_column("sha256", nullable=False),
    Column("accepted", Boolean, nullable=False),
    Column("case", Json, nullable=False),
    Column("answer", Json, nullable=False),
    Column("seq", Integer, nullable=False),
    time_column("at", nullable=False),
    Index("ix_messages_subject", "subject", "seq"),
    Index("ix_messages_plan", "plan_id", "seq"),
)

VERDICTS: Final = Table(
    "verdicts",
    METADATA,
    Column("message_id", Words, ForeignKey("messages.message_id"), primary_key=True),
    plan_column(),
    Column("subject", Words, nullable=False),
    Column("outcome", String(8), nullable=False),
    Column("reason_code", Words, nullable=False),
    Column("messages", Json, nullable=False),
    Column("head_seq", Integer, nullable=False),
    hash_column("head_hash", nullable=False),
    time_column("at", nullable=False),
    Index("ix_verdicts_subject", "subject", "head_seq"),
    Index("ix_verdicts_plan", "plan_id", "head_seq"),
)

ARTIFACTS: Final = Table(
    "artifacts",
    METADATA,
    Column("task_id", Words, ForeignKey("task_nodes.task_id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    plan_column(),
    Column("attempt", Integer, nullable=False),
    Column("name", Words, nullable=False),
    Column("file_name", Words, nullable=False),
    Column("format", String(8), nullable=False),
    hash_column("sha256", nullable=False),
    Column("summary", Words),
    time_column("created_at", nullable=False),
    time_column("approved_at"),
    Index("ix_artifacts_plan", "plan_id"),
)

REVIEWS: Final = Table(
    "reviews",
    METADATA,
    Column("message_id", Words, primary_key=True),
    plan_column(),
    Column("subject", Words, nullable=False),
    Column("check_task_id", Words),
    hash_column("product", nullable=False),
    Column("total_score", Integer, nullable=False),
    Column("action_required", String(24), nullable=False),
    hash_column("document", nullable=False),
    time_column("at", nullable=False),
    Index("ix_reviews_subject", "subject", "at"),
)

QUESTIONS: Final = Table(
    "questions",
    METADATA,
    Column("question_id", Words, primary_key=True),
    plan_column(),
    Column("task_id", Words),
    Column("kind", String(16), nullable=False),
    Column("text", Words, nullable=False),
    Column("details", Json, nullable=False),
    time_column("asked_at", nullable=False),
    time_column("answered_at"),
    Column("answer", Json),
    Column("number", Integer),  # among all questions of the ledger
    Column("cause", Words),  # outside the task; several tasks may wait for its end
    Index("ix_questions_asked", "asked_at", "question_id"),
    Index("ix_questions_task", "task_id"),
    Index("ix_questions_number", "number", unique=True),
)
_IS_OPEN: Final = text("answered_at IS NULL")
Index(
    "ix_questions_open",
    QUESTIONS.c.asked_at,
    QUESTIONS.c.question_id,
    sqlite_where=_IS_OPEN,
)
Index(
    "ix_questions_cause",
    QUESTIONS.c.plan_id,
    QUESTIONS.c.cause,
    QUESTIONS.c.asked_at,
    QUESTIONS.c.question_id,
    sqlite_where=_IS_OPEN,
)

REQUIREMENTS: Final = Table(
    "input_requirements",
    METADATA,
    Column("plan_id", Words, ForeignKey("plans.plan_id"), primary_key=True),
    Column("requirement_id", Words, primary_key=True),
    Column("task_id", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("required", Boolean, nullable=False),
    Column("min_count", Integer, nullable=False),
    Column("allowed_types", Json, nullable=False),
    Column("keywords", Json, nullable=False),
    Column("source", String(8), nullable=False),
    Column("key", Words, nullable=False),
    Column("suggested_path", Words),
    Column("question_id", Words),
    Index("ix_input_requirements_task", "task_id"),
    Index("ix_input_requirements_key", "plan_id", "kind", "key"),
)

EVIDENCES: Final = Table(
    "evidences",
    METADATA,
    Column("plan_id", Words, ForeignKey("plans.plan_id"), primary_key=True),
    Column("requirement_id", Words, primary_key=True),
    Column("reference", Words, primary_key=True),
    hash_column("sha256", primary_key=True),
    time_column("added_at", nullable=False),
    time_column("stale_at"),
)

INPUT_FILES: Final = Table(
    "input_files",
    METADATA,
    Column("path", Words, primary_key=True),
    hash_column("sha256", nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    time_column("gone_at"),  # removed, on the machine that had it
)

RESEARCH_ANSWERS: Final = Table(
    "research_answers",
    METADATA,
    Column("agent_id", Words, primary_key=True),
    Column("request", String(64), primary_key=True),
    Column("contract", String(64), primary_key=True),
    Column("digest", String(64), primary_key=True),
    Column("at", String(32), nullable=False),
    # as JSON, so that it equals what was offered to the letter
    Column("selected", Json, nullable=False),
    Column("offered", Json, nullable=False),
    Index("ix_research_answers_request", "request", "agent_id"),
    sqlite_with_rowid=False,  # lies in the order of its key: group after group
)

WORKERS: Final = Table(
    "accordance_workers",
    METADATA,
    Column("executor_id", Text, primary_key=True),
    Column("version", String(32), nullable=False),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("beat_at", DateTime(timezone=True), nullable=False),
    Column("queues", Json),  # NULL: it does not say, and may have any
    Column("about", Json),  # what it can do; NULL: it does not say
    Column("drain_at", DateTime(timezone=True)),  # since then it takes up nothing
)

QUEUE_PAUSES: Final = Table(
    "queue_pauses",
    METADATA,
    Column("queue", Text, primary_key=True),
    Column("ends_at", Float, nullable=False),  # by the database's clock
)

ATTEMPT_QUEUE: Final = Table(
    "attempt_queue",
    METADATA,
    Column("workflow", Words, primary_key=True),
    Column("plan_id", Words, nullable=False),
    Column("task_id", Words, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("number", Integer, nullable=False),
    Column("product", Words),  # what a review is about
    Column("queue", Words, nullable=False),
    time_column("lease", nullable=False),
    Column("priority", BigInteger, nullable=False),
    Column("version", String(32), nullable=False),  # of the engine
    Column("state", String(16), nullable=False),
    Column("worker", Text),  # that has begun it
    # another with every worker that begins it: a worker with any other is too late
    Column("claim", Integer, nullable=False),
    Column("recoveries", Integer, nullable=False),  # workers that were lost over it
    Column("kept", Text),  # the outcome of its run, until it is settled
    Column("error", Words),  # why it could not be settled
    # seconds since the epoch, by the database's clock
    Column("queued_at", Float, nullable=False),
    Column("begun_at", Float),
)
"""The attempts that are queued or in work; a row goes when its attempt is settled."""

ATTEMPT_STARTS: Final = Table(
    "attempt_starts",
    METADATA,
    Column("queue", Words, nullable=False),
    Column("begun_at", Float, nullable=False),
    Index("ix_attempt_starts_queue", "queue", "begun_at"),
)
"""When attempts of queues with a rate were begun, in any process."""
