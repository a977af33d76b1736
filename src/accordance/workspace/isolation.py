"""Keeping a command apart: what it may see, what it may write, how much it may use, and with which means.

bwrap       own mounts, processes, network and loopback; only system folders and what is named is there at all
landlock    the same folders by kernel rules; no sockets, no shared memory; signals (from Linux 6.12 on) and ptrace end at
            its border, and no limit, priority or processor of another process can be set
rlimit      limits only, by explicit wish: the command has the user's own rights

A command may write to its `work`, `home` and `tmp`, and to nothing above them: the folder they lie in is ours, so that no
command decides what the next one is given. Before each start the four are looked at; a link in their place is refused.

Started by root, a confined command becomes `nobody`. Bubblewrap shows it the way to its places; at the landlock level
`nobody` must be able to go there, and where that is not so, the command is not run. Whoever is confined by landlock can still
change modes and times of files of the same user elsewhere, for Landlock has no say in these; contents and names cannot
be touched, and nothing there be read.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from accordance.domain.facts import IsolationLevel, IsolationProbe, LevelProbe
from accordance.workspace.errors import IsolationUnavailable
from accordance.workspace.inside import confine
from accordance.workspace.inside.keeper import threads_of

NOBODY: Final = 65534
_PASSABLE: Final = 0o711  # others can go through and see nothing
INSTALL: Final = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)"
ROOT_REMEDY: Final = f"{INSTALL}, run accordance as an ordinary user"
SYSTEM: Final = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
)
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_DEFAULT_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")
_INTERNET_AND_LOCAL: Final = (
    1,
    2,
    10,
    16,
)  # unix, inet, inet6, netlink: all of them private in a network of its own
_PYTHON: Final = os.path.realpath(sys.executable)
_LAST_STEP: Final = Path(confine.__file__).read_text("utf-8")


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """How much a command may use."""

    seconds: float = 600
    memory_bytes: int = 8 << 30
    processes: int = 512
    output_bytes: int = 16 << 20
    file_bytes: int = 2 << 30  # of any one file
    disk_bytes: int = 8 << 30  # of all files together
    scratch_bytes: int = 512 << 20  # of each folder that lives in memory
    open_files: int = 4096


@dataclass(frozen=True, slots=True)
class Room:
    """Where a command runs: `home`, `tmp` and, unless it lies elsewhere, `work`, in a folder that it cannot change."""

    folder: Path
    appears_at: Path | None = (
        None  # where `work` shows itself, for means that can move it
    )
    readable: tuple[Path, ...] = ()  # further folders to be seen, read only
    environment: Mapping[str, str] = field(
        default_factory=dict
    )  # what the command is told beyond the usual
    tree: Path | None = None  # the tree it works on, where that lies elsewhere
    log: str = ""  # a file of the folder that the command may write

    @property
    def work(self) -> Path:
        """The tree the command works on."""
        return self.tree or self.folder / "work"

    @property
    def own(self) -> tuple[Path, ...]:
        """The folders the command may write to."""
        return (self.work, self.folder / "home", self.folder / "tmp")

    @property
    def written(self) -> tuple[str, ...]:
        """Everything the command may write to."""
        files = (self.folder / self.log,) if self.log else ()
        return tuple(map(os.fspath, (*self.own, *files)))

    def prepare(self, level: IsolationLevel) -> None:
        """Make the folders, and give them to whoever the command will be. Raises IsolationUnavailable."""
        for place in (self.folder, *self.own):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.log:
            (self.folder / self.log).touch(mode=0o600)
        user = sandbox_user(level)
        if user is None:
            return
        self.folder.chmod(_PASSABLE)
        if why := why_no_landlock(self, level):
            raise IsolationUnavailable(level.value, IsolationProbe((_refused(why),)))
        for place in self.own:
            _give(place, user)
        for file in self.folder.iterdir():
            if stat.S_ISREG(file.lstat().st_mode):
                os.chown(file, user, user, follow_symlinks=False)


def _give(place: Path, user: int) -> None:
    for directory, folders, files in os.walk(place):
        for name in (*folders, *files, "."):
            os.chown(os.path.join(directory, name), user, user, follow_symlinks=False)  # noqa: PTH118 - texts


def sandbox_user(level: IsolationLevel) -> int | None:
    """Whom a command started by root becomes; None where it stays who it is."""
    return NOBODY if os.geteuid() == 0 and level.confines else None


def why_no_landlock(room: Room, level: IsolationLevel) -> str:
    """Why Landlock cannot confine what root runs in this room, or nothing.

    Root must become somebody else: Landlock has no say in modes, owners, times and attributes, and all files are root's.
    """
    if level is not IsolationLevel.LANDLOCK or os.geteuid() != 0:
        return ""
    needed = (*room.written, *_own_places(room))
    closed = next((above for place in needed if (above := _closed_above(place))), None)
    if closed is None:
        return ""
    return f"root's commands run as nobody, who cannot pass {closed}"


def _closed_above(place: str) -> Path | None:
    """The first folder above a place that not everybody can pass."""
    above = (parent for parent in reversed(Path(place).parents) if parent.exists())
    return next((parent for parent in above if not parent.stat().st_mode & 0o001), None)


def _refused(why: str) -> LevelProbe:
    return LevelProbe(
        IsolationLevel.LANDLOCK, works=False, detail=why, remedy=ROOT_REMEDY
    )


def _own_places(room: Room) -> tuple[str, ...]:
    """What must be seen beside the system: this interpreter, its environment, and what was named."""
    own = (sys.prefix, sys.base_prefix, *map(os.fspath, room.readable))
    return tuple(dict.fromkeys((*map(os.path.realpath, own), *own)))


def visible(room: Room) -> tuple[str, ...]:
    """Every folder a command can read."""
    return (*SYSTEM, *_own_places(room))


def environment(room: Room, level: IsolationLevel) -> dict[str, str]:
    """A clean environment: nothing of ours gets through but the folders of the search path that can be seen."""
    seen = visible(room)
    wanted = (
        os.path.join(sys.prefix, "bin"),  # noqa: PTH118
        *os.environ.get("PATH", "").split(":"),
        *_DEFAULT_PATH,
    )
    path = [place for place in wanted if _below(place, seen)]
    work = (
        room.appears_at
        if room.appears_at and level is IsolationLevel.BWRAP
        else room.work
    )
    return {
        "PATH": ":".join(dict.fromkeys(path)),
        "HOME": os.fspath(room.folder / "home"),
        "TMPDIR": os.fspath(room.folder / "tmp"),
        "PWD": os.fspath(work),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "USER": "nobody",
        "LOGNAME": "nobody",
        "CI": "true",
        "PYTHONDONTWRITEBYTECODE": "1",
        **room.environment,
    }


def _below(place: str, roots: Sequence[str]) -> bool:
    return any(place == root or place.startswith(f"{root}/") for root in roots)


def argv(
    command: str, room: Room, level: IsolationLevel, limits: CommandLimits
) -> list[str]:
    """The whole command line that keeps `command` apart at this level."""
    moved = (
        room.appears_at
        if room.appears_at and level is IsolationLevel.BWRAP
        else room.work
    )
    user = sandbox_user(level)
    plan = {
        "command": command,
        "directory": os.fspath(moved),
        "user": user,
        "powerless": level.confines,
        "landlock": level is IsolationLevel.LANDLOCK,
        "readable": [*visible(room), os.fspath(room.folder), "/proc"],
        "writable": [*room.written, *_DEVICES],
        "families": _families(level),
        "shared": level is IsolationLevel.LANDLOCK,
        "limits": _kernel_limits(limits, os.getuid() if user is None else user),
    }
    last_step = [_PYTHON, "-I", "-S", "-c", _LAST_STEP, json.dumps(plan)]
    return (
        [*_bubblewrap(room, limits), *last_step]
        if level is IsolationLevel.BWRAP
        else last_step
    )


def _families(level: IsolationLevel) -> tuple[int, ...] | None:
    """Which sockets may be opened; None where no filter is used."""
    if not level.confines:
        return None
    return _INTERNET_AND_LOCAL if level is IsolationLevel.BWRAP else ()


def _kernel_limits(limits: CommandLimits, user: int) -> dict[str, int]:
    return {
        "CORE": 0,
        "CPU": round(limits.seconds) + 5,
        "DATA": limits.memory_bytes,
        "FSIZE": limits.file_bytes,
        "NOFILE": limits.open_files,
        "NPROC": threads_of(user) + limits.processes,
    }


def _bubblewrap(room: Room, limits: CommandLimits) -> list[str]:
    """A file system made of what is named, and nothing shared but the kernel."""
    made = [
        shutil.which("bwrap") or "bwrap",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
    ]
    made += [
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
    ]
    made += [] if os.geteuid() == 0 else ["--unshare-user"]
    for scratch in ("/tmp", "/var/tmp", "/dev/shm"):  # noqa: S108 - names inside the sandbox
        made += [
            "--perms",
            "1777",
            "--size",
            str(limits.scratch_bytes),
            "--tmpfs",
            scratch,
        ]
    for place in SYSTEM:
        made += ["--ro-bind-try", place, place]
    for place in _own_places(room):
        if not _below(place, SYSTEM):
            made += _bound("--ro-bind-try", place)
    # last, so that a folder that may be read never hides one in it that may be written
    seen = [place for place in _own_places(room) if not _below(place, SYSTEM)]
    around = [
        place
        for place in seen
        if _below(os.fspath(room.folder), (place,))
        or _below(os.fspath(room.work), (place,))
    ]
    for place in around:  # first, or they would hide what lies in them
        made += _bound("--ro-bind-try", place)
    made += _bound("--ro-bind", os.fspath(room.folder))
    for place in room.written:
        made += _bound("--bind", place)
    if room.appears_at is not None:
        made += _bound("--bind", os.fspath(room.work), os.fspath(room.appears_at))
    for place in seen:
        if place not in around:
            made += _bound("--ro-bind-try", place)
    return [*made, "--remount-ro", "/dev", "--remount-ro", "/", "--"]


def _bound(how: str, source: str, target: str = "") -> list[str]:
    """Bind a folder, and make the folders above it such that everybody can pass."""
    target = target or source
    above = [os.fspath(parent) for parent in reversed(Path(target).parents)][1:]
    return [
        *(part for parent in above for part in ("--perms", "0755", "--dir", parent)),
        how,
        source,
        target,
    ]
