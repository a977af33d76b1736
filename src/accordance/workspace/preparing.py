"""Preparing the environment of tests, once for each base.

Commands of the base run, never those of an agent's tree, with network and isolated like
a test. What they made lies in the user's cache folder under a name that stands for
everything that went in. Tests can read it and not change it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, Final

from accordance.domain.facts import EntryKind, IsolationLevel, is_in_cache
from accordance.domain.python_projects import copies_of_project, project_name
from accordance.domain.test_environments import (
    ENVIRONMENT,
    EnvironmentPlan,
    EnvironmentWish,
    Family,
)
from accordance.workspace.base_tree import BaseTree, hash_of
from accordance.workspace.caching import is_ours_alone, user_cache
from accordance.workspace.clone import discard
from accordance.workspace.confining import TOOL_CACHES
from accordance.workspace.errors import EnvironmentBroken
from accordance.workspace.found_environment import found_environment, tool_variables
from accordance.workspace.isolation import (
    CommandLimits,
    Room,
    give_tree,
    sandbox_user,
)
from accordance.workspace.judges_python import (
    OWN,
    installation_of,
)
from accordance.workspace.running import run
from accordance.workspace.snapshot import take_snapshot
from accordance.workspace.test_environment import TestEnvironment

_FORMAT: Final = 2  # of what is cached
_READY: Final = "ready.json"
_LOG: Final = "prepare.log"
_LAID: Final = "folders"
_GENERATED: Final = "generated"
_LINES_SHOWN: Final = 12
_LIMITS: Final = CommandLimits(
    seconds=1800,
    processes=2048,
    disk_bytes=16 << 30,
    scratch_bytes=2 << 30,
)
_CONFIG_VARIABLES: Final = (
    *("PIP_", "UV_", "NPM_CONFIG_", "npm_config_", "CARGO_", "GO", "SSL_CERT_"),
    *("REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
"""Beginnings of the variables by which a machine reaches its package registries."""
_CONFIG_FILES: Final = (
    ".npmrc",
    ".pip/pip.conf",
    ".config/pip/pip.conf",
    ".config/uv/uv.toml",
    ".cargo/config.toml",
)


@dataclass(frozen=True, slots=True)
class Preparation:
    """The making of an environment, at most once for all that goes into it."""

    base: BaseTree
    plan: EnvironmentPlan
    wish: EnvironmentWish
    level: IsolationLevel
    tell: Callable[[str], object]
    stop: Event | None

    def environment(self) -> TestEnvironment:
        """Return the environment, made now or before. Raises EnvironmentBroken."""
        place = _cache_folder() / self.key()
        with _locked(place):
            if not (place / _READY).is_file():
                self._make(place)
        return self._made(place)

    @property
    def python(self) -> str:
        """The interpreter that Python environments are made of."""
        return self.wish.python or OWN.interpreter

    def key(self) -> str:
        """Return a hash of everything that goes into the environment."""
        steps = [
            (step.tool, step.commands, step.folders, dict(step.variables))
            for step in self.plan.steps
        ]
        about = {
            "format": _FORMAT,
            "steps": steps,
            "inputs": self.base.digest(self.plan.inputs),
            "tags": self.base.tags(),
            "python": [self.python, os.path.realpath(self.python)],
            "stands at": os.fspath(self.base.stands_at),
        }
        return hash_of(about)

    def _make(self, place: Path) -> None:
        """Run the commands in a copy of the base. Raises EnvironmentBroken."""
        if place.exists():
            discard(place)  # its preparation was interrupted
        scratch = place.with_name(f"{place.name}.making")
        if scratch.exists():
            discard(scratch)
        scratch.mkdir(mode=0o711)
        place.mkdir(mode=0o755)
        try:
            self._run(place, scratch)
        except BaseException:
            discard(place)
            raise
        finally:
            discard(scratch)

    def _run(self, place: Path, scratch: Path) -> None:
        room = self._room(place, scratch / "room")
        self.base.lay_out(room.work)
        _lay_configuration(room.folder / "home")
        room.prepare(self.level)

        for step in self.plan.steps:
            self.tell(f"preparing the environment: {'; '.join(step.commands)}")
        log = scratch / _LOG
        done = run(
            self._script(place),
            room,
            log,
            level=self.level,
            limits=_LIMITS,
            stop=self.stop,
        )
        if not done.passed:
            raise EnvironmentBroken(
                f"the environment of the tests could not be prepared"
                f" ({_ending_of(done.exit_code, done.note)}): {_last_lines(log)}",
                way_out=(
                    "mend that, name what is there in [judge.environment] python, or"
                    " set its detect to false"
                ),
            )

        self._keep_folders(room.work, place)
        self._keep_generated(room.work, place)
        if sandbox_user(self.level) is not None:
            give_tree(place, os.geteuid())
        self._refuse_copies(place)
        shutil.copyfile(log, place / _LOG)
        _write_whole(place / _READY, json.dumps({"reasons": self.plan.reasons}))

    def _room(self, place: Path, folder: Path) -> Room:
        existing = found_environment(
            self.base.stands_at, replace(self.wish, folders={})
        )
        room = Room(
            folder,
            appears_at=self.base.stands_at,
            environment={
                **_configuration(),
                **tool_variables(),
                "ENVIRONMENT": os.fspath(place),
                "UV_PROJECT_ENVIRONMENT": os.fspath(place),
                "UV_PYTHON": self.python,
                "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                "PIP_NO_INPUT": "1",
            },
            made=(place,),
            has_network=True,
        )
        return replace(
            room,
            programs=(place / "bin", *existing.programs),
            readable=existing.readable,
        )

    def _script(self, place: Path) -> str:
        """Return the commands as a script that ends at the first failure."""
        folder = os.fspath(place)
        lines = ["set -e", "umask 022"]
        uses_python = any(step.family is Family.PYTHON for step in self.plan.steps)
        if uses_python:
            lines.append(shlex.join((self.python, "-m", "venv", folder)))
        for step in self.plan.steps:
            for command in step.commands:
                text = command.replace(ENVIRONMENT, folder)
                lines.append(shlex.join(("echo", f"$ {text}")))
                lines.append(text)
        return "\n".join(lines)

    def _keep_folders(self, work: Path, place: Path) -> None:
        for step in self.plan.steps:
            for name in step.folders:
                if (work / name).is_dir():
                    target = place / _LAID / name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.move(work / name, target)
                    for cache in TOOL_CACHES:
                        (target / cache).mkdir(exist_ok=True)

    def _keep_generated(self, work: Path, place: Path) -> None:
        """Keep the files that the commands made in the tree."""
        known = self.base.before.entries
        for path, entry in take_snapshot(work).entries.items():
            is_new = entry.kind is EntryKind.FILE and path not in known
            if is_new and not is_in_cache(path):
                target = place / _GENERATED / path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(work / path, target)

    def _refuse_copies(self, place: Path) -> None:
        """Refuse an environment in which tests would not import the judged tree."""
        project = project_name(self.base.files())
        tree = os.fspath(self.base.stands_at)
        copies = copies_of_project(project, tree, _installed(place))
        if copies:
            raise EnvironmentBroken(
                f"the environment holds a copy of {', '.join(copies)}, which tests"
                " would import in place of the judged tree",
                way_out="install the project with `pip install -e .`",
            )

    def _made(self, place: Path) -> TestEnvironment:
        variables: dict[str, str] = {}
        folders: dict[str, Path] = {}
        for step in self.plan.steps:
            for name, value in step.variables.items():
                variables[name] = value.replace(ENVIRONMENT, os.fspath(place))
            for name in step.folders:
                if (place / _LAID / name).is_dir():
                    folders[name] = place / _LAID / name

        programs = place / "bin"
        readable = [place]
        source_roots: tuple[str, ...] = ()
        if programs.is_dir():
            variables["VIRTUAL_ENV"] = os.fspath(place)
            installation = installation_of(programs / "python")
            readable += [installation] if installation else []
            source_roots = ("src", "") if self._has_src else ("",)
        generated = place / _GENERATED
        return TestEnvironment(
            generated=generated if generated.is_dir() else None,
            programs=(programs,) if programs.is_dir() else (),
            readable=tuple(readable),
            variables=variables,
            folders=folders,
            source_roots=source_roots,
        )

    @property
    def _has_src(self) -> bool:
        return "src" in self.base.before.entries


def _installed(place: Path) -> dict[str, dict[str, Any]]:
    """Return the packages of a Python environment, and where each came from."""
    packages: dict[str, dict[str, Any]] = {}
    for folder in place.glob("lib/python3*/site-packages/*.dist-info"):
        name = folder.name.removesuffix(".dist-info").rpartition("-")[0]
        origin = folder / "direct_url.json"
        packages[name] = {}
        if origin.is_file():
            packages[name] = json.loads(origin.read_bytes())
    return packages


def _configuration() -> dict[str, str]:
    """Return the variables by which this machine reaches its package registries."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_CONFIG_VARIABLES)
    }


