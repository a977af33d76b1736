"""Isolation: what was promised is tried, and what cannot be had is said."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from accordance.domain.facts import Ending, IsolationLevel, IsolationProbe, LevelProbe
from accordance.workspace import confining, isolation, probing
from accordance.workspace.confining import PYTHON, argv, environment
from accordance.workspace.errors import IsolationUnavailable
from accordance.workspace.inside import confine, keeper
from accordance.workspace.isolation import (
    NOBODY,
    CommandLimits,
    Room,
    sandbox_user,
)
from accordance.workspace.probing import LEVEL_NAMES, level_for, probe
from accordance.workspace.running import run
from tests.limits import LIMIT

WORKING = [found.level for found in probe().levels if found.works]
CONFINING = [level for level in WORKING if level.confines]


def _run(
    tmp_path: Path, command: str, level: IsolationLevel, **limits: float
) -> tuple[str, object]:
    room = Room(tmp_path / "room")
    room.prepare(level)
    done = run(
        command,
        room,
        tmp_path / "log",
        level=level,
        limits=CommandLimits(**limits),  # type: ignore[arg-type]
    )
    return (tmp_path / "log").read_text("utf-8"), done


def test_this_machine_isolates() -> None:
    """Where this fails, every other test of isolation proves nothing: bubblewrap or Landlock must work here."""
    assert probe().best is not None, probe()


def test_the_machines_answer_has_every_level_and_a_reason() -> None:
    """For `accordance doctor`: strongest first, each with a detail, each failure with a remedy."""
    assert [found.level for found in probe().levels] == [
        IsolationLevel.BWRAP,
        IsolationLevel.LANDLOCK,
        IsolationLevel.RLIMIT,
    ]
    assert all(
        found.detail and (found.works or found.remedy) for found in probe().levels
    )


@pytest.mark.parametrize("level", WORKING)
@pytest.mark.parametrize(
    ("command", "code", "output"),
    [
        ("echo out; echo err >&2", 0, "out\nerr\n"),
        ("exit 7", 7, ""),
        ("kill -9 $$", 137, ""),
        ("cat", 0, ""),
        ("no-such-program", 127, None),
        ('printf %s "$HOME" | grep -c room', 0, "1\n"),
        ("touch work-is-writable && ls", 0, "work-is-writable\n"),
        ('touch "$HOME/x" "$TMPDIR/x"', 0, ""),
        ("pwd | grep -c work", 0, "1\n"),
        (
            f"{PYTHON} -c 'import asyncio; asyncio.run(asyncio.sleep(0)); print(1)'",
            0,
            "1\n",
        ),
    ],
)
def test_ordinary_commands_work(
    tmp_path: Path, level: IsolationLevel, command: str, code: int, output: str | None
) -> None:
    """Exit codes, both outputs, an empty input, a home and a place for temporary files."""
    said, done = _run(tmp_path, command, level)
    assert done.exit_code == code, (done, said)  # type: ignore[attr-defined]
    assert output is None or said == output
    assert done.isolation is level  # type: ignore[attr-defined]


@pytest.mark.parametrize("level", CONFINING)
def test_nothing_of_ours_is_in_the_environment(
    tmp_path: Path, level: IsolationLevel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys, agents and paths of the user stay with the user."""
    for name in (
        "OPENAI_API_KEY",
        "SSH_AUTH_SOCK",
        "AWS_SECRET_ACCESS_KEY",
        "PYTHONPATH",
        "LD_PRELOAD",
    ):
        monkeypatch.setenv(name, "/hunter2")
    said, _ = _run(tmp_path, "env", level)
    assert "hunter2" not in said
    assert {line.partition("=")[0] for line in said.splitlines()} <= {
        *environment(Room(tmp_path), level), "PWD", "SHLVL", "_", "OLDPWD", "LC_CTYPE",
    }  # fmt: skip


@pytest.mark.skipif(
    IsolationLevel.BWRAP not in WORKING, reason="bubblewrap does not work here"
)
def test_a_copy_can_appear_where_the_repository_is(tmp_path: Path) -> None:
    """So that what was installed for the repository's own place finds the changed files."""
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository/original").touch()
    room = Room(tmp_path / "room", appears_at=tmp_path / "repository")
    (room.work / "copied").parent.mkdir(parents=True)
    (room.work / "copied").touch()
    room.prepare(IsolationLevel.BWRAP)
    done = run(
        f"pwd; ls {tmp_path}/repository",
        room,
        tmp_path / "log",
        level=IsolationLevel.BWRAP,
    )
    assert (tmp_path / "log").read_text("utf-8") == f"{tmp_path}/repository\ncopied\n"
    assert done.passed


