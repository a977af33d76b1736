"""An attempt without an agent: a good change is applied to the plan's new head.

It is judged there by the whole gateway, like any other change, and lands if it passes.
Nothing in it comes from an agent but the commit that was judged before.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from accordance.changes.concluding import AttemptJudge, Conclusion
from accordance.changes.settling import JudgedChange
from accordance.domain.faults import Fault
from accordance.domain.findings import listed
from accordance.domain.usage import Usage
from accordance.executors.protocol import Observation, RunOutcome
from accordance.judging.judge import AttemptTree, JudgeOptions
from accordance.judging.own_submission import Claim
from accordance.work.landing import Landing
from accordance.workspace.branch import apply_patch
from accordance.workspace.clone import discard
from accordance.workspace.editing import Draft
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.rebasing import RebaseConflict, Rebased, rebase

if TYPE_CHECKING:  # an attempt of the workshop is either of the two
    from accordance.changes.attempt import CodingAttempt

_REBASED: Final = "rebased"


@dataclass(frozen=True, slots=True)
class RebaseAttempt:
    """Applies a good change to the head of its plan, and has it judged."""

    attempt: CodingAttempt
    landing: Landing

    def run(self) -> RunOutcome:
        """Return the judged change, or the fault that it does not apply.

        Raises PreflightFailed, WorkspaceError.
        """
        started = time.monotonic()
        head = self.attempt.base()
        rebased = self._applied_to(head)
        if isinstance(rebased, RebaseConflict):
            return self._conflict(rebased)

        raw, change = self._conclude(head, rebased)
        change = replace(change, rebased=self.landing.to_json())
        seen = Observation(_REBASED, {**self.landing.to_json(), "onto": head})
        return RunOutcome(
            raw=raw,
            judged=change.to_json(),
            seen=(seen,),
            duration_ms=int((time.monotonic() - started) * 1000),
        )

    def _applied_to(self, head: str) -> Rebased | RebaseConflict:
        """Apply the change, which another machine may have judged, to the head."""
        shop, commit = self.attempt.shop, self.landing.commit
        self.attempt.job.branch.must_have(commit)
        return shop.source.read(lambda: rebase(shop.repository, commit, head))

    def _conflict(self, conflict: RebaseConflict) -> RunOutcome:
        files = listed(list(conflict.files))
        text = f"it does not apply to the plan's new head: {files}"
        return RunOutcome(fault=Fault.CONFLICT, text=text)

    def _conclude(self, head: str, rebased: Rebased) -> Conclusion:
        """Judge the change on a fresh clone of the head."""
        attempt = self.attempt
        place = attempt.place
        try:
            tree = attempt.fresh_tree(place, head)
            work = tree.workspace.work
            if not apply_patch(rebased.patch, work):
                raise WorkspaceError(
                    f"the change {self.landing.commit} cannot be laid into a clone of"
                    f" {head}"
                )
            judge = attempt.judge
            conclusion = judge.conclude(tree, Draft(work), None, self._options(judge))
            self._must_be(rebased, conclusion.change, tree)
            return conclusion
        finally:
            if place.exists():
                discard(place)

    def _options(self, judge: AttemptJudge) -> JudgeOptions:
        """How it is judged: as the work of the executor that made the change."""
        landing = self.landing
        options = judge.options()
        usage = options.usage
        if landing.executor is not None:
            usage = Usage(model=landing.model, executor=landing.executor)
        claim = Claim(
            status="DONE",
            summary=landing.summary,
            tests=landing.tests,
        )
        return replace(
            options,
            usage=usage,
            claim=claim,
            is_rebase=True,
        )

    def _must_be(
        self,
        rebased: Rebased,
        change: JudgedChange,
        tree: AttemptTree,
    ) -> None:
        """Refuse a commit that is anything but the change on top of the head."""
        if change.commit is None:
            return
        repository = self.attempt.job.branch.git
        written = repository.text("rev-parse", f"{change.commit}^{{tree}}")
        if written != rebased.tree:
            raise WorkspaceError(
                f"the change {self.landing.commit} on {tree.workspace.commit} gives"
                " another tree than its clone"
            )
