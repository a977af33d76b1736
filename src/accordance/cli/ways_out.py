"""The options and commands that lead out of an error, by the error's code.

Only the command line knows them: a server or an agent's tools offer other ways out.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from accordance.cli.reading import is_file
from accordance.errors import AccordanceError, NotFound

WAYS_OUT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "all-archived": "`accordance plan list --filter state:archived` shows them; name a plan",
        "attempt-judged": "--attempt N; `accordance render` shows that judgement again",
        "empty-answer": "`accordance inbox show` says what each answer leads to",
        "evidence-gone": "`accordance task show` tells what the ledger knows, `accordance verify` what is missing",
        "goal-waits": "`accordance dlq list`, --give-up",
        "hook-not-set": "`accordance hook KIND --task FILE`",
        "hook-without-task": "--task FILE",
        "isolation-turned-off": "--isolation rlimit",
        "ledger-damaged": "`accordance verify` says what does not hold",
        "ledger-missing": "`accordance plan import` and `accordance research record` make it",
        "ledger-too-old": "`accordance verify` does that",
        "misspelt-answer": "--text gives it as a text",
        "needs-choice": "--choose",
        "needs-confirmation": "--yes or --no",
        "no-earlier-copy": "--base COPY",
        "no-evidence": "`accordance task show` and `accordance task log` show what there is",
        "no-executor": "--executor NAME",
        "plan-archived": "`accordance plan archive --undo PLAN`",
        "no-plan": "`accordance plan import FILE` brings a plan",
        "no-model": "--model NAME",
        "product-unnamed": "--artifact",
        "task-unnamed": "--task",
        "tasks-wait": "--cascade, --excuse",
        "unfixed-base": "--base ID, or --baseline FILE with what `accordance baseline -o FILE` recorded",
        "unreadable-anchor": "`accordance anchor -o FILE` writes an anchor",
        "unsigned-anchor": "`accordance anchor --sign KEY` does that",
    }
)
"""By the code of an error."""

NOTHING: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ELSEWHERE": "`accordance task next`",
        "HELD": "`accordance inbox list`",
        "IN_REVIEW": "`accordance plan approve`, `accordance plan return`",
        "PAUSED": "`accordance plan resume`",
        "NO_PLAN": "`accordance plan import`",
        "OTHERS": "--any",
        "OWN_WORK": "--worker NAME",
        "STUCK": "`accordance dlq list`",
        "WAITING": "`accordance inbox list`",
    }
)
"""By the reason why there is nothing to take up."""


LISTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "plan": "`accordance plan list` shows them",
        "task": "`accordance task list` shows them",
        "question": "`accordance inbox list` shows them",
    }
)
"""By the kind of a name that is unknown and resembles no known name."""


def line_of(error: AccordanceError) -> str:
    """An error as the command line prints it."""
    if isinstance(error, NotFound) and error.what == "plan" and is_file(error.name):
        file = error.name
        way_out = f"import it with `accordance plan import {file}`, then name the plan by its id, or not at all"
        return f"{file} is a file, not a plan of this ledger; {way_out}"

    if type(error) is NotFound and not error.near:
        return _with(str(error), LISTS.get(error.what))
    return with_way_out(str(error), error.code)


def with_way_out(text: str, code: str) -> str:
    """A text about an error, with the options and commands for its code."""
    return _with(text, WAYS_OUT.get(code))


def why_nothing(reason: str, text: str) -> str:
    """Why there is nothing to take up, with the commands for that reason."""
    return _with(text, NOTHING.get(reason))


def _with(text: str, options: str | None) -> str:
    if not options:
        return text
    return f"{text} ({options})"
