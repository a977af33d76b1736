"""The texts and input schemas of the tools that `accordance mcp` offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from accordance.contracts.jsonpath import JsonObject
from accordance.executors.tool_server import ToolOffer

INSTRUCTIONS: Final = (
    "Ask for a task with next, do it, and hand in its message with submit. A task that "
    "changes a repository comes with a clone in the folder workspace: make your "
    "changes there, within the task's pins; they are judged when you submit. The reply "
    "to submit is the verdict; get_verdict repeats it. Call extend from time to time "
    "while you work: a task that is not handed in in time goes to another worker. Ask "
    "a person with ask_human what only a person can answer, and give a task that you "
    "cannot do back with release."
)

_TASK: Final[JsonObject] = {
    "type": "string",
    "description": "The task. Default: the one you took up last.",
}
_ATTEMPT: Final[JsonObject] = {
    "type": "integer",
    "description": "The attempt. Default: the one you have.",
}
_MESSAGE: Final[JsonObject] = {
    "type": "object",
    "description": (
        "The whole message, as the task's contract demands. "
        "A change may leave it in its clone as submit.json."
    ),
}
_QUESTION: Final[JsonObject] = {
    "type": "string",
    "description": (
        "What you need to know, "
        "in words that a person who sees nothing else can answer."
    ),
}


def _object(required: tuple[str, ...] = (), **properties: JsonObject) -> JsonObject:
    """Return the schema of a tool's input."""
    schema: JsonObject = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema


class _Tool(NamedTuple):
    about: str
    takes: JsonObject


_TOOLS: Final[Mapping[str, _Tool]] = {
    "next": _Tool(
        "Take up the next task: its goal, contract and context.",
        _object(),
    ),
    "submit": _Tool(
        "Hand in the message for a task and get the verdict.",
        _object(message=_MESSAGE, task_id=_TASK, attempt=_ATTEMPT),
    ),
    "get_verdict": _Tool(
        "Show what was decided about a task, and its state.",
        _object(task_id=_TASK),
    ),
    "ask_human": _Tool(
        "Ask a person. The task waits for the answer, which goes to the worker that "
        "takes it up then.",
        _object(("question",), question=_QUESTION, task_id=_TASK),
    ),
    "extend": _Tool(
        "Keep the task you have for longer.",
        _object(task_id=_TASK),
    ),
    "release": _Tool(
        "Give the task you have back; it does not count as a failure.",
        _object(task_id=_TASK),
    ),
}


def offers(
    calls: Mapping[str, Callable[[JsonObject], JsonObject]],
) -> tuple[ToolOffer, ...]:
    """Return the tools, each with the function that carries it out."""
    return tuple(
        ToolOffer(name, tool.about, tool.takes, calls[name])
        for name, tool in _TOOLS.items()
    )
