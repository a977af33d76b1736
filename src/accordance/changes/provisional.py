"""Provisional judgements of a change while its agent still works on it.

They are made one at a time, and none after the end of the run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Self, TypeAlias

from accordance.changes.edits import AppliedEdits
from accordance.changes.failure_output import output_of_failures
from accordance.domain.retrying import feedback_for
from accordance.errors import AccordanceError
from accordance.executors.opinion import Opinion
from accordance.judging.judge import AttemptTree, JudgeOptions
from accordance.judging.judgement import Judgement
from accordance.workspace.clone import discard

_DONE: Final = "All checks passed. Change nothing more, and end."
_OVER: Final = Opinion(
    done=False,
    text="The run is over.",
    reason_code="TIMEOUT_EXCEEDED",
)

Judge: TypeAlias = Callable[
    [AttemptTree, bytes, JudgeOptions], tuple[Judgement, AppliedEdits | None]
]


@dataclass(slots=True)
class ProvisionalJudge:
    """Judges the tree as it is, for as long as the block runs.

    A judgement that is under way when the block ends is waited for. Nothing is kept of
    it; in the end everything is judged again.
    """

    tree: AttemptTree
    options: JudgeOptions
    judge: Judge
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _over: threading.Event = field(default_factory=threading.Event)
    _count: int = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with self._turn:  # from here on nothing runs in the clone or writes beside it
            pass

    def __call__(self, raw: bytes) -> Opinion:
        """Return the opinion on a message, and on the tree as it is now."""
        with self._turn:
            if self._over.is_set():
                return _OVER
            self._count += 1
            private = self.tree.private / f"opinion-{self._count}"
            try:
                return self._opinion(replace(self.tree, private=private), raw)
            finally:
                discard(private)

    def _opinion(self, tree: AttemptTree, raw: bytes) -> Opinion:
        options = replace(self.options, stop=self._over)
        try:
            judgement, edits = self.judge(tree, raw, options)
        except (AccordanceError, OSError) as error:
            return Opinion(
                done=False,
                text=str(error),
                reason_code="EVIDENCE_INVALID",
            )

        if self._over.is_set():
            return _OVER
        return opinion_on(judgement, edits)


def opinion_on(judgement: Judgement, edits: AppliedEdits | None = None) -> Opinion:
    """Return a judgement as the agent gets to see it.

    That is the verdict in words, the edits that were refused, and what failed tests
    printed.
    """
    if judgement:
        return Opinion(done=True, text=_DONE)

    verdict = judgement.verdict
    lines = [feedback_for(verdict)]
    if edits is not None:
        lines += [f"- {refusal}\n" for refusal in edits.refused]
    lines += output_of_failures(judgement)
    return Opinion(
        done=False,
        text="".join(lines),
        reason_code=verdict.reason_code,
        is_final=edits is not None and edits.is_final,
    )
