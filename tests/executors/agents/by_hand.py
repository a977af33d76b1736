"""The real agents as a person starts them: their own command lines, settings and hooks, against a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from accordance.executors.agents.finding import find_agent
from tests.acceptance.cli import path_with_accordance
from tests.fake_model_server import Json
from tests.limits import LIMIT

ROOT = Path(__file__).parent.parent.parent.parent
KINDS = ("codex", "opencode", "claude")
_SILENT = (
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_MAX_RETRIES",
    "DISABLE_AUTOUPDATER",
)


@dataclass(frozen=True)
class Door:
    """An MCP server over HTTP, and the key for it."""

    url: str
    key: str

    @property
    def headers(self) -> dict[str, str]:
        """What every request carries."""
        return {"Authorization": f"Bearer {self.key}"}


@dataclass(frozen=True)
class ByHand:
    """An agent that a person starts in a folder."""

    kind: str
    program: Path
    home: Path  # nothing of the user's is in it

    def work(self, folder: Path, model: str, door: Door | None = None) -> str:
        """Let the agent work until it ends, and return what it printed."""
        words = [str(self.program), *_WORDS[self.kind](folder, model, door), "Do it."]
        done = subprocess.run(
            words,
            cwd=folder,
            env=self._environment(model, door),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def _environment(self, model: str, door: Door | None) -> dict[str, str]:
        for folder in ("tmp", "codex"):
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        config = self.home / "opencode.json"
        config.write_text(json.dumps(_opencode(model, door)))
        own = {
            "PATH": path_with_accordance(),
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
            "CODEX_HOME": str(self.home / "codex"),
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "OPENCODE_CONFIG": str(config),
            "ANTHROPIC_BASE_URL": model,
            "ANTHROPIC_API_KEY": "x",
            # otherwise the first turn may begin before an MCP server has answered
            "MCP_CONNECTION_NONBLOCKING": "0",
            "MCP_CONNECT_TIMEOUT_MS": "60000",
            "MODEL_KEY": "x",
        }
        if "XDG_STATE_HOME" in os.environ:
            own["XDG_STATE_HOME"] = os.environ["XDG_STATE_HOME"]
        if door is not None:
            own["DOOR_KEY"] = door.key
        return {**own, **dict.fromkeys(_SILENT, "1")}


def installed(kind: str, home: Path) -> ByHand:
    """The agent, where it is installed; else the test is skipped by its name."""
    found = find_agent(kind, None, ROOT)
    if found is None:
        pytest.skip(f"{kind} is not installed; `make agents` installs it")
    return ByHand(kind, found.program, home)


def _codex(folder: Path, model: str, door: Door | None) -> list[str]:
    provider = f'{{name="fake",base_url="{model}/v1",wire_api="responses",env_key="MODEL_KEY"}}'
    settings = [
        "model_provider=fake",
        f"model_providers.fake={provider}",
        f'projects={{"{folder}"={{trust_level="trusted"}}}}',
    ]
    if door is not None:
        server = (
            f'{{url="{door.url}",bearer_token_env_var="DOOR_KEY",required=true,'
            'default_tools_approval_mode="approve"}'
        )
        settings.append(f"mcp_servers.accordance={server}")
    words = ["exec", "--json", "-m", "fake-model", "--skip-git-repo-check"]
    words += ["--dangerously-bypass-hook-trust", "-s", "workspace-write"]
    for setting in settings:
        words += ["-c", setting]
    return words


def _claude(_folder: Path, _model: str, door: Door | None) -> list[str]:
    words = ["-p", "--model", "fake-model", "--permission-mode", "acceptEdits"]
    if door is None:
        return [*words, "--allowedTools", "Bash", "--"]
    server = {"type": "http", "url": door.url, "headers": door.headers}
    servers = json.dumps({"mcpServers": {"accordance": server}})
    words += ["--strict-mcp-config", "--mcp-config", servers]
    return [*words, "--allowedTools", "Bash mcp__accordance", "--"]


def _opencode_words(_folder: Path, _model: str, _door: Door | None) -> list[str]:
    return ["run", "--format", "json", "-m", "fake/fake-model"]


_WORDS = {"codex": _codex, "claude": _claude, "opencode": _opencode_words}


def _opencode(model: str, door: Door | None) -> Json:
    limits: Json = {"context": 128_000, "output": 8_192}
    provider: Json = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model}/v1", "apiKey": "x"},
        "models": {"fake-model": {"name": "fake", "tool_call": True, "limit": limits}},
    }
    config: Json = {
        "autoupdate": False,
        "share": "disabled",
        "model": "fake/fake-model",
        "small_model": "fake/fake-model",
        "provider": {"fake": provider},
        "permission": {"edit": "allow", "bash": "allow"},
    }
    if door is not None:
        server: Json = {
            "type": "remote",
            "url": door.url,
            "headers": door.headers,
            "oauth": False,
            "enabled": True,
        }
        config["mcp"] = {"accordance": server}
    return config
