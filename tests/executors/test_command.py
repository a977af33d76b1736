"""Any program as an executor: honest ones, broken ones, and those that never end."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from accordance.domain.faults import Fault
from accordance.executors.left_files import read_file_inside, tail
from accordance.executors.programs import cannot_run
from accordance.executors.protocol import RunLimits, RunOutcome
from accordance.workspace.errors import UnsafeName
from accordance.workspace.probing import probe
from tests.executors.assignments import an_assignment, an_executor, stopped_when
from tests.limits import LIMIT
from tests.messages import ACTION, TASK

LEVELS = tuple(one.level.value for one in probe().levels if one.works)
AGENT = f"""
import json, sys
asked = json.load(sys.stdin)
assert asked["task"]["task_id"] == {TASK!r} and asked["prompt"]["user"] == "Write it."
open("notes.txt", "w").write("made by the agent")
print({json.dumps(ACTION)!r})
"""


@pytest.mark.parametrize("isolation", LEVELS)
def test_a_program_is_told_its_task_and_says_its_message(
    tmp_path: Path, isolation: str
) -> None:
    """The assignment comes on standard input, the work is done in the clone, the message goes out as it is."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "honest.py").write_text(AGENT)
    (tmp_path / "clone").mkdir()
    executor = an_executor(
        tmp_path,
        kind="command",
        command=["python3", "agents/honest.py"],
        isolation=isolation,
    )
    produced = executor.run(
        an_assignment(tmp_path, work=tmp_path / "clone"), RunLimits(seconds=LIMIT)
    )
    assert produced.fault is None, produced.text
    assert json.loads(produced.raw or b"") == ACTION
    assert (produced.exit_code, produced.isolation, produced.code) == (
        0,
        isolation,
        None,
    )
    assert (tmp_path / "clone" / "notes.txt").read_text() == "made by the agent"


@pytest.mark.parametrize("isolation", LEVELS)
@pytest.mark.parametrize(
    "readable", [[], ["."]], ids=["the program alone", "the whole project"]
)
def test_a_program_may_lie_in_the_project_itself(
    tmp_path: Path, isolation: str, readable: list[str]
) -> None:
    """Then it alone can be read, not what lies beside it; unless that is wished."""
    (tmp_path / "honest.py").write_text("print(open('../../../secret.txt').read())")
    (tmp_path / "secret.txt").write_text("secret")
    tmp_path.chmod(0o755)  # started by root, the program is somebody else
    executor = an_executor(
        tmp_path,
        kind="command",
        command=["python3", "honest.py"],
        isolation=isolation,
        readable=readable,
    )
    produced = executor.run(an_assignment(tmp_path), RunLimits(seconds=LIMIT))
    sees_it = bool(readable) or isolation == "rlimit"
    assert (produced.raw == b"secret\n") is sees_it, produced.text
    assert (produced.fault is Fault.CRASHED) is not sees_it


def test_a_message_may_lie_in_a_file(tmp_path: Path) -> None:
    """Then standard output says nothing."""
    command = "echo chatter; mkdir out; printf '{}' > out/message.json"
    executor = an_executor(
        tmp_path, kind="command", command=command, message="out/message.json"
    )
    assert executor.run(an_assignment(tmp_path), RunLimits(seconds=LIMIT)).raw == b"{}"


@pytest.mark.parametrize(
    ("command", "fault", "code", "says"),
    [
        (
            "no-such-program",
            Fault.NOT_INSTALLED,
            "DEPENDENCY_MISSING",
            "the program is not installed",
        ),
        ("true", Fault.SILENT, "EXECUTOR_ERROR", "without a message"),
        (
            "echo sorry >&2; exit 3",
            Fault.CRASHED,
            "EXECUTOR_ERROR",
            "exit code 3 and without a message; its standard error ends: sorry",
        ),
        ("kill -SEGV $$", Fault.CRASHED, "EXECUTOR_ERROR", "ended"),
        ("yes", Fault.FLOODED, "EXECUTOR_ERROR", "more than 10,000 bytes"),
        ("yes >&2 & sleep 600", Fault.TIMED_OUT, "TIMEOUT_EXCEEDED", "longer than 1 s"),
        (
            "sleep 600 & setsid sleep 600 & wait",
            Fault.TIMED_OUT,
            "TIMEOUT_EXCEEDED",
            "longer than 1 s",
        ),
        (
            "printf '{}'; sleep 600",
            Fault.TIMED_OUT,
            "TIMEOUT_EXCEEDED",
            "longer than 1 s",
        ),
    ],
    ids=[
        "missing",
        "silent",
        "failing",
        "killed",
        "flooding",
        "flooding beside",
        "never ending",
        "half done",
    ],
)
def test_a_bad_program_has_its_fault(
    tmp_path: Path, command: str, fault: Fault, code: str, says: str
) -> None:
    """The right code, a line for people, and nothing hangs."""
    executor = an_executor(tmp_path, kind="command", command=command)
    produced = executor.run(
        an_assignment(tmp_path), RunLimits(seconds=1, output_bytes=10_000)
    )
    assert (produced.fault, produced.code, produced.raw) == (fault, code, None)
    assert says in produced.text


