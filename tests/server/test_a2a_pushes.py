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

from accordance.service import task_pushes
from accordance.service.project import Project
from tests.server.a2a_client import DOOR, saying, talking, task_after, told
from tests.server.stage import Served, serving
from tests.server.test_a2a import WORK, now
from tests.server.test_webhooks import ALLOWED, Receiver


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
    """The target knows the caller by the header that the client has chosen."""
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
        receiver.listening() as url,
        serving(project, settings=ALLOWED, mounts=DOOR) as served,
    ):
        now(talk(served, url))


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


def test_a_push_of_a_deleted_plan_ends(project: Project) -> None:
    """And what has not changed is not told."""
    assert task_pushes.collect(project) == 0