def _lay_configuration(home: Path) -> None:
    """Copy the person's configuration of package tools into the home of a room."""
    for name in _CONFIG_FILES:
        source = Path.home() / name
        if source.is_file():
            target = home / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def _ending_of(exit_code: int, note: str) -> str:
    return note or f"exit code {exit_code}"


def _last_lines(log: Path) -> str:
    text = log.read_text("utf-8", "replace") if log.exists() else ""
    stripped = map(str.rstrip, text.splitlines())
    lines = [line for line in stripped if line]
    return "\n".join(lines[-_LINES_SHOWN:]) or "it printed nothing"


def _cache_folder() -> Path:
    """Return where environments are kept. Raises EnvironmentBroken."""
    folder = user_cache() / "environments"
    if not is_ours_alone(folder):
        raise EnvironmentBroken(
            f"{folder} can be changed by other users, so no environment is kept there",
            way_out="make it yours alone, or name another with XDG_CACHE_HOME",
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def _locked(place: Path) -> Iterator[None]:
    """Hold the lock of an environment, so that it is made once."""
    with place.with_name(f"{place.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write_whole(place: Path, text: str) -> None:
    """Write a file that is there with its whole content or not at all."""
    beginning = place.with_suffix(".part")
    beginning.write_text(text, "utf-8")
    beginning.replace(place)
