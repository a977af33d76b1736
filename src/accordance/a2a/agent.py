"""accordance as an A2A agent: every method of the protocol, over the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Final, ParamSpec, TypeVar, cast

from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.request_handlers.request_handler import (
    RequestHandler,
    validate_request_params,
)
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import InvalidParamsError, UnsupportedOperationError
from starlette.concurrency import run_in_threadpool

from accordance.a2a import acts, pushes
from accordance.a2a.acts import ActOutcome
from accordance.a2a.cards import extended_card_at
from accordance.a2a.following import as_task, look, updates, views
from accordance.a2a.refusals import translated
from accordance.a2a.skills import Wish, wish_of
from accordance.a2a.wire import filled
from accordance.domain.access import Right
from accordance.domain.client_tasks import ClientTask, Utterance
from accordance.domain.paging import USUAL_ITEMS
from accordance.errors import Conflict
from accordance.service import plan_life, tasks
from accordance.service.client_task_lists import ClientTaskPage, list_client_tasks
from accordance.service.client_tasks import (
    client_task,
    is_root,
    seen_task,
)
from accordance.service.hosting import Host
from accordance.service.listing import ListQuery

BASE: Final = "accordance.base"
"""The key of the server's address in the state of a call."""
WAIT_SECONDS: Final = 60.0
"""How long a client that does not stream waits for its task to rest."""
_MOST_TASKS: Final = 100
P = ParamSpec("P")
T = TypeVar("T")


def host_of(context: ServerCallContext) -> Host:
    """Return the server that a call has come to."""
    return cast("Host", context.state["accordance.host"])


