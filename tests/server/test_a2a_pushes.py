"""Push notifications: the client hears where its task stands, signed, on loopback."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest
from a2a.types.a2a_pb2 import (
    AuthenticationInfo,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
    StreamResponse,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import InvalidParamsError
from google.protobuf.json_format import Parse

from accordance.domain.access import RIGHTS, Identity, Role
from accordance.service import plan_deleting, plan_life, task_pushes, webhooks
from accordance.service.project import Project
from accordance.service.task_pushes import Push
from accordance.service.webhooks import webhooks_of
from tests.messages import PLAN, small_plan
from tests.server.a2a_client import DOOR, saying, talking, task_after, told
from tests.server.stage import Served, serving
from tests.server.test_a2a import WORK, now
from tests.server.test_webhooks import ALLOWED, Receiver
from tests.service.conftest import brings
from tests.spans import recorded


def heard(receiver: Receiver) -> tuple[dict[str, str], bytes, StreamResponse]:
    """Return the next notification."""
    headers, body = receiver.got.get(timeout=30)
    return headers, body, Parse(body, StreamResponse())


def is_signed_with(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Whether a notification is signed as Standard Webhooks has it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return headers["webhook-signature"] == f"v1,{digest}"


def test_a_client_is_told_of_its_task(project: Project) -> None:
    """Of every state, with its token and a signature; the end is the last word."""
    receiver = Receiver()

    async def talk(served: Served, url: str) -> None:
        async with talking(served, served.key("operator")) as client:
            config = TaskPushNotificationConfig(task_id="root", url=url, token="t-1")
            made = await client.create_task_push_notification_config(config)
            secret = made.authentication.credentials
            assert made.authentication.scheme == "standard-webhooks"

            await told(client, saying("next", options=WORK))
            headers, body, news = heard(receiver)
            assert is_signed_with(secret, headers, body)
            assert headers["x-a2a-notification-token"] == "t-1"
            assert "authorization" not in headers
            assert news.status_update.task_id == "root"
            state = TaskState.Name(news.status_update.status.state)
            assert state == "TASK_STATE_WORKING"

            await client.cancel_task(CancelTaskRequest(id="root"))
            _, _, news = heard(receiver)
            state = TaskState.Name(news.status_update.status.state)
            assert state == "TASK_STATE_CANCELED"

    with (
        receiver.listening() as url,
        serving(project, settings=ALLOWED, mounts=DOOR) as served,
    ):
        now(talk(served, url))
    assert receiver.got.empty()


def test_a_push_comes_with_a_message(project: Project) -> None:
    """The target knows the caller by the header that the client has chosen.

    It was sent within the trace of the plan, as all notifications are.
    """
    receiver = Receiver()
    bearer: dict[str, Any] = {"scheme": "Bearer", "credentials": "secret"}

    async def talk(served: Served, url: str) -> None:
        push = {"url": url, "authentication": bearer}
        async with talking(served, served.key("operator")) as client:
            request = saying("next", options=WORK, taskPushNotificationConfig=push)
            await task_after(client, request)
            asking = saying("Which?", task="a", options={"skill": "ask"})
            await told(client, asking)
            headers, _, news = heard(receiver)
        assert headers["authorization"] == "Bearer secret"
        assert news.status_update.task_id == "a"
        assert "Which?" in news.status_update.status.message.parts[0].text

    with (
        recorded() as spans,
        receiver.listening() as url,
        serving(project, settings=ALLOWED, mounts=DOOR) as served,
    ):
        now(talk(served, url))
    sent = spans.named("accordance.webhook")
    assert sent
    assert all(span.parent is not None for span in sent)


def test_pushes_are_listed_and_deleted(project: Project) -> None:
    """Without their secrets, and for their own client only; a name is replaced."""

    async def talk(served: Served) -> None:
        async with talking(served, served.key("operator", name="ada")) as ada:
            for port in (1, 2):
                await ada.create_task_push_notification_config(
                    TaskPushNotificationConfig(
                        task_id="a",
                        id="mine",
                        url=f"http://127.0.0.1:{port}/",
                        authentication=AuthenticationInfo(
                            scheme="Bearer", credentials="secret"
                        ),
                    )
                )
            every = ListTaskPushNotificationConfigsRequest(task_id="a")
            named = GetTaskPushNotificationConfigRequest(task_id="a", id="mine")
            listed = (await ada.list_task_push_notification_configs(every)).configs
            (only,) = listed
            assert only == await ada.get_task_push_notification_config(named)
            assert only.url == "http://127.0.0.1:2/"
            assert (only.authentication.credentials, only.token) == ("", "")

            async with talking(served, served.key("operator", name="eve")) as eve:
                theirs = await eve.list_task_push_notification_configs(every)
                assert not theirs.configs
                with pytest.raises(InvalidParamsError, match="no push"):
                    await eve.get_task_push_notification_config(named)

            gone = DeleteTaskPushNotificationConfigRequest(task_id="a", id="mine")
            await ada.delete_task_push_notification_config(gone)
            left = await ada.list_task_push_notification_configs(every)
            assert not left.configs

    with serving(project, settings=ALLOWED, mounts=DOOR) as served:
        now(talk(served))
        with served.client(served.key("admin")) as client:
            assert client.get("/v1/webhooks").json() == {"items": []}
            kinds = json.dumps(client.get("/v1/webhooks").json())
    assert "a2a" not in kinds


ADA = Identity(name="ada", role=Role.OPERATOR, rights=RIGHTS[Role.OPERATOR])


def pushed(project: Project, task: str) -> None:
    """Let ada be told of a task; nothing listens there."""
    push = Push(task=task, url="http://127.0.0.1:9/", name="mine")
    task_pushes.make_push(project, ADA, push, private=True)


def delete(project: Project) -> None:
    """Delete the plan."""
    plan_life.cancel_plan(project, None, by="ann")
    plan_deleting.delete_plan(project, PLAN, by="ann")


def due(project: Project) -> list[str]:
    """Return the tasks of the notifications that would be sent now."""
    sent = webhooks.take_due(project, 100)
    return [each.webhook.push.task for each in sent if each.webhook.push is not None]


def test_what_has_not_changed_is_not_told(project: Project) -> None:
    """However often it is looked at; what has is told once, to the end."""
    pushed(project, "a")
    assert task_pushes.collect(project) == 0
    plan_life.cancel_plan(project, None, by="ann")
    assert task_pushes.collect(project) == 1
    assert task_pushes.collect(project) == 0
    assert due(project) == ["a"]


def test_a_push_of_a_deleted_plan_ends(project: Project) -> None:
    """There is nothing left to tell; a last word that was on its way still arrives."""
    pushed(project, "root")
    plan_life.cancel_plan(project, None, by="ann")
    assert task_pushes.collect(project) == 1
    plan_deleting.delete_plan(project, PLAN, by="ann")
    assert task_pushes.collect(project) == 0
    (last,) = webhooks.take_due(project, 100)
    webhooks.note_result(project, last.delivery, 204, None)
    assert task_pushes.collect(project) == 0
    assert webhooks_of(project).active() == []


def test_a_push_that_missed_the_end_of_its_plan_ends(project: Project) -> None:
    """The plan was cancelled and deleted before anything was looked at."""
    pushed(project, "a")
    delete(project)
    assert task_pushes.collect(project) == 0
    assert webhooks_of(project).active() == []
    assert due(project) == []


def test_a_push_does_not_follow_another_plan(project: Project) -> None:
    """Whose task has the same name: it was asked of the plan that is deleted."""
    pushed(project, "a")
    delete(project)
    other = json.dumps(small_plan()).replace(PLAN, f"{PLAN[:-1]}2")
    brings(project, json.loads(other))
    plan_life.cancel_plan(project, None, by="ann")
    assert task_pushes.collect(project) == 0
    assert webhooks_of(project).active() == []
