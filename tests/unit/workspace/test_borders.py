"""The borders of isolation, tried from inside: as root and as an ordinary user, at every level that confines.

Everything happens in a process of its own with a Python that anybody can reach, so that who runs the tests does not matter.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import accordance
from accordance.domain.facts import Ending, IsolationLevel
from accordance.workspace.errors import IsolationUnavailable
from accordance.workspace.isolation import Room, why_no_landlock
from accordance.workspace.probing import probe
from accordance.workspace.running import run
from tests.limits import LIMIT

USER = 12321  # nobody's number
LEVELS = ("bwrap", "landlock")
WHO = ("root", "user") if os.geteuid() == 0 else ("user",)
CASES = [(who, level) for who in WHO for level in LEVELS]
IDS = [f"{who}-{level}" for who, level in CASES]
PREPARED = """
import ctypes, errno, json, os, resource, subprocess, sys
from pathlib import Path
from accordance.domain.facts import IsolationLevel
from accordance.workspace.isolation import Room, sandbox_user
from accordance.workspace import probing
from accordance.workspace.snapshot import take_snapshot
from accordance.workspace.testing import JudgedTree, run_tests

level, place = IsolationLevel(sys.argv[1]), Path(sys.argv[2])
works = probing._bubblewrap() if level is IsolationLevel.BWRAP else probing._landlock()
if not works.works:
    print(json.dumps({"missing": works.detail}))
    sys.exit()
outside = place / "outside"

def tested(*commands):
    judged = place / "judged"
    judged.mkdir()
    (judged / "test.txt").write_text("as judged\\n")
    room = Room(place / "rooms" / "room", appears_at=place / "repository")
    done = run_tests(commands, JudgedTree(judged, take_snapshot(judged)), room, place / "logs", level=level)
    return [log.read_text("utf-8", "replace") for log in done.logs]

def python(code):
    return f"{sys.executable} -I -S -c '{code}'"

def tell(**found):
    print(json.dumps(found))
"""


@dataclass(frozen=True)
class Stage:
    """A place outside with a secret in it, and a Python that runs as somebody."""

    place: Path
    package: Path
    python: str
    user: int | None
    level: str

    @property
    def outside(self) -> Path:
        return self.place / "outside"

    def play(self, script: str) -> dict[str, Any]:
        """Run a script as this user at this level; what it tells."""
        done = subprocess.run(
            (self.python, "-c", PREPARED + script, self.level, self.place),
            env={"PYTHONPATH": os.fspath(self.package), "PATH": os.defpath, "HOME": os.fspath(self.place)},
            user=self.user,
            group=self.user,
            extra_groups=None if self.user is None else [],
            capture_output=True,
            text=True,
            cwd="/",
            timeout=LIMIT,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        if "missing" in told:
            pytest.skip(f"{self.level} does not work here: {told['missing']}")
        return told


def _common_python() -> str | None:
    """A Python that everybody can reach, new enough."""
    for python in (
        os.path.realpath(sys.executable),
        "/usr/bin/python3",
        "/usr/local/bin/python3",
    ):
        closed = [
            one
            for one in Path(python).parents
            if not one.is_dir() or not one.stat().st_mode & 1
        ]
        if not closed and os.access(python, os.X_OK):
            asked = (python, "-c", "import sys; print(sys.version_info >= (3, 11))")
            if (
                subprocess.run(
                    asked, capture_output=True, text=True, check=False
                ).stdout
                == "True\n"
            ):
                return python
    return None


@pytest.fixture(scope="module")
def package() -> Iterator[Path]:
    """The package where everybody can reach it."""
    place = Path(tempfile.mkdtemp(prefix="borders-"))
    place.chmod(0o755)
    shutil.copytree(
        Path(accordance.__file__).parent,
        place / "accordance",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    yield place
    shutil.rmtree(place)


@pytest.fixture(params=CASES, ids=IDS)
def stage(request: pytest.FixtureRequest, package: Path) -> Iterator[Stage]:
    """One for each user and level."""
    who, level = request.param
    python = _common_python()
    if python is None:
        pytest.skip(
            "there is no Python of version 3.11 or newer that everybody can reach"
        )
    place = Path(tempfile.mkdtemp(prefix="borders-"))
    user = USER if who == "user" and os.geteuid() == 0 else None
    (place / "outside").mkdir()
    (place / "outside/secret").write_text("hunter2\n", "utf-8")
    (place / "repository").mkdir()
    if user is not None:
        for one in (place, *place.rglob("*")):
            os.chown(one, user, user)
    place.chmod(0o711)
    yield Stage(place, package, python, user, level)
    shutil.rmtree(place)


def test_no_command_decides_what_the_next_one_is_given(stage: Stage) -> None:
    """A link in the place of a folder cannot be laid, and would lead nowhere."""
    told = stage.play("""
