"""The real command lines of codex, opencode and Claude Code, against a scripted model.

They are used where they are installed (`make agents`, or a folder in ACCORDANCE_AGENTS) and skipped by name elsewhere.
"""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.faults import Fault
from accordance.domain.usage import Budget
from accordance.executors.agents.finding import find_agent
from accordance.executors.opinion import Opinion
from accordance.executors.protocol import RunLimits, RunOutcome
from accordance.workspace.probing import probe
from tests.executors.assignments import (
    BAD_ACTION,
    an_assignment,
    an_executor,
    stopped_when,
)
from tests.fake_model_server import Json, Script, Server, serving
from tests.messages import ACTION

ROOT = Path(__file__).parent.parent.parent.parent
KEY = "the-real-key"
LEVELS = tuple(
    one.level.value
    for one in probe().levels
    if one.works and one.level.value != "landlock"
)
pytestmark = pytest.mark.xdist_group("agents")  # each of them wants a core for itself


@pytest.fixture(params=["codex", "opencode", "claude"])
def kind(request: pytest.FixtureRequest) -> str:
    """An agent that is installed."""
    found = find_agent(request.param, None, ROOT)
    if found is None:
        pytest.skip(f"{request.param} is not installed; `make agents` installs it")
    return str(request.param)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A small repository."""
    work = tmp_path / "clone"
    work.mkdir()
    (work / "app.py").write_text("print('hello')\n")
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=work, check=True)
    return work


def run(
    kind: str,
    server: Server,
    tmp_path: Path,
    limits: RunLimits | None = None,
    **more: Any,
) -> RunOutcome:
    """Run the agent once against the scripted model."""
    url = server.url if kind == "claude" else f"{server.url}/v1"
    isolation = more.pop("isolation", "auto")
    executor = an_executor(
        ROOT,
        kind=kind,
        model="fake-model",
        base_url=url,
        key_env="AGENT_KEY",
        isolation=isolation,
    )
    return executor.run(
        an_assignment(tmp_path, work=tmp_path / "clone", **more),
        limits or RunLimits(seconds=300),
    )


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is in our environment, as a user's would be."""
    monkeypatch.setenv("AGENT_KEY", KEY)


@pytest.mark.parametrize("isolation", LEVELS)
def test_an_agent_works_is_told_retry_mends_and_is_done(
    kind: str, clone: Path, tmp_path: Path, isolation: str
) -> None:
    """It edits the clone, hands in through MCP, reads its verdict, mends, ends; its tokens are counted."""
    steps: list[Json] = [
        {"write": {"path": "hello.txt", "content": "hello"}},
        {"mcp": "submit", "args": {"message": BAD_ACTION}},
        {"mcp": "submit", "args": {"message": ACTION}},
        {"json": ACTION},
    ]
    with serving(Script(steps, key=KEY)) as server:
        produced = run(kind, server, tmp_path, isolation=isolation)
    assert produced.fault is None, produced.text
    assert json.loads(produced.raw or b"") == ACTION
    assert (clone / "hello.txt").read_text().strip() == "hello"
    verdicts = [
        one.details["verdict"] for one in produced.seen if one.what == "submitted"
    ]
    assert verdicts == ["RETRY", "DONE"]
    assert "not_in_enum" in json.dumps(
        server.asked[2]["body"]
    )  # the agent has read why
    assert produced.isolation == isolation
    spent = produced.spending
    assert (spent.read, spent.written) == (100 * spent.calls, 20 * spent.calls)
    assert spent.calls >= 4  # and the title that some of them ask for
    assert not spent.estimated


def test_an_agent_never_sees_the_key_nor_anything_of_ours(
    kind: str, clone: Path, tmp_path: Path
) -> None:
    """Not in its environment, its files or its processes; no network but its model; nobody's home."""
    secret = tmp_path / "secret.txt"
    secret.write_text(KEY)
    probe_it = (
        f"(env; cat /proc/*/environ /proc/*/cmdline; cat {secret}; grep -r {KEY[:8]} ~ . ; "
        "ls -A /root /home; id -un) > seen.txt 2>&1; true"
    )
    with serving(Script([{"run": probe_it}, {"json": ACTION}], key=KEY)) as server:
        produced = run(kind, server, tmp_path)
    assert produced.fault is None, produced.text
    seen = (clone / "seen.txt").read_bytes()
    assert seen
    assert KEY.encode() not in seen
    assert produced.isolation == "bwrap"


