"""What an agent is told while it still runs: the verdict in words, what its edits met, what failed tests printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from accordance.domain.prompting import fenced
from accordance.domain.retrying import what_to_tell
from accordance.engine.judgement import Judgement
from accordance.engine.spoken import Spoken
from accordance.executors.leftover import tail
from accordance.executors.opinion import Opinion

_DONE: Final = "All checks passed. Change nothing more, and end."


def opinion_on(judgement: Judgement, spoken: Spoken | None = None) -> Opinion:
    """A judgement as the agent hears it."""
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
    for run, log in zip(judgement.facts.runs, judgement.logs, strict=True):
        said = "" if run.passed else tail(log.parent, log.name)
        if said:
            yield f"{fenced(f'what was printed by {run.command}', said)}\n"
