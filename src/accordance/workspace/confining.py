"""The command line and the environment that keep a command apart.

`isolation` says what the levels mean and what a room is; this is how a room becomes
options of bubblewrap, a plan for the last step inside, and variables.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Final

from accordance.domain.facts import IsolationLevel
from accordance.workspace.inside import confine
from accordance.workspace.inside.keeper import threads_of
from accordance.workspace.isolation import (
    SYSTEM,
    CommandLimits,
    Room,
    own_places,
    sandbox_user,
    visible,
)
from accordance.workspace.judges_python import OWN
from accordance.workspace.names import lies_in, lies_in_any

PYTHON: Final = OWN.interpreter
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
    own, its Python is the system's: then the bare Python comes first. A command that
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
    return [place for place in ordered if lies_in_any(place, seen)]


def argv(
    command: str,
    room: Room,
    level: IsolationLevel,
    limits: CommandLimits,
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
        options += _in_memory(place, limits)
    for place in SYSTEM:
        options += ["--ro-bind-try", place, place]

    options += _bound_places(room)
    for place in _tool_caches(room):
        options += _in_memory(place, limits)
    if not room.sees_accordance and not OWN.has_own_environment:
        for place in OWN.packages:
            options += ["--tmpfs", place]
    options += _SEALED
    return options


def _in_memory(place: str, limits: CommandLimits) -> list[str]:
    """Return the options that make an empty folder which every user may write to."""
    size = str(limits.scratch_bytes)
    return ["--perms", "1777", "--size", size, "--tmpfs", place]


def _bound_places(room: Room) -> list[str]:
    """Return the options that bind the room and what may be read beside it.

    A later bind hides what it covers. So readable folders around the room come first,
    or they would hide it, and readable folders inside the room come last.
    """
    folder = os.fspath(room.folder)
    work = os.fspath(room.work)
    around = []
    elsewhere = []
    for place in own_places(room):
        if lies_in_any(place, SYSTEM):
            continue
        if lies_in(folder, place) or lies_in(work, place):
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
