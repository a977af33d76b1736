"""Keeping a command apart: what it may see, write and use, and by which means.

bwrap       its own mounts, processes, network and loopback; nothing exists but system
            folders and what is named
landlock    the same folders by kernel rules; no sockets and no shared memory; signals
            (from Linux 6.12 on) and ptrace end at its border, and it can set no limit,
            priority or processor of another process
rlimit      limits only, on explicit request: the command has the user's own rights

A command may write to its `work`, `home` and `tmp`, and to nothing above them: the
folder they lie in is ours, so that no command decides what the next is given.
Before each start the four are checked; a link in their place is refused.

Started by root, a confined command becomes `nobody`. Bubblewrap shows it the way to its
places; at the landlock level `nobody` must be able to go there, and where it cannot,
the command is not run. A command confined by Landlock can still change modes and times
of files of the same user elsewhere, because Landlock does not govern them; it cannot
read anything there, nor touch contents and names.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from accordance.domain.facts import IsolationLevel, IsolationProbe, LevelProbe
from accordance.workspace.errors import IsolationUnavailable
from accordance.workspace.judges_python import BARE, OWN

NOBODY: Final = 65534
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

    for place in (*room.written, *own_places(room)):
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
        IsolationLevel.LANDLOCK,
        works=False,
        detail=obstacle,
        remedy=ROOT_REMEDY,
    )


def own_places(room: Room) -> tuple[str, ...]:
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
    return (*SYSTEM, *own_places(room))
