"""Whatever the command line is called with: a documented exit code, and one line where something is wrong."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from accordance.cli import reading
from accordance.cli.writing import write_output
from accordance.errors import CannotWrite
from tests.acceptance.cli import interruptible
from tests.hostile.calls import (
    DOCUMENTED,
    Stage,
    commands,
    each_value,
    random_call,
    the_call,
)
from tests.limits import LIMIT

pytestmark = pytest.mark.xdist_group(
    "calls"
)  # in one worker, so that the stage is built once
KNOWN = commands()
ACCORDANCE = (sys.executable, "-m", "accordance.cli.main")
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A folder with everything a call may stumble over. Nobody is waited for at a pipe for long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "PATIENCE", 0.01)
        yield Stage(tmp_path_factory.mktemp("calls"))


@pytest.mark.parametrize("name", sorted({command.words[0] for command in KNOWN}))
def test_a_command_says_what_does_not_fit(name: str, stage: Stage) -> None:
    """Each argument and option, with each file or text that does not fit."""
    faults = []
    for command in KNOWN:
        if command.words[0] != name:
            continue
        for args in each_value(command, stage.files):
            fault = stage.call(*args).fault()
            stage.reset()
            if fault is not None:
                faults.append(f"{fault}: {the_call(args)}")
    assert faults == []


def test_random_calls_end_as_documented(stage: Stage) -> None:
    """A short run of what `make fuzz` does for as long as it is asked to."""
    dice = random.Random(20_27)
    faults = []
    for command in itertools.islice(itertools.cycle(KNOWN), 200):
        args = random_call(dice, command, stage.files)
        fault = stage.call(*args, stdin=b"{}").fault()
        stage.reset()
        if fault is not None:
            faults.append(f"{fault}: {the_call(args)}")
    assert faults == []


def in_a_shell(
    line: str, *args: str, cwd: Path, **env: str | None
) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell in which "$@" is the call."""
    around = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    given = {name: value for name, value in around.items() if value is not None}
    command = ["/bin/sh", "-c", line, "sh", *ACCORDANCE, *args]
    return subprocess.run(
        command, cwd=cwd, env=given, capture_output=True, timeout=LIMIT, check=False
    )


@pytest.mark.parametrize(
    ("line", "args", "code", "said"),
    [
        pytest.param('"$@" <&-', ("check", "-"), 2, b"standard input: cannot be read", id="standard input is closed"),
        pytest.param('"$@" >&-', ("contract", "list"), 2, b"standard output: cannot be", id="standard output is closed"),
        pytest.param('"$@" >/dev/full', ("contract", "list"), 2, b"No space left", id="standard output is full"),
        pytest.param('"$@" >/dev/full', ("check", "list.json"), 2, b"No space left", id="a report on a full device is no rejection"),
        pytest.param('"$@" 2>&-', ("check", "missing.json"), 5, b"", id="standard error is closed"),
        pytest.param('"$@" 2>/dev/full', ("check", "missing.json"), 5, b"", id="standard error is full"),
        pytest.param('"$@" <&- >&- 2>&-', ("plan", "list"), 2, b"", id="everything is closed"),
        pytest.param('{ "$@"; echo $? >&2; } | true', ("check", "list.json"), 0, b"1\n", id="the reader has gone, the rejection stays"),
        pytest.param('{ "$@"; echo $? >&2; } | true', ("contract", "show", "PLAN_GEN"), 0, b"0\n", id="the reader of a long page has gone"),
        pytest.param('mkdir -p gone && cd gone && rmdir ../gone && "$@"', ("plan", "list"), 2, b"has been removed", id="the current folder is removed"),
        pytest.param('"$@"', ("plan", "graph", "plan.json", "-o", "/dev/full"), 2, b"No space left", id="the output is a full device"),
    ],
)  # fmt: skip
def test_streams(
    line: str, args: tuple[str, ...], code: int, said: bytes, stage: Stage
) -> None:
    """Streams that are closed, full or left, and a folder that is gone."""
    done = in_a_shell(line, *args, cwd=stage.root)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert b"Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1


FEW_LETTERS = {
    "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii",
}  # fmt: skip
BARE = dict.fromkeys(("HOME", "PATH", "TERM", "USER", "LOGNAME"))
GARBAGE = {"COLUMNS": "wide", "LINES": "-1", "TERM": "\x1b[31m", "TZ": "Nowhere/At all", "NO_COLOR": "1"}  # fmt: skip


@pytest.mark.parametrize(
    ("env", "args", "code"),
    [
        pytest.param(
            FEW_LETTERS,
            ("plan", "status", "--once"),
            0,
            id="a plan with letters ASCII does not have",
        ),
        pytest.param(
            FEW_LETTERS,
            ("check", "grün.json"),
            5,
            id="a file name with letters ASCII does not have",
        ),
        pytest.param(BARE, ("plan", "status", "--once"), 0, id="nothing is set"),
        pytest.param(GARBAGE, ("contract", "show", "PLAN_GEN"), 0, id="garbage is set"),
    ],
)
def test_environments(
    env: dict[str, str | None], args: tuple[str, ...], code: int, stage: Stage
) -> None:
    """Around a call there may be next to nothing, or nothing that makes sense."""
    done = in_a_shell('"$@"', *args, cwd=stage.root, **env)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr


