"""Keeping a command apart: what it may see, write and use, and by which means.

bwrap       its own mounts, processes, network and loopback; nothing exists but system
            folders and what is named
landlock    the same folders by kernel rules; no sockets and no shared memory; signals
            (from Linux 6.12 on) and ptrace end at its border, and it can set no limit,
            priority or processor of another process
rlimit      limits only, on explicit request: the command has the user's own rights

A command may write to its `work`, `home` and `tmp`, and to nothing above them: the
folder they lie in is ours, so that no command decides what the next one is given.
Before each start the four are checked; a link in their place is refused.

Started by root, a confined command becomes `nobody`. Bubblewrap shows it the way to its
places; at the landlock level `nobody` must be able to go there, and where it cannot,
the command is not run. A command confined by Landlock can still change modes and times
of files of the same user elsewhere, because Landlock does not govern them; it cannot
read anything there, nor touch contents and names.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from accordance.domain.facts import IsolationLevel, IsolationProbe, LevelProbe
from accordance.workspace.errors import IsolationUnavailable
from accordance.workspace.inside import confine
from accordance.workspace.inside.keeper import threads_of
from accordance.workspace.judges_python import BARE, OWN

NOBODY: Final = 65534
PYTHON: Final = OWN.interpreter
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
_PASSABLE: Final = 0o711  # others can go through and see nothing
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_DEFAULT_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")
_LAST_STEP: Final = Path(confine.__file__).read_text("utf-8")

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_SOCKETS_OF_OWN_NETWORK: Final = (_UNIX, _INET, _INET6, _NETLINK)

_UNSHARED: Final = (
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
)
_MEMORY_FOLDERS: Final = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - in the sandbox
TOOL_CACHES: Final = (".cache", ".vite")
"""Folders of a trusted node_modules that tools write to while tests run.

Vitest fails where it cannot. Each run gets empty ones, where the folder has them.
"""
_SEALED: Final = ("--remount-ro", "/dev", "--remount-ro", "/", "--")


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """How much a command may use."""

    seconds: float = 600
    memory_bytes: int = 8 << 30
    processes: int = 512
    output_bytes: int = 16 << 20
    file_bytes: int = 2 << 30  # of any single file
    disk_bytes: int = 8 << 30  # of all files together
    scratch_bytes: int = 512 << 20  # of each folder that lives in memory
    open_files: int = 4096


@dataclass(frozen=True, slots=True)
class Room:
    """Where a command runs.

    The room's folder holds `home`, `tmp` and, unless it lies elsewhere, `work`. The
    command cannot change the folder itself.
    """

    folder: Path
    appears_at: Path | None = None
    """Where the command sees `work`, for isolation that can move it."""
    readable: tuple[Path, ...] = ()
    """Further folders that the command can see, read-only."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables beyond the usual ones."""
    tree: Path | None = None
    """The tree that the command works on, where that lies elsewhere."""
    log: str = ""
    """A file of the folder that the command may write."""
    programs: tuple[Path, ...] = ()
    """Folders of programs that come first on the search path."""
    sees_accordance: bool = False
    """Whether the command needs the Python environment that accordance runs in."""
    laid: Mapping[str, Path] = field(default_factory=dict)
    """Trusted folders, by the place in `work` where the command sees them."""
    generated: Path | None = None
    """A folder of files that preparing made in the tree; `work` gets those it lacks."""
    made: tuple[Path, ...] = ()
    """Further folders that the command fills."""
    has_network: bool = False
    """Whether the command may use the machine's network."""

    @property
    def work(self) -> Path:
        """The tree that the command works on."""
        return self.tree or self.folder / "work"

    @property
    def own(self) -> tuple[Path, ...]:
        """The folders that the command may write to."""
        return (self.work, self.folder / "home", self.folder / "tmp", *self.made)

    @property
    def written(self) -> tuple[str, ...]:
        """Everything that the command may write to."""
        places = [os.fspath(place) for place in self.own]
        if self.log:
            places.append(os.fspath(self.folder / self.log))
        return tuple(places)

    @property
    def bare_python(self) -> Path:
        """A Python in which nothing is installed, for want of another."""
        return self.folder / BARE

    def work_seen_at(self, level: IsolationLevel) -> Path:
        """Return where the command sees `work`; only bubblewrap can move it."""
        if self.appears_at is not None and level is IsolationLevel.BWRAP:
            return self.appears_at
        return self.work

    def prepare(self, level: IsolationLevel) -> None:
        """Make the folders, and give them to the user that the command will run as.

        Raises IsolationUnavailable.
        """
        for place in (self.folder, *self.own):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.log:
            (self.folder / self.log).touch(mode=0o600)
        if not self.bare_python.exists():
            OWN.lay_bare(self.bare_python)

        user = sandbox_user(level)
        if user is None:
            return

        self.folder.chmod(_PASSABLE)
        obstacle = why_no_landlock(self, level)
        if obstacle:
            raise IsolationUnavailable(
                level.value, IsolationProbe((_refused(obstacle),))
            )

        for place in self.own:
            give_tree(place, user)
        for file in self.folder.iterdir():
            if stat.S_ISREG(file.lstat().st_mode):
                os.chown(file, user, user, follow_symlinks=False)


