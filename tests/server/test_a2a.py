"""The official A2A client takes tasks to their end: as a client of plans, and as a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    ListTasksRequest,
    StreamResponse,
    SubscribeToTaskRequest,
)
from a2a.utils.errors import (
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from accordance.service.project import Project
from tests.messages import small_plan
from tests.prepared import PreparedSqlite
from tests.reviews import node_review
from tests.server.a2a_client import (
    DOOR,
    action_for,
    data_in,
    saying,
    state_of,
    states_in,
    talking,
    task_after,
    told,
    with_maker,
    word_of,
)
from tests.server.conftest import new_project
from tests.server.stage import LIMIT, Served, serving
from tests.server.test_runs import with_executor

WORK = {"skill": "work"}
EXTEND = {"skill": "extend"}
RELEASE = {"skill": "release"}


def now(talk: Coroutine[Any, Any, None]) -> None:
    """Let a talk happen, within a limit."""
    asyncio.run(asyncio.wait_for(talk, LIMIT))


def subscribed(client: Client, task: str) -> AsyncIterator[StreamResponse]:
    """Follow a task."""
    return client.subscribe(SubscribeToTaskRequest(id=task))


# -- a client of plans


def test_a_goal_in_words_comes_to_its_end(empty: Project) -> None:
    """The stream tells of work, the product and the verdicts, and ends with the plan."""
    with_maker(empty)

    async def talk(served: Served) -> None:
        async with talking(served, served.key("operator")) as client:
            request = saying("Write a haiku on autumn", options={"run": True})
            events = await told(client, request)
            task = events[0].task
            last = await client.get_task(GetTaskRequest(id=task.id))
            with pytest.raises(UnsupportedOperationError, match="has ended"):
                await told(client, saying("more", task=task.id))
            with pytest.raises(UnsupportedOperationError, match="get it instead"):
                await anext(subscribed(client, task.id))

        assert states_in(events)[-1] == "COMPLETED"
        made = [
            event.artifact_update.artifact.name
            for event in events
            if event.HasField("artifact_update")
        ]
        assert made == ["result.v1.md", "verdicts.json"]
        assert state_of(last) == "TASK_STATE_COMPLETED"
        assert [artifact.name for artifact in last.artifacts] == made
        assert last.artifacts[0].parts[0].text == "# Done"
        verdicts = data_in(last.artifacts[1].parts)["verdicts"]
        assert verdicts[-1]["outcome"] == "DONE"

    with serving(empty, mounts=DOOR) as served:
        now(talk(served))


def test_a_client_that_does_not_stream_waits(empty: Project) -> None:
    """Its task has ended when the answer comes; the same message is the same task."""
    with_maker(empty)

    async def talk(served: Served) -> None:
        key = served.key("operator")
        async with talking(served, key, streaming=False) as client:
            request = saying("Say hello", options={"run": True}, message_id="m-1")
            task = await task_after(client, request)
            again = await task_after(client, request)
        assert state_of(task) == state_of(again) == "TASK_STATE_COMPLETED"
        assert task.id == again.id

    with serving(empty, mounts=DOOR) as served:
        now(talk(served))


def test_a_question_is_input_required(empty: Project) -> None:
    """The client's next message answers it, and the plan comes to its end."""
    with_executor(empty)  # which cannot review

    async def talk(served: Served) -> None:
        async with talking(served, served.key("operator")) as client:
            request = saying("Say hello", options={"run": True})
            events = await told(client, request)
            assert states_in(events)[-1] == "INPUT_REQUIRED"
            asked = data_in(events[-1].status_update.status.message.parts)
            choices = [choice["answer"] for choice in asked["choices"]]
            assert "approve" in choices

            task = events[0].task.id
            misspelt = saying("aprove", task=task)
            with pytest.raises(InvalidParamsError, match="did you mean approve"):
                await told(client, misspelt)
            answered = await told(client, saying("approve", task=task))
            last = await client.get_task(GetTaskRequest(id=task))
        assert states_in(answered)[-1] == "COMPLETED"
        said = [message.parts[0].text for message in last.history]
        assert "reviews could not be read" in said[0]

    with serving(empty, mounts=DOOR) as served:
        now(talk(served))