HELLO = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        },
    }
)


@pytest.mark.parametrize(
    ("args", "number", "code"),
    [
        pytest.param(
            ("check", "plan.json", "-"), signal.SIGINT, 130, id="Ctrl-C and a check"
        ),
        pytest.param(
            ("check", "plan.json", "-"), signal.SIGTERM, 143, id="SIGTERM and a check"
        ),
        pytest.param(
            ("events", "--follow"),
            signal.SIGINT,
            130,
            id="Ctrl-C and events that are followed",
        ),
        pytest.param(("mcp",), signal.SIGTERM, 143, id="SIGTERM and a server of tasks"),
    ],
)
def test_signals(args: tuple[str, ...], number: int, code: int, stage: Stage) -> None:
    """A call that waits is ended by a signal, and says which by its exit code."""
    waiting = subprocess.Popen(
        [*ACCORDANCE, *args], cwd=stage.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**interruptible(), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    with waiting:
        assert waiting.stdin is not None
        assert waiting.stdout is not None
        assert waiting.stderr is not None
        if args == ("mcp",):
            waiting.stdin.write(f"{HELLO}\n".encode())
            waiting.stdin.flush()
        assert waiting.stdout.read(1) != b""
        waiting.send_signal(number)
        try:
            waiting.wait(LIMIT)
        finally:
            waiting.kill()
        said = waiting.stderr.read()
    assert waiting.returncode == code, said
    assert b"Traceback" not in said


def test_every_exit_code_is_documented(stage: Stage) -> None:
    """What --help says is what these tests hold every call to, beside 70, which none of them may end with."""
    page = " ".join(stage.call("--help").out.split())
    assert [code for code in sorted(DOCUMENTED | {70}) if f" {code} " not in page] == []


# -- outputs


def test_an_output_is_a_whole_file_or_none(tmp_path: Path) -> None:
    """A new file, and one that is there, is replaced as a whole."""
    place = tmp_path / "new" / "plan.svg"
    write_output(place, b"first")
    write_output(str(place), b"second")
    assert (place.read_bytes(), [file.name for file in place.parent.iterdir()]) == (
        b"second",
        ["plan.svg"],
    )


def test_an_output_goes_through_a_link(tmp_path: Path) -> None:
    """The link stays a link."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"something longer")
    link.symlink_to(target)
    write_output(link, b"short")
    assert (link.is_symlink(), target.read_bytes()) == (True, b"short")


def test_an_output_goes_into_a_pipe_that_is_read(tmp_path: Path) -> None:
    """The pipe stays a pipe, and all of it arrives, however much it is."""
    pipe, content, arrived = tmp_path / "pipe", bytes(300_000), []
    os.mkfifo(pipe)
    number = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(number, True)

    def take() -> None:
        with os.fdopen(number, "rb") as stream:
            arrived.append(stream.read())

    holder = os.open(
        pipe, os.O_WRONLY
    )  # else the reader might see an end before there is a beginning
    reader = threading.Thread(target=take)
    reader.start()
    write_output(pipe, content)
    os.close(holder)
    reader.join()
    assert (stat.S_ISFIFO(pipe.lstat().st_mode), arrived == [content]) == (True, True)


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder", "loop", "long"])
def test_an_output_that_cannot_be_is_refused_and_stays(
    kind: str, tmp_path: Path
) -> None:
    """A pipe nobody reads, a socket, a folder, a link to itself, a name that is too long."""
    place = tmp_path / (kind if kind != "long" else "n" * 5000)
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.path.relpath(place))
    elif kind == "folder":
        place.mkdir()
    elif kind == "loop":
        place.symlink_to(place)
    before = sorted((file.name, file.lstat().st_ino) for file in tmp_path.iterdir())
    with pytest.raises(CannotWrite, match="cannot be written"):
        write_output(place, b"content")
    assert (
        sorted((file.name, file.lstat().st_ino) for file in tmp_path.iterdir())
        == before
    )


# -- pipes as inputs


def test_a_named_pipe_is_read_once_somebody_writes(tmp_path: Path) -> None:
    """Whoever writes may come later and take their time."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"x" * 100_000,))
    writer.start()
    content = reading.read_bounded(str(pipe))
    writer.join()
    assert content == b"x" * 100_000


# -- pages


def test_a_page_is_not_folded_where_there_is_no_terminal(stage: Stage) -> None:
    """Each field of a contract is one line, as long as it is, so that grep finds it."""
    lines = stage.call("contract", "show", "PLAN_GEN").out.splitlines()
    assert max(map(len, lines)) > 100
    assert [line for line in lines if line != line.rstrip()] == []
