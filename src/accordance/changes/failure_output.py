"""What failed tests printed, as far as the agent of the attempt may see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from accordance.domain.prompting import fenced
from accordance.executors.left_files import tail
from accordance.judging.judgement import Judgement

_NOT_SHOWN: Final = (
    "what {command} printed is not shown: it needs files that this task may not read"
)
_MAX_RUNS: Final = 3  # whose output goes into the feedback to the next attempt


def output_of_failures(judgement: Judgement) -> Iterator[str]:
    """Yield the end of what every failed test command printed.

    An agent that cannot run the tests has nothing else to go by. What hidden tests
    print is not among it.
    """
    for run, log in zip(judgement.facts.runs, judgement.shown, strict=True):
        if run.passed:
            continue
        if log is None:
            yield f"- {_NOT_SHOWN.format(command=run.command)}\n"
            continue
        output = tail(log.parent, log.name)
        if output:
            yield f"{fenced(f'what was printed by {run.command}', output)}\n"


def output_for_next_attempt(judgement: Judgement) -> str:
    """Return the output of failed tests for the next attempt; nothing if none failed."""
    if judgement:
        return ""
    outputs = list(output_of_failures(judgement))
    return "".join(outputs[:_MAX_RUNS])
