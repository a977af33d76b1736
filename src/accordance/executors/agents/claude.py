"""Claude Code: the Messages API, a stream of JSON messages, a typed answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.schemas import export_schema
from accordance.domain.spending import Spending
from accordance.executors.agents.command_line import (
    SERVER,
    SUBMIT,
    AgentCall,
    AgentReport,
    CommandLine,
    Event,
    at,
    compact,
    count_at,
    text_at,
)
from accordance.executors.agents.grants import Request

_TOOLS: Final = ("Bash", "Edit", "Read", "Write")
_ENVIRONMENT: Final = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
}
_CONTEXT_SUFFIX: Final = re.compile(r"\[\w+\]$")
_DATE_SUFFIX: Final = re.compile(r"-\d{8}")

_FAMILIES: Final = {
    "haiku": frozenset(("haiku",)),
    "opus": frozenset(("opus", "haiku")),
    "opusplan": frozenset(("opus", "sonnet", "haiku")),
    "sonnet": frozenset(("sonnet", "haiku")),
}
"""The families that may be requested, by the family that was configured.

Claude Code picks the newest model of a family, and uses the smallest family for side
tasks.
"""

_SIDE_MODELS: Final = (
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "CLAUDE_CODE_SUBAGENT_MODEL",
)
"""Variables that name the models for side tasks. A run may use its own model only."""


class Claude:
    """The command line and the events of Claude Code."""

    endpoint = "https://api.anthropic.com"
    key_env = "ANTHROPIC_API_KEY"
    requests: ClassVar[tuple[Request, ...]] = (
        Request("POST", "/v1/messages", asks_model=True),
        Request("POST", "/v1/messages/count_tokens"),
        Request("GET", "/v1/models"),
        Request("HEAD", ""),
        Request("HEAD", "/"),
    )

    def is_same_model(self, model: str, requested: str) -> bool:
        """Whether Claude Code derives a requested name from `model`.

        It expands families ("sonnet"), appends dates, and drops the size of the context
        window ("[1m]").
        """
        plain = _CONTEXT_SUFFIX.sub("", model)

        families = _FAMILIES.get(plain)
        if families is not None:
            parts = requested.split("-")
            return not families.isdisjoint(parts)

        if requested in (model, plain):
            return True
        suffix = requested.removeprefix(plain)
        return _DATE_SUFFIX.fullmatch(suffix) is not None

    def headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """Return the key in Anthropic's own header."""
        return (("x-api-key", key),)

    def line(self, call: AgentCall) -> CommandLine:
        """Return `claude -p`, bare, with the prompt on standard input."""
        words = [
            str(call.program),
            *("-p", "--bare"),
            *("--model", call.model),
            *("--output-format", "stream-json", "--verbose"),
            *("--permission-mode", "acceptEdits"),
            *("--allowedTools", " ".join(_allowed_tools(call))),
            *("--no-session-persistence", "--strict-mcp-config"),
            *("--json-schema", _answer_schema(call)),
        ]
        if call.tool:
            words += ["--mcp-config", _mcp_config(call)]
        words += call.arguments

        return CommandLine(tuple(words), _environment(call))

    def read(self, events: Iterable[Event]) -> AgentReport:
        """Summarise the messages and the result.

        The dollars it reports are ignored: it invents them for endpoints it does not
        know.
        """
        tools: list[str] = []
        session = None
        result: Event | None = None

        for event in events:
            session = text_at(event, "session_id") or session
            kind = event.get("type")
            if kind == "assistant":
                tools += _tools_used(event)
            elif kind == "result":
                result = event

        if result is None:
            return AgentReport(session=session, tools=tuple(tools))
        return _report(result, session, tools)


def _allowed_tools(call: AgentCall) -> list[str]:
    tools = list(_TOOLS)
    if call.tool:
        tools.append(f"mcp__{SERVER}__{SUBMIT}")
    return tools


def _answer_schema(call: AgentCall) -> str:
    exported = export_schema(call.contract, "anthropic")
    return compact(exported.schema)


def _mcp_config(call: AgentCall) -> str:
    program, *arguments = call.tool
    server: JsonObject = {
        "type": "stdio",
        "command": program,
        "args": arguments,
    }
    return compact({"mcpServers": {SERVER: server}})


def _environment(call: AgentCall) -> dict[str, str]:
    environment = dict(_ENVIRONMENT)
    if call.model not in _FAMILIES:
        environment.update(dict.fromkeys(_SIDE_MODELS, call.model))

    environment["ANTHROPIC_API_KEY"] = call.key
    environment["ANTHROPIC_BASE_URL"] = call.url
    environment["CLAUDE_CONFIG_DIR"] = str(call.state / ".claude")
    return environment


def _tools_used(event: Event) -> Iterator[str]:
    blocks = at(event, "message", "content")
    if not isinstance(blocks, list):
        return
    for block in blocks:
        if isinstance(block, Mapping) and block.get("type") == "tool_use":
            yield text_at(block, "name")


def _report(result: Event, session: str | None, tools: list[str]) -> AgentReport:
    text = text_at(result, "result")
    typed = result.get("structured_output")
    has_failed = result.get("is_error") is not False

    refused_tools = _tools_refused(result)
    for name in refused_tools:
        if name in tools:
            tools.remove(name)

    return AgentReport(
        final=compact(typed) if isinstance(typed, dict) else text,
        ended=not has_failed,
        error=text if has_failed else "",
        session=session,
        spending=_spending(result),
        tools=tuple(tools),
        refused_tools=refused_tools,
    )


def _tools_refused(result: Event) -> tuple[str, ...]:
    denials = result.get("permission_denials")
    if not isinstance(denials, list):
        return ()
    return tuple(text_at(denial, "tool_name") for denial in denials)


def _spending(result: Event) -> Spending:
    """Return the tokens of a run; input tokens are reported in three parts."""
    plain = count_at(result, "usage", "input_tokens")
    from_cache = count_at(result, "usage", "cache_read_input_tokens")
    into_cache = count_at(result, "usage", "cache_creation_input_tokens")
    turns = count_at(result, "num_turns")

    return Spending(
        read=plain + from_cache + into_cache,
        written=count_at(result, "usage", "output_tokens"),
        cached=from_cache,
        calls=max(1, turns),
    )
