"""Errors of work: moves that are not possible, and verdicts that cannot be reached."""

from __future__ import annotations

from collections.abc import Iterable

from accordance.errors.base import AccordanceError, Category


class IllegalTransition(AccordanceError):
    """A move that is not in the lifecycle's table. Nothing has changed."""

    code = "illegal-transition"
    category = Category.CONFLICT

    def __init__(
        self,
        state: str,
        event: str,
        legal: Iterable[str],
        what: str = "task",
    ) -> None:
        self.state = state
        self.event = event
        self.legal = tuple(legal)
        self.what = what
        super().__init__(state, event, self.legal)

    @property
    def text(self) -> str:
        """The event, and the state."""
        return f"{self.event} is not possible for a {self.what} that is {self.state}"

    @property
    def way_out(self) -> str:
        """What can happen in that state."""
        if not self.legal:
            return "that state is final"
        return f"possible in that state: {', '.join(self.legal)}"


class Conflict(AccordanceError):
    """Another process was first, or it is too late. Nothing has changed."""

    code = "conflict"
    category = Category.CONFLICT


class AttemptJudged(Conflict):
    """The attempt has been judged already: there is a bundle of it."""

    code = "attempt-judged"


class TasksWait(Conflict):
    """A task cannot be cancelled alone: others would wait for it for ever."""

    code = "tasks-wait"


class UnfitPlanState(Conflict):
    """What a person asks of a plan does not fit the state that the plan is in."""

    code = "unfit-plan-state"


class UnfitTaskState(Conflict):
    """What a person asks of a task does not fit the state that the task is in."""

    code = "unfit-task-state"


class PlanArchived(Conflict):
    """The plan is archived, so nothing can happen to it."""

    code = "plan-archived"


class PlanChanged(Conflict):
    """The plan has been amended since it was looked at."""

    code = "plan-changed"


class NotRebased(Conflict):
    """The changes of a plan do not fit its new base. Nothing was moved."""

    code = "not-rebased"


class GateNotRun(AccordanceError):
    """A gate has not run, or lacks a fact that it needs. That is never a pass."""

    code = "gate-not-run"


class InvalidTerms(AccordanceError):
    """The stored terms of a verdict cannot be read, so it cannot be recomputed."""

    code = "invalid-terms"


class ContextTooLarge(AccordanceError):
    """What an agent must read does not fit into its context."""

    code = "context-too-large"

    def __init__(self, needed: int, budget: int) -> None:
        super().__init__(needed, budget)
        self.needed = needed
        self.budget = budget

    @property
    def text(self) -> str:
        """How much is needed, and how much is allowed."""
        return (
            f"the agent's context needs {self.needed:,} bytes, "
            f"but only {self.budget:,} are allowed"
        )

    @property
    def way_out(self) -> str:
        """A smaller task, or a larger budget."""
        return "split the task or raise its context budget"


class CannotWrite(AccordanceError):
    """A file or a stream cannot be written: no space, no permission, or no reader."""

    code = "cannot-write"
    category = Category.UNAVAILABLE

    def __init__(self, what: object, why: OSError) -> None:
        super().__init__(what, why)
        self.what = what
        self.why = why.strerror or str(why)

    @property
    def text(self) -> str:
        """The place, and the reason."""
        return f"{self.what}: cannot be written ({self.why})"

    @property
    def way_out(self) -> str:
        """Another folder, or the permission to write to this folder."""
        return "choose another place, or make this place writable"


class NoEvidence(AccordanceError):
    """An attempt has left nothing behind that could be shown, or not yet."""

    code = "no-evidence"
    category = Category.NOT_FOUND


class EvidenceGone(NoEvidence):
    """What an attempt left behind was removed, or lies on another machine."""

    code = "evidence-gone"
