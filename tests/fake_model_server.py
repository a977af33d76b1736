"""A scripted model on loopback: Chat Completions, Responses, Messages and Gemini, streaming and not, with every fault a real one has.

    with serving(Script([{"run": "ls"}, {"say": "done"}])) as server:
        server.url          # http://127.0.0.1:PORT
        server.requests     # what came, in order, keys masked

No state per conversation: the step that is played is the number of tool results in the request, or of answers given before
where no tools are offered; so retries and parallel sessions are deterministic. A step is one of

    {"say": TEXT}  {"json": OBJECT}  {"refuse": TEXT}          a last answer
    {"run": COMMAND}  {"write": {"path": P, "content": C}}     through whichever tool was offered for that
    {"tool": NAME, "args": {}}  {"mcp": NAME, "args": {}}      that tool; the one whose name ends in NAME

and may carry {"fault": {...}, "times": N}, with one of

    {"status": 429, "retry_after": 1, "code": "..."}   an HTTP error
    {"cut": true}                                      the stream breaks off half-way
    {"hang": SECONDS}                                  silence, then it goes on
    {"endless": TEXT}                                  its first words, and then this text for ever
    {"garbage": true}                                  something that is no answer at all

A request that offers no tools while the script needs some is a side request (a session's title): it gets fixed text.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, TypeAlias

Json: TypeAlias = dict[str, Any]
Events: TypeAlias = list[tuple[str | None, Json | str]]

SHELLS: Final = (
    "exec_command",
    "shell_command",
    "shell",
    "local_shell",
    "bash",
    "Bash",
)
WRITERS: Final = ("write", "Write", "write_file", "create_file")
NEEDS_TOOLS: Final = {"run", "write", "tool", "mcp"}
SIDE_TEXT: Final = "a title"
_IDS: Final = itertools.count(1)


@dataclass
class Script:
    """What the model says, and how it fails."""

    steps: list[Json]
    key: str | None = None  # the only key that is taken
    models: tuple[str, ...] = ()  # the only models that are known
    asked: Callable[[Json], Json] | None = (
        None  # the step for a request, where its number does not say which
    )
    read: int = 100
    written: int = 20
    cached: int = 40
    _faults: dict[int, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def needs_tools(self) -> bool:
        return any(NEEDS_TOOLS & step.keys() for step in self.steps)

    def at(self, number: int) -> tuple[int, Json]:
        number = min(number, len(self.steps) - 1)
        return number, self.steps[number]

    def take_fault(self, number: int) -> Json:
        step = self.steps[number]
        with self._lock:
            used = self._faults.get(number, 0)
            self._faults[number] = used + 1
        return step.get("fault", {}) if used < step.get("times", 1 << 30) else {}


@dataclass(frozen=True)
class Tool:
    """A tool the client offers."""

    name: str
    schema: Json
    kind: str = "function"


@dataclass(frozen=True)
class Turn:
    """What the model does now."""

    text: str = ""
    refusal: str = ""
    tool: Tool | None = None
    args: Json | str = field(default_factory=dict)
    finish: str = "stop"  # in Chat Completions' words, and only there

    @property
    def arguments(self) -> str:
        return self.args if isinstance(self.args, str) else json.dumps(self.args)


def turn_of(step: Json, tools: list[Tool], called: set[str]) -> Turn:
    """Bind an abstract step to the tools that were offered."""
    by_name = {tool.name: tool for tool in tools}
    if "json" in step:
        if (
            typed := by_name.get("StructuredOutput")
        ) is not None:  # a client that wants its answer through a tool
            return (
                Turn(text="done")
                if "StructuredOutput" in called
                else Turn(tool=typed, args=step["json"])
            )
        return Turn(text=json.dumps(step["json"], ensure_ascii=False))
    if "say" in step or "refuse" in step:
        return Turn(
            text=step.get("say", ""),
            refusal=step.get("refuse", ""),
            finish=step.get("finish", "stop"),
        )
    tool, args = _call(step, by_name)
    if tool is None:
        return Turn(text=f"no tool for {sorted(step)} among {sorted(by_name)}")
    return Turn(tool=tool, args=args)


def _call(step: Json, by_name: dict[str, Tool]) -> tuple[Tool | None, Json | str]:
    if "mcp" in step:
        ends = (f"_{step['mcp']}", f".{step['mcp']}")
        found = (
            tool
            for name, tool in by_name.items()
            if name == step["mcp"] or name.endswith(ends)
        )
        return next(found, None), step.get("args", {})
    if "tool" in step:
        return by_name.get(step["tool"]), step.get("args", {})
    if "write" in step:
        path, content = step["write"]["path"], step["write"]["content"]
        for name in WRITERS:
            if name in by_name:
                keys = by_name[name].schema.get("properties", {})
                key = next(
                    (key for key in ("filePath", "file_path") if key in keys), "path"
                )
                return by_name[name], {key: path, "content": content}
        step = {
            "run": f"mkdir -p \"$(dirname '{path}')\" && cat > '{path}' <<'EOF'\n{content}\nEOF"
        }
    shell = next((by_name[name] for name in SHELLS if name in by_name), None)
    return shell, _shell_args(shell, step["run"]) if shell else {}


def _shell_args(tool: Tool, command: str) -> Json:
    properties = tool.schema.get("properties", {})
    key = "cmd" if "cmd" in properties else "command"
    listed = properties.get(key, {}).get("type") == "array"
    args: Json = {key: ["bash", "-lc", command] if listed else command}
    for needed in tool.schema.get("required", []):
        args.setdefault(
            needed,
            "scripted" if properties.get(needed, {}).get("type") == "string" else 1,
        )
    return args


def tools_of(offered: list[Json] | None) -> list[Tool]:
    """The tools of a request, whatever the dialect."""
    found: list[Tool] = []
    for one in offered or []:
        if isinstance(one.get("function"), dict):
            found.append(
                Tool(one["function"]["name"], one["function"].get("parameters") or {})
            )
        elif one.get("type") == "namespace":
            found += [
                Tool(f"{one['name']}.{sub.name}", sub.schema, sub.kind)
                for sub in tools_of(one.get("tools"))
            ]
        elif one.get("type") == "custom":
            found.append(Tool(one["name"], {}, "custom"))
        else:
            schema = one.get("parameters") or one.get("input_schema") or {}
            found.append(Tool(one.get("name") or one.get("type", "?"), schema))
    return found


@dataclass(frozen=True)
class Dialect:
    """One way of asking a model."""

    answer: Callable[[Script, Json, Turn], tuple[Events, Json]]
    results: Callable[[Json], int]  # tool results in a request
    answers: Callable[[Json], int]  # answers given before
    schema: Callable[[Json], Json | None]


# Chat Completions


def chat(script: Script, body: Json, turn: Turn) -> tuple[Events, Json]:
    number = next(_IDS)
    usage = {
        "prompt_tokens": script.read,
        "completion_tokens": script.written,
        "total_tokens": script.read + script.written,
        "prompt_tokens_details": {"cached_tokens": script.cached},
    }
    reason = "tool_calls" if turn.tool else turn.finish
    message: Json = {
        "role": "assistant",
        "content": turn.text or None,
        "refusal": turn.refusal or None,
    }
    calls = []
    if turn.tool:
        function = {"name": turn.tool.name, "arguments": turn.arguments}
        calls = [
            {
                "index": 0,
                "id": f"call_{number}",
                "type": "function",
                "function": function,
            }
        ]
        message["tool_calls"] = calls
    base = {"id": f"chatcmpl-{number}", "created": 1, "model": body.get("model")}
    whole = {
        **base,
        "object": "chat.completion",
        "usage": usage,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
    }

    def chunk(delta: Json, finish: str | None = None) -> tuple[None, Json]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return None, {**base, "object": "chat.completion.chunk", "choices": [choice]}

    events: Events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": part}) for part in _halves(turn.text)]
    if turn.refusal:
        events.append(chunk({"refusal": turn.refusal}))
    if calls:
        events.append(chunk({"tool_calls": calls}))
    events.append(chunk({}, reason))
    events.append(
        (
            None,
            {**base, "object": "chat.completion.chunk", "choices": [], "usage": usage},
        )
    )
    return [*events, (None, "[DONE]")], whole


# Responses


def responses(script: Script, body: Json, turn: Turn) -> tuple[Events, Json]:
    number, items = next(_IDS), []
    if turn.text or turn.refusal:
        content = (
            {"type": "output_text", "text": turn.text, "annotations": []}
            if turn.text
            else {"type": "refusal", "refusal": turn.refusal}
        )
        items.append(
            {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "content": [content],
            }
        )
    if turn.tool and turn.tool.kind == "custom":
        about = {
            "call_id": f"call_{number}",
            "name": turn.tool.name,
            "input": turn.arguments,
        }
        items.append({"id": f"ctc_{number}", "type": "custom_tool_call", **about})
    elif turn.tool:
        space, _, short = turn.tool.name.rpartition(".")
        about = {
            "call_id": f"call_{number}",
            "name": short,
            "arguments": turn.arguments,
        }
        items.append(
            {
                "id": f"fc_{number}",
                "type": "function_call",
                **about,
                **({"namespace": space} if space else {}),
            }
        )
    items = [{**item, "status": "completed"} for item in items]
    usage = {
        "input_tokens": script.read,
        "input_tokens_details": {"cached_tokens": script.cached},
        "output_tokens": script.written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": script.read + script.written,
    }
    whole: Json = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": body.get("model"),
        "output": items,
        "usage": usage,
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
    sequence = itertools.count()

    def event(kind: str, **more: Any) -> tuple[str, Json]:
        return kind, {"type": kind, "sequence_number": next(sequence), **more}

    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: Events = [event("response.created", response=begun)]
    for at, item in enumerate(items):
        opened = {**item, "status": "in_progress"} | (
            {"content": []} if item["type"] == "message" else {}
        )
        events.append(event("response.output_item.added", output_index=at, item=opened))
        events += [event(kind, **more) for kind, more in _inside(item, at)]
        events.append(event("response.output_item.done", output_index=at, item=item))
    return [*events, event("response.completed", response=whole)], whole


def _inside(item: Json, at: int) -> Iterator[tuple[str, Json]]:
    where = {"item_id": item["id"], "output_index": at}
    if item["type"] == "function_call":
        yield (
            "response.function_call_arguments.delta",
            {**where, "delta": item["arguments"]},
        )
        yield (
            "response.function_call_arguments.done",
            {**where, "arguments": item["arguments"]},
        )
    if item["type"] != "message":
        return
    part, where = item["content"][0], {**where, "content_index": 0}
    kind, key = (
        ("output_text", "text")
        if part["type"] == "output_text"
        else ("refusal", "refusal")
    )
    yield "response.content_part.added", {**where, "part": {**part, key: ""}}
    for half in _halves(part[key]):
        yield f"response.{kind}.delta", {**where, "delta": half}
    yield f"response.{kind}.done", {**where, key: part[key]}
    yield "response.content_part.done", {**where, "part": part}


# Messages


def messages(script: Script, body: Json, turn: Turn) -> tuple[Events, Json]:
    number = next(_IDS)
    blocks: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
    if turn.tool:
        blocks.append(
            {
                "type": "tool_use",
                "id": f"toolu_{number}",
                "name": turn.tool.name,
                "input": turn.args,
            }
        )
    reason = "refusal" if turn.refusal else "tool_use" if turn.tool else "end_turn"
    usage = {
        "input_tokens": script.read - script.cached,
        "cache_read_input_tokens": script.cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": script.written,
    }
    about = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
    }
    whole = {
        **about,
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage,
    }
    begun = {
        **whole,
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": 1},
    }
    events: Events = [("message_start", {"type": "message_start", "message": begun})]
    for at, block in enumerate(blocks):
        is_text = block["type"] == "text"
        start = {"type": "text", "text": ""} if is_text else {**block, "input": {}}
        deltas: list[Json] = (
            [{"type": "text_delta", "text": half} for half in _halves(block["text"])]
            if is_text
            else [{"type": "input_json_delta", "partial_json": turn.arguments}]
        )
        opened = {"type": "content_block_start", "index": at, "content_block": start}
        events.append(("content_block_start", opened))
        for delta in deltas:
            events.append(
                (
                    "content_block_delta",
                    {"type": "content_block_delta", "index": at, "delta": delta},
                )
            )
        events.append(
            ("content_block_stop", {"type": "content_block_stop", "index": at})
        )
    ended = {"stop_reason": reason, "stop_sequence": None}
    last = {
        "type": "message_delta",
        "delta": ended,
        "usage": {"output_tokens": script.written},
    }
    return [
        *events,
        ("message_delta", last),
        ("message_stop", {"type": "message_stop"}),
    ], whole


# Gemini


def gemini(script: Script, body: Json, turn: Turn) -> tuple[Events, Json]:
    number = body.setdefault("number", next(_IDS))  # one for all parts of an answer
    usage = {
        "promptTokenCount": script.read,
        "candidatesTokenCount": script.written,
        "cachedContentTokenCount": script.cached,
        "totalTokenCount": script.read + script.written,
    }

    def part(text: str, finish: str | None = None) -> Json:
        content = {"role": "model", "parts": [{"text": text}] if text else []}
        ended = {"finishReason": finish} if finish else {}
        return {
            "candidates": [{"index": 0, "content": content, **ended}],
            "modelVersion": body.get("model"),
            "responseId": f"gemini-{number}",
            **({"usageMetadata": usage} if finish else {}),
        }

    finish = "SAFETY" if turn.refusal else "STOP"
    events: Events = [(None, part(half)) for half in _halves(turn.text)]
    return [*events, (None, part("", finish))], part(turn.text, finish)


def _halves(text: str) -> list[str]:
    half = len(text) // 2
    return [part for part in (text[:half], text[half:]) if part]


def _blocks(body: Json, kind: str) -> list[Json]:
    lists = (
        one["content"]
        for one in body.get("messages", [])
        if isinstance(one.get("content"), list)
    )
    return [block for blocks in lists for block in blocks if block.get("type") == kind]


def _items(body: Json) -> list[Json]:
    items = body.get("input")
    return items if isinstance(items, list) else []


def _said(body: Json, role: str) -> int:
    return sum(
        1 for one in body.get("messages", _items(body)) if one.get("role") == role
    )


def _is_model(one: Json) -> bool:
    return one.get("role") == "model"


DIALECTS: Final[dict[str, Dialect]] = {
    "GenerateContent": Dialect(
        gemini,
        lambda body: len(body.get("functionResponses", [])),
        lambda body: sum(map(_is_model, body.get("contents", []))),
        lambda body: (
            (body.get("generationConfig") or {}).get("responseJsonSchema")
            or (body.get("generationConfig") or {}).get("responseSchema")
        ),
    ),
    "/chat/completions": Dialect(
        chat,
        lambda body: _said(body, "tool"),
        lambda body: _said(body, "assistant"),
        lambda body: ((body.get("response_format") or {}).get("json_schema") or {}).get(
            "schema"
        ),
    ),
    "/responses": Dialect(
        responses,
        lambda body: sum(
            1
            for item in _items(body)
            if str(item.get("type", "")).endswith("_call_output")
        ),
        lambda body: _said(body, "assistant"),
        lambda body: ((body.get("text") or {}).get("format") or {}).get("schema"),
    ),
    "/messages": Dialect(
        messages,
        lambda body: len(_blocks(body, "tool_result")),
        lambda body: _said(body, "assistant"),
        lambda body: (
            (body.get("output_config") or {}).get("format")
            or body.get("output_format")
            or {}
        ).get("schema"),
    ),
}


@dataclass
class Server:
    """A running server."""

    url: str
    script: Script
    requests: list[Json] = field(default_factory=list)

    @property
    def asked(self) -> list[Json]:
        """The requests that were played a step, side requests and the like left out."""
        return [one for one in self.requests if one.get("step") is not None]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        if self.path.partition("?")[0].endswith("/models"):
            known = self.server.known.script.models or ("fake-model",)
            data = [
                {"id": name, "object": "model", "created": 0, "owned_by": "fake"}
                for name in known
            ]
            return self._reply(200, {"object": "list", "models": [], "data": data})
        return self._reply(404, _error("not_found", "no such path"))

    def do_POST(self) -> None:
        body, path, script = (
            self._body(),
            self.path.partition("?")[0],
            self.server.known.script,
        )
        if path.endswith("/count_tokens"):
            return self._reply(200, {"input_tokens": script.read})
        dialect = next(
            (found for end, found in DIALECTS.items() if path.endswith(end)), None
        )
        if dialect is None:
            return self._reply(404, _error("not_found", "no such path"))
        if dialect.answer is gemini:
            body |= {"model": path.rpartition("/")[2].partition(":")[0], "stream": True}
        tools = tools_of(body.get("tools"))
        for item in _items(body):
            tools += (
                tools_of(item.get("tools"))
                if item.get("type") == "additional_tools"
                else []
            )
        number, step = script.at(
            dialect.results(body) if script.needs_tools else dialect.answers(body)
        )
        side = script.needs_tools and not tools
        if script.asked is not None:
            step = script.asked(body)
        self._record(body, path, None if side else number, tools, dialect.schema(body))
        if refused := self._refused(script, body):
            return self._reply(*refused)
        fault = (
            {}
            if side
            else script.take_fault(number)
            if script.asked is None
            else step.get("fault", {})
        )
        if "status" in fault:
            headers = (
                {"retry-after": str(fault["retry_after"])}
                if "retry_after" in fault
                else {}
            )
            return self._reply(
                fault["status"],
                _error(fault.get("code", "scripted"), "a scripted fault"),
                headers,
            )
        if "garbage" in fault:
            return self._garbage()
        self.server.gone.wait(fault.get("hang", 0))
        called = {block["name"] for block in _blocks(body, "tool_use")}
        turn = Turn(text=SIDE_TEXT) if side else turn_of(step, tools, called)
        events, whole = dialect.answer(script, body, turn)
        if not body.get("stream"):
            return self._reply(200, whole)
        again = Turn(text=fault.get("endless", "") * 2)
        return self._stream(events, fault, dialect.answer(script, body, again)[0])

    def _refused(self, script: Script, body: Json) -> tuple[int, Json] | None:
        own = self.headers.get("x-api-key") or self.headers.get("x-goog-api-key")
        given = own or (self.headers.get("authorization") or "").removeprefix("Bearer ")
        if script.key is not None and given != script.key:
            return 401, _error(
                "authentication_error",
                f"this key is not taken: {given}",
                "invalid_api_key",
            )
        if script.models and body.get("model") not in script.models:
            return 404, _error("not_found_error", "no such model", "model_not_found")
        return None

    def _record(
        self,
        body: Json,
        path: str,
        step: int | None,
        tools: list[Tool],
        schema: Json | None,
    ) -> None:
        masked = {
            name.lower(): "***"
            if "key" in name.lower() or "auth" in name.lower()
            else value
            for name, value in self.headers.items()
        }
        self.server.known.requests.append(
            {
                "path": path,
                "step": step,
                "model": body.get("model"),
                "tools": [tool.name for tool in tools],
                "schema": schema,
                "headers": masked,
                "body": body,
            }
        )

    def _body(self) -> Json:
        if "chunked" in (self.headers.get("transfer-encoding") or ""):
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        read: Json = json.loads(data or b"{}")
        return read

    def _reply(
        self, status: int, value: Json, headers: dict[str, str] | None = None
    ) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, said in (headers or {}).items():
            self.send_header(name, said)
        self.end_headers()
        self.wfile.write(data)

    def _garbage(self) -> None:
        data = b"<html><body>It works!</body></html>\n\ndata: {not json\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Events, fault: Json, again: Events) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        if "cut" in fault:
            events = events[: _first_words(events) + 1]
        with contextlib.suppress(OSError):  # the client has gone
            for event in self._endless(events, again) if "endless" in fault else events:
                kind, data = event
                named = f"event: {kind}\n" if kind else ""
                said = data if isinstance(data, str) else json.dumps(data)
                self.wfile.write(f"{named}data: {said}\n\n".encode())
                self.wfile.flush()
            self.connection.shutdown(socket.SHUT_WR)

    def _endless(
        self, events: Events, again: Events
    ) -> Iterator[tuple[str | None, Json | str]]:
        yield from events[: _first_words(events) + 1]
        while not self.server.gone.wait(0.001):
            yield again[_first_words(again)]


def _first_words(events: Events) -> int:
    """Where the first text is in a stream; in the middle if there is none."""
    said = (
        at
        for at, (_, data) in enumerate(events)
        if isinstance(data, dict) and _delta_text(data)
    )
    return next(said, len(events) // 2)


def _delta_text(data: Json) -> bool:
    choices = data.get("choices") or [{}]
    delta = data.get("delta") or choices[0].get("delta") or {}
    spoken = (data.get("candidates") or [{}])[0].get("content", {}).get("parts")
    if spoken:
        return True
    return isinstance(delta, str) or bool(delta.get("content") or delta.get("text"))


def _error(kind: str, text: str, code: str | None = None) -> Json:
    return {
        "type": "error",
        "error": {"type": kind, "message": text, "code": code or kind},
    }


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    known: Server
    gone: threading.Event


@contextlib.contextmanager
def serving(script: Script) -> Iterator[Server]:
    """Serve the script on a free port of loopback."""
    http = _Http(("127.0.0.1", 0), _Handler)
    http.known = Server(f"http://127.0.0.1:{http.server_address[1]}", script)
    http.gone = threading.Event()
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield http.known
    finally:
        http.gone.set()
        http.shutdown()
        http.server_close()
        thread.join()
