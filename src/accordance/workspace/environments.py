"""The environment that tests run in: found, or prepared once at the base.

Preparing runs commands of the base, never of an agent's tree, with network and isolated
like a test. What they made lies in the user's cache folder under a name that stands for
everything that went in. Tests can read it and not change it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any, Final

from accordance.contracts.pins import normal_path
from accordance.domain.facts import EntryKind, IsolationLevel, Snapshot, is_in_cache
from accordance.domain.test_environments import (
    ENVIRONMENT,
    EnvironmentPlan,
    EnvironmentWish,
    Family,
    Surroundings,
    copies_of_project,
    files_of_interest,
    plan_environment,
    project_name,
)
from accordance.workspace.caching import is_ours_alone, user_cache
from accordance.workspace.clone import Workspace, copy_tree, discard
from accordance.workspace.errors import EnvironmentBroken, GitFailed
from accordance.workspace.git import Git, git_directory
from accordance.workspace.isolation import CommandLimits, Room, give_tree, sandbox_user
from accordance.workspace.judges_python import (
    OWN,
    active_environments,
    installation_of,
)
from accordance.workspace.running import run
from accordance.workspace.snapshot import take_snapshot
from accordance.workspace.testing import give_history

_FORMAT: Final = 1  # of what is cached
_READY: Final = "ready.json"
_LOG: Final = "prepare.log"
_LAID: Final = "folders"
_GENERATED: Final = "generated"
_LINES_SHOWN: Final = 12
_LIMITS: Final = CommandLimits(
    seconds=1800, processes=2048, disk_bytes=16 << 30, scratch_bytes=2 << 30
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
_TAG_FORMAT: Final = "--format=%(refname:strip=2) %(objectname) %(*objectname)"
_TOOLS: Final = ("uv", "node", "npm", "cargo", "go")


@dataclass(frozen=True, slots=True)
class TestEnvironment:
    """What the rooms of tests are furnished with."""

    __test__ = False  # the name means something else to pytest

    programs: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)
    """Trusted folders, by the place in the copy where tests see them."""
    generated: Path | None = None
    """A folder of files that preparing made in the tree."""
    source_roots: tuple[str, ...] = ()
    """Where the tree's own packages lie, if they were installed to be edited."""
    broken: str = ""
    """Why tests cannot be run; empty where they can."""

    def furnished(self, room: Room, level: IsolationLevel) -> Room:
        """Return the room with this environment."""
        variables = {**self.variables, **room.environment}
        seen_at = room.work_seen_at(level)
        if self.source_roots and seen_at != room.appears_at:
            # the installed links lead to where the repository stands
            roots = [os.fspath(seen_at / root) for root in self.source_roots]
            given = variables.get("PYTHONPATH")
            variables["PYTHONPATH"] = ":".join((*roots, given) if given else roots)
        return replace(
            room,
            programs=(*self.programs, *room.programs),
            readable=(*room.readable, *self.readable),
            environment=variables,
            laid=self.folders,
            generated=self.generated,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseTree:
    """The base, and where the judged tree stands."""

    workspace: Workspace
    before: Snapshot
    stands_at: Path
    """Where tests see their copy, for isolation that can move it."""

    def files(self) -> dict[str, str]:
        """Return the files that say what tests need, with their content."""
        names = files_of_interest(self.before.entries)
        return {name: self._content(name).decode("utf-8", "replace") for name in names}

    def digest(self, names: Sequence[str]) -> str:
        """Return a hash of some files of the base; of all, if none is named.

        Raises EnvironmentBroken.
        """
        entries = self.before.entries
        missing = [name for name in names if name not in entries]
        if missing:
            raise EnvironmentBroken(
                f"[judge.environment] inputs: {missing[0]} is not in the base"
            )
        hashes = {name: entries[name].content for name in names or sorted(entries)}
        return _hash(hashes)

    def _content(self, name: str) -> bytes:
        if self.before.entries[name].kind is not EntryKind.FILE:
            return b""
        if self.workspace.pristine is not None:
            return (self.workspace.pristine / name).read_bytes()
        return self.workspace.base(
            "cat-file", "blob", f"{self.workspace.commit}:{name}"
        )

    def lay_out(self, target: Path) -> None:
        """Write the base's files to a new folder, with its history."""
        workspace = self.workspace
        if not workspace.commit:
            copy_tree(workspace.pristine or workspace.work, target)
            return
        target.mkdir(parents=True)
        give_history(workspace, target)
        git = Git(target / ".git", target)
        git("checkout-index", "--all", "--force")
        updates = [
            f"create refs/tags/{name} {commit}\n"
            for name, commit in self.tags().items()
        ]
        git("update-ref", "--stdin", given="".join(updates).encode())

    def tags(self) -> dict[str, str]:
        """Return the tags of the base's history, from which versions are made."""
        directory = git_directory(self.stands_at)
        if directory is None or not self.workspace.commit:
            return {}
        tags = {}
        lines = ""
        with contextlib.suppress(GitFailed):  # the commit need not be there
            lines = Git(directory).text(
                "for-each-ref",
                f"--merged={self.workspace.commit}",
                _TAG_FORMAT,
                "refs/tags",
            )
        for line in lines.splitlines():
            name, *objects = line.split()
            tags[name] = objects[-1]  # of an annotated tag, the commit comes last
        return tags


def surroundings_of(tree: Path) -> Surroundings:
    """Return what is known about this machine and the person who judges."""
    search_path = os.environ.get("PATH", "").split(":")
    active = [
        os.fspath(environment.folder)
        for environment in active_environments(search_path, tree)
    ]
    return Surroundings(has_uv=_tool("uv") is not None, active=tuple(active))


def planned(
    base: BaseTree, commands: Sequence[str], wish: EnvironmentWish
) -> EnvironmentPlan:
    """Return what would be prepared for these test commands, and why."""
    surroundings = surroundings_of(base.stands_at)
    return plan_environment(base.files(), commands, wish, surroundings)


def environment_of_tests(
    base: BaseTree,
    commands: Sequence[str],
    wish: EnvironmentWish,
    level: IsolationLevel,
    *,
    tell: Callable[[str], object] = str,
    stop: Event | None = None,
) -> TestEnvironment:
    """Return the environment of these test commands, prepared if need be.

    Raises EnvironmentBroken.
    """
    found = _found(base.stands_at, wish)
    plan = planned(base, commands, wish)
    if not plan.steps:
        return found

    preparation = _Preparation(base, plan, wish, level, tell, stop)
    prepared = preparation.environment()
    return TestEnvironment(
        programs=(*prepared.programs, *found.programs),
        readable=(*prepared.readable, *found.readable),
        variables={**prepared.variables, **found.variables},
        folders={**prepared.folders, **found.folders},
        generated=prepared.generated,
        source_roots=prepared.source_roots,
    )


def _found(tree: Path, wish: EnvironmentWish) -> TestEnvironment:
    """Return what is there already: the settings', else the person's own."""
    programs: list[Path] = []
    readable: list[Path] = []
    if wish.python:
        programs.append(Path(wish.python).parent)
        readable += _places_of_python(wish.python, tree)
    else:
        search_path = os.environ.get("PATH", "").split(":")
        for environment in active_environments(search_path, tree):
            readable += environment.places  # and so its programs are found

    for tool in _TOOLS:
        place = _tool(tool)
        if place is not None:
            readable += _places_of_tool(place)

    folders = {name: Path(place) for name, place in wish.folders.items()}
    for name, place in folders.items():
        _check_folder(name, place, tree)
    return TestEnvironment(
        programs=tuple(dict.fromkeys(programs)),
        readable=tuple(dict.fromkeys(readable)),
        variables=wish.variables,
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


def _tool(name: str) -> Path | None:
    """Return where a tool of the person lies; never one of accordance's own."""
    search_path = os.environ.get("PATH", os.defpath).split(":")
    foreign = [place for place in search_path if not OWN.is_below_prefix(place)]
    place = shutil.which(name, path=":".join(foreign))
    return Path(place) if place else None


def _places_of_tool(tool: Path) -> list[Path]:
    """Return what must be seen to use a tool that the system did not install."""
    places = [tool.parent, Path(os.path.realpath(tool)).parent]
    prefix = tool.parent.parent
    if (prefix / "lib" / "node_modules").is_dir():
        places.append(prefix)
    if tool.name == "cargo":
        home = os.environ.get("RUSTUP_HOME") or Path.home() / ".rustup"
        places.append(Path(home))
    return places


@dataclass(frozen=True, slots=True)
class _Preparation:
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
        return _hash(about)

    def _make(self, place: Path) -> None:
        """Run the commands in a copy of the base. Raises EnvironmentBroken."""
        if place.exists():
            discard(place)  # somebody was interrupted
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
        found = _found(self.base.stands_at, replace(self.wish, folders={}))
        room = Room(
            folder,
            appears_at=self.base.stands_at,
            environment={
                **_configuration(),
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
            programs=(place / "bin", *found.programs),
            readable=found.readable,
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
        packages[name] = json.loads(origin.read_bytes()) if origin.is_file() else {}
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
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
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


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
