"""opencode: Chat Completions, one event for each part, no output schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from accordance.contracts.jsonpath import JsonObject
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

_QUIET: Final = (
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
)


class Opencode:
    """How opencode is called, and what it says."""

    endpoint = "https://api.openai.com/v1"
    key_env = "OPENAI_API_KEY"
    requests: ClassVar[tuple[Request, ...]] = (
        Request("POST", "/chat/completions", asks_model=True),
        Request("GET", "/models"),
    )

    def is_same_model(self, model: str, asked: str) -> bool:
        """It asks for its model by the name it was given."""
        return asked == model

    def headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """A bearer's key."""
        return (("Authorization", f"Bearer {key}"),)

    def line(self, call: AgentCall) -> Line:
        """`opencode run`, with a configuration of its own and the prompt on standard input."""
        model = f"{SERVER}/{call.model}"
        config: JsonObject = {
            "autoupdate": False,
            "share": "disabled",
            "model": model,
            "small_model": model,
            "provider": {
                SERVER: {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": SERVER,
                    "options": {"baseURL": call.url, "apiKey": call.key},
                    "models": {
                        call.model: {
                            "name": call.model,
                            "tool_call": True,
                            "limit": {"context": 128_000, "output": 16_000},
                        }
                    },
                }
            },
            "permission": {
                "edit": "allow",
                "bash": "allow",
                "webfetch": "deny",
                "external_directory": "allow"
                if call.confined
                else "deny",  # what is not to be seen is not there
            },
        }
        if call.tool:
            config["mcp"] = {
                SERVER: {"type": "local", "command": list(call.tool), "enabled": True}
            }
        words = (
            "run",
            "--format",
            "json",
            "--dir",
            str(call.work),
            "-m",
            model,
            *call.arguments,
        )
        places = {"DATA": "d", "CONFIG": "c", "CACHE": "k", "STATE": "s"}
        return Line(
            (str(call.program), *words),
            {
                **{
                    f"XDG_{name}_HOME": str(call.state / short)
                    for name, short in places.items()
                },
                **dict.fromkeys(_QUIET, "1"),
                "OPENCODE_CONFIG": str(call.state / "opencode.json"),
            },
            {"opencode.json": compact(config)},
        )

    def read(self, events: Iterable[Event]) -> AgentReport:
        """Steps, texts and tools."""
        final, error, session, ended = "", "", None, False
        spending, tools = Spending(), []
        for event in events:
            kind, session = event.get("type"), text_at(event, "sessionID") or session
            if kind == "text":
                final = text_at(event, "part", "text")
            elif kind == "tool_use":
                tools.append(text_at(event, "part", "tool"))
            elif kind == "step_finish":
                ended = text_at(event, "part", "reason") == "stop"
                cached = count_at(event, "part", "tokens", "cache", "read")
                spending += Spending(
                    read=count_at(event, "part", "tokens", "input") + cached,
                    written=count_at(event, "part", "tokens", "output"),
                    cached=cached,
                    calls=1,
                )
            elif kind == "error":
                error = text_at(event, "error", "data", "message") or text_at(
                    event, "error", "name"
                )
        return AgentReport(
            final=final,
            ended=ended,
            error=error,
            session=session,
            spending=spending,
            tools=tuple(tools),
        )
