"""A task as it changes, for a client that follows it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from dataclasses import replace
from typing import Any, Final, TypeAlias

from a2a.types.a2a_pb2 import (
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
)
from starlette.concurrency import run_in_threadpool

from accordance.a2a.refusals import translated
from accordance.a2a.wire import filled
from accordance.domain.client_tasks import ClientTask
from accordance.rendering.a2a import (
    artifact_update_json,
    status_update_json,
    task_json,
)
from accordance.service.client_tasks import (
    client_task,
    events_filter,
    is_root,
    seen_task,
)
from accordance.service.hosting import Host

Update: TypeAlias = TaskStatusUpdateEvent | TaskArtifactUpdateEvent
_LOOK_SECONDS: Final = 15.0


async def look(host: Host, name: str, known: Collection[str] | None = ()) -> ClientTask:
    """Return a task as it is now, without the artifacts that are known."""
    with translated():
        return await run_in_threadpool(_look, host, name, known)


def _look(host: Host, name: str, known: Collection[str] | None) -> ClientTask:
    return client_task(host.project, name, host.identity.name, known=known)


async def views(host: Host, name: str) -> AsyncGenerator[ClientTask]:
    """Yield a task as it is, and then whenever it has changed, until its end.

    Every artifact is in a single view: the first after it came to be.
    """
    with translated():
        text = await run_in_threadpool(_filter_of, host, name)
    known: set[str] = set()
    last = None
    while True:
        async with host.follow(text) as follower:
            while not follower.is_too_slow:
                view = await look(host, name, known)
                known.update(artifact.name for artifact in view.artifacts)
                if last is None or view.artifacts or _differ(last, view):
                    yield view
                last = view
                if view.has_ended or follower.has_ended:
                    return
                await follower.take(_LOOK_SECONDS)


def _filter_of(host: Host, name: str) -> str:
    task = seen_task(host.project, host.identity, name).task
    return events_filter(task, is_root=is_root(host.project, task))


def _differ(before: ClientTask, after: ClientTask) -> bool:
    return _without_time(before) != _without_time(after)


def _without_time(view: ClientTask) -> ClientTask:
    return replace(view, at="", artifacts=())


def updates(view: ClientTask, before: ClientTask | None = None) -> list[Task | Update]:
    """Return a view as events of a stream: whole at first, then what is new."""
    if before is None:
        return [as_task(view)]
    events: list[Task | Update] = []
    for artifact in view.artifacts:
        events.append(_parsed(artifact_update_json(view, artifact)).artifact_update)
    if _differ(before, view):
        events.append(_parsed(status_update_json(view)).status_update)
    return events


def _parsed(content: dict[str, Any]) -> StreamResponse:
    return filled(StreamResponse(), content)


def as_task(
    view: ClientTask,
    history: int | None = None,
    *,
    with_artifacts: bool = True,
) -> Task:
    """Return a view as a task of A2A."""
    content = task_json(view, history=history, with_artifacts=with_artifacts)
    return filled(Task(), content)
