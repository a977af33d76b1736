"""Claude Code: the Messages API, a stream of JSON messages, a typed answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.schemas import export_schema
from accordance.domain.spending import Spending
from accordance.executors.agents.command_line import (
    SERVER,
    SUBMIT,
    AgentCall,
    AgentReport,
    Event,
    Line,
    at,
    compact,
    count_at,
    text_at,
)
from accordance.executors.agents.lending import Request

_TOOLS: Final = ("Bash", "Edit", "Read", "Write")
_ENVIRONMENT: Final = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
}
_CONTEXT: Final = re.compile(r"\[\w+\]$")
_DATED: Final = re.compile(r"-\d{8}")
_FAMILIES: Final = {
    "haiku": frozenset(("haiku",)),
    "opus": frozenset(("opus", "haiku")),
    "opusplan": frozenset(("opus", "sonnet", "haiku")),
    "sonnet": frozenset(("sonnet", "haiku")),
}
"""By the name of a family: Claude Code picks the newest of it, and the smallest family for small things beside."""
_BESIDE: Final = (
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "CLAUDE_CODE_SUBAGENT_MODEL",
)
"""Whom it asks beside its own model; a run may ask no other."""


class Claude:
    """How Claude Code is called, and what it says."""

    endpoint = "https://api.anthropic.com"
    key_env = "ANTHROPIC_API_KEY"
    requests: ClassVar[tuple[Request, ...]] = (
        Request("POST", "/v1/messages", asks_model=True),
        Request("POST", "/v1/messages/count_tokens"),
        Request("GET", "/v1/models"),
        Request("HEAD", ""),
        Request("HEAD", "/"),
    )

    def is_same_model(self, model: str, asked: str) -> bool:
        """It writes families out ("sonnet"), adds dates, and leaves out the size of the context ("[1m]")."""
        plain = _CONTEXT.sub("", model)
        families = _FAMILIES.get(plain)
        if families is not None:
            return not families.isdisjoint(asked.split("-"))
        return (
            asked in (model, plain)
            or _DATED.fullmatch(asked.removeprefix(plain)) is not None
        )

    def headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """A key of its own header."""
        return (("x-api-key", key),)

    def line(self, call: AgentCall) -> Line:
        """`claude -p`, bare, with the prompt on standard input."""
        beside = {} if call.model in _FAMILIES else dict.fromkeys(_BESIDE, call.model)
        allowed = [*_TOOLS, *((f"mcp__{SERVER}__{SUBMIT}",) if call.tool else ())]
        words = [
            "-p",
            "--bare",
            "--model",
            call.model,
            "--output-format",
            "stream-json",
            "--verbose",
        ]
        words += [
            "--permission-mode",
            "acceptEdits",
            "--allowedTools",
            " ".join(allowed),
        ]
        words += ["--no-session-persistence", "--strict-mcp-config"]
        words += [
            "--json-schema",
            compact(export_schema(call.contract, "anthropic").schema),
        ]
        if call.tool:
            server: JsonObject = {
                "type": "stdio",
                "command": call.tool[0],
                "args": list(call.tool[1:]),
            }
            words += ["--mcp-config", compact({"mcpServers": {SERVER: server}})]
        return Line(
            (str(call.program), *words, *call.arguments),
            {
                **_ENVIRONMENT,
                **beside,
                "ANTHROPIC_API_KEY": call.key,
                "ANTHROPIC_BASE_URL": call.url,
                "CLAUDE_CONFIG_DIR": str(call.state / ".claude"),
            },
        )

    def read(self, events: Iterable[Event]) -> AgentReport:
        """Messages and the result. The dollars it names are its own invention for endpoints it does not know."""
        tools: list[str] = []
        session, told = None, AgentReport()
        for event in events:
            session = text_at(event, "session_id") or session
            if event.get("type") == "assistant":
                blocks = at(event, "message", "content")
                tools += [
                    text_at(block, "name")
                    for block in (blocks if isinstance(blocks, list) else ())
                    if isinstance(block, Mapping) and block.get("type") == "tool_use"
                ]
            elif event.get("type") == "result":
                told = _result(event)
        return AgentReport(
            final=told.final,
            ended=told.ended,
            error=told.error,
            session=session,
            spending=told.spending,
            tools=tuple(tools),
        )


def _result(event: Event) -> AgentReport:
    typed, failed = event.get("structured_output"), event.get("is_error") is not False
    cached = count_at(event, "usage", "cache_read_input_tokens")
    written_to_cache = count_at(event, "usage", "cache_creation_input_tokens")
    return AgentReport(
        final=compact(typed) if isinstance(typed, dict) else text_at(event, "result"),
        ended=not failed,
        error=text_at(event, "result") if failed else "",
        spending=Spending(
            read=count_at(event, "usage", "input_tokens") + cached + written_to_cache,
            written=count_at(event, "usage", "output_tokens"),
            cached=cached,
            calls=max(1, count_at(event, "num_turns")),
        ),
    )