def test_a_plan_that_is_sent_waits_for_its_approval(empty: Project) -> None:
    """Once it is approved it may begin; cancelled, it takes no more words."""

    async def talk(served: Served) -> None:
        async with talking(served, served.key("operator")) as client:
            plan = {"data": small_plan(), "mediaType": "application/json"}
            asked = await task_after(client, saying(plan))
            assert state_of(asked) == "TASK_STATE_INPUT_REQUIRED"

            async with talking(
                served, served.key("operator"), streaming=False
            ) as other:
                request = saying("approve", task=asked.id, returnImmediately=True)
                begun = await task_after(other, request)
            assert state_of(begun) == "TASK_STATE_SUBMITTED"

            followed = subscribed(client, asked.id)
            first = await anext(followed)
            assert state_of(first.task) == "TASK_STATE_SUBMITTED"
            cancelled = await client.cancel_task(CancelTaskRequest(id=asked.id))
            rest = [event async for event in followed]
            with pytest.raises(TaskNotCancelableError):
                await client.cancel_task(CancelTaskRequest(id=asked.id))
        assert state_of(cancelled) == "TASK_STATE_CANCELED"
        assert states_in(rest) == ["CANCELED"]

    with serving(empty, mounts=DOOR) as served:
        now(talk(served))


# -- a client that does tasks


def test_a_worker_takes_a_task_to_its_end(project: Project) -> None:
    """It learns what to do, hands in a bad message and learns why, then a good one."""

    async def talk(served: Served) -> None:
        async with talking(served, served.key("agent", name="ada")) as ada:
            task = await task_after(ada, saying("next", options=WORK))
            again = await task_after(ada, saying("next", options=WORK))
            assert (task.id, again.id) == ("a", "a")
            assert state_of(task) == "TASK_STATE_INPUT_REQUIRED"
            assignment = data_in(task.artifacts[0].parts)
            assert assignment["contract"]["schema_version"] == "xiaobo_action_v1"

            bad = await task_after(ada, saying("{}", task="a"))
            assert "rejected" in word_of(bad)
            assert data_in(bad.status.message.parts)["violations"]
            assert state_of(bad) != "TASK_STATE_FAILED"

            back = await task_after(ada, saying("again", task="a", options=WORK))
            assert state_of(back) == "TASK_STATE_INPUT_REQUIRED"
            done = await task_after(ada, saying(action_for("a"), task="a"))
            assert state_of(done) == "TASK_STATE_WORKING"
            with pytest.raises(UnsupportedOperationError, match="waits for no message"):
                await told(ada, saying(action_for("a"), task="a"))

        async with talking(served, served.key("operator", name="eve")) as eve:
            review = await task_after(eve, saying("next", options=WORK))
            message = {"data": node_review("a")}
            assert data_in(review.artifacts[0].parts)["kind"] == "review"
            judged = await task_after(eve, saying(message, task=review.id))
            assert "accepted" in word_of(judged)
            last = await eve.get_task(GetTaskRequest(id="a"))
        assert state_of(last) == "TASK_STATE_COMPLETED"

    with serving(project, mounts=DOOR) as served:
        now(talk(served))


def test_a_worker_asks_and_gives_back(project: Project) -> None:
    """Its question waits for a person; a task that is given back is nobody's."""

    async def talk(served: Served) -> None:
        async with talking(served, served.key("agent", name="ada")) as ada:
            await told(ada, saying("next", options=WORK))
            kept = await task_after(ada, saying("-", task="a", options=EXTEND))
            assert "yours until" in word_of(kept)
            back = await task_after(ada, saying("-", task="a", options=RELEASE))
            assert state_of(back) == "TASK_STATE_WORKING"
            await told(ada, saying("next", options=WORK))
            asking = saying("Which flour?", task="a", options={"skill": "ask"})
            asked = await task_after(ada, asking)
            assert state_of(asked) == "TASK_STATE_INPUT_REQUIRED"
            with pytest.raises(UnsupportedOperationError, match="right 'decide'"):
                await told(ada, saying("rye", task="a"))
            idle = await told(ada, saying("next", options=WORK))
            assert idle[0].HasField("message")

        async with talking(served, served.key("operator"), streaming=False) as eve:
            request = saying("rye", task="a", returnImmediately=True)
            answered = await task_after(eve, request)
            assert state_of(answered) != "TASK_STATE_INPUT_REQUIRED"

    with serving(project, mounts=DOOR) as served:
        now(talk(served))


