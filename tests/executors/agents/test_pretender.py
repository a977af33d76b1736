"""The executor of agents with a program that only looks like one: every way a run can end, on any machine."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.faults import Fault
from accordance.domain.prompting import Part, Prompt
from accordance.domain.spending import Spending
from accordance.domain.usage import Budget
from accordance.executors.protocol import RunLimits, RunOutcome
from accordance.workspace.probing import probe
from tests.executors.agents import pretender
from tests.executors.assignments import (
    BAD_ACTION,
    an_assignment,
    an_executor,
    stopped_when,
)
from tests.fake_model_server import Script, serving
from tests.limits import LIMIT
from tests.messages import ACTION

LEVELS = tuple(
    one.level.value
    for one in probe().levels
    if one.works and one.level.value != "landlock"
)
GOOD = json.dumps(ACTION)
KEY = "the-real-key"
EVIDENCE = f"artifacts/{ACTION['task_id']}/submit.json"


def run(
    tmp_path: Path,
    url: str,
    do: dict[str, Any],
    limits: RunLimits | None = None,
    **said: Any,
) -> RunOutcome:
    """Let the pretender do something."""
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!{sys.executable}\n{Path(pretender.__file__).read_text()}")
    program.chmod(0o755)
    executor = an_executor(
        tmp_path,
        kind="codex",
        model="fake-model",
        binary="bin/codex",
        base_url=f"{url}/v1",
        **said,
    )
    prompt = Prompt((Part("user", "task", f"DO {json.dumps(do)}"),))
    told = replace(an_assignment(tmp_path), prompt=prompt)
    return executor.run(told, limits or RunLimits(seconds=LIMIT))


@pytest.mark.parametrize("isolation", LEVELS)
def test_a_run_from_beginning_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: str
) -> None:
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
    assert produced.spending.cost == pytest.approx(280 / 1_000_000)
    assert (produced.spending.tokens, produced.spending.calls) == (240, 2)
    verdicts = [
        one.details["verdict"] for one in produced.seen if one.what == "submitted"
    ]
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
def test_what_honours_the_contract_is_the_message(
    tmp_path: Path, do: dict[str, Any], raw: Any
) -> None:
    """Else the last that was submitted: whoever judges it says what is wrong."""
    with serving(Script([{"say": "ok"}])) as server:
        produced = run(tmp_path, server.url, do)
    assert json.loads(produced.raw or b"") == raw


@pytest.mark.parametrize(
    ("script", "do", "fault"),
    [
        (Script([{"say": "ok"}]), {}, Fault.SILENT),
        (
            Script([{"say": "ok"}]),
            {"final": GOOD, "ends": False, "exit": 1},
            Fault.CRASHED,
        ),
        (Script([{"say": "ok"}], key="other"), {"sleep": 600}, Fault.UNAUTHORISED),
        (
            Script([{"say": "ok"}], models=("other",)),
            {"sleep": 600},
            Fault.UNKNOWN_MODEL,
        ),
        (
            Script([{"say": "ok", "fault": {"status": 500}}]),
            {"ends": False, "exit": 1},
            Fault.SERVER_ERROR,
        ),
        (Script([{"say": "ok"}]), {"final": "x" * 50_000}, Fault.FLOODED),
        (
            Script([{"say": "ok"}]),
            {"beside": ["x"], "ends": False, "exit": 1},
            Fault.CRASHED,
        ),
        (Script([{"refuse": "I will not."}]), {"final": "I will not."}, Fault.REFUSED),
        (
            Script([{"refuse": "I will not."}]),
            {"ends": False, "exit": 1},
            Fault.REFUSED,
        ),
    ],
    ids=[
        "silent",
        "did not end well",
        "wrong key",
        "unknown model",
        "500",
        "flood",
        "a side path that is not there",
        "refused in words",
        "refused in silence",
    ],
)
def test_a_bad_run_has_its_fault(
    tmp_path: Path, script: Script, do: dict[str, Any], fault: Fault
) -> None:
    """By what the relay and the keeper saw."""
    with serving(script) as server:
        produced = run(
            tmp_path, server.url, do, RunLimits(seconds=LIMIT, output_bytes=20_000)
        )
    assert produced.fault is fault, produced.to_json()


def test_a_key_that_an_endpoint_repeats_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in what the run leaves nor in anything the agent could say."""
    monkeypatch.setenv("AGENT_KEY", KEY)
    with serving(Script([{"say": "ok"}], key="another")) as server:
        produced = run(tmp_path, server.url, {"sleep": 600}, key_env="AGENT_KEY")
    assert produced.fault is Fault.UNAUTHORISED
    assert "this key is not taken: [key]" in produced.text
    left = [
        file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file()
    ]
    assert not any(
        KEY.encode() in one for one in (json.dumps(produced.to_json()).encode(), *left)
    )


