"""The short form of a plan, as values, and the tables of its keys.

The tables are the only place that knows a key: reading, writing and the reference in
docs/plan-files.md follow them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from accordance.domain.short_plans.durations import duration_in
from accordance.domain.short_plans.entries import (
    Entry,
    flag_in,
    json_in,
    names_in,
    object_in,
    text_in,
    texts_in,
    whole_number_in,
    word_in,
)

OWNER: Final = "planner"
CREATED: Final = "1970-01-01T00:00:00Z"
"""A file says the same plan whenever it is read, so its date is not today's."""
POLICY: Final = "engineer"
ROLES: Final[Mapping[str, str]] = {"ACTION": "worker", "CHECK": "reviewer"}
"""Who does what, unless a task says so; a goal belongs to the plan's owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortInput:
    """Something a task needs from outside before it can begin."""

    name: str
    id: str | None = None
    kind: str = "FILE"
    required: bool = True
    count: int = 1
    types: tuple[str, ...] = ()
    source: str = "ANY"
    keywords: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortTask:
    """A task, a goal with its parts, or a check. None: the default holds."""

    title: str
    id: str | None = None
    type: str | None = None
    goal: str | None = None
    why: str | None = None
    role: str | None = None
    priority: int = 0
    tags: tuple[str, ...] = ()
    needs: tuple[tuple[str, int], ...] = ()
    combine: str = "AND"
    alternative: str | None = None
    check: ShortTask | None = None
    accept: tuple[str, ...] | None = None
    deliver: Any = None
    inputs: tuple[ShortInput, ...] = ()
    timeout: int | None = None
    allowed: tuple[str, ...] | None = None
    forbidden: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    max_files: int | None = None
    max_loc: int | None = None
    tests: tuple[str, ...] | None = None
    executor: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    policy: str = POLICY
    code: Mapping[str, Any] = field(default_factory=dict)
    further: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[ShortTask, ...] = ()
    line: int = field(default=0, compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def changes_code(self) -> bool:
        """Whether it changes a repository: it names the paths it may change."""
        return self.allowed is not None

    @property
    def node_type(self) -> str:
        """What it is in the plan."""
        if self.type is not None:
            return self.type
        return "GOAL" if self.parts else "ACTION"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortPlan:
    """A whole plan. Its root is a task of its own, with all tasks as parts."""

    title: str
    root: ShortTask
    id: str | None = None
    owner: str = OWNER
    created: str = CREATED
    constraints: Mapping[str, Any] | None = None


class Key(NamedTuple):
    """A key of the short form: how it is read, and how the reference describes it."""

    kind: str
    default: str
    meaning: str
    read: Callable[[Entry, str], Any] | None = None
    """None: the entry is read by a function of its own in `reading`."""


TASK_KEYS: Final[Mapping[str, Key]] = {
    "title": Key("text", "", "What the task is called. Always needed.", text_in),
    "id": Key(
        "text",
        "from the title",
        "The id in the ledger, unique in all plans. Of a task that changes code: a UUID, or a word from which a UUID is made.",
        text_in,
    ),
    "type": Key(
        "GOAL, ACTION, CHECK",
        "GOAL with parts, else ACTION",
        "A CHECK that needs exactly one ACTION reviews its product.",
        word_in("GOAL", "ACTION", "CHECK"),
    ),
    "goal": Key("text", "the title", "What shall be true afterwards.", text_in),
    "why": Key("text", "", "The reason; the executor sees it.", text_in),
    "role": Key(
        "text",
        "worker, engineer (code), reviewer (CHECK), the plan's owner (GOAL)",
        "Who does it: `role` of `[[routes]]`.",
        text_in,
    ),
    "priority": Key("number", "0", "Higher is taken up first.", whole_number_in),
    "tags": Key("texts", "none", "Words that routes look at.", texts_in),
    "needs": Key(
        "texts",
        "none",
        "Titles or ids of the tasks that must be done before.",
        names_in,
    ),
    "combine": Key(
        "AND, OR",
        "AND",
        "Whether all parts must be done, or one is enough.",
        word_in("AND", "OR"),
    ),
    "alternative": Key(
        "text",
        "",
        "The name of a group of siblings. The best is tried first, the next only if it fails.",
        text_in,
    ),
    "check": Key(
        "true, text, task",
        "false",
        "Adds a CHECK of this task, by default titled `Check: TITLE`.",
    ),
    "accept": Key(
        "texts", "none", "Acceptance criteria, for executor and reviewer.", texts_in
    ),
    "deliver": Key(
        "anything", "", "What the product is to be, such as a format.", json_in
    ),
    "inputs": Key(
        "list of texts or inputs",
        "none",
        "What a person or an agent must supply before it can begin.",
    ),
    "timeout": Key(
        "duration",
        "the executor's",
        "How long an attempt may take: `90` or `90s`, `10m`, `2h`, `500ms`.",
        duration_in,
    ),
    "allowed": Key(
        "texts",
        "",
        "Paths the task may change. This makes it a task that changes code.",
        texts_in,
    ),
    "forbidden": Key("texts", "none", "Paths it may not change (code).", texts_in),
    "read": Key("texts", "none", "Paths it may read but not change (code).", texts_in),
    "max_files": Key(
        "number", "no limit", "Changed files at most (code).", whole_number_in
    ),
    "max_loc": Key(
        "number", "no limit", "Changed lines at most (code).", whole_number_in
    ),
    "tests": Key(
        "texts", "those of `[judge] tests`", "Test commands (code).", texts_in
    ),
    "executor": Key("texts", "any", "The executors that may do it (code).", texts_in),
    "models": Key("texts", "any", "The models that may do it (code).", texts_in),
    "policy": Key(
        "text", POLICY, "The `[roles.NAME]` it is judged by (code).", text_in
    ),
    "code": Key(
        "table",
        "none",
        "Further keys of scc.task.v1, under their names there (code).",
        object_in,
    ),
    "further": Key(
        "table", "none", "Further keys of the node, shown to executors.", object_in
    ),
    "parts": Key(
        "list of tasks", "none", "What the task consists of. In Markdown: nested items."
    ),
}
"""The keys of a task, in the order in which they are written."""

CODE_KEYS: Final = (
    "forbidden",
    "read",
    "max_files",
    "max_loc",
    "tests",
    "executor",
    "models",
    "policy",
    "code",
)
"""Keys that mean something only beside `allowed`."""

ROOT_KEYS: Final = (
    "id",
    "title",
    "type",
    "role",
    "priority",
    "tags",
    "accept",
    "deliver",
    "inputs",
    "timeout",
    "further",
)
"""What the table `root` of a plan may say about the task that stands for all of it."""

CHECK_KEYS: Final = tuple(
    key
    for key in TASK_KEYS
    if key not in ("type", "check", "alternative", "parts", "allowed", *CODE_KEYS)
)
"""What the table `check` of a task may say."""

PLAN_KEYS: Final[Mapping[str, Key]] = {
    "title": Key("text", "", "What the plan is called. Always needed.", text_in),
    "id": Key("text", "from the title", "The plan's id in the ledger.", text_in),
    "goal": Key("text", "the title", "What the whole plan is for.", text_in),
    "why": Key("text", "", "The reason for it.", text_in),
    "owner": Key("text", OWNER, "Whose plan it is.", text_in),
    "created": Key("time", CREATED, "When it was written, in ISO form.", text_in),
    "combine": Key(
        "AND, OR",
        "AND",
        "Whether all tasks must be done, or one is enough.",
        word_in("AND", "OR"),
    ),
    "constraints": Key(
        "table", "none", "What holds for every task; executors see it.", object_in
    ),
    "root": Key(
        "table",
        "none",
        f"Keys of the task that stands for the whole plan: {', '.join(ROOT_KEYS)}.",
    ),
    "tasks": Key(
        "list of tasks", "", "The tasks; a text alone is a task with that title."
    ),
}
"""The keys of a plan, in the order in which they are written."""

INPUT_KEYS: Final[Mapping[str, Key]] = {
    "name": Key("text", "", "What it is called. Always needed.", text_in),
    "id": Key("text", "from task and name", "Its id in the plan.", text_in),
    "kind": Key(
        "FILE, CONFIRMATION, SKILL_OUTPUT",
        "FILE",
        "What it is.",
        word_in("FILE", "CONFIRMATION", "SKILL_OUTPUT"),
    ),
    "required": Key("true, false", "true", "Whether the task waits for it.", flag_in),
    "count": Key("number", "1", "How many at least.", whole_number_in),
    "types": Key("texts", "any", "File types, such as csv.", texts_in),
    "source": Key(
        "USER, AGENT, ANY", "ANY", "Who may supply it.", word_in("USER", "AGENT", "ANY")
    ),
    "keywords": Key("texts", "none", "Words that the file name contains.", texts_in),
}
"""The keys of an input, in the order in which they are written."""
