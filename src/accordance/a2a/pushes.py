"""Push notifications, read from the protocol and shown in it."""

from __future__ import annotations

from a2a.types.a2a_pb2 import SendMessageRequest, TaskPushNotificationConfig
from a2a.utils.errors import InvalidParamsError

from accordance.service import task_pushes
from accordance.service.hosting import Host
from accordance.service.task_pushes import Push


def read(config: TaskPushNotificationConfig) -> Push:
    """Read what a client wants."""
    return Push(
        task=config.task_id,
        url=config.url,
        name=config.id,
        token=config.token,
        scheme=config.authentication.scheme,
        credentials=config.authentication.credentials,
    )


def wanted_with(request: SendMessageRequest) -> Push | None:
    """Return the push that comes along with a message, if any.

    Raises InvalidParamsError.
    """
    configuration = request.configuration
    if not configuration.HasField("task_push_notification_config"):
        return None
    push = read(configuration.task_push_notification_config)
    if not push.url:
        raise InvalidParamsError("taskPushNotificationConfig needs a url")
    return push


def try_out(host: Host, push: Push) -> None:
    """Refuse a push that could not be made."""
    task_pushes.must_be_fit(push, private=host.private_webhooks)


def shown(push: Push) -> TaskPushNotificationConfig:
    """Return a push as the protocol shows it."""
    config = TaskPushNotificationConfig(
        id=push.name,
        task_id=push.task,
        url=push.url,
    )
    if push.scheme:
        config.authentication.scheme = push.scheme
        config.authentication.credentials = push.credentials
    return config


def make(host: Host, push: Push) -> Push:
    """Begin a push."""
    return task_pushes.make_push(
        host.project, host.identity, push, private=host.private_webhooks
    )


def show(host: Host, task: str, name: str) -> Push:
    """Return a push."""
    return task_pushes.show_push(host.project, host.identity, task, name)


def list_all(host: Host, task: str) -> list[Push]:
    """Return every push of a client about a task."""
    return task_pushes.list_pushes(host.project, host.identity, task)


def remove(host: Host, task: str, name: str) -> None:
    """End a push."""
    task_pushes.remove_push(host.project, host.identity, task, name)
