"""The rows of the ledger's tables as values, with the names of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from accordance.domain.chain import EMPTY, Head
from accordance.domain.fuses import FUSES, Fuses
from accordance.domain.node_progress import NodeProgress
from accordance.domain.plan_lifecycle import PlanState
from accordance.domain.rubric import NODE_RUBRIC, PLAN_RUBRIC, Rubric
from accordance.domain.task_ruling import QuestionKind
from accordance.domain.usage import Budget

Details: TypeAlias = Mapping[str, object]
UNSPENT: Final = MappingProxyType(
    {
        "calls": 0,
        "tokens": 0,
        "cost": 0.0,
    }
)
"""What a plan has used up when its run starts, or starts anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of a plan, kept with it so that every verdict can be recomputed."""

    fuses: Fuses = FUSES
    plan_rubric: Rubric = PLAN_RUBRIC
    node_rubric: Rubric = NODE_RUBRIC


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRecord:
    """A revision of a plan."""

    plan_id: str
    title: str
    owner_agent_id: str
    root_task_id: str
    created_at: str
    state: PlanState
    document: str  # the normalised plan, by its hash
    nodes: int
    imported_at: str
    constraints: Details | None = None  # as in the plan
    rules: Rules = Rules()
    revision: int = 1
    rounds: int = 0  # how often it was returned
    review_failures: int = 0
    calls: int = 0  # messages in this run
    tokens: int = 0  # of models, in this run
    cost: float = 0.0
    run_started_at: str | None = None
    inputs_seen: str | None = None  # a hash of the list of files that were bound last
    paused_at: str | None = None
    archived_at: str | None = None
    head: Head = EMPTY


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The holder of a task and until when; for a review, of which product."""

    holder: str
    until: str
    product: str | None = None
    reserved: Budget | None = None  # of the plan's budget, until the lease ends


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """A node of a plan and its progress."""

    task_id: str
    plan_id: str
    place: int  # in the plan
    node_type: Literal["GOAL", "ACTION", "CHECK"]
    title: str
    owner_agent_id: str
    priority: int
    tags: tuple[str, ...]
    goal_statement: str | None
    rationale: str | None
    is_work: bool
    checks: str | None  # the task whose product it reviews
    is_checked: bool  # a CHECK reviews its product
    progress: NodeProgress
    lease: Lease | None = None
    product: str | None = None  # the current artifact, by its hash
    last_error: str | None = None
    same_errors: int = 0
    updated_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecord:
    """A message as it arrived, the case it was judged in, and the answer to it."""

    message_id: str
    plan_id: str
    subject: str  # the task, or the plan
    kind: Literal["ACTION", "SUBMISSION", "REVIEW", "PLAN_REVIEW", "FAULT", "REBASE"]
    attempt: int
    sha256: str
    accepted: bool
    case: Details
    answer: Details
    seq: int  # its place in the chain
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """A decision, its reasons, and the head of the chain at that moment."""

    message_id: str
    plan_id: str
    subject: str
    outcome: str
    reason_code: str
    messages: tuple[str, ...]
    head_seq: int
    head_hash: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactRecord:
    """A version of a product."""

    plan_id: str
    task_id: str
    version: int
    attempt: int
    name: str
    file_name: str
    format: str
    sha256: str
    summary: str | None
    created_at: str
    approved_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRecord:
    """A review that kept its contract, and the product it is about."""

    message_id: str
    plan_id: str
    subject: str
    check_task_id: str | None
    product: str
    total_score: int
    action_required: str
    document: str  # the normalised review, by its hash
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRecord:
    """A question that only a person can answer."""

    question_id: str
    plan_id: str
    task_id: str | None
    kind: QuestionKind
    text: str
    details: Details
    asked_at: str
    answered_at: str | None = None
    answer: Details | None = None
    number: int | None = None  # among all questions; None: asked before there were any
    cause: str | None = None  # outside the task; see `outside_causes`


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementRecord:
    """What a task needs from outside."""

    plan_id: str
    requirement_id: str
    task_id: str
    name: str
    kind: Literal["FILE", "CONFIRMATION", "SKILL_OUTPUT"]
    required: bool
    min_count: int
    allowed_types: tuple[str, ...]
    keywords: tuple[str, ...]
    source: str
    key: str  # the name, whatever its letter case
    suggested_path: str | None = None  # below workspace/inputs/
    question_id: str | None = None  # where an attempt asked for it, not the plan


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRecord:
    """What answers a requirement, until it goes stale.

    `reference` is a path below workspace/inputs/, the task of an artifact, or the
    person who confirmed.
    """

    plan_id: str
    requirement_id: str
    reference: str
    sha256: str
    added_at: str
    stale_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord:
    """A file that people supplied, as it was last seen on any machine."""

    path: str
    sha256: str
    size: int
    mtime_ns: int
    gone_at: str | None = None  # when it was removed, on a machine that had it