def test_a_message_is_checked(project: Project) -> None:
    """The answer is a message, and no task: nothing is kept."""
    options = {"skill": "check", "contract": "xiaobo_action_v1"}

    async def talk(served: Served) -> None:
        async with talking(served, served.key("viewer")) as client:
            good = await told(client, saying(action_for("a"), options=options))
            bad = await told(client, saying("not even JSON", options=options))
            listed = await client.list_tasks(ListTasksRequest())
        assert data_in(good[0].message.parts)["accepted"] is True
        assert data_in(bad[0].message.parts)["accepted"] is False
        assert [task.id for task in listed.tasks] == ["root"]

    with serving(project, mounts=DOOR) as served:
        now(talk(served))


# -- who sees what


def test_the_card(project: Project) -> None:
    """Everybody may read it; with a key it shows what that key allows."""

    async def talk(served: Served) -> None:
        async with talking(served, served.key("agent")) as client:
            extended = await client.get_extended_agent_card(
                GetExtendedAgentCardRequest()
            )
        assert [skill.id for skill in extended.skills] == ["work", "check"]
        assert "xiaobo_action_v1" in extended.skills[1].description

    with serving(project, mounts=DOOR) as served:
        now(talk(served))
        with served.client() as stranger:
            card = stranger.get("/.well-known/agent-card.json").json()
            refused = stranger.post("/a2a", json={})
    assert card["capabilities"]["streaming"] is True
    assert card["supportedInterfaces"][0]["url"] == f"{served.url}/a2a"
    assert (
        card["securitySchemes"]["key"]["httpAuthSecurityScheme"]["scheme"] == "Bearer"
    )
    assert refused.status_code == 401


def test_tenants_are_kept_apart(
    project: Project, tmp_path: Path, prepared_sqlite: PreparedSqlite
) -> None:
    """A key of another project sees no task, lists none and changes none."""
    other = new_project(tmp_path / "other", prepared_sqlite)

    async def talk(served: Served) -> None:
        stranger = served.key("admin", "two")
        async with talking(served, stranger) as client:
            for ask in (
                client.get_task(GetTaskRequest(id="a")),
                client.cancel_task(CancelTaskRequest(id="a")),
                told(client, saying("approve", task="a")),
                anext(subscribed(client, "a")),
            ):
                with pytest.raises(TaskNotFoundError):
                    await ask
            listed = await client.list_tasks(ListTasksRequest())
            assert listed.total_size == 0
        bound = served.key("agent", tasks=("b",))
        async with talking(served, bound) as client:
            with pytest.raises(TaskNotFoundError):
                await client.get_task(GetTaskRequest(id="a"))

    with serving(project, other, mounts=DOOR) as served:
        now(talk(served))
    other.ledger.close()


def test_tasks_are_listed(project: Project) -> None:
    """A task for each plan, or all of a plan; by state, in pages."""

    async def talk(served: Served) -> None:
        async with talking(served, served.key("viewer")) as client:
            plans = await client.list_tasks(ListTasksRequest())
            context = plans.tasks[0].context_id
            whole = await client.list_tasks(ListTasksRequest(context_id=context))
            walked = []
            token = ""
            while True:
                request = ListTasksRequest(
                    context_id=context, page_size=2, page_token=token
                )
                page = await client.list_tasks(request)
                walked += [task.id for task in page.tasks]
                token = page.next_page_token
                if not token:
                    break
            done = await client.list_tasks(
                ListTasksRequest(context_id=context, status="TASK_STATE_COMPLETED")
            )
            nothing = await client.list_tasks(ListTasksRequest(context_id="none"))
            with pytest.raises(InvalidParamsError, match="pageSize"):
                await client.list_tasks(ListTasksRequest(page_size=1000))
        assert [task.id for task in plans.tasks] == ["root"]
        assert walked == [task.id for task in whole.tasks]
        assert (whole.total_size, len(done.tasks), len(nothing.tasks)) == (3, 0, 0)

    with serving(project, mounts=DOOR) as served:
        now(talk(served))