swap = "".join(f'mv {name} aside-{name}; rm -rf {name}; ln -s {outside} {name}; ' for name in ("work", "home", "tmp"))
look = 'cat secret "$HOME/secret" "$TMPDIR/secret"; touch planted "$HOME/planted" "$TMPDIR/planted"; ls'
tell(logs=tested(f'cd "$HOME/.."; {swap} true', look, look))
""")
    assert "hunter2" not in "".join(told["logs"])
    assert [place.name for place in stage.outside.iterdir()] == ["secret"]
    assert [log.splitlines()[-2:] for log in told["logs"][1:]] == [
        ["planted", "test.txt"]
    ] * 2


def test_no_command_leaves_anything_to_the_next_one(stage: Stage) -> None:
    """Each has the judged tree, an empty home and an empty folder for temporary files."""
    told = stage.play("""
leave = "echo rewritten > test.txt; touch conftest.py; for d in $HOME $TMPDIR /tmp /var/tmp /dev/shm; do touch $d/left; done; true"
tell(logs=tested(leave, "cat test.txt; ls -A . $HOME $TMPDIR /tmp /var/tmp /dev/shm 2>/dev/null; true"))
""")
    assert told["logs"][1].startswith("as judged\n")
    assert "left" not in told["logs"][1].split()
    assert "conftest.py" not in told["logs"][1].split()


KEPT_BY_LIBC = 0b11 << 31
"""Signals 32 and 33: the C library keeps them for its threads and lets no program set them."""


def test_honest_commands_have_all_they_need(stage: Stage) -> None:
    """A file made elsewhere can be moved into the tree, scripts run, and a pipe that closes early ends its writer."""
    told = stage.play("""
made = 'echo made > "$TMPDIR/x" && mv "$TMPDIR/x" x && cat x && echo 1 > "$HOME/h" && yes | head -1'
tell(logs=tested(made, "sleep 1000 & kill $!; wait $!; echo $?; grep SigIgn /proc/self/status"))
""")
    assert told["logs"][0] == "made\ny\n"
    *_, exit_code, _, ignored = told["logs"][1].split()
    assert exit_code == "143"
    assert int(ignored, 16) & ~KEPT_BY_LIBC == 0


def test_nothing_says_that_this_is_a_judgement(stage: Stage) -> None:
    """An ordinary CI run sets CI; no variable says more."""
    told = stage.play("tell(logs=tested('env'))")
    names = {line.partition("=")[0] for line in told["logs"][0].splitlines()}
    assert "CI" in names
    assert not [
        name
        for name in names
        if "ACCORDANCE" in name.upper() or "JUDGE" in name.upper()
    ]


def test_other_processes_of_the_same_user_keep_their_limits(stage: Stage) -> None:
    """Neither limits nor priority nor processors of a process outside can be set; a process's own can."""
    told = stage.play("""
user = sandbox_user(level)
other = subprocess.Popen(["sleep", "60"], user=user, group=user)
def state():
    return [Path(f"/proc/{other.pid}/limits").read_text(), os.getpriority(os.PRIO_PROCESS, other.pid),
            sorted(os.sched_getaffinity(other.pid)), os.sched_getscheduler(other.pid)]
code = f'''
import os, resource
def attempt(action):
    try: action()
    except OSError as error: print("refused")
    else: print("did it")
for pid in ({other.pid}, 0):
    attempt(lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (100, 100)))
    attempt(lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
    attempt(lambda: os.sched_setaffinity(pid, list(os.sched_getaffinity(0))[:1]))
    attempt(lambda: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0)))
attempt(lambda: os.setpriority(os.PRIO_USER, 0, 19))
'''
try:
    before = state()
    (log,) = tested(python(code))
    after = state()
finally:
    other.kill()
tell(log=log, before=before, after=after)
""")
    assert told["after"] == told["before"]
    assert told["log"].split("\n")[:8] == ["refused"] * 4 + ["did it"] * 4