@pytest.mark.skipif(
    IsolationLevel.BWRAP not in WORKING, reason="bubblewrap does not work here"
)
def test_there_is_a_loopback_of_its_own(tmp_path: Path) -> None:
    """Test suites that start a server for themselves work."""
    code = 'import socket; s = socket.create_server(("127.0.0.1", 0)); socket.create_connection(s.getsockname()); print(1)'
    said, _ = _run(tmp_path, f"{PYTHON} -c '{code}'", IsolationLevel.BWRAP)
    assert said == "1\n"


@pytest.mark.parametrize("level", CONFINING)
def test_named_folders_can_be_read_and_not_written(
    tmp_path: Path, level: IsolationLevel
) -> None:
    """What a project needs beside the system is named."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/t.txt").write_text("tool\n", "utf-8")
    room = Room(
        tmp_path / "room", readable=(tmp_path / "tools",), environment={"EXTRA": "1"}
    )
    room.prepare(level)
    command = f"cat {tmp_path}/tools/t.txt; echo $EXTRA; echo x > {tmp_path}/tools/new"
    done = run(command, room, tmp_path / "log", level=level)
    assert (tmp_path / "log").read_text("utf-8").startswith("tool\n1\n")
    assert not done.passed
    assert not (tmp_path / "tools/new").exists()


def test_limits_end_a_command(tmp_path: Path) -> None:
    """Time and output, with the reason."""
    assert (
        _run(tmp_path, "sleep 100", WORKING[0], seconds=0.3)[1].ending  # type: ignore[attr-defined]
        is Ending.TIMED_OUT
    )
    said, done = _run(tmp_path, "yes", WORKING[0], output_bytes=1000)
    assert (done.ending, done.log_cut, len(said)) == (Ending.OUTPUT_LIMIT, True, 1000)  # type: ignore[attr-defined]


@pytest.mark.skipif(
    os.geteuid() != 0 or IsolationLevel.BWRAP not in WORKING,
    reason="needs root and bubblewrap",
)
def test_a_command_waits_while_its_user_has_too_many_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another command that forks too much is ended soon; it is not this one's fault."""
    user = 61_234  # nobody else's
    for module in (isolation, confining):
        monkeypatch.setattr(module, "sandbox_user", lambda _: user)
    few = 2 - CommandLimits().processes
    monkeypatch.setattr(confining, "threads_of", lambda _: few)
    crowd = "sleep 1 & sleep 1 & echo here; wait"
    with subprocess.Popen(
        ["sh", "-c", crowd], user=user, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        text, done = _run(tmp_path, "echo started", IsolationLevel.BWRAP)
    assert (text, done.note) == ("started\n", "")  # type: ignore[attr-defined]


def test_a_sandbox_that_cannot_be_made_does_not_run_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not started is an ending of its own, with the reason."""
    room = Room(tmp_path / "room")
    room.prepare(IsolationLevel.RLIMIT)
    (tmp_path / "room/work").rmdir()
    done = run("touch ran", room, tmp_path / "log", level=IsolationLevel.RLIMIT)
    assert (done.ending, done.exit_code, done.passed) == (
        Ending.NOT_STARTED,
        127,
        False,
    )
    assert "No such file" in done.note
    monkeypatch.setattr(confining, "PYTHON", "/nowhere/python")
    done = run("touch ran", room, tmp_path / "log", level=IsolationLevel.RLIMIT)
    assert done.ending is Ending.NOT_STARTED


def test_the_command_ends_when_whoever_asked_is_gone(tmp_path: Path) -> None:
    """A killed gateway leaves no tests running."""
    script = (
        "from pathlib import Path\nfrom accordance.domain.facts import IsolationLevel\n"
        "from accordance.workspace.isolation import Room\nfrom accordance.workspace.running import run\n"
        f"room = Room(Path({str(tmp_path / 'room')!r}))\nroom.prepare(IsolationLevel.{WORKING[0].name})\n"
        f"run('echo started; sleep 1000', room, Path({str(tmp_path / 'log')!r}), level=IsolationLevel.{WORKING[0].name})\n"
    )
    asker = subprocess.Popen([sys.executable, "-c", script])
    log = tmp_path / "log"
    deadline = time.monotonic() + LIMIT
    while not (log.exists() and log.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.02)
    below = keeper.descendants(asker.pid)
    assert below
    asker.kill()
    asker.wait()
    while (
        any(Path(f"/proc/{pid}").exists() for pid in below)
        and time.monotonic() < deadline
    ):
        time.sleep(0.02)
    assert not any(Path(f"/proc/{pid}").exists() for pid in below)


@pytest.mark.parametrize("wish", LEVEL_NAMES)
def test_wishes_are_granted_or_refused(wish: str) -> None:
    """`auto` is the strongest that works; any other wish is taken literally."""
    if wish != "auto" and IsolationLevel(wish) not in WORKING:
        with pytest.raises(IsolationUnavailable):
            level_for(wish)
        return
    assert level_for(wish) is (probe().best if wish == "auto" else IsolationLevel(wish))


def _machine(*works: bool) -> IsolationProbe:
    levels = (IsolationLevel.BWRAP, IsolationLevel.LANDLOCK, IsolationLevel.RLIMIT)
    return IsolationProbe(
        tuple(
            LevelProbe(level, can, "why", "install it")
            for level, can in zip(levels, works, strict=True)
        )
    )


def test_auto_never_falls_below_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to install instead; rlimit must be wished for by name."""
    monkeypatch.setattr(probing, "probe", lambda: _machine(False, False, True))
    with pytest.raises(
        IsolationUnavailable,
        match=r"nothing was run; install it, or set isolation to rlimit",
    ):
        level_for()
    with pytest.raises(IsolationUnavailable):
        level_for("bwrap")
    assert level_for("rlimit") is IsolationLevel.RLIMIT
    monkeypatch.setattr(probing, "probe", lambda: _machine(False, True, True))
    assert level_for() is IsolationLevel.LANDLOCK
    with pytest.raises(ValueError, match="nonsense"):
        level_for("nonsense")


def test_the_probe_tries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bwrap that is there but does not isolate, or does not work, or is not there."""
    fake = tmp_path / "bwrap"
    fake.write_text(
        '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n', "utf-8"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for module in (isolation, confining):
        monkeypatch.setattr(module, "sandbox_user", lambda _: None)
    found = probing._bubblewrap()
    assert not found.works
    assert "reach loopback" in found.detail
    assert "write outside" in found.detail
    fake.write_text("#!/bin/sh\necho no namespaces >&2\nexit 1\n", "utf-8")
    found = probing._bubblewrap()
    assert not found.works
    assert "could not start a command (no namespaces)" in found.detail
    monkeypatch.setenv("PATH", "")
    assert probing._bubblewrap().detail == "bwrap is not installed"


@pytest.mark.parametrize(
    ("abi", "root", "fault"),
    [
        (0, True, "has no Landlock"),
        (2, True, "3 is needed"),
        (3, True, ""),
        (5, False, "6 is needed"),
        (6, False, ""),
    ],
)
def test_old_kernels_do_not_confine(
    monkeypatch: pytest.MonkeyPatch, abi: int, root: bool, fault: str
) -> None:
    """Each lack has its reason."""
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    assert fault in probing._missing(abi)
    assert bool(fault) == bool(probing._missing(abi))


def test_landlock_needs_a_filter_and_somebody_to_become(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each lack has its reason, and root's has its own way out."""
    monkeypatch.setattr(confine, "MACHINES", {})
    assert "no system call filter" in probing._landlock().detail
    monkeypatch.undo()
    monkeypatch.setattr(confine, "landlock_abi", lambda: 6)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(sys, "prefix", os.fspath(tmp_path / "closed/venv"))
    (tmp_path / "closed").mkdir(mode=0o700)
    found = probing._landlock()
    assert (found.works, "run accordance as an ordinary user" in found.remedy) == (
        False,
        True,
    )
    assert "nobody, who cannot pass" in found.detail


def test_only_root_becomes_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every level that confines."""
    room = Room(tmp_path / "room")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert sandbox_user(IsolationLevel.BWRAP) == NOBODY
    assert sandbox_user(IsolationLevel.LANDLOCK) == NOBODY
    assert sandbox_user(IsolationLevel.RLIMIT) is None
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert sandbox_user(IsolationLevel.BWRAP) is None
    assert "--unshare-user" in argv("true", room, IsolationLevel.BWRAP, CommandLimits())


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("machine", confine.MACHINES)
@pytest.mark.parametrize("families", [(), (1, 2)])
def test_the_filter_decides(
    machine: str, families: tuple[int, ...], shared: bool
) -> None:
    """Run by hand, instruction for instruction: foreign numberings and listed calls are refused, all else is let through."""
    architecture, numbers = confine.MACHINES[machine]
    program = confine.call_filter(machine, families, shared=shared)

    def decide(call: str | int, *arguments: int, arch: int = architecture) -> bool:
        data = {
            confine.NUMBER_AT: numbers[call] if isinstance(call, str) else call,
            confine.ARCHITECTURE_AT: arch,
        }
        for place, value in zip((16, 24, 32), arguments, strict=False):
            data |= {place: value & 0xFFFFFFFF, place + 4: value >> 32}
        at = loaded = 0
        while True:
            code, yes, no, value = program[at]
            at += 1
            if code == confine.RETURN:
                return value == confine.ALLOW
            if code == confine.LOAD:
                loaded = data[value]
            else:
                holds = {
                    confine.JUMP_EQUAL: loaded == value,
                    confine.JUMP_GREATER_EQUAL: loaded >= value,
                    confine.JUMP_ANY_BIT: bool(loaded & value),
                }
                at += yes if holds[code] else no

    assert decide(1)
    assert not decide(1, arch=0x40000003)
    assert not decide(confine.X32 + 1)
    assert not any(decide(call) for call in confine.REFUSED)
    assert decide("clone", 0x11)
    assert decide("unshare", 0x20000)
    assert not decide("clone", confine.NEW_USER_NAMESPACE | 0x11)
    assert not decide("unshare", confine.NEW_USER_NAMESPACE)
    assert not decide("clone3")
    assert [decide("socket", family) for family in (1, 2, 17)] == [
        1 in families,
        2 in families,
        False,
    ]
    assert all(decide(call) is not shared for call in confine.REFUSED_IF_SHARED)
    assert decide("prlimit64", 0, 1, 1 << 40)
    assert decide("prlimit64", 7, 1, 0)
    assert decide("prlimit64", 7, 1, 1 << 40) is not shared
    assert decide("setpriority", 0, 0)
    assert decide("setpriority", 1, 0)
    assert decide("setpriority", 0, 7) is not shared
    assert decide("setpriority", 2, 0) is not shared
    assert decide("ioprio_set", 1, 0)
    assert decide("ioprio_set", 3, 0) is not shared
    for call in (
        "sched_setaffinity",
        "sched_setscheduler",
        "sched_setparam",
        "sched_setattr",
    ):
        assert decide(call, 0)
        assert decide(call, 7) is not shared


def test_rights_grow_with_the_kernel() -> None:
    """Each version of Landlock refuses what the one before did, and more."""
    known = [confine.rights(abi) for abi in range(1, 9)]
    assert all(earlier & later == earlier for earlier, later in pairwise(known))
    assert known[2] & confine.TRUNCATE


def test_the_keeper_tells_what_happened() -> None:
    """In the words of the facts."""
    kept = keeper.WatchedCommand(1, 2, 3, 4)
    kept.code = 3 << 8
    assert (
        keeper.report(kept, 0.0015)["exit_code"],
        keeper.report(kept, 0.0015)["duration_ms"],
    ) == (3, 2)
    kept.code = 9
    assert keeper.report(kept, 0) | {
        "exit_code": 137,
        "ending": "signalled",
    } == keeper.report(kept, 0)
    kept.not_started = b"why"
    assert keeper.report(kept, 0) | {
        "exit_code": 127,
        "ending": "not_started",
        "note": "why",
    } == keeper.report(kept, 0)


def test_the_keeper_sees_processes_memory_and_disk(tmp_path: Path) -> None:
    """Below a process, of a user, in a folder; deleted files count while they are open."""
    with subprocess.Popen(["sleep", "100"]) as child:
        assert child.pid in keeper.descendants(os.getpid())
        assert keeper.private_memory([child.pid, 2**22 + 1]) > 0
        child.kill()
    assert keeper.shared_memory([os.getpid(), 2**22 + 1]) >= 0
    assert keeper.threads_of(os.geteuid()) > 0
    assert keeper.used_bytes(os.fspath(tmp_path)) > 0
    before = keeper.own_bytes([os.fspath(tmp_path)], [])
    with (tmp_path / "large").open("wb", buffering=0) as file:
        file.write(os.urandom(1 << 20))
        os.fsync(file.fileno())
        assert keeper.own_bytes([os.fspath(tmp_path)], []) - before >= 1 << 20
        (tmp_path / "large").unlink()
        assert (
            keeper.own_bytes([os.fspath(tmp_path)], [os.getpid()]) - before >= 1 << 20
        )


def test_files_in_memory_are_memory_and_not_disk(tmp_path: Path) -> None:
    """Otherwise a full disk would be blamed on a command that wrote nothing there."""
    own, memory = [os.getpid()], 1 << 20
    disk_before = keeper.own_bytes([os.fspath(tmp_path)], own)
    held_before = sum(keeper._blocks_of_memory_files(own).values())
    file = os.memfd_create("in-memory")
    try:
        os.write(file, bytes(memory))
        assert keeper.own_bytes([os.fspath(tmp_path)], own) == disk_before
        held = sum(keeper._blocks_of_memory_files(own).values())
        assert (held - held_before) * keeper.BLOCK >= memory
    finally:
        os.close(file)
