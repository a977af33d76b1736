"""The known solutions of a set of tasks, in the place of an agent.

They show whether a set can be resolved at all on this machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from accordance.contracts.catalogue.versions import ACTION_VERSION
from accordance.domain.executor_specs import ExternalSpec
from accordance.domain.faults import Fault
from accordance.domain.routing import PROMPTS, Choice
from accordance.executors.protocol import Assignment, RunLimits, RunOutcome
from accordance.workspace.branch import apply_patch

SOLUTIONS: Final = Choice(
    executor="solutions",
    spec=ExternalSpec(kind="external"),
    model=None,
    tier=None,
    tiers={},
    contract=ACTION_VERSION,
    prompt=PROMPTS["action"],
)
"""The choice that stands for them."""


@dataclass(frozen=True, slots=True)
class KnownSolutions:
    """Applies the known solution of a task, and claims to be done."""

    patches: Mapping[str, str]  # by task id

    def run(self, assignment: Assignment, limits: RunLimits) -> RunOutcome:  # noqa: ARG002 - it is quick
        """Apply the solution."""
        patch = self.patches[assignment.context.task_id or ""]
        work = assignment.work
        if not patch.strip():
            text = "the task has no known solution"
            return RunOutcome(fault=Fault.UNPREPARED, text=text)
        if work is None or not apply_patch(patch.encode(), work):
            text = "the known solution does not fit the base"
            return RunOutcome(fault=Fault.UNPREPARED, text=text)
        return RunOutcome(raw=json.dumps({"status": "DONE"}).encode())
