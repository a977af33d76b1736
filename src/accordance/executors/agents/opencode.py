"""opencode: Chat Completions, an event for each part, no output schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.spending import Spending
from accordance.executors.agents.command_line import (
    SERVER,
    AgentCall,
    AgentReport,
    CommandLine,
    Event,
    compact,
    count_at,
    text_at,
)
from accordance.executors.agents.grants import Request

_CONFIG_FILE: Final = "opencode.json"
_DISABLED: Final = (
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
)
_HOMES: Final = {
    "XDG_DATA_HOME": "d",
    "XDG_CONFIG_HOME": "c",
    "XDG_CACHE_HOME": "k",
    "XDG_STATE_HOME": "s",
}
"""Folders below the state folder. Their names are short because paths add up."""


class Opencode:
    """The command line and the events of opencode."""

    endpoint = "https://api.openai.com/v1"
    key_env = "OPENAI_API_KEY"
    requests: ClassVar[tuple[Request, ...]] = (
        Request("POST", "/chat/completions", asks_model=True),
        Request("GET", "/models"),
    )

    def is_same_model(self, model: str, requested: str) -> bool:
        """Whether the names are equal: opencode requests the model as configured."""
        return requested == model

    def headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """Return the key as a bearer token."""
        return (("Authorization", f"Bearer {key}"),)

    def line(self, call: AgentCall) -> CommandLine:
        """Return `opencode run`, with a configuration of its own.

        The prompt comes on standard input.
        """
        words = (
            str(call.program),
            "run",
            *("--format", "json"),
            *("--dir", str(call.work)),
            *("-m", _model_name(call)),
            *call.arguments,
        )

        environment = dict.fromkeys(_DISABLED, "1")
        for variable, folder in _HOMES.items():
            environment[variable] = str(call.state / folder)
        environment["OPENCODE_CONFIG"] = str(call.state / _CONFIG_FILE)

        return CommandLine(words, environment, {_CONFIG_FILE: compact(_config(call))})

    def read(self, events: Iterable[Event]) -> AgentReport:
        """Summarise the steps, the texts and the tools."""
        final = ""
        error = ""
        session = None
        has_ended = False
        spending = Spending()
        tools: list[str] = []
        refused_tools: list[str] = []

        for event in events:
            session = text_at(event, "sessionID") or session
            kind = event.get("type")

            if kind == "text":
                final = text_at(event, "part", "text")
            elif kind == "tool_use":
                tool = text_at(event, "part", "tool")
                status = text_at(event, "part", "state", "status")
                calls = refused_tools if status == "error" else tools
                calls.append(tool)
            elif kind == "step_finish":
                has_ended = text_at(event, "part", "reason") == "stop"
                spending += _step_spending(event)
            elif kind == "error":
                error = _error_text(event)

        return AgentReport(
            final=final,
            ended=has_ended,
            error=error,
            session=session,
            spending=spending,
            tools=tuple(tools),
            refused_tools=tuple(refused_tools),
        )


def _model_name(call: AgentCall) -> str:
    return f"{SERVER}/{call.model}"


def _config(call: AgentCall) -> JsonObject:
    """Return the configuration that replaces the user's own."""
    model = _model_name(call)
    config: JsonObject = {
        "autoupdate": False,
        "share": "disabled",
        "model": model,
        "small_model": model,
        "provider": {SERVER: _provider(call)},
        "permission": _permissions(call),
    }
    if call.tool:
        server = {
            "type": "local",
            "command": list(call.tool),
            "enabled": True,
        }
        config["mcp"] = {SERVER: server}
    return config


def _provider(call: AgentCall) -> JsonObject:
    model: JsonObject = {
        "name": call.model,
        "tool_call": True,
        "limit": {"context": 128_000, "output": 16_000},
    }
    return {
        "npm": "@ai-sdk/openai-compatible",
        "name": SERVER,
        "options": {"baseURL": call.url, "apiKey": call.key},
        "models": {call.model: model},
    }


def _permissions(call: AgentCall) -> JsonObject:
    # Inside our sandbox there is nothing outside the clone worth denying.
    external_directory = "allow" if call.confined else "deny"
    return {
        "edit": "allow",
        "bash": "allow",
        "webfetch": "deny",
        "external_directory": external_directory,
    }


def _step_spending(event: Event) -> Spending:
    plain = count_at(event, "part", "tokens", "input")
    cached = count_at(event, "part", "tokens", "cache", "read")
    return Spending(
        read=plain + cached,
        written=count_at(event, "part", "tokens", "output"),
        cached=cached,
        calls=1,
    )


def _error_text(event: Event) -> str:
    message = text_at(event, "error", "data", "message")
    return message or text_at(event, "error", "name")
