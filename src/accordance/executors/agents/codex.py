"""codex: the Responses API, JSON lines, an output schema.

It has a sandbox of its own, which is used where ours is not available.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import ClassVar, Final

from accordance.contracts.schemas import export_schema
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

_KEY_VARIABLE: Final = "ACCORDANCE_MODEL_KEY"
_SCHEMA_FILE: Final = "schema.json"


class Codex:
    """The command line and the events of codex."""

    endpoint = "https://api.openai.com/v1"
    key_env = "OPENAI_API_KEY"
    requests: ClassVar[tuple[Request, ...]] = (
        Request("POST", "/responses", asks_model=True),
        Request("POST", "/responses/compact", asks_model=True),
        Request("GET", "/models"),
    )

    def is_same_model(self, model: str, requested: str) -> bool:
        """Whether the names are equal: codex requests the model as configured."""
        return requested == model

    def headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """Return the key as a bearer token."""
        return (("Authorization", f"Bearer {key}"),)

    def line(self, call: AgentCall) -> CommandLine:
        """Return `codex exec`, with its state in the private folder.

        The prompt comes on standard input.
        """
        sandbox = "danger-full-access" if call.confined else "workspace-write"
        words = [
            str(call.program),
            *("exec", "--json", "--ephemeral"),
            *("--ignore-user-config", "--skip-git-repo-check"),
            *("-C", str(call.work)),
            *("-s", sandbox),
            *("-m", call.model),
            *("--output-schema", str(call.state / _SCHEMA_FILE)),
        ]
        for name, value in _settings(call).items():
            words += ["-c", f"{name}={_toml(value)}"]
        words += [*call.arguments, "-"]

        schema = export_schema(call.contract, "openai").schema
        return CommandLine(
            tuple(words),
            {_KEY_VARIABLE: call.key, "CODEX_HOME": str(call.state / "codex")},
            {_SCHEMA_FILE: compact(schema), "codex/.keep": ""},
        )

    def read(self, events: Iterable[Event]) -> AgentReport:
        """Summarise the items, the turns and their usage."""
        final = ""
        error = ""
        session = None
        has_ended = False
        spending = Spending()
        tools = []

        for event in events:
            kind = event.get("type")
            item_kind = text_at(event, "item", "type")

            if kind == "thread.started":
                session = text_at(event, "thread_id")
            elif kind == "item.completed" and item_kind == "agent_message":
                final = text_at(event, "item", "text")
            elif kind == "item.completed":
                tools.append(text_at(event, "item", "tool") or item_kind)
            elif kind == "turn.completed":
                has_ended = True
                spending += _turn_spending(event)
            elif kind in ("turn.failed", "error"):
                error = text_at(event, "error", "message") or text_at(event, "message")

        return AgentReport(
            final=final,
            ended=has_ended,
            error=error,
            session=session,
            spending=spending,
            tools=tuple(tools),
        )


def _settings(call: AgentCall) -> dict[str, object]:
    """Return the settings that replace the user's own configuration."""
    provider = {
        "name": SERVER,
        "base_url": call.url,
        "wire_api": "responses",
        "env_key": _KEY_VARIABLE,
        "request_max_retries": 1,
        "stream_max_retries": 1,
    }
    settings: dict[str, object] = {
        "model_provider": SERVER,
        f"model_providers.{SERVER}": provider,
        "shell_environment_policy.exclude": [_KEY_VARIABLE],
        "web_search": "disabled",  # the provider would make it, outside every sandbox
    }

    if call.tool:
        program, *arguments = call.tool
        settings[f"mcp_servers.{SERVER}"] = {
            "command": program,
            "args": arguments,
            "required": True,  # otherwise the first turn begins without the tool
            "startup_timeout_sec": 60,
            "tool_timeout_sec": 3600,
            "default_tools_approval_mode": "approve",
        }
    return settings


def _turn_spending(event: Event) -> Spending:
    return Spending(
        read=count_at(event, "usage", "input_tokens"),
        written=count_at(event, "usage", "output_tokens"),
        cached=count_at(event, "usage", "cached_input_tokens"),
        calls=1,
    )


def _toml(value: object) -> str:
    """Return a value as inline TOML.

    Texts, numbers and lists are written as in JSON.
    """
    if not isinstance(value, dict):
        return json.dumps(value)
    pairs = [f"{key}={_toml(inner)}" for key, inner in value.items()]
    return "{" + ",".join(pairs) + "}"
