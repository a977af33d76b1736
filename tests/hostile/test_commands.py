"""Test commands that misbehave while accordance runs them: contained, ended, and nothing is left of them."""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from accordance.domain.facts import Ending, IsolationLevel
from accordance.workspace.confining import PYTHON
from accordance.workspace.isolation import CommandLimits, Room
from accordance.workspace.probing import probe
from accordance.workspace.running import run
from accordance.workspace.snapshot import take_snapshot
from tests.hostile.commands import COMMANDS, HostileCommand
from tests.limits import LIMIT

LIMITS = CommandLimits(
    seconds=3,
    memory_bytes=512 << 20,
    processes=48,
    output_bytes=1 << 20,
    file_bytes=64 << 20,
    disk_bytes=64 << 20,
    scratch_bytes=16 << 20,
)
PRELUDE = "import glob, os, signal, socket, subprocess, sys, time\n"
CONFINING = [level for level in IsolationLevel if level.confines]


@dataclass
class Places:
    """Where a command must not reach."""

    outside: Path
    secret: Path
    server: socket.socket
    datagrams: socket.socket
    workspace: Path
    token: str

    def told(self) -> str:
        """The same, in the words of the commands."""
        names = {
            "OUTSIDE": self.outside,
            "HOME_SECRET": self.secret,
            "WORKSPACE": self.workspace,
            "TOKEN": self.token,
        }
        lines = [f"{name} = {str(value)!r}\n" for name, value in names.items()]
        return "".join((PRELUDE, *lines, f"PORT = {self.server.getsockname()[1]}\n"))

    def reached(self) -> bool:
        """Whether anything came through the network."""
        for listening in (self.server, self.datagrams):
            listening.setblocking(False)
        try:
            self.server.accept()
        except BlockingIOError:
            pass
        else:
            return True
        try:
            return bool(self.datagrams.recv(10))
        except BlockingIOError:
            return False


@contextmanager
def _places(tmp_path: Path) -> Iterator[Places]:
    outside, workspace = tmp_path / "outside", tmp_path / "workspace"
    (workspace / "src").mkdir(parents=True)
    (workspace / "src/app.py").write_text("mine", "utf-8")
    outside.mkdir()
    (outside / "precious.txt").write_text("precious-hunter2", "utf-8")
    home = (
        Path.home() if Path.home().is_dir() else outside
    )  # a machine may have none for whoever runs the tests
    with (
        tempfile.NamedTemporaryFile("w", dir=home, prefix=".secret-") as secret,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        datagrams.bind(server.getsockname())
        secret.write("home-hunter2")
        secret.flush()
        token = f"left-{secrets.token_hex(8)}"
        yield Places(outside, Path(secret.name), server, datagrams, workspace, token)


def _running(token: str) -> list[str]:
    """Processes that carry the token."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if token in words:
            found.append(words)
    return found


@pytest.mark.parametrize("level", CONFINING)
@pytest.mark.parametrize("hostile", COMMANDS, ids=str)
def test_the_command_is_contained(
    hostile: HostileCommand,
    level: IsolationLevel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It reaches nothing outside, ends as it must, and leaves no process."""
    can = {one.level: one for one in probe().levels}[level]
    if not can.works:
        pytest.skip(f"{level} does not work here: {can.detail}")
    monkeypatch.setenv("THE_SECRET", "environment-hunter2")
    with _places(tmp_path) as places:
        room = Room(tmp_path / "room")
        (room.work / "tests").mkdir(parents=True)
        (room.work / "tests/hostile.py").write_text(
            places.told() + hostile.source, "utf-8"
        )
        room.prepare(level)
        before = take_snapshot(places.outside), take_snapshot(places.workspace)
        command = f"{PYTHON} -B tests/hostile.py # {places.token}"
        may_time_out = Ending.TIMED_OUT in hostile.endings
        limits = (
            LIMITS if may_time_out else replace(LIMITS, seconds=LIMIT)
        )  # a busy machine is slow, not hostile
        done = run(command, room, tmp_path / "log", level=level, limits=limits)
        log = (tmp_path / "log").read_text("utf-8", "replace")
        assert (
            take_snapshot(places.outside),
            take_snapshot(places.workspace),
        ) == before
        assert not places.reached()
        assert not _running(places.token)
    assert done.ending in hostile.endings, done
    assert not done.passed or hostile.passes, (done, log)
    assert "hunter2" not in log
    assert done.isolation is level
    assert done.log_bytes == (tmp_path / "log").stat().st_size <= LIMITS.output_bytes
    for planted in ("/usr/local/planted", "/etc/planted"):
        assert not Path(planted).exists()
    assert "did it" not in log or "daemon" in hostile.name, log


@pytest.mark.parametrize("level", [*CONFINING, IsolationLevel.RLIMIT])
def test_leftovers_are_ended_and_counted(level: IsolationLevel, tmp_path: Path) -> None:
    """A daemon does not outlive its command at any level; where there is no namespace it is counted."""
    if not {one.level: one for one in probe().levels}[level].works:
        pytest.skip(f"{level} does not work here")
    token = f"left-{secrets.token_hex(8)}"
    room = Room(tmp_path / "room")
    room.prepare(level)
    command = f"(setsid sh -c 'sleep 1000; : {token}' >/dev/null 2>&1 &) ; sleep 0.2; echo fine"
    limits = replace(LIMITS, seconds=LIMIT)
    done = run(command, room, tmp_path / "log", level=level, limits=limits)
    assert done.passed
    assert not _running(token)
    assert bool(done.leftovers) == (level is not IsolationLevel.BWRAP)


def test_a_command_without_isolation_that_kills_its_keeper_is_still_ended(
    tmp_path: Path,
) -> None:
    """At the rlimit level the keeper can be killed; the run then counts as failed and everything is swept up."""
    token = f"left-{secrets.token_hex(8)}"
    room = Room(tmp_path / "room")
    room.prepare(IsolationLevel.RLIMIT)
    command = f"(setsid sh -c 'sleep 1000; : {token}' &) ; kill -9 $PPID; sleep 1000"
    done = run(
        command, room, tmp_path / "log", level=IsolationLevel.RLIMIT, limits=LIMITS
    )
    assert not done.passed
    assert done.ending is Ending.SIGNALLED
    assert not _running(token)
    assert os.getpid()  # we are still here
