"""Whether the base of a plan has moved since its first change was made on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accordance.domain.lifecycle import TERMINAL
from accordance.domain.records import PlanRecord
from accordance.project.home import Home
from accordance.store.ledger import Transaction
from accordance.work.plan_head import base_of, head_of, replaced_heads
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.git import resolve

SHORT_ID: Final = 12
"""Digits of a commit's id that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedBase:
    """A branch that has commits which the changes of a plan do not lie on."""

    name: str  # as `[workspace] base` names it
    before: str  # the commit that the changes of the plan lie on
    now: str
    head: str  # of the plan

    @property
    def text(self) -> str:
        """That it has moved, and the way out, in a line."""
        return (
            f"{self.name} has moved since the plan began"
            f" ({self.before[:SHORT_ID]} -> {self.now[:SHORT_ID]});"
            " `accordance plan rebase` takes that in"
        )


def moved_base(tx: Transaction, home: Home, plan: PlanRecord) -> MovedBase | None:
    """Return how the base of a plan has moved; None if it has not.

    Before its first change has landed, a plan begins wherever its base is. Commits that
    the plan's own branch has brought there are nothing new. Raises WorkspaceError,
    InvalidSettings.
    """
    plan_id = plan.plan_id
    before, head = base_of(tx, plan_id), head_of(tx, plan_id)
    if before is None or head is None:
        return None

    repository = home.repository()
    base = home.settings().workspace.base
    now = resolve(repository, base)
    if now == before:
        return None

    from accordance.workspace.branch import Branch, branch_name

    branch = Branch(repository, branch_name(plan_id), replaced_heads(tx, plan_id))
    if branch.contains(head, now):
        return None
    return MovedBase(name=base, before=before, now=now, head=head)


def why_base_moved(tx: Transaction, home: Home, plan: PlanRecord) -> str | None:
    """Return in a line that the base of a plan that goes on has moved, if it has."""
    if tx.progress(plan.root_task_id).state in TERMINAL:
        return None
    try:
        moved = moved_base(tx, home, plan)
    except (WorkspaceError, OSError):
        return None  # what is wrong with the repository stops the next attempt
    return moved.text if moved else None