def give_tree(place: Path, user: int) -> None:
    """Make a user the owner of a folder and everything in it; root alone can."""
    for directory, folders, files in os.walk(place):
        for name in (*folders, *files, "."):
            path = os.path.join(directory, name)  # noqa: PTH118 - texts
            os.chown(path, user, user, follow_symlinks=False)


def sandbox_user(level: IsolationLevel) -> int | None:
    """Return the user that root's commands run as; None where the user stays."""
    if os.geteuid() == 0 and level.confines:
        return NOBODY
    return None


def why_no_landlock(room: Room, level: IsolationLevel) -> str:
    """Return why Landlock cannot confine root's commands in this room, or nothing.

    Root must become another user: Landlock does not govern modes, owners, times and
    attributes, and all files are root's.
    """
    if level is not IsolationLevel.LANDLOCK or os.geteuid() != 0:
        return ""

    for place in (*room.written, *_own_places(room)):
        closed = _closed_folder_above(place)
        if closed is not None:
            return f"root's commands run as nobody, who cannot pass {closed}"
    return ""


def _closed_folder_above(place: str) -> Path | None:
    """Return the first folder above a place that not everybody can pass."""
    for folder in reversed(Path(place).parents):
        if folder.exists() and not folder.stat().st_mode & 0o001:
            return folder
    return None


def _refused(obstacle: str) -> LevelProbe:
    return LevelProbe(
        IsolationLevel.LANDLOCK, works=False, detail=obstacle, remedy=ROOT_REMEDY
    )


def _own_places(room: Room) -> tuple[str, ...]:
    """Return what must be seen beside the system.

    That is this interpreter, for the last step, and what was named. Its environment is
    seen only where the command may use it.
    """
    own = [OWN.base_prefix]
    if room.sees_accordance:
        own.insert(0, OWN.prefix)
    for places in (room.programs, room.readable, room.laid.values()):
        own += [os.fspath(place) for place in places]
    real = [os.path.realpath(place) for place in own]
    return tuple(dict.fromkeys((*real, *own)))


def visible(room: Room) -> tuple[str, ...]:
    """Return every folder that a command can read."""
    return (*SYSTEM, *_own_places(room))


def environment(room: Room, level: IsolationLevel) -> dict[str, str]:
    """Return a clean environment.

    Nothing of ours gets through but those folders of the search path that can be seen.
    """
    return {
        "PATH": ":".join(_search_path(room)),
        "HOME": os.fspath(room.folder / "home"),
        "TMPDIR": os.fspath(room.folder / "tmp"),
        "PWD": os.fspath(room.work_seen_at(level)),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "USER": "nobody",
        "LOGNAME": "nobody",
        "CI": "true",
        "PYTHONDONTWRITEBYTECODE": "1",
        **room.environment,
    }


def _search_path(room: Room) -> list[str]:
    """Return where programs are looked for.

    That is what the person's own shell finds, without the environment of accordance,
    and a bare Python for want of another. Where accordance has no environment of its
    own, its Python is the system's: then the bare one comes first. A command that
    needs accordance's environment finds its programs last, and so never its Python.
    """
    bare = os.fspath(room.bare_python / "bin")
    wanted = OWN.foreign_places()
    if not OWN.has_own_environment:
        wanted = [bare, *wanted]

    programs = [os.fspath(place) for place in room.programs]
    seen = (*visible(room), bare)
    last = (bare, OWN.programs) if room.sees_accordance else (bare,)
    ordered = dict.fromkeys((*programs, *wanted, *_DEFAULT_PATH, *last))
    return [place for place in ordered if _is_below(place, seen)]


