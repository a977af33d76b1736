"""The executor of agents with a program that only looks like one: every way a run can end, on any machine."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.faults import Fault
from accordance.domain.prompting import Part, Prompt
from accordance.executors.protocol import Limits, Produced
from accordance.workspace.probing import probe
from tests.executors.agents import pretender
from tests.executors.assignments import BAD_ACTION, an_assignment, an_executor, stopped_when
from tests.fake_model_server import Script, serving
from tests.messages import ACTION

LEVELS = tuple(one.level.value for one in probe().levels if one.works and one.level.value != "landlock")
GOOD = json.dumps(ACTION)
KEY = "the-real-key"
EVIDENCE = f"artifacts/{ACTION['task_id']}/submit.json"


def run(tmp_path: Path, url: str, do: dict[str, Any], limits: Limits | None = None, **said: Any) -> Produced:
    """Let the pretender do something."""
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!{sys.executable}\n{Path(pretender.__file__).read_text()}")
    program.chmod(0o755)
    executor = an_executor(
        tmp_path, kind="codex", model="fake-model", binary="bin/codex", base_url=f"{url}/v1", **said
    )
    prompt = Prompt((Part("user", "task", f"DO {json.dumps(do)}"),))
    told = replace(an_assignment(tmp_path), prompt=prompt)
    return executor.run(told, limits or Limits(seconds=120))


@pytest.mark.parametrize("isolation", LEVELS)
def test_a_run_from_beginning_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: str) -> None:
    """Model, tool, message, usage, price; and the key is nowhere the agent can look."""
    monkeypatch.setenv("AGENT_KEY", KEY)
    do = {"calls": 2, "submit": [BAD_ACTION, ACTION], "final": GOOD, "exit": 3}
    with serving(Script([{"say": "ok"}], key=KEY)) as server:
        produced = run(
            tmp_path,
            server.url,
            do,
            isolation=isolation,
            key_env="AGENT_KEY",
            prices={"fake-model": {"input": 1.0, "output": 2.0}},
        )
    assert produced.fault is None, produced.text
    assert json.loads(produced.raw or b"") == ACTION
    assert (produced.exit_code, produced.isolation) == (3, isolation)
    assert produced.spending.cost == pytest.approx(20 / 1_000_000)
    assert (produced.spending.tokens, produced.spending.calls) == (15, 2)
    verdicts = [one.details["verdict"] for one in produced.seen if one.what == "submitted"]
    assert verdicts == ["RETRY", "DONE"]
    left = (tmp_path / "run" / "room" / "work" / "told.json").read_text()
    assert "not_in_enum" in left
    assert KEY not in left


@pytest.mark.parametrize(
    ("do", "raw"),
    [
        ({"submit": [ACTION, BAD_ACTION], "final": GOOD}, ACTION),
        ({"submit": [BAD_ACTION], "final": "prose"}, BAD_ACTION),
        ({"files": {EVIDENCE: GOOD}, "final": "prose"}, ACTION),
        ({"files": {EVIDENCE: "prose"}, "final": GOOD}, ACTION),
    ],
    ids=["last words", "what was submitted", "a file", "not a bad file"],
)
def test_what_honours_the_contract_is_the_message(tmp_path: Path, do: dict[str, Any], raw: Any) -> None:
    """Else the last that was submitted: whoever judges it says what is wrong."""
    with serving(Script([{"say": "ok"}])) as server:
        produced = run(tmp_path, server.url, do)
    assert json.loads(produced.raw or b"") == raw


@pytest.mark.parametrize(
    ("script", "do", "fault"),
    [
        (Script([{"say": "ok"}]), {}, Fault.SILENT),
        (Script([{"say": "ok"}]), {"final": GOOD, "ends": False, "exit": 1}, Fault.CRASHED),
        (Script([{"say": "ok"}], key="other"), {"sleep": 600}, Fault.UNAUTHORISED),
        (Script([{"say": "ok"}], models=("other",)), {"sleep": 600}, Fault.UNKNOWN_MODEL),
        (Script([{"say": "ok", "fault": {"status": 500}}]), {"ends": False, "exit": 1}, Fault.SERVER_ERROR),
        (Script([{"say": "ok"}]), {"final": "x" * 50_000}, Fault.FLOODED),
    ],
    ids=["silent", "did not end well", "wrong key", "unknown model", "500", "flood"],
)
def test_a_bad_run_has_its_fault(tmp_path: Path, script: Script, do: dict[str, Any], fault: Fault) -> None:
    """By what the relay and the keeper saw."""
    with serving(script) as server:
        produced = run(tmp_path, server.url, do, Limits(seconds=120, output_bytes=20_000))
    assert produced.fault is fault, produced.to_json()


def test_an_endpoint_that_is_not_there_ends_the_run(tmp_path: Path) -> None:
    """Long before its time is up."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    produced = run(tmp_path, url, {"calls": 3, "sleep": 600})
    assert (produced.fault, produced.code) == (Fault.UNAVAILABLE, "MODEL_UNAVAILABLE")


def test_an_agent_that_never_ends_is_ended(tmp_path: Path) -> None:
    """By the clock, or by the wish to stop."""
    with serving(Script([{"say": "ok"}])) as server:
        produced = run(tmp_path, server.url, {"calls": 0, "sleep": 600}, Limits(seconds=1))
        assert (produced.fault, produced.code) == (Fault.TIMED_OUT, "TIMEOUT_EXCEEDED")
        shutil.rmtree(tmp_path / "run")
        with stopped_when(lambda: bool(server.requests)) as limits:
            assert run(tmp_path, server.url, {"sleep": 600}, limits).fault is Fault.STOPPED


def test_without_isolation_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless limits alone are asked for by name."""
    monkeypatch.setenv("PATH", str(tmp_path))
    probe.cache_clear()
    try:
        produced = run(tmp_path, "http://127.0.0.1:9", {})
    finally:
        monkeypatch.undo()
        probe.cache_clear()
    assert (produced.fault, produced.code) == (Fault.NOT_ISOLATED, "ISOLATION_UNAVAILABLE")
    assert "set isolation to rlimit" in produced.text
