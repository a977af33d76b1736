"""The commission of an attempt: all that it takes from the ledger."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from accordance.domain.records import TaskRecord
from accordance.domain.usage import Budget
from accordance.judging.task_input import TaskRequest
from accordance.project.policy import JudgingPolicy
from accordance.store.ledger import Transaction
from accordance.work.kept_evidence import kept_file
from accordance.work.landing import Landing, last_change
from accordance.workspace.branch import Branch

_OUT_OF_BOUNDS: Final = frozenset(
    (
        "SCOPE_CONFLICT",
        "ROLE_POLICY_VIOLATION",
        "POLICY_VIOLATION",
        "CONSTITUTION_VIOLATION",
    )
)
"""After these the next attempt starts afresh; otherwise where the last attempt stopped."""
_PATCH: Final = "patch.diff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commission:
    """All that an attempt to change a repository takes from the ledger."""

    asked: TaskRequest
    title: str
    number: int  # of all attempts
    attempt: int  # of those that count
    earlier: tuple[str, ...]  # how the last ones failed, if in the same way
    head: str | None  # the commit of the plan's last change
    start: bytes  # a patch to begin with
    branch: Branch
    gateway: JudgingPolicy
    budget: Budget = field(default_factory=Budget)
    landing: Landing | None = None
    """A good change to apply to the head; nothing else is left to do."""

    @property
    def seconds(self) -> float:
        """How long the agent may take."""
        return (self.asked.task.timeoutMs or math.inf) / 1000


def patch_to_begin_with(tx: Transaction, root: Path, task: TaskRecord) -> bytes:
    """Return the change as the last attempt left it, unless it went out of bounds."""
    last = last_change(tx, task)
    if last is None or last.answer.get("reason_code") in _OUT_OF_BOUNDS:
        return b""
    kept = kept_file(tx, task.task_id, str(last.case["manifest"]), _PATCH)
    if kept is not None:
        return kept
    patch = root / str(last.case["bundle"]) / _PATCH
    return patch.read_bytes() if patch.is_file() else b""
