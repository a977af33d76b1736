"""What accordance thinks of a change while its agent still works on it: one opinion at a time, and none after the end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Self, TypeAlias

from accordance.changes.edits import Spoken
from accordance.domain.prompting import fenced
from accordance.domain.retrying import what_to_tell
from accordance.errors import AccordanceError
from accordance.executors.opinion import Opinion
from accordance.executors.run_folder import tail
from accordance.judging.judge import AttemptTree, JudgeOptions
from accordance.judging.judgement import Judgement
from accordance.workspace.clone import discard

_DONE: Final = "All checks passed. Change nothing more, and end."
_NOT_SHOWN: Final = (
    "what {command} printed is not shown: it needs files that this task may not read"
)
_OVER: Final = Opinion(
    done=False, text="The run is over.", reason_code="TIMEOUT_EXCEEDED"
)

Judge: TypeAlias = Callable[
    [AttemptTree, bytes, JudgeOptions], tuple[Judgement, Spoken | None]
]


@dataclass(slots=True)
class Opinions:
    """Judges what is there, for as long as the block runs; when it ends, so has whatever was being judged.

    Nothing of it is kept; in the end everything is judged again.
    """

    ground: AttemptTree
    how: JudgeOptions
    judge: Judge
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _over: threading.Event = field(default_factory=threading.Event)
    _given: int = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with self._turn:  # nothing runs in the clone, or writes beside it, from here on
            pass

    def __call__(self, raw: bytes) -> Opinion:
        """The opinion of a message, and of the tree as it is now."""
        with self._turn:
            if self._over.is_set():
                return _OVER
            self._given += 1
            ground = replace(
                self.ground, private=self.ground.private / f"opinion-{self._given}"
            )
            try:
                return self._opinion(ground, raw)
            finally:
                discard(ground.private)

    def _opinion(self, ground: AttemptTree, raw: bytes) -> Opinion:
        try:
            judgement, spoken = self.judge(
                ground, raw, replace(self.how, stop=self._over)
            )
        except (AccordanceError, OSError) as error:
            return Opinion(done=False, text=str(error), reason_code="EVIDENCE_INVALID")
        return _OVER if self._over.is_set() else opinion_on(judgement, spoken)


def opinion_on(judgement: Judgement, spoken: Spoken | None = None) -> Opinion:
    """A judgement as the agent hears it: the verdict in words, what its edits met, what failed tests printed."""
    if judgement:
        return Opinion(done=True, text=_DONE)
    verdict = judgement.verdict
    refused = [f"- {one}\n" for one in spoken.refused] if spoken else []
    return Opinion(
        done=False,
        text="".join((what_to_tell(verdict), *refused, *_printed(judgement))),
        reason_code=verdict.reason_code,
        is_final=spoken is not None and spoken.is_over,
    )


def _printed(judgement: Judgement) -> Iterator[str]:
    """The last words of every test that failed. Whoever cannot run it has nothing else to go by."""
    for run, log in zip(judgement.facts.runs, judgement.shown, strict=True):
        if run.passed:
            continue
        if log is None:
            yield f"- {_NOT_SHOWN.format(command=run.command)}\n"
        elif said := tail(log.parent, log.name):
            yield f"{fenced(f'what was printed by {run.command}', said)}\n"
