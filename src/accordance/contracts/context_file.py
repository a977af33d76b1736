"""A context written as JSON, for the command line. It is a message like any other, so it has a contract."""

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
    """Everything a context may say. `task` is a whole task input: its id, pins and tests are taken over."""

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
    version="accordance.context.v1", name="context", model=ContextFile
)
_checker: Final = Checker(Registry((_CONTEXT, TASK)))


def read_context(raw: bytes | str) -> Context:
    """A context from its JSON. Raises InvalidContext, with the first fault and the way out."""
    found = _checker.check(raw, _CONTEXT)
    if isinstance(found, Rejected):
        raise InvalidContext(f"the context does not fit: {found.violations[0]}")
    written = found.value
    try:
        pins = (
            Pins.of(written.pins.allowed_paths, written.pins.forbidden_paths)
            if written.pins
            else None
        )
    except InvalidPattern as error:
        raise InvalidContext(f"the context does not fit: {error}") from None
    context = Context(
        task_id=written.task_id,
        plan_id=written.plan_id,
        threshold=written.threshold,
        profile=written.profile,
        pins=pins,
        allowed_tests=tuple(written.allowed_tests or ()),
        roles=ROLES if written.roles is None else frozenset(written.roles),
        executors=EXECUTORS
        if written.executors is None
        else frozenset(written.executors),
    )
    return context if written.task is None else _with_task(context, written.task)


def _with_task(context: Context, task: dict[str, Any]) -> Context:
    found = _checker.check_value(
        task, TASK, Context(roles=context.roles, executors=context.executors)
    )
    if isinstance(found, Rejected):
        raise InvalidContext(f"the context's task does not fit: {found.violations[0]}")
    asked: TaskInput = found.value
    return context_of(asked, context)
