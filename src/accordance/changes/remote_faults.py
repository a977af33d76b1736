"""Remotes that cannot be used, and branches that others have moved.

No executor has failed where a run ends by these faults: its task waits, and goes on when the
cause is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from accordance.domain.faults import Fault
from accordance.domain.outside_causes import OutsideCause
from accordance.domain.records import TaskRecord
from accordance.executors.protocol import RunOutcome
from accordance.store.ledger import Transaction
from accordance.work.plan_head import head_of, replaced_heads
from accordance.workspace.errors import ForeignPush, RemoteUnavailable, WorkspaceError
from accordance.workspace.remote_branch import RemoteBranch

if TYPE_CHECKING:  # the workshop ends its attempts by these
    from accordance.changes.workshop import Workshop

OF_REMOTE: Final = frozenset((Fault.REMOTE_AWAY, Fault.FOREIGN_PUSH))
_ANOTHER_CAUSE: Final = "it has nothing to do with the remote"


def outcome_of_remote(
    error: RemoteUnavailable | ForeignPush, produced: RunOutcome | None = None
) -> RunOutcome:
    """Return how a run ends that needs a remote which cannot be used.

    `produced` is what it has cost until then.
    """
    if isinstance(error, ForeignPush):
        fault, lacks = Fault.FOREIGN_PUSH, error.branch
    else:
        fault, lacks = Fault.REMOTE_AWAY, error.lacks
    produced = produced or RunOutcome(fault=fault)
    return replace(
        produced,
        raw=None,
        fault=fault,
        text=str(error),
        lacks=lacks,
    )


@dataclass(frozen=True, slots=True)
class RemoteCauses:
    """Looks whether a remote can be used again, and a branch is the plan's own."""

    shop: Workshop

    def obstacle(
        self,
        tx: Transaction,
        task: TaskRecord,
        cause: OutsideCause,
        *,
        of_review: bool = False,  # noqa: ARG002 - the same for both
    ) -> str | None:
        """Say what keeps a task from beginning; None if nothing does any more."""
        if cause.fault not in OF_REMOTE:
            return _ANOTHER_CAUSE
        try:
            self.shop.source.refresh(not_older=0)
            if cause.fault is Fault.FOREIGN_PUSH:
                self._must_be_own(tx, task.plan_id)
            else:
                self._must_be_complete(task.plan_id, cause.lacks)
        except (WorkspaceError, OSError) as error:
            return str(error)
        return None

    def _must_be_own(self, tx: Transaction, plan_id: str) -> None:
        """Check that the branch was not moved from elsewhere. Raises ForeignPush."""
        branch = self.shop.branch(plan_id, replaced_heads(tx, plan_id))
        head, tip = head_of(tx, plan_id), branch.tip
        if tip is not None and head is not None and not branch.comes_before(tip, head):
            raise ForeignPush(branch.name, tip)

    def _must_be_complete(self, plan_id: str, lacks: str) -> None:
        """Push what was refused before, and get what was missing.

        Raises RemoteUnavailable.
        """
        branch = self.shop.branch(plan_id)
        if not isinstance(branch, RemoteBranch):
            return  # the repository is named by a path now
        branch.push_pending()
        _, _, missing = lacks.partition(" ")
        if missing and not missing.startswith("refs/"):
            branch.must_have(missing)
