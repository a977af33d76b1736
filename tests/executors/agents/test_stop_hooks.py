"""The stop hooks of the real codex, opencode and Claude Code, against a scripted model.

They are used where they are installed (`make agents`, or a folder in ACCORDANCE_AGENTS) and skipped by name elsewhere.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from accordance.executors.agents.finding import find_agent
from tests.acceptance.cli import path_with_accordance
from tests.acceptance.shop import Shop
from tests.fake_model_server import Json, Script, serving
from tests.limits import LIMIT

ROOT = Path(__file__).parent.parent.parent.parent
REFUSED = "accordance has judged the work, and it is not done"
FALSE_WORK: Json = {"run": "echo '# looks good' >> shop/prices.py"}
MENDING: Json = {"run": "sed -i 's/prices.1:./prices/' shop/prices.py"}
pytestmark = pytest.mark.xdist_group("agents")  # each of them wants a core for itself


@pytest.fixture(params=["codex", "opencode", "claude"])
def kind(request: pytest.FixtureRequest) -> str:
    """An agent that is installed."""
    if find_agent(request.param, None, ROOT) is None:
        pytest.skip(f"{request.param} is not installed; `make agents` installs it")
    return str(request.param)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A repository with a bug, and a task beside it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-home"))
    return Shop(tmp_path)


def claims_done_and_mends_when_sent_back(body: Json) -> Json:
    """What the model says: false work, `done`, and the mended work once it is refused."""
    conversation = json.dumps(body)
    if REFUSED not in conversation:
        return FALSE_WORK if "looks good" not in conversation else {"say": "All done!"}
    return MENDING if "sed -i" not in conversation else {"say": "Mended."}


def words_of(kind: str, program: Path, work: Path, url: str) -> list[str]:
    """The command line of an agent, as a person would have it work alone."""
    if kind == "claude":
        allowed = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash")
        return [str(program), "-p", "--model", "fake-model", *allowed, "--", "Do it."]
    if kind == "opencode":
        model = ("-m", "fake/fake-model")
        return [str(program), "run", "--format", "json", *model, "Do it."]

    provider = f'{{name="fake",base_url="{url}/v1",wire_api="responses",env_key="KEY"}}'
    settings = (
        "model_provider=fake",
        f"model_providers.fake={provider}",
        f'projects={{"{work}"={{trust_level="trusted"}}}}',
    )
    words = [str(program), "exec", "--json", "-m", "fake-model"]
    words += ["--dangerously-bypass-hook-trust", "-s", "workspace-write"]
    for setting in settings:
        words += ["-c", setting]
    return [*words, "Do it."]


def environment_of(home: Path, url: str) -> dict[str, str]:
    """An environment in which an agent finds its model, and nothing of the user's."""
    (home / "tmp").mkdir(parents=True)
    model: Json = {
        "name": "fake",
        "tool_call": True,
        "limit": {"context": 128_000, "output": 8_192},
    }
    opencode: Json = {
        "autoupdate": False,
        "share": "disabled",
        "model": "fake/fake-model",
        "small_model": "fake/fake-model",
        "provider": {
            "fake": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": f"{url}/v1", "apiKey": "x"},
                "models": {"fake-model": model},
            }
        },
        "permission": {"edit": "allow", "bash": "allow"},
    }
    (home / "opencode.json").write_text(json.dumps(opencode))
    (home / "codex").mkdir()
    return {
        "PATH": path_with_accordance(),
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"],
        "CODEX_HOME": str(home / "codex"),
        "KEY": "x",
        "OPENCODE_CONFIG": str(home / "opencode.json"),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "x",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def work(kind: str, shop: Shop, tmp_path: Path, says: Callable[[Json], Json]) -> str:
    """Let the agent work until it ends, and return what it printed."""
    found = find_agent(kind, None, ROOT)
    assert found is not None
    with serving(Script([FALSE_WORK, {"say": "done"}], asked=says)) as server:
        done = subprocess.run(
            words_of(kind, found.program, shop.work, server.url),
            cwd=shop.work,
            env=environment_of(tmp_path / "agent", server.url),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_a_false_done_is_refused_and_mended(
    kind: str, shop: Shop, tmp_path: Path
) -> None:
    """The agent claims to be done, gets the reasons, mends the work, and is DONE."""
    shop.put_in(kind)

    printed = work(kind, shop, tmp_path, claims_done_and_mends_when_sent_back)

    assert "Mended." in printed
    assert shop.outcomes() == ["RETRY", "DONE"]
    assert "prices[1:]" not in shop.read("shop/prices.py")


def test_an_honest_done_is_believed_at_once(
    kind: str, shop: Shop, tmp_path: Path
) -> None:
    """The honest twin: judged once, and never sent back."""

    def mends(body: Json) -> Json:
        mended = "sed -i" in json.dumps(body)
        return {"say": "All done!"} if mended else MENDING

    shop.put_in(kind)

    printed = work(kind, shop, tmp_path, mends)

    assert "All done!" in printed
    assert shop.outcomes() == ["DONE"]
