"""The rule of identity: a message must be about the task that was asked for."""

from __future__ import annotations

from collections.abc import Iterable

from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Violation, excerpt


def is_about_the_task(message: JsonObject, context: Context) -> Iterable[Violation]:
    """task_id is exactly the id of the task that was asked for."""
    return wrong_task(context.task_id, message.get("task_id"))


def wrong_task(wanted: str | None, task_id: object) -> Iterable[Violation]:
    """Return the violation for an id that was not asked for.

    It has no fix: the message may be the answer to another question. An id that is no
    text is reported by the model.
    """
    if wanted is None or task_id == wanted:
        return ()
    if not isinstance(task_id, str):
        return ()
    violation = Violation(
        "wrong_task",
        path="$.task_id",
        expected=f"{excerpt(wanted)}, the id that was given",
        actual=excerpt(task_id),
    )
    return (violation,)