def _is_below(place: str, roots: Sequence[str]) -> bool:
    return any(place == root or place.startswith(f"{root}/") for root in roots)


def argv(
    command: str, room: Room, level: IsolationLevel, limits: CommandLimits
) -> list[str]:
    """Return the whole command line that keeps `command` apart at this level."""
    is_landlock = level is IsolationLevel.LANDLOCK
    user = sandbox_user(level)
    counted_user = os.getuid() if user is None else user
    plan = {
        "command": command,
        "directory": os.fspath(room.work_seen_at(level)),
        "user": user,
        "powerless": level.confines,
        "landlock": is_landlock,
        "readable": [*visible(room), os.fspath(room.folder), "/proc"],
        "writable": [*room.written, *_DEVICES],
        "families": _socket_families(level, has_network=room.has_network),
        "network": room.has_network,
        "shared": is_landlock,
        "limits": _kernel_limits(limits, counted_user),
    }
    last_step = [PYTHON, "-I", "-S", "-c", _LAST_STEP, json.dumps(plan)]
    if level is IsolationLevel.BWRAP:
        return [*_bubblewrap(room, limits), *last_step]
    return last_step


def _socket_families(
    level: IsolationLevel, *, has_network: bool
) -> tuple[int, ...] | None:
    """Return the sockets that may be opened; None where no filter is used."""
    if not level.confines:
        return None
    if level is IsolationLevel.BWRAP or has_network:
        return _SOCKETS_OF_OWN_NETWORK
    return ()


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
    """Return bubblewrap's command line.

    It makes a file system of what is named, and shares nothing but the kernel.
    """
    options = [shutil.which("bwrap") or "bwrap", *_UNSHARED]
    if not room.has_network:
        options.append("--unshare-net")
    if os.geteuid() != 0:
        options.append("--unshare-user")

    for place in _MEMORY_FOLDERS:
        size = str(limits.scratch_bytes)
        options += ["--perms", "1777", "--size", size, "--tmpfs", place]
    for place in SYSTEM:
        options += ["--ro-bind-try", place, place]

    options += _bound_places(room)
    for place in _tool_caches(room):
        size = str(limits.scratch_bytes)
        options += ["--perms", "1777", "--size", size, "--tmpfs", place]
    if not room.sees_accordance and not OWN.has_own_environment:
        for place in OWN.packages:
            options += ["--tmpfs", place]
    options += _SEALED
    return options


def _bound_places(room: Room) -> list[str]:
    """Return the options that bind the room and what may be read beside it.

    A later bind hides what it covers. So readable folders around the room come first,
    or they would hide it, and readable folders inside the room come last.
    """
    folder = os.fspath(room.folder)
    work = os.fspath(room.work)
    around = []
    elsewhere = []
    for place in _own_places(room):
        if _is_below(place, SYSTEM):
            continue
        if _is_below(folder, (place,)) or _is_below(work, (place,)):
            around.append(place)
        else:
            elsewhere.append(place)

    options = []
    for place in around:
        options += _bound("--ro-bind-try", place, place)
    options += _bound("--ro-bind", folder, folder)
    for place in room.written:
        options += _bound("--bind", place, place)
    if room.appears_at is not None:
        options += _bound("--bind", work, os.fspath(room.appears_at))
    for place in elsewhere:
        options += _bound("--ro-bind-try", place, place)
    for name, source in room.laid.items():
        seen_at = room.work_seen_at(IsolationLevel.BWRAP) / name
        options += ["--ro-bind", os.fspath(source), os.fspath(seen_at)]
    return options


def _tool_caches(room: Room) -> list[str]:
    """Return the folders that tools may write to, inside of trusted ones."""
    places = []
    for name, source in room.laid.items():
        seen_at = room.work_seen_at(IsolationLevel.BWRAP) / name
        for cache in TOOL_CACHES:
            if (source / cache).is_dir():
                places.append(os.fspath(seen_at / cache))
    return places


def _bound(option: str, source: str, target: str) -> list[str]:
    """Return the options that bind a folder, below folders that everybody can pass."""
    options = []
    above = list(reversed(Path(target).parents))[1:]
    for folder in above:
        options += ["--perms", "0755", "--dir", os.fspath(folder)]
    return [*options, option, source, target]