def test_what_an_agent_claims_is_only_its_message(
    kind: str, clone: Path, tmp_path: Path
) -> None:
    """It says DONE and has written nothing: exit code 0, a good message, and an opinion that knows better."""

    def opinion(raw: bytes) -> Opinion:
        there = (clone / "price_list.md").exists()
        return Opinion(
            done=there,
            text="price_list.md was never written",
            reason_code="ARTIFACT_MISSING",
        )

    steps: list[Json] = [
        {"mcp": "submit", "args": {"message": ACTION}},
        {"json": ACTION},
    ]
    with serving(Script(steps, key=KEY)) as server:
        produced = run(kind, server, tmp_path, opinion=opinion)
    assert produced.exit_code == 0
    assert [
        one.details["verdict"] for one in produced.seen if one.what == "submitted"
    ] == ["RETRY"]
    assert "never written" in json.dumps(server.asked[1]["body"])
    assert not (clone / "price_list.md").exists()


def test_a_file_is_as_good_as_a_tool(kind: str, clone: Path, tmp_path: Path) -> None:
    """submit.json in the evidence folder counts where the last words are prose."""
    place = f"artifacts/{ACTION['task_id']}/submit.json"
    steps: list[Json] = [
        {"write": {"path": place, "content": json.dumps(ACTION)}},
        {"say": "All done!"},
    ]
    with serving(Script(steps, key=KEY)) as server:
        produced = run(kind, server, tmp_path)
    assert json.loads(produced.raw or b"") == ACTION


@pytest.mark.parametrize(
    ("script", "fault", "code"),
    [
        (
            Script([{"run": "true"}], key="another"),
            Fault.UNAUTHORISED,
            "PERMISSION_DENIED",
        ),
        (
            Script([{"run": "true", "fault": {"status": 500}}]),
            Fault.SERVER_ERROR,
            "EXECUTOR_ERROR",
        ),
        (
            Script([{"run": "true"}], models=("other",)),
            Fault.UNKNOWN_MODEL,
            "MODEL_UNAVAILABLE",
        ),
    ],
    ids=["wrong key", "always 500", "unknown model"],
)
def test_a_bad_endpoint_is_told_by_the_relay(
    kind: str, clone: Path, tmp_path: Path, script: Script, fault: Fault, code: str
) -> None:
    """Whatever the agent makes of it, and however long it would have tried."""
    script = Script(script.steps, key=script.key, models=script.models)
    with serving(script) as server:
        produced = run(kind, server, tmp_path)
    assert (produced.fault, produced.code) == (fault, code), produced.to_json()


def test_a_model_that_refuses_is_told_by_the_relay(
    kind: str, clone: Path, tmp_path: Path
) -> None:
    """However the agent words it."""
    with serving(
        Script([{"run": "true"}, {"refuse": "I will not do that."}], key=KEY)
    ) as server:
        produced = run(kind, server, tmp_path)
    assert (produced.fault, produced.code) == (Fault.REFUSED, "LLM_REFUSAL"), (
        produced.to_json()
    )


def test_a_budget_ends_the_run(kind: str, clone: Path, tmp_path: Path) -> None:
    """No agent would end for that by itself."""
    with serving(Script([{"run": "true"}], key=KEY)) as server:
        produced = run(
            kind, server, tmp_path, RunLimits(seconds=300, budget=Budget(tokens=350))
        )
    assert (produced.fault, produced.code) == (Fault.OVER_BUDGET, "BUDGET_EXCEEDED"), (
        produced.to_json()
    )
    assert produced.spending.tokens == 120 * produced.spending.calls >= 350


def test_one_429_is_no_fault(kind: str, clone: Path, tmp_path: Path) -> None:
    """Agents try again by themselves."""
    steps: list[Json] = [
        {"run": "true", "fault": {"status": 429, "retry_after": 0}, "times": 1},
        {"json": ACTION},
    ]
    with serving(Script(steps, key=KEY)) as server:
        produced = run(kind, server, tmp_path)
    assert produced.fault is None, produced.to_json()


def test_an_endpoint_that_is_not_there_ends_the_run(
    kind: str, clone: Path, tmp_path: Path
) -> None:
    """None of them would give up by itself."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        server = Server(f"http://127.0.0.1:{free.getsockname()[1]}", Script([]))
    produced = run(kind, server, tmp_path)
    assert (produced.fault, produced.code) == (
        Fault.UNAVAILABLE,
        "MODEL_UNAVAILABLE",
    ), produced.to_json()


def test_an_agent_that_never_ends_is_stopped(
    kind: str, clone: Path, tmp_path: Path
) -> None:
    """With everything it has started."""
    steps: list[Json] = [{"run": "touch begun; sleep 600"}, {"json": ACTION}]
    with (
        serving(Script(steps, key=KEY)) as server,
        stopped_when((clone / "begun").exists) as limits,
    ):
        produced = run(kind, server, tmp_path, limits)
    assert produced.fault is Fault.STOPPED
