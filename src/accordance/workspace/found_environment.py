"""What is there already for tests: the settings' interpreter and folders, else the person's own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from accordance.contracts.pins import normal_path
from accordance.domain.test_environments import (
    EnvironmentWish,
)
from accordance.workspace.errors import EnvironmentBroken
from accordance.workspace.judges_python import (
    OWN,
    active_environments,
    installation_of,
)
from accordance.workspace.test_environment import TestEnvironment

_TOOLS: Final = ("uv", "node", "npm", "cargo", "go")


def found_environment(tree: Path, wish: EnvironmentWish) -> TestEnvironment:
    """Return what is there already: the settings', else the person's own."""
    programs: list[Path] = []
    readable: list[Path] = []
    if wish.python:
        programs.append(Path(wish.python).parent)
        readable += _places_of_python(wish.python, tree)
    else:
        search_path = os.environ.get("PATH", "").split(":")
        for environment in active_environments(search_path, tree):
            readable += environment.places  # with its programs

    for tool in _TOOLS:
        place = tool_on_path(tool)
        if place is not None:
            readable += _places_of_tool(place)

    folders = {name: Path(place) for name, place in wish.folders.items()}
    for name, place in folders.items():
        _check_folder(name, place, tree)
    return TestEnvironment(
        programs=tuple(dict.fromkeys(programs)),
        readable=tuple(dict.fromkeys(readable)),
        variables={**tool_variables(), **wish.variables},
        folders=folders,
    )


def _places_of_python(python: str, tree: Path) -> list[Path]:
    """Return what must be seen to use an interpreter. Raises EnvironmentBroken."""
    setting = f"[judge.environment] python: {python}"
    interpreter = Path(python)
    if not os.access(interpreter, os.X_OK):
        raise EnvironmentBroken(f"{setting} does not exist or cannot be run")
    folder = interpreter.parent.parent
    if OWN.has_own_environment and OWN.is_below_prefix(os.fspath(folder)):
        raise EnvironmentBroken(
            f"{setting} is the Python that accordance itself runs in",
            way_out="name another; tests must not share it",
        )
    if folder.resolve().is_relative_to(tree.resolve()):
        raise EnvironmentBroken(
            f"{setting} lies in the tree that is judged, where the agent can change it",
            way_out="make the environment outside of the tree",
        )

    places = []
    if (folder / "pyvenv.cfg").is_file():
        places.append(folder)
    installation = installation_of(interpreter)
    if installation is not None:
        places.append(installation)
    return places


def _check_folder(name: str, place: Path, tree: Path) -> None:
    setting = f"[judge.environment] folders: {name}"
    if normal_path(name) != name:
        raise EnvironmentBroken(
            f"{setting} is no place in the tree",
            way_out="name a path below its top, without `..`",
        )
    if not place.is_dir():
        raise EnvironmentBroken(f"{setting}: {place} is not a folder")
    if place.resolve().is_relative_to(tree.resolve()):
        raise EnvironmentBroken(
            f"{setting}: {place} lies in the tree that is judged, where the agent can"
            " change it",
            way_out="keep the folder outside of the tree",
        )


def tool_on_path(name: str) -> Path | None:
    """Return where a tool of the person lies, never a tool of accordance's own."""
    place = shutil.which(name, path=":".join(OWN.foreign_places()))
    return Path(place) if place else None


def _places_of_tool(tool: Path) -> list[Path]:
    """Return what must be seen to use a tool that the system did not install."""
    places = [tool.parent, Path(os.path.realpath(tool)).parent]
    prefix = tool.parent.parent
    if (prefix / "lib" / "node_modules").is_dir():
        places.append(prefix)
    if tool.name == "cargo":
        places.append(_rustup_home())
    return places


def tool_variables() -> dict[str, str]:
    """Return the variables by which tools find what lies in the person's home.

    A room has a home of its own, where rustup's cargo would find no compiler.
    """
    rustup = _rustup_home()
    return {"RUSTUP_HOME": os.fspath(rustup)} if rustup.is_dir() else {}


def _rustup_home() -> Path:
    chosen = os.environ.get("RUSTUP_HOME")
    if chosen:
        return Path(chosen)
    return Path.home() / ".rustup"