def test_a_failing_program_with_a_message_is_judged_by_its_message(
    tmp_path: Path,
) -> None:
    """Exit codes are seen, never trusted."""
    executor = an_executor(tmp_path, kind="command", command="printf '{}'; exit 9")
    produced = executor.run(an_assignment(tmp_path), RunLimits(seconds=LIMIT))
    assert (produced.raw, produced.exit_code, produced.fault) == (b"{}", 9, None)


def test_a_program_is_stopped(tmp_path: Path) -> None:
    """Soon after the wish, and nothing of it goes on."""
    work = tmp_path / "clone"
    work.mkdir()
    executor = an_executor(tmp_path, kind="command", command="touch begun; sleep 600")
    with stopped_when((work / "begun").exists) as limits:
        produced = executor.run(an_assignment(tmp_path, work=work), limits)
    assert (produced.fault, produced.text) == (Fault.STOPPED, "it was stopped")


@pytest.mark.parametrize("isolation", [level for level in LEVELS if level != "rlimit"])
def test_a_program_sees_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: str
) -> None:
    """No environment, no project folder, no ledger."""
    monkeypatch.setenv("SECRET_KEY", "hidden")
    (tmp_path / "secret.txt").write_text("hidden")
    executor = an_executor(
        tmp_path,
        kind="command",
        command=f"env; cat {tmp_path}/secret.txt 2>&1",
        isolation=isolation,
    )
    assert b"hidden" not in (
        executor.run(an_assignment(tmp_path), RunLimits(seconds=LIMIT)).raw or b"hidden"
    )


def test_a_level_that_cannot_be_had_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is run then."""
    monkeypatch.setenv("PATH", str(tmp_path))  # no bwrap there
    probe.cache_clear()
    try:
        executor = an_executor(
            tmp_path, kind="command", command="true", isolation="bwrap"
        )
        produced = executor.run(an_assignment(tmp_path), RunLimits(seconds=LIMIT))
    finally:
        monkeypatch.undo()
        probe.cache_clear()
    assert (produced.fault, produced.code) == (
        Fault.NOT_ISOLATED,
        "ISOLATION_UNAVAILABLE",
    )
    assert "bwrap is not installed" in produced.text


def test_a_fault_of_our_own_is_called_what_it_is(tmp_path: Path) -> None:
    """A folder that is in the way says nothing about isolation."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "room").write_text("in the way")
    executor = an_executor(tmp_path, kind="command", command=["true"])
    produced = executor.run(an_assignment(tmp_path), RunLimits(seconds=LIMIT))
    assert (produced.fault, produced.code) == (Fault.CRASHED, "EXECUTOR_ERROR")
    assert "it could not be run: " in produced.text
    unsafe = cannot_run(UnsafeName("a name that leaves its folder"))
    assert (unsafe.fault, unsafe.code) == (Fault.UNPREPARED, "PREFLIGHT_FAILED")


def test_only_ordinary_files_inside_the_folder_are_read(tmp_path: Path) -> None:
    """No link out, no pipe, no folder, and no more than may be."""
    work = tmp_path / "work"
    (work / "inner").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (work / "link").symlink_to(tmp_path / "secret")
    (work / "way").symlink_to(tmp_path)
    (work / "inward").symlink_to(work / "plain")
    (work / "plain").write_text("plain text")
    os.mkfifo(work / "pipe")
    read = {
        name: read_file_inside(work, name, 5)
        for name in (
            "link",
            "way/secret",
            "../secret",
            "pipe",
            "inner",
            "none",
            "plain",
            "inward",
        )
    }
    assert {name: said for name, said in read.items() if said is not None} == {
        "plain": b"plain",
        "inward": b"plain",
    }


def test_last_words_are_the_end_of_a_log(tmp_path: Path) -> None:
    """However long it is, and without what colours a terminal."""
    (tmp_path / "log").write_bytes(
        b"begin" + b"x" * (3 << 20) + b"\x1b[31mThe end.\x1b[0m\n"
    )
    (tmp_path / "short").write_bytes(b"\xff short")
    assert tail(tmp_path, "log").endswith("xThe end.")
    assert tail(tmp_path, "log", 13) == "The end."
    assert tail(tmp_path, "short") == "\ufffd short"
    assert tail(tmp_path, "none") == ""


def test_a_run_ends_with_a_message_or_a_fault() -> None:
    """Never with both or neither; what was seen can be written down."""
    with pytest.raises(ValueError, match="either a message or a fault"):
        RunOutcome()
    with pytest.raises(ValueError, match="either a message or a fault"):
        RunOutcome(raw=b"{}", fault=Fault.CUT)
    assert RunOutcome(raw=b"{}").to_json()["bytes"] == 2
    assert RunOutcome(fault=Fault.CUT).to_json()["code"] == "EXECUTOR_ERROR"
