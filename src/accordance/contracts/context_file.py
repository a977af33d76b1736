"""A context written as JSON, for the command line.

It is a message like any other, so it has a contract.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from accordance.contracts.catalogue.task import TASK, TaskInput, TaskPins, context_of
from accordance.contracts.checking import Checker
from accordance.contracts.context import (
    APPROVE_AT,
    EXECUTORS,
    NO_CONTEXT,
    ROLES,
    Context,
)
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Closed, NotNull, Text
from accordance.contracts.pins import Pins
from accordance.contracts.registry import Registry
from accordance.contracts.violation import Rejected
from accordance.errors import InvalidContext, InvalidPattern


class ContextFile(Closed):
    """Everything a context may contain.

    `task` is a whole task input, from which the id, pins and tests are taken.
    """

    task_id: Annotated[Text | None, NotNull] = None
    plan_id: Annotated[Text | None, NotNull] = None
    threshold: Annotated[int, Field(ge=0, le=100)] = APPROVE_AT
    profile: Text = NO_CONTEXT.profile
    pins: Annotated[TaskPins | None, NotNull] = None
    allowed_tests: Annotated[list[str] | None, NotNull] = None
    roles: Annotated[list[str] | None, NotNull] = None
    executors: Annotated[list[str] | None, NotNull] = None
    task: Annotated[dict[str, Any] | None, NotNull] = None


_CONTEXT: Final = Contract(
    version="accordance.context.v1",
    name="context",
    model=ContextFile,
)
_checker: Final = Checker(Registry((_CONTEXT, TASK)))


def read_context(raw: bytes | str) -> Context:
    """A context from its JSON. Raises InvalidContext with the first fault."""
    result = _checker.check(raw, _CONTEXT)
    if isinstance(result, Rejected):
        raise InvalidContext(f"the context does not fit: {result.violations[0]}")

    written = result.value
    context = Context(
        task_id=written.task_id,
        plan_id=written.plan_id,
        threshold=written.threshold,
        profile=written.profile,
        pins=None if written.pins is None else _pins(written.pins),
        allowed_tests=tuple(written.allowed_tests or ()),
        roles=_words_or_default(written.roles, ROLES),
        executors=_words_or_default(written.executors, EXECUTORS),
    )
    if written.task is None:
        return context
    return _with_task(context, written.task)


def _pins(written: TaskPins) -> Pins:
    try:
        return Pins.of(written.allowed_paths, written.forbidden_paths)
    except InvalidPattern as error:
        raise InvalidContext(f"the context does not fit: {error}") from None


def _words_or_default(
    words: list[str] | None, default: frozenset[str]
) -> frozenset[str]:
    return default if words is None else frozenset(words)


def _with_task(context: Context, task: dict[str, Any]) -> Context:
    """The context with the id, pins and tests of a task."""
    names = Context(roles=context.roles, executors=context.executors)
    result = _checker.check_value(task, TASK, names)
    if isinstance(result, Rejected):
        raise InvalidContext(f"the context's task does not fit: {result.violations[0]}")
    task_input: TaskInput = result.value
    return context_of(task_input, context)