def test_half_a_character_is_handed_on(tmp_path: Path) -> None:
    """Whoever judges the message says what is wrong with it; what it cost is counted."""
    with serving(Script([{"say": "ok"}])) as server:
        produced = run(tmp_path, server.url, {"final": '{"a": "\ud83d"}'})
    assert (produced.raw, produced.spending.calls) == (b'{"a": "\\ud83d"}', 1)


def ended_by_the_clock(
    tmp_path: Path,
    url: str,
    do: dict[str, Any],
    has_come_far_enough: Callable[[RunOutcome], bool],
) -> RunOutcome:
    """A run whose time ends after its agent has done what it is to do: on a busy machine it gets more."""
    for seconds in (4, 40, 400):
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        produced = run(tmp_path, url, do, RunLimits(seconds=seconds))
        if has_come_far_enough(produced):
            break
    return produced


def test_an_endpoint_that_is_not_there_ends_the_run(tmp_path: Path) -> None:
    """Long before its time is up."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    produced = run(tmp_path, url, {"calls": 3, "sleep": 600})
    assert (produced.fault, produced.code) == (Fault.UNAVAILABLE, "MODEL_UNAVAILABLE")


def test_an_agent_that_never_ends_is_ended(tmp_path: Path) -> None:
    """By the clock, or by the wish to stop."""
    with serving(Script([{"say": "ok"}])) as server:
        produced = run(
            tmp_path, server.url, {"calls": 0, "sleep": 600}, RunLimits(seconds=1)
        )
        assert (produced.fault, produced.code) == (Fault.TIMED_OUT, "TIMEOUT_EXCEEDED")
        shutil.rmtree(tmp_path / "run")
        with stopped_when(lambda: bool(server.requests)) as limits:
            assert (
                run(tmp_path, server.url, {"sleep": 600}, limits).fault is Fault.STOPPED
            )


def test_tokens_of_a_run_that_was_ended_count(tmp_path: Path) -> None:
    """The relay has seen them, whatever the agent lived to tell."""
    do = {"calls": 6, "sleep": 600}
    with serving(Script([{"say": "ok"}], read=500, written=90)) as server:
        produced = ended_by_the_clock(
            tmp_path, server.url, do, lambda ended: ended.spending.calls == 6
        )
    assert produced.fault is Fault.TIMED_OUT
    assert produced.spending == Spending(read=3000, written=540, cached=240, calls=6)


def test_what_an_agent_says_it_used_counts_if_it_is_more(tmp_path: Path) -> None:
    """Who sees less of it is not believed."""
    with serving(Script([{"say": "ok"}], read=5, written=1, cached=0)) as server:
        produced = run(tmp_path, server.url, {"calls": 1, "final": GOOD})
    assert produced.spending == Spending(read=10, written=5, calls=1)


@pytest.mark.parametrize(
    ("said", "budget"),
    [
        ({}, Budget(tokens=200)),
        (
            {"prices": {"fake-model": {"input": 1.0, "output": 1.0}}},
            Budget(cost=0.0002),
        ),
    ],
    ids=["tokens", "money"],
)
def test_a_budget_ends_a_run(
    tmp_path: Path, said: dict[str, Any], budget: Budget
) -> None:
    """No further call is made, the run ends long before its time, and what it cost is counted."""
    with serving(Script([{"say": "ok"}])) as server:
        limits = RunLimits(seconds=LIMIT, budget=budget)
        produced = run(tmp_path, server.url, {"calls": 6, "sleep": 600}, limits, **said)
    assert (produced.fault, produced.code) == (Fault.OVER_BUDGET, "BUDGET_EXCEEDED"), (
        produced.to_json()
    )
    assert (
        len(server.requests),
        produced.spending.tokens,
        produced.spending.calls,
    ) == (2, 240, 2)


def test_a_message_that_came_before_the_budget_was_used_up_counts(
    tmp_path: Path,
) -> None:
    """It is paid for; a bad one is no better than none."""
    for message, fault in ((ACTION, None), (BAD_ACTION, Fault.OVER_BUDGET)):
        do = {"calls": 3, "files": {EVIDENCE: json.dumps(message)}}
        with serving(Script([{"say": "ok"}])) as server:
            produced = run(
                tmp_path,
                server.url,
                do,
                RunLimits(seconds=LIMIT, budget=Budget(tokens=130)),
            )
        assert produced.fault is fault
        shutil.rmtree(tmp_path / "run")


def test_an_agent_that_was_done_and_hung_has_a_message(tmp_path: Path) -> None:
    """What it handed in and was told DONE about; that it was ended is noted, and counts as no work of its own."""
    do = {"submit": [BAD_ACTION, ACTION, BAD_ACTION], "sleep": 600}
    with serving(Script([{"say": "ok"}])) as server:
        produced = ended_by_the_clock(
            tmp_path, server.url, do, lambda ended: ended.raw is not None
        )
        assert json.loads(produced.raw or b"") == ACTION
        (noted,) = [one for one in produced.seen if one.what == "timed_out"]
        assert produced.duration_ms == noted.details["done_after_ms"]
        assert produced.duration_ms < int(str(noted.details["after_ms"]))
        shutil.rmtree(tmp_path / "run")
        produced = run(
            tmp_path,
            server.url,
            {"submit": [BAD_ACTION], "sleep": 600},
            RunLimits(seconds=4),
        )
        assert (produced.raw, produced.fault) == (None, Fault.TIMED_OUT)


def test_a_run_that_ended_by_429_says_how_long_to_wait(tmp_path: Path) -> None:
    """As its endpoint asked."""
    fault = {"status": 429, "retry_after": 7}
    with serving(Script([{"say": "ok", "fault": fault}])) as server:
        produced = run(tmp_path, server.url, {"ends": False, "exit": 1})
    assert (produced.fault, produced.retry_after) == (Fault.RATE_LIMITED, 7)


def test_what_is_readable_is_named_from_the_project(tmp_path: Path) -> None:
    """Wherever accordance was started."""
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual" / "page.txt").write_text("read me")
    do = {"copy": {str(tmp_path / "manual" / "page.txt"): "copied.txt"}, "final": GOOD}
    with serving(Script([{"say": "ok"}])) as server:
        produced = run(
            tmp_path, server.url, do, readable=["manual"], isolation=LEVELS[0]
        )
    assert produced.fault is None, produced.text
    assert (tmp_path / "run" / "room" / "work" / "copied.txt").read_text() == "read me"


def test_a_fault_of_our_own_is_called_what_it_is(tmp_path: Path) -> None:
    """A folder that is in the way says nothing about isolation."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "room").write_text("in the way")
    produced = run(tmp_path, "http://127.0.0.1:9", {})
    assert (produced.fault, produced.code) == (Fault.CRASHED, "EXECUTOR_ERROR")
    assert "it could not be run: " in produced.text


def test_without_isolation_nothing_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless limits alone are asked for by name."""
    monkeypatch.setenv("PATH", str(tmp_path))
    probe.cache_clear()
    try:
        produced = run(tmp_path, "http://127.0.0.1:9", {})
    finally:
        monkeypatch.undo()
        probe.cache_clear()
    assert (produced.fault, produced.code) == (
        Fault.NOT_ISOLATED,
        "ISOLATION_UNAVAILABLE",
    )
    assert "set isolation to rlimit" in produced.text
