"""Tasks in the JSON of A2A 1.x, as its SDK reads and writes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final

from accordance.domain.client_tasks import ClientArtifact, ClientTask, Utterance

_ID_DIGITS: Final = 32
Json = dict[str, Any]


def task_json(
    task: ClientTask,
    *,
    history: int | None = None,
    with_artifacts: bool = True,
) -> Json:
    """Return a task. `history` is how many messages are wanted at most; None: all."""
    content: Json = {
        "id": task.name,
        "contextId": task.plan_id,
        "status": status_json(task),
        "metadata": _metadata(task),
    }
    if with_artifacts and task.artifacts:
        content["artifacts"] = [artifact_json(each) for each in task.artifacts]
    messages = _last(task.talk, history)
    if messages:
        content["history"] = [message_json(task, each) for each in messages]
    return content


def _last(talk: Sequence[Utterance], most: int | None) -> Sequence[Utterance]:
    if most is None:
        return talk
    return talk[-most:] if most > 0 else ()


def status_json(task: ClientTask) -> Json:
    """Return where a task stands."""
    content: Json = {"state": task.stage.value, "message": _status_message(task)}
    if task.at:
        content["timestamp"] = task.at
    return content


def _status_message(task: ClientTask) -> Json:
    return message_json(task, task.status)


def message_json(task: ClientTask, message: Utterance) -> Json:
    """Return a message about a task. The same words are the same message."""
    parts: list[Json] = [{"text": message.text}]
    if message.data is not None:
        parts.append({"data": dict(message.data), "mediaType": "application/json"})
    text = json.dumps([task.name, task.stage, message.is_ours, parts], sort_keys=True)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "messageId": digest[:_ID_DIGITS],
        "taskId": task.name,
        "contextId": task.plan_id,
        "role": "ROLE_AGENT" if message.is_ours else "ROLE_USER",
        "parts": parts,
    }


def artifact_json(artifact: ClientArtifact) -> Json:
    """Return something that came of a task."""
    part: Json = {"mediaType": artifact.media_type}
    if artifact.data is not None:
        part = {"data": dict(artifact.data), "mediaType": "application/json"}
    else:
        part["text"] = artifact.text or ""
    if artifact.title:
        part["filename"] = artifact.title
    content: Json = {
        "artifactId": artifact.name,
        "name": artifact.title or artifact.name,
        "description": artifact.about,
        "parts": [part],
    }
    if artifact.details:
        content["metadata"] = dict(artifact.details)
    return content


def status_update_json(task: ClientTask) -> Json:
    """Return the news of where a task stands, as it is streamed and pushed."""
    return {
        "statusUpdate": {
            "taskId": task.name,
            "contextId": task.plan_id,
            "status": status_json(task),
            "metadata": _metadata(task),
        }
    }


def artifact_update_json(task: ClientTask, artifact: ClientArtifact) -> Json:
    """Return the news of something that came of a task."""
    return {
        "artifactUpdate": {
            "taskId": task.name,
            "contextId": task.plan_id,
            "artifact": artifact_json(artifact),
            "lastChunk": True,
        }
    }


def _metadata(task: ClientTask) -> Json:
    content = dict(task.details)
    if task.refers_to is not None:
        content["refersTo"] = task.refers_to
    return content