async def _acting(act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Carry something out in a thread; its errors become those of A2A."""

    def call() -> T:
        return act(*args, **kwargs)

    with translated():
        return await run_in_threadpool(call)


class Agent(RequestHandler):
    """Answers the calls of clients. Their tasks are those of the ledger."""

    def __init__(self, wait_seconds: float = WAIT_SECONDS) -> None:
        self.wait_seconds = wait_seconds

    # -- messages

    @validate_request_params
    async def on_message_send(
        self,
        params: SendMessageRequest,
        context: ServerCallContext,
    ) -> Task | Message:
        """Do what a message asks for, and wait until its task rests."""
        host = host_of(context)
        wish, outcome = await self._carried_out(host, params)
        if outcome.task is None:
            return _message(wish, outcome)
        view = _with_outcome(await look(host, outcome.task), outcome)
        configuration = params.configuration
        if outcome.goes_on and not view.rests and not configuration.return_immediately:
            view = await self._rested(host, view)
        return as_task(view, _history(configuration))

    @validate_request_params
    async def on_message_send_stream(
        self,
        params: SendMessageRequest,
        context: ServerCallContext,
    ) -> AsyncGenerator[Event]:
        """Do what a message asks for, and tell how its task goes until it rests.

        A client that has done something itself hears what came of that, and no more.
        """
        host = host_of(context)
        wish, outcome = await self._carried_out(host, params)
        if outcome.task is None:
            yield _message(wish, outcome)
            return
        before: ClientTask | None = None
        async with aclosing(views(host, outcome.task)) as followed:
            async for view in followed:
                shown = view if before is not None else _with_outcome(view, outcome)
                for event in updates(shown, before):
                    yield event
                before = view
                if view.rests or not outcome.goes_on:
                    return

    async def _carried_out(
        self,
        host: Host,
        params: SendMessageRequest,
    ) -> tuple[Wish, ActOutcome]:
        wish = wish_of(params)
        push = pushes.wanted_with(params)
        if push is not None:
            await _acting(pushes.try_out, host, push)  # before anything begins
        outcome = await _acting(acts.carry_out, host, wish)
        if push is not None and outcome.task is not None:
            await _acting(pushes.make, host, replace(push, task=outcome.task))
        return wish, outcome

    async def _rested(self, host: Host, view: ClientTask) -> ClientTask:
        """Return the task once it rests, or as it is after a while."""
        try:
            async with (
                asyncio.timeout(self.wait_seconds),
                aclosing(views(host, view.name)) as followed,
            ):
                async for later in followed:
                    if later.rests:
                        break
        except TimeoutError:
            pass
        return await look(host, view.name)

    # -- tasks

    @validate_request_params
    async def on_get_task(
        self,
        params: GetTaskRequest,
        context: ServerCallContext,
    ) -> Task | None:
        """Show a task."""
        host = host_of(context)
        seen = await _acting(seen_task, host.project, host.identity, params.id)
        return as_task(await look(host, seen.name), _history(params))

    @validate_request_params
    async def on_list_tasks(
        self,
        params: ListTasksRequest,
        context: ServerCallContext,
    ) -> ListTasksResponse:
        """List the tasks of a context; without a context, a task for each plan."""
        host = host_of(context)
        size = params.page_size if params.HasField("page_size") else USUAL_ITEMS
        if not 1 <= size <= _MOST_TASKS:
            raise InvalidParamsError(f"pageSize lies between 1 and {_MOST_TASKS}")
        query = ListQuery(
            cursor=params.page_token or None, limit=min(size, _MOST_TASKS)
        )
        page = await _acting(
            list_client_tasks,
            host.project,
            host.identity,
            query,
            params.context_id or None,
            with_artifacts=params.include_artifacts,
        )
        fitting = [view for view in page.tasks if _fits(view, params)]
        return _listed(page, fitting, params)

    @validate_request_params
    async def on_cancel_task(
        self,
        params: CancelTaskRequest,
        context: ServerCallContext,
    ) -> Task | None:
        """Cancel a task; the root of a plan cancels the plan."""
        host = host_of(context)
        with translated(cancelling=True):
            name = await run_in_threadpool(_cancel, host, params.id)
        return as_task(await look(host, name))

    @validate_request_params
    async def on_subscribe_to_task(
        self,
        params: SubscribeToTaskRequest,
        context: ServerCallContext,
    ) -> AsyncGenerator[Event]:
        """Tell how a task goes until its end."""
        host = host_of(context)
        seen = await _acting(seen_task, host.project, host.identity, params.id)
        before: ClientTask | None = None
        async with aclosing(views(host, seen.name)) as followed:
            async for view in followed:
                if before is None and view.has_ended:
                    raise UnsupportedOperationError(
                        f"task {view.name} has ended: get it instead"
                    )
                for event in updates(view, before):
                    yield event
                before = view

    # -- pushes

    @validate_request_params
    async def on_create_task_push_notification_config(
        self,
        params: TaskPushNotificationConfig,
        context: ServerCallContext,
    ) -> TaskPushNotificationConfig:
        """Tell a client of a task from now on."""
        made = await _acting(pushes.make, host_of(context), pushes.read(params))
        return pushes.shown(made)

    @validate_request_params
    async def on_get_task_push_notification_config(
        self,
        params: GetTaskPushNotificationConfigRequest,
        context: ServerCallContext,
    ) -> TaskPushNotificationConfig:
        """Show where a client hears of a task."""
        host = host_of(context)
        push = await _acting(pushes.show, host, params.task_id, params.id)
        return pushes.shown(push)

    @validate_request_params
    async def on_list_task_push_notification_configs(
        self,
        params: ListTaskPushNotificationConfigsRequest,
        context: ServerCallContext,
    ) -> ListTaskPushNotificationConfigsResponse:
        """List where a client hears of a task."""
        listed = await _acting(pushes.list_all, host_of(context), params.task_id)
        configs = [pushes.shown(push) for push in listed]
        return ListTaskPushNotificationConfigsResponse(configs=configs)

    @validate_request_params
    async def on_delete_task_push_notification_config(
        self,
        params: DeleteTaskPushNotificationConfigRequest,
        context: ServerCallContext,
    ) -> None:
        """Tell a client of a task no more."""
        await _acting(pushes.remove, host_of(context), params.task_id, params.id)

    # -- the card

    async def on_get_extended_agent_card(
        self,
        params: GetExtendedAgentCardRequest,
        context: ServerCallContext,
    ) -> AgentCard:
        """Show what the caller's key allows."""
        del params
        host = host_of(context)
        return extended_card_at(context.state[BASE], host.identity)


# -- replies


def _message(wish: Wish, outcome: ActOutcome) -> Message:
    """Return words that are about no task."""
    parts: list[dict[str, object]] = [{"text": outcome.text}]
    if outcome.data is not None:
        parts.append({"data": outcome.data, "mediaType": "application/json"})
    content = {
        "messageId": f"{wish.message_id}/reply",
        "role": "ROLE_AGENT",
        "parts": parts,
    }
    return filled(Message(), content)


def _with_outcome(view: ClientTask, outcome: ActOutcome) -> ClientTask:
    """Return a task with what its message came to in its status."""
    if not outcome.text or outcome.goes_on:
        return view
    status = Utterance(
        text=outcome.text,
        is_ours=True,
        data=outcome.data,
    )
    artifacts = view.artifacts
    if outcome.artifact is not None:
        artifacts = (outcome.artifact, *artifacts)
    return replace(view, status=status, artifacts=artifacts)


def _history(params: object) -> int | None:
    """Return how much of the talk is wanted; None: all."""
    holder = cast("GetTaskRequest", params)
    if not holder.HasField("history_length"):
        return None
    if holder.history_length < 0:
        raise InvalidParamsError("historyLength is not negative")
    return holder.history_length


# -- lists


def _fits(view: ClientTask, params: ListTasksRequest) -> bool:
    if params.status and TaskState.Name(params.status) != view.stage:
        return False
    if params.HasField("status_timestamp_after"):
        after: str = params.status_timestamp_after.ToJsonString()
        return view.at > after
    return True


def _listed(
    page: ClientTaskPage,
    views: list[ClientTask],
    params: ListTasksRequest,
) -> ListTasksResponse:
    history = _history(params)
    shown = [
        as_task(view, history, with_artifacts=params.include_artifacts)
        for view in views
    ]
    return ListTasksResponse(
        tasks=shown,
        next_page_token=page.next or "",
        page_size=len(shown),
        total_size=page.total,
    )


# -- cancelling


def _cancel(host: Host, name: str) -> str:
    """Cancel a task, or its whole plan. Raises NotAllowed, Conflict, UnfitPlanState."""
    identity = host.identity
    seen = seen_task(host.project, identity, name)
    plan_id = seen.task.plan_id
    view = client_task(host.project, seen.name, identity.name, known=None)
    if view.has_ended:
        raise Conflict(f"task {seen.name} has ended: {view.status.text}")
    if is_root(host.project, seen.task):
        identity.must(Right.PLAN)
        plan_life.cancel_plan(host.project, plan_id, by=identity.name)
    else:
        identity.must(Right.DECIDE)
        tasks.cancel(host.project, seen.task.task_id, by=identity.name)
    return seen.name
