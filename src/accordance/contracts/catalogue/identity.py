"""The rule of identity: a message must be about the thing that was asked, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Fix, Violation, excerpt


def is_about_the_task(message: JsonObject, context: Context) -> Iterable[Violation]:
    """task_id equals the task that was asked, to the letter."""
    wanted, found = context.task_id, message.get("task_id")
    if wanted is None or found == wanted or not isinstance(found, str):
        return ()
    return (Violation("wrong_task", "$.task_id", excerpt(wanted), excerpt(found), Fix("$.task_id", wanted)),)
