"""The official A2A client, talking to a server on loopback."""

from __future__ import annotations

import contextlib
import json
import secrets
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx
from a2a.client import Client, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import (
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from google.protobuf.json_format import MessageToDict

from accordance.a2a.wire import filled
from accordance.cli.doors import DOORS, open_doors
from accordance.service.project import Project
from tests.reviews import node_review
from tests.server.stage import LIMIT, Served

DOOR = open_doors(print, [door for door in DOORS if door.extra == "a2a"])
"""What `accordance serve` mounts for A2A."""


@contextlib.asynccontextmanager
async def talking(
    served: Served, key: str | None, *, streaming: bool = True
) -> AsyncIterator[Client]:
    """Let a client with a key read the card, and talk to the agent it names."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(
        headers=headers, timeout=LIMIT, trust_env=False
    ) as connection:
        config = ClientConfig(streaming=streaming, httpx_client=connection)
        client = await ClientFactory(config).create_from_url(served.url)
        async with client:
            yield client


def saying(
    *parts: str | dict[str, Any],
    task: str = "",
    plan: str = "",
    options: dict[str, Any] | None = None,
    message_id: str | None = None,
    **configuration: Any,
) -> SendMessageRequest:
    """Return a message: texts, and other parts as they are."""
    message = {
        "messageId": message_id or secrets.token_hex(8),
        "role": "ROLE_USER",
        "taskId": task,
        "contextId": plan,
        "parts": [{"text": part} if isinstance(part, str) else part for part in parts],
        "metadata": options or {},
    }
    content = {"message": message, "configuration": configuration}
    return filled(SendMessageRequest(), content)


async def told(client: Client, request: SendMessageRequest) -> list[StreamResponse]:
    """Send a message, and return everything that comes back."""
    return [event async for event in client.send_message(request)]


async def task_after(client: Client, request: SendMessageRequest) -> Task:
    """Send a message, and return the first task that comes back."""
    events = await told(client, request)
    assert events[0].HasField("task"), events
    return events[0].task


def states_in(events: list[StreamResponse]) -> list[str]:
    """Return the states that a stream has told, each once in a row."""
    states: list[str] = []
    for event in events:
        if event.HasField("task"):
            state = state_of(event.task)
        elif event.HasField("status_update"):
            state = TaskState.Name(event.status_update.status.state)
        else:
            continue
        if states[-1:] != [state]:
            states.append(state)
    return [state.removeprefix("TASK_STATE_") for state in states]


def state_of(task: Task) -> str:
    """Return the state of a task by its name."""
    name: str = TaskState.Name(task.status.state)
    return name


def word_of(task: Task) -> str:
    """Return what the status of a task says."""
    text: str = task.status.message.parts[0].text
    return text


def data_in(parts: Any) -> dict[str, Any]:
    """Return the data of the first part that has some."""
    for part in parts:
        if part.HasField("data"):
            content: dict[str, Any] = MessageToDict(part.data)
            return content
    raise AssertionError(parts)


MAKER = """\
import json, sys
given = json.load(sys.stdin)
task = given["task"]["task_id"]
answers = json.loads(open(sys.argv[1]).read())
answer = answers[given["contract"]["schema_version"]]
print(json.dumps({**answer, "task_id": given["contract"]["task_id"]}))
"""


def with_maker(project: Project) -> None:
    """Give the project an executor that does everything, and approves of everything."""
    script = project.home.root / "maker.py"
    script.write_text(MAKER)
    answers = {
        "xiaobo_action_v1": json.loads(action_for("any")),
        "xiaojing_review_v1": node_review("any"),
    }
    kept = project.home.root / "answers.json"
    kept.write_text(json.dumps(answers))
    command = [sys.executable, str(script), str(kept)]
    (project.home.root / "accordance.toml").write_text(
        "[review]\nown_work = true\n"
        "[executors.maker]\n"
        'kind = "command"\n'
        f"command = {json.dumps(command)}\n"
        "[[routes]]\n"
        'executor = "maker"\n'
    )


def action_for(task_id: str) -> str:
    """Return the message of a task that is done."""
    artifact = {"name": "result", "format": "md", "content": "# Done"}
    return json.dumps(
        {
            "schema_version": "xiaobo_action_v1",
            "task_id": task_id,
            "result_type": "ARTIFACT",
            "artifact": artifact,
        }
    )
