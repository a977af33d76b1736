"""The tools for agents: their texts and what they take, over stdio and over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

from accordance.contracts.jsonpath import JsonObject
from accordance.executors.tool_server import ToolOffer
from accordance.mcp.arguments import must_fit

INSTRUCTIONS: Final = (
    "Ask for a task with next_task, do it, and hand in its message with submit. A task "
    "that changes a repository comes with a clone in the folder workspace, on the "
    "machine that serves these tools: make your changes there, within the task's pins, "
    "or hand them in as a patch against the task's base; they are judged when you "
    "submit. The reply to submit is the verdict; get_verdict repeats it, and "
    "read_evidence shows what it rests on. Try a message with check first: that counts "
    "for nothing. Call progress from time to time while you work: a task that is not "
    "handed in in time goes to another worker. Ask a person with ask_human what only a "
    "person can answer, and give a task that you cannot do back with release."
)

_TASK: Final[JsonObject] = {
    "type": "string",
    "description": "The task. Default: the one you have.",
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
_PATCH: Final[JsonObject] = {
    "type": "string",
    "description": (
        "Of a change that you made elsewhere: the output of `git diff --binary`, "
        "against the state that the clone has now."
    ),
}
_QUESTION: Final[JsonObject] = {
    "type": "string",
    "description": (
        "What you need to know, "
        "in words that a person who sees nothing else can answer."
    ),
}
_CONTRACT: Final[JsonObject] = {
    "type": "string",
    "description": "A contract by its name or version. Default: that of the task.",
}
_REPORT: Final[JsonObject] = {
    "type": "string",
    "description": "What you have done so far, in a line that people see.",
}
_FILE: Final[JsonObject] = {
    "type": "string",
    "description": "A file by its name in the listing. Default: list all files.",
}
_OFFSET: Final[JsonObject] = {
    "type": "integer",
    "description": "The byte at which to begin: `next` of the part before.",
}
_JUDGED_ATTEMPT: Final[JsonObject] = {
    "type": "integer",
    "description": "The attempt. Default: the last one that left something.",
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


TOOLS: Final[Mapping[str, _Tool]] = {
    "next_task": _Tool(
        "Take up the next task: its goal, contract and context. If you have a task that "
        "you did not hand in, for instance because the connection broke, you get it "
        "again.",
        _object(),
    ),
    "check": _Tool(
        "Check a message against the contract of your task, or against another, "
        "without handing it in: every violation, with a fix.",
        _object(
            ("message",),
            message=_MESSAGE,
            contract=_CONTRACT,
            task_id=_TASK,
        ),
    ),
    "submit": _Tool(
        "Hand in the message for a task and get the verdict.",
        _object(
            message=_MESSAGE,
            patch=_PATCH,
            task_id=_TASK,
            attempt=_ATTEMPT,
        ),
    ),
    "get_verdict": _Tool(
        "Show what was decided about a task, and its state.",
        _object(task_id=_TASK),
    ),
    "read_evidence": _Tool(
        "List the files that an attempt left when it was judged, or read one in parts: "
        "test output, reports, the change.",
        _object(
            task_id=_TASK,
            attempt=_JUDGED_ATTEMPT,
            file=_FILE,
            offset=_OFFSET,
        ),
    ),
    "ask_human": _Tool(
        "Ask a person. The task waits for the answer, which goes to the worker that "
        "takes it up then.",
        _object(("question",), question=_QUESTION, task_id=_TASK),
    ),
    "progress": _Tool(
        "Keep the task you have for longer, and say how far you are.",
        _object(report=_REPORT, task_id=_TASK),
    ),
    "release": _Tool(
        "Give the task you have back; it does not count as a failure.",
        _object(task_id=_TASK),
    ),
}

Call = Callable[[JsonObject], JsonObject]


def offers(calls: Mapping[str, Call]) -> tuple[ToolOffer, ...]:
    """Return the tools, each with the function that carries it out."""
    return tuple(
        ToolOffer(
            name, tool.about, tool.takes, partial(_call, name, tool.takes, calls[name])
        )
        for name, tool in TOOLS.items()
    )


def _call(
    name: str,
    takes: JsonObject,
    call: Call,
    arguments: JsonObject,
) -> JsonObject:
    """Call a tool, if its arguments are such as it takes. Raises BadArguments."""
    must_fit(name, takes, arguments)
    return call(arguments)
