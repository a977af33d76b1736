"""What accordance thinks of a change while its agent still works on it: one opinion at a time, and none after the end."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Final, Self

from accordance.domain.retrying import what_to_tell
from accordance.engine.asking import Asked
from accordance.engine.judging import Ground, How, judge_on
from accordance.errors import AccordanceError
from accordance.executors.opinion import Opinion
from accordance.workspace.clone import discard

_OVER: Final = Opinion(done=False, text="The run is over.", reason_code="TIMEOUT_EXCEEDED")


@dataclass(slots=True)
class Opinions:
    """Judges what is there, for as long as the block runs; when it ends, so has whatever was being judged.

    Nothing of it is kept; in the end everything is judged again.
    """

    ground: Ground
    asked: Asked
    how: How
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
            ground = replace(self.ground, private=self.ground.private / f"opinion-{self._given}")
            try:
                return self._judge(ground, raw)
            finally:
                discard(ground.private)

    def _judge(self, ground: Ground, raw: bytes) -> Opinion:
        try:
            judgement = judge_on(ground, self.asked, raw, replace(self.how, stop=self._over))
        except (AccordanceError, OSError) as error:
            return Opinion(done=False, text=str(error), reason_code="EVIDENCE_INVALID")
        if self._over.is_set():
            return _OVER
        if judgement:
            return Opinion(done=True, text="All checks passed. Change nothing more, and end.")
        verdict = judgement.verdict
        return Opinion(done=False, text=what_to_tell(verdict), reason_code=verdict.reason_code)
