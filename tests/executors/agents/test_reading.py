"""How each agent is called, and what its events say: no agent is run here."""

from __future__ import annotations

import json
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from accordance.api import registry
from accordance.domain.spending import Spending
from accordance.executors.agents.claude import Claude
from accordance.executors.agents.codex import Codex
from accordance.executors.agents.command_line import (
    AgentCall,
    AgentProgram,
    AgentReport,
    count_at,
    events_of,
)
from accordance.executors.agents.opencode import Opencode

AGENTS: dict[str, AgentProgram] = {
    "codex": Codex(),
    "opencode": Opencode(),
    "claude": Claude(),
}


def a_call(**changes: Any) -> AgentCall:
    """A call with everything in it."""
    said: dict[str, Any] = {
        "program": Path("/opt/agent"),
        "model": "m",
        "key": "pretended",
        "url": "http://127.0.0.1:4141/v1",
        "state": Path("/room/home"),
        "work": Path("/room/work"),
        "contract": registry.get("xiaobo_action_v1"),
        "tool": ("python3", "-c", "say \"it\"\n'now'", "/room"),
        "confined": True,
    }
    return AgentCall(**said | changes)


@pytest.mark.parametrize("name", AGENTS)
def test_no_command_line_holds_a_key_or_the_prompt(name: str) -> None:
    """The relay has the key; the prompt comes on standard input, where no list of processes shows it."""
    line = AGENTS[name].line(a_call())
    everything = json.dumps([line.words, dict(line.environment), dict(line.files)])
    assert "pretended" in everything
    assert "pretended" not in json.dumps(line.words)
    assert line.words[0] == "/opt/agent"
    assert AGENTS[name].headers("secret")[0][1].endswith("secret")
    assert "secret" not in everything


def test_codex_is_configured_in_toml() -> None:
    """Every -c is TOML that can be read, whatever is in it; our own sandbox replaces the one of codex."""
    words = Codex().line(a_call()).words
    settings: dict[str, Any] = {}
    for flag, value in pairwise(words):
        if flag == "-c":
            settings |= tomllib.loads(value)
    assert settings["mcp_servers"]["accordance"]["args"][1] == "say \"it\"\n'now'"
    assert settings["mcp_servers"]["accordance"]["required"] is True
    assert settings["web_search"] == "disabled"
    assert words[words.index("-s") + 1] == "danger-full-access"
    alone = Codex().line(a_call(confined=False, tool=())).words
    assert alone[alone.index("-s") + 1] == "workspace-write"
    assert not any("mcp_servers" in word for word in alone)


@pytest.mark.parametrize("name", ["opencode", "claude"])
def test_the_tool_is_offered_only_where_there_is_one(name: str) -> None:
    """Without a server, no word about it."""
    bare = AGENTS[name].line(a_call(tool=()))
    assert "mcp__" not in json.dumps(bare.words)
    assert '"mcp"' not in json.dumps(list(bare.files.values()))


CODEX = """
{"type":"thread.started","thread_id":"t"}
not json
[1]
DEEP
{"type":"item.completed","item":{"type":"error","message":"about metadata"}}
{"type":"item.completed","item":{"type":"command_execution","exit_code":0}}
{"type":"item.completed","item":{"type":"mcp_tool_call","tool":"submit"}}
{"type":"item.completed","item":{"type":"agent_message","text":"first"}}
{"type":"item.completed","item":{"type":"agent_message","text":"last"}}
{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3}}
"""
CODEX = CODEX.replace("DEEP", '{"x":' + "[" * 100_000)
OPENCODE = """
{"type":"text","sessionID":"s","part":{"text":"said"}}
{"type":"tool_use","sessionID":"s","part":{"tool":"bash"}}
{"type":"step_finish","sessionID":"s","part":{"reason":"tool-calls","tokens":{"input":5,"output":1,"cache":{"read":2}}}}
{"type":"step_finish","sessionID":"s","part":{"reason":"stop","tokens":{"input":5,"output":1,"cache":{"read":-2}}}}
"""
CLAUDE = """
{"type":"assistant","session_id":"c","message":{"content":[{"type":"tool_use","name":"Bash"},{"type":"text"},7]}}
{"type":"assistant","session_id":"c","message":{"content":"text"}}
{"type":"result","session_id":"c","is_error":false,"result":"done","structured_output":{"a":1},"num_turns":2,
"usage":{"input_tokens":5,"cache_read_input_tokens":2,"cache_creation_input_tokens":1,"output_tokens":3}}
""".replace(",\n", ",")
CLAUDE_REFUSED = """
{"type":"assistant","message":{"content":[{"type":"tool_use","name":"WebFetch"},{"type":"tool_use","name":"Bash"}]}}
{"type":"result","is_error":false,"result":"done","permission_denials":[{"tool_name":"WebFetch"},{"tool_name":"Write"}]}
"""


@pytest.mark.parametrize(
    ("name", "said", "told"),
    [
        (
            "codex",
            CODEX,
            AgentReport(
                final="last",
                ended=True,
                session="t",
                spending=Spending(read=10, written=3, cached=4, calls=1),
                tools=("error", "command_execution", "submit"),
            ),
        ),
        (
            "codex",
            '{"type":"turn.failed","error":{"message":"401"}}\n{"type":"error","message":"gone"}',
            AgentReport(error="gone"),
        ),
        (
            "opencode",
            OPENCODE,
            AgentReport(
                final="said",
                ended=True,
                session="s",
                spending=Spending(read=12, written=2, cached=2, calls=2),
                tools=("bash",),
            ),
        ),
        (
            "opencode",
            '{"type":"error","error":{"name":"APIError","data":{"message":"no"}}}',
            AgentReport(error="no"),
        ),
        (
            "opencode",
            '{"type":"error","error":{"name":"APIError"}}\n{"type":"step_start"}',
            AgentReport(error="APIError"),
        ),
        (
            "claude",
            CLAUDE,
            AgentReport(
                final='{"a":1}',
                ended=True,
                session="c",
                spending=Spending(read=8, written=3, cached=2, calls=2),
                tools=("Bash",),
            ),
        ),
        (
            "claude",
            '{"type":"result","is_error":true,"subtype":"success","result":"401"}',
            AgentReport(final="401", error="401", spending=Spending(calls=1)),
        ),
        pytest.param(
            "claude",
            CLAUDE_REFUSED,
            AgentReport(
                final="done",
                ended=True,
                spending=Spending(calls=1),
                tools=("Bash",),
                refused_tools=("WebFetch", "Write"),
            ),
            id="claude lists the calls that were refused",
        ),
        pytest.param(
            "opencode",
            '{"type":"tool_use","part":{"tool":"webfetch","state":{"status":"error"}}}',
            AgentReport(refused_tools=("webfetch",)),
            id="opencode marks a refused call as an error",
        ),
        ("claude", "", AgentReport()),
        ("codex", '{"type":"turn.started"}', AgentReport()),
    ],
)
def test_events_are_read_for_what_they_are_worth(
    name: str, said: str, told: AgentReport
) -> None:
    """What is no event is passed over; what is no count counts as nothing."""
    assert AGENTS[name].read(events_of(said.encode())) == told


@pytest.mark.parametrize(
    ("said", "counted"), [(7, 7), (-1, 0), (True, 0), (1.5, 0), ("9", 0), (10**30, 0)]
)
def test_what_an_agent_says_it_used(said: object, counted: int) -> None:
    """A number that could be one; no claim breaks the ledger."""
    assert count_at({"usage": {"tokens": said}}, "usage", "tokens") == counted
