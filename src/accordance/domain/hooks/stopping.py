"""May an agent stop? What it hears where it may not.

An agent that stops says that it is done. If the judgement says otherwise, it gets the
reasons and goes on, a bounded number of times. Where nothing could be judged, it has to
say so itself, once: a gate that did not run is never a silent yes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from accordance.domain.causes import Cause

ROUNDS: Final = 3
MOST_ROUNDS: Final = 7  # Claude Code itself lets an agent go after eight


class WorkStanding(Enum):
    """What a judgement means for an agent that wants to stop."""

    DONE = "done"
    NOT_DONE = "not done"  # and the agent can mend it
    ASKS = "asks"  # a person has the next move
    NOT_JUDGED = "not judged"  # nothing of it is the agent's to mend


def standing_of(cause: Cause | None) -> WorkStanding:
    """Return what the cause of a verdict means; None is that of accepted work."""
    match cause:
        case None:
            return WorkStanding.DONE
        case Cause.CHANGE:
            return WorkStanding.NOT_DONE
        case Cause.QUESTION:
            return WorkStanding.ASKS
        case _:
            return WorkStanding.NOT_JUDGED


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of the work when an agent wants to stop."""

    standing: WorkStanding
    headline: str  # the verdict, or why there is none, in a line
    reasons: str = ""  # what is wrong, for the agent
    task_id: str = ""


@dataclass(frozen=True, slots=True)
class StopAnswer:
    """The answer to an agent that wants to stop."""

    reason: str = ""  # why it must go on; empty where it may stop
    note: str = ""  # for the person beside it

    @property
    def may_stop(self) -> bool:
        """Whether the agent may stop."""
        return not self.reason


def stop_answer(judged: Judged, refused: int, rounds: int = ROUNDS) -> StopAnswer:
    """Return whether the agent may stop. `refused` is how often it was refused before.

    An agent hears once that its work could not be judged: there is nothing to mend,
    only something to say.
    """
    if judged.standing is WorkStanding.DONE:
        return StopAnswer(note=f"accordance: {judged.headline}")
    if judged.standing is WorkStanding.ASKS:
        return StopAnswer(note=f"accordance: {judged.headline}. The agent asks you.")

    is_mendable = judged.standing is WorkStanding.NOT_DONE
    may_refuse = refused < (rounds if is_mendable else min(rounds, 1))
    if not may_refuse:
        return StopAnswer(note=_letting_go(judged, refused))
    if is_mendable:
        return StopAnswer(reason=_not_done(judged, refused + 1, rounds))
    return StopAnswer(reason=_not_judged(judged))


def _not_done(judged: Judged, number: int, rounds: int) -> str:
    left = rounds - number
    noun = "time" if left == 1 else "times"
    again = f"{left} more {noun}"
    bound = f"It will be judged {again}." if left else "It will not be judged again."
    ask = (
        "If you need an answer from a person first, leave "
        f"artifacts/{judged.task_id}/submit.json with the status NEED_INPUT "
        "(`accordance contract show submit`)."
    )
    return (
        "accordance has judged the work, and it is not done.\n\n"
        f"{judged.reasons.strip()}\n\n"
        f"Mend this in the work itself, then finish. {bound} {ask} "
        "If you cannot mend it, say that the work is not done, and why."
    )


def _not_judged(judged: Judged) -> str:
    details = ""
    if judged.reasons:
        reasons = judged.reasons.strip()
        details = f"\n\n{reasons}"
    return (
        f"accordance could not judge the work: {judged.headline}{details}\n\n"
        "This is not yours to mend. Do not call the work done: "
        "say that it was not judged, and why."
    )


def _letting_go(judged: Judged, refused: int) -> str:
    if judged.standing is WorkStanding.NOT_JUDGED:
        return f"accordance: NOT JUDGED. {judged.headline}"
    times = "once" if refused == 1 else f"{refused} times"
    sent_back = f"The agent was sent back {times}. " if refused else ""
    return (
        f"accordance: NOT DONE, {judged.headline}. {sent_back}"
        "Whatever it says, the work is not done."
    )
