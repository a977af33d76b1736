"""codex: the Responses API, JSON lines, an output schema, and a sandbox of its own for where there is none of ours."""

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
    Event,
    Line,
    compact,
    count_at,
    text_at,
)
from accordance.executors.agents.lending import Request

_KEY: Final = "ACCORDANCE_MODEL_KEY"


class Codex:
    """How codex is called, and what it says."""

    endpoint = "https://api.openai.com/v1"
    key_env = "OPENAI_API_KEY"
    requests: ClassVar[tuple[Request, ...]] = (
        Request("POST", "/responses", asks_model=True),
        Request("POST", "/responses/compact", asks_model=True),
        Request("GET", "/models"),
    )

    def is_same_model(self, model: str, asked: str) -> bool:
        """It asks for its model by the name it was given."""
        return asked == model

    def headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """A bearer's key."""
        return (("Authorization", f"Bearer {key}"),)

    def line(self, call: AgentCall) -> Line:
        """`codex exec`, with its state in the private folder and the prompt on standard input."""
        provider = {
            "name": SERVER,
            "base_url": call.url,
            "wire_api": "responses",
            "env_key": _KEY,
            "request_max_retries": 1,
            "stream_max_retries": 1,
        }
        settings = {
            "model_provider": SERVER,
            f"model_providers.{SERVER}": provider,
            "shell_environment_policy.exclude": [_KEY],
        }
        if call.tool:
            settings[f"mcp_servers.{SERVER}"] = {
                "command": call.tool[0],
                "args": list(call.tool[1:]),
                "required": True,  # else the first turn begins without the tool
                "startup_timeout_sec": 60,
                "tool_timeout_sec": 3600,
                "default_tools_approval_mode": "approve",
            }
        sandbox = "danger-full-access" if call.confined else "workspace-write"
        schema = call.state / "schema.json"
        words = [
            "exec",
            "--json",
            "--ephemeral",
            "--ignore-user-config",
            "--skip-git-repo-check",
        ]
        words += [
            "-C",
            str(call.work),
            "-s",
            sandbox,
            "-m",
            call.model,
            "--output-schema",
            str(schema),
        ]
        for name, value in settings.items():
            words += ["-c", f"{name}={_toml(value)}"]
        return Line(
            (str(call.program), *words, *call.arguments, "-"),
            {_KEY: call.key, "CODEX_HOME": str(call.state / "codex")},
            {
                "schema.json": compact(export_schema(call.contract, "openai").schema),
                "codex/.keep": "",
            },
        )

    def read(self, events: Iterable[Event]) -> AgentReport:
        """Items, turns and their usage."""
        final, error, session, ended = "", "", None, False
        spending, tools = Spending(), []
        for event in events:
            kind = event.get("type")
            if kind == "thread.started":
                session = text_at(event, "thread_id")
            elif (
                kind == "item.completed"
                and text_at(event, "item", "type") == "agent_message"
            ):
                final = text_at(event, "item", "text")
            elif kind == "item.completed":
                tools.append(
                    text_at(event, "item", "tool") or text_at(event, "item", "type")
                )
            elif kind == "turn.completed":
                ended = True
                spending += Spending(
                    read=count_at(event, "usage", "input_tokens"),
                    written=count_at(event, "usage", "output_tokens"),
                    cached=count_at(event, "usage", "cached_input_tokens"),
                    calls=1,
                )
            elif kind in ("turn.failed", "error"):
                error = text_at(event, "error", "message") or text_at(event, "message")
        return AgentReport(
            final=final,
            ended=ended,
            error=error,
            session=session,
            spending=spending,
            tools=tuple(tools),
        )


def _toml(value: object) -> str:
    """A value as TOML writes it in one line. Texts, numbers and lists are written as in JSON."""
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(f"{key}={_toml(inner)}" for key, inner in value.items())
            + "}"
        )
    return json.dumps(value)