def test_no_shared_memory_stays_or_is_reached(stage: Stage) -> None:
    """Segments, semaphores and queues of the user outside cannot be had, and none is left there."""
    told = stage.play("""
libc = ctypes.CDLL(None, use_errno=True)
key = 0x41434344
def listed():
    return [Path(f"/proc/sysvipc/{kind}").read_text().count(f" {key} ") for kind in ("shm", "sem", "msg")]
ours = libc.shmget(key + 1, 4096, 0o1666)
assert ours >= 0
code = f'''
import ctypes
libc = ctypes.CDLL(None)
print("attached" if libc.shmget({key + 1}, 4096, 0) >= 0 else "refused")
print(libc.shmget({key}, 4096, 0o1666), libc.semget({key}, 1, 0o1666), libc.msgget({key}, 0o1666), libc.mq_open(b"/left", 0o102, 0o666, None))
'''
(log,) = tested(python(code))
found = listed()
libc.shmctl(ours, 0, None)
tell(log=log, found=found, queue=libc.mq_open(b"/left", 0))
""")
    assert told["log"].startswith("refused\n")
    assert told["found"] == [0, 0, 0]
    assert told["queue"] == -1


def test_modes_owners_times_and_attributes_outside_stay(stage: Stage) -> None:
    """Where Landlock confines the very user whose files they are it has no say in these, and its documentation says so."""
    if stage.level == "landlock" and (stage.user is not None or os.geteuid() != 0):
        pytest.skip("Landlock has no say in modes and times of files of the same user")
    told = stage.play("""
secret = outside / "secret"
def state():
    about = secret.stat()
    return [about.st_mode, about.st_uid, about.st_mtime_ns, os.listxattr(secret)]
before = state()
code = f'''
import os
for action in (lambda: os.chmod("{secret}", 0o777), lambda: os.chown("{secret}", os.getuid(), -1),
               lambda: os.utime("{secret}", (1, 1)), lambda: os.setxattr("{secret}", "user.x", b"x")):
    try: action()
    except OSError as error: print("refused")
'''
(log,) = tested(python(code))
tell(log=log, before=before, after=state())
""")
    assert told["log"].split() == ["refused"] * 4
    assert told["after"] == told["before"]


@pytest.mark.parametrize("level", [one.level for one in probe().levels if one.works])
@pytest.mark.parametrize("name", ["work", "home", "tmp", "."])
def test_a_link_in_the_place_of_a_folder_is_not_used(
    tmp_path: Path, level: IsolationLevel, name: str
) -> None:
    """Whoever put it there: the command does not start."""
    outside = tmp_path / "outside"
    room = Room(tmp_path / "room")
    room.prepare(level)
    shutil.copytree(room.folder, outside)
    place = room.folder / name
    shutil.rmtree(place)
    place.symlink_to(outside if name == "." else outside / name)
    done = run(
        "touch planted $HOME/planted $TMPDIR/planted",
        room,
        tmp_path / "log",
        level=level,
    )
    assert done.ending is Ending.NOT_STARTED
    assert not list(outside.rglob("planted"))


def test_landlock_is_refused_to_root_where_nobody_cannot_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would have to stay root, whose files' modes and owners Landlock does not guard."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    room = Room(closed / "room")
    why = why_no_landlock(room, IsolationLevel.LANDLOCK)
    assert why.startswith("root's commands run as nobody, who cannot pass ")
    assert not why_no_landlock(room, IsolationLevel.BWRAP)
    with pytest.raises(
        IsolationUnavailable,
        match=r"install bubblewrap .*, run accordance as an ordinary user",
    ):
        room.prepare(IsolationLevel.LANDLOCK)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not why_no_landlock(room, IsolationLevel.LANDLOCK)
