"""The Python that accordance itself runs in, which neither tests nor agents share.

Tests that shared it would import accordance's dependencies in place of the judged tree,
and code of the judged tree could run inside the judge, unconfined. An agent that shared
it would try its work out on packages that its tests do not have.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.workspace.errors import JudgeInReach
from accordance.workspace.names import lies_in

BARE: Final = "python"
"""The folder of a room with a Python in which nothing is installed."""

BARE_PROGRAMS: Final = ("python", "python3")
"""What it has."""

_LONGEST_LINE: Final = 256  # of a script, as the kernel reads it

_CONFIG: Final = """\
home = {home}
include-system-site-packages = false
"""


@dataclass(frozen=True, slots=True)
class JudgesPython:
    """An interpreter, and where its packages are."""

    prefix: str
    base_prefix: str
    interpreter: str
    packages: tuple[str, ...]

    @property
    def has_own_environment(self) -> bool:
        """Whether it is a virtual environment, which can be left out of sight."""
        return self.prefix != self.base_prefix

    def is_below_prefix(self, place: str) -> bool:
        """Whether a folder belongs to the environment."""
        prefix = os.path.realpath(self.prefix)
        return lies_in(os.path.realpath(place), prefix)

    def foreign_places(self) -> list[str]:
        """Return the person's search path without this environment."""
        places = os.environ.get("PATH", os.defpath).split(":")
        if not self.has_own_environment:
            return places  # its programs lie among the system's
        return [place for place in places if not self.is_below_prefix(place)]

    @property
    def programs(self) -> str:
        """The folder of the programs that its packages brought."""
        return os.path.join(self.prefix, "bin")  # noqa: PTH118

    def is_needed_for(self, words: Sequence[str]) -> bool:
        """Whether a command names a program that runs in this environment.

        By its place, or by a name that nothing else on the search path has. A plain
        `python` does not: there are others.
        """
        if not words:
            return False

        places = [word for word in words if "/" in word]
        program = words[0]
        if "/" not in program and program not in BARE_PROGRAMS:
            place = self._place_of(program)
            if place is not None:
                places.append(place)
        return any(self._runs_here(place) for place in places)

    def _place_of(self, name: str) -> str | None:
        """Return what a name stands for, with this environment as the last resort."""
        search_path = (*self.foreign_places(), self.programs)
        return shutil.which(name, path=":".join(search_path))

    def _runs_here(self, place: str) -> bool:
        """Whether a program lies here, or is a script for this interpreter."""
        interpreter = _interpreter_of(place)
        if not self.has_own_environment:
            return os.path.realpath(interpreter) == self.interpreter
        named = (place, os.path.realpath(place), interpreter)
        folders = [os.path.dirname(program) for program in named]  # noqa: PTH120
        return any(folder and self.is_below_prefix(folder) for folder in folders)

    def lay_bare(self, folder: Path) -> None:
        """Make an environment in which nothing is installed."""
        programs = folder / "bin"
        programs.mkdir(parents=True)
        for name in BARE_PROGRAMS:
            program = programs / name
            program.symlink_to(self.interpreter)

        home = os.path.dirname(self.interpreter)  # noqa: PTH120 - a text
        config = folder / "pyvenv.cfg"
        config.write_text(_CONFIG.format(home=home), "utf-8")
        config.chmod(0o644)
        for place in (folder, programs):
            place.chmod(0o755)


def _interpreter_of(script: str) -> str:
    """Return what the first line of a script says that runs it; empty if nothing."""
    try:
        with open(script, "rb") as file:  # noqa: PTH123 - a text
            first_line = file.readline(_LONGEST_LINE).decode("utf-8", "replace")
    except OSError:
        return ""
    words = first_line.removeprefix("#!").split()
    is_script = first_line.startswith("#!") and bool(words)
    return words[0] if is_script else ""


def _packages() -> tuple[str, ...]:
    kinds = ("purelib", "platlib")
    return tuple(dict.fromkeys(sysconfig.get_path(kind) for kind in kinds))


OWN: Final = JudgesPython(
    prefix=sys.prefix,
    base_prefix=sys.base_prefix,
    interpreter=os.path.realpath(sys.executable),
    packages=_packages(),
)
"""The interpreter of this process."""


def refuse_judge_in_reach(tree: Path) -> None:
    """Refuse to judge a tree that this process imports from.

    Those who worked in the tree could have written what runs here. Raises JudgeInReach.
    """
    root = os.path.realpath(tree)
    for entry in (*sys.path, *_editable_places()):
        real = os.path.realpath(entry)  # "" is the current folder, and so it is here
        if lies_in(real, root):
            raise JudgeInReach(real, root)


def _editable_places() -> Iterator[str]:
    """Yield the folders of packages that setuptools installed to be edited in place.

    Their finders import from folders that are not on sys.path.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith("__editable__"):
            mapping = getattr(module, "MAPPING", {})
            yield from mapping.values()


@dataclass(frozen=True, slots=True)
class ActiveEnvironment:
    """A virtual environment on the search path with which accordance was started."""

    folder: Path
    base: Path | None = None
    """The installation it was made from."""

    @property
    def places(self) -> tuple[Path, ...]:
        """What tests must see to use it."""
        if self.base is None:
            return (self.folder,)
        return (self.folder, self.base)


def active_environments(
    search_path: Iterable[str],
    tree: Path,
    own: JudgesPython = OWN,
) -> tuple[ActiveEnvironment, ...]:
    """Return the virtual environments of a search path that tests may use.

    Left out are accordance's own and those in the judged tree, where the agent could
    have changed them.
    """
    root = os.path.realpath(tree)
    environments = []
    for place in search_path:
        folder = Path(place).parent
        is_in_tree = lies_in(os.path.realpath(folder), root)
        if not place.startswith("/") or is_in_tree or own.is_below_prefix(place):
            continue
        config = folder / "pyvenv.cfg"
        if config.is_file():
            base = _base_of(config)
            environments.append(ActiveEnvironment(folder, base))
    return tuple(environments)


def _base_of(config: Path) -> Path | None:
    """Return the installation that an environment was made from."""
    for line in config.read_text("utf-8", "replace").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home":
            return installation_of(Path(value.strip()) / "python3")
    return None


def installation_of(interpreter: Path) -> Path | None:
    """Return the folder that an interpreter is installed in, if tests may see it.

    None for the system's own, which they see anyway, and for a home folder.
    """
    prefix = Path(os.path.realpath(interpreter)).parent.parent
    home = Path(os.path.realpath(Path.home()))
    is_a_home = home.is_relative_to(prefix)
    has_library = any(prefix.glob("lib/python3*/os.py"))
    if is_a_home or not has_library:
        return None
    return prefix
