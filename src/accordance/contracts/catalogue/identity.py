"""The rule of identity: a message must be about the thing that was asked, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Violation, excerpt


def is_about_the_task(message: JsonObject, context: Context) -> Iterable[Violation]:
    """task_id equals the task that was asked, to the letter."""
    wanted, found = context.task_id, message.get("task_id")
    if wanted is None or found == wanted or not isinstance(found, str):
        return ()
    return (wrong_task(wanted, found),)


def wrong_task(wanted: str, found: str) -> Violation:
    """Another id than the one that was asked. Never mended: perhaps it is the answer to another question."""
    return Violation(
        "wrong_task",
        "$.task_id",
        f"{excerpt(wanted)}, the id that was given",
        excerpt(found),
    )
