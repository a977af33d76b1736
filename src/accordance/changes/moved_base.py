"""Whether the base of a plan has moved since its first change was made on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accordance.domain.lifecycle import TERMINAL
from accordance.domain.records import PlanRecord
from accordance.project.home import Home
from accordance.store.ledger import Transaction
from accordance.work.plan_head import base_of, head_of, replaced_heads
from accordance.workspace.errors import ForeignPush, WorkspaceError

SHORT_ID: Final = 12
"""Digits of a commit's id that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedBase:
    """A branch that has commits which the changes of a plan do not lie on."""

    name: str  # as `[workspace] base` names it; or the plan's own branch
    before: str  # the commit that the changes of the plan lie on
    now: str
    head: str  # of the plan
    is_foreign: bool = False
    """Whether others have pushed to the plan's own branch."""

    @property
    def text(self) -> str:
        """That it has moved, and the way out, in a line."""
        if self.is_foreign:
            return str(ForeignPush(self.name, self.now))
        return (
            f"{self.name} has moved since the plan began"
            f" ({self.before[:SHORT_ID]} -> {self.now[:SHORT_ID]});"
            " `accordance plan rebase` takes that in"
        )


def moved_base(tx: Transaction, home: Home, plan: PlanRecord) -> MovedBase | None:
    """Return how the base of a plan has moved; None if it has not.

    Before its first change has landed, a plan begins wherever its base is. Commits that
    the plan's own branch has brought there are nothing new. What others have pushed to
    that branch comes first. Raises WorkspaceError, InvalidSettings.
    """
    plan_id = plan.plan_id
    before, head = base_of(tx, plan_id), head_of(tx, plan_id)
    if before is None or head is None:
        return None

    from accordance.changes.project_repository import repository_of

    repository = repository_of(home)
    branch = repository.branch(plan_id, replaced_heads(tx, plan_id))
    tip = branch.tip
    if tip is not None and not branch.comes_before(tip, head):
        return MovedBase(
            name=branch.name,
            before=before,
            now=tip,
            head=head,
            is_foreign=True,
        )
    now = repository.base_commit()
    if now == before or branch.contains(head, now):
        return None
    return MovedBase(
        name=repository.base,
        before=before,
        now=now,
        head=head,
    )


def why_base_moved(tx: Transaction, home: Home, plan: PlanRecord) -> str | None:
    """Return in a line that the base of a plan that goes on has moved, if it has."""
    if tx.progress(plan.root_task_id).state in TERMINAL:
        return None
    try:
        moved = moved_base(tx, home, plan)
    except (WorkspaceError, OSError):
        return None  # what is wrong with the repository stops the next attempt
    return moved.text if moved else None
