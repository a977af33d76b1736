"""What the tests of a repository need, by the files of its base.

A step says which commands make an environment, from which files, and why. Nothing is
run here. `{environment}` in a text stands for the folder of the environment.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from accordance.contracts.toml import InvalidToml, read_toml
from accordance.domain.findings import listed
from accordance.domain.test_runners import PYTEST, programs_of, runners_of

ENVIRONMENT: Final = "{environment}"


class Family(StrEnum):
    """The languages whose environments are known."""

    PYTHON = "Python"
    NODE = "Node"
    RUST = "Rust"
    GO = "Go"


@dataclass(frozen=True, slots=True)
class PreparationStep:
    """Commands that make a part of the environment, at the base and with network."""

    tool: str
    family: Family | None
    commands: tuple[str, ...]
    inputs: tuple[str, ...]
    because: str
    folders: tuple[str, ...] = ()
    """Folders that the commands make in the tree; tests get them in their copy."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables that tests need to use what was prepared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentWish:
    """What `[judge.environment]` asks for."""

    python: str = ""
    prepare: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    folders: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    detect: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is known about the machine and the person who judges."""

    has_uv: bool = False
    active: tuple[str, ...] = ()
    """Virtual environments on the person's search path, outside of the tree."""


@dataclass(frozen=True, slots=True)
class EnvironmentPlan:
    """What would be prepared for some test commands, and why."""

    steps: tuple[PreparationStep, ...]
    reasons: tuple[str, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The files whose content decides what is prepared."""
        names: dict[str, None] = {}
        for step in self.steps:
            names.update(dict.fromkeys(step.inputs))
        return tuple(names)


_PYTHON_PROGRAMS: Final = frozenset(
    (
        *("pytest", "py.test", "coverage", "pip", "pip3", "uv", "poetry", "pdm"),
        *("hatch", "pipenv", "mypy", "ruff", "nox", "tox"),
    )
)
_FAMILIES: Final[Mapping[str, Family]] = {
    **dict.fromkeys(_PYTHON_PROGRAMS, Family.PYTHON),
    **dict.fromkeys(
        ("node", "npm", "npx", "yarn", "pnpm", "jest", "vitest", "mocha", "tsc"),
        Family.NODE,
    ),
    **dict.fromkeys(("cargo", "rustc"), Family.RUST),
    "go": Family.GO,
}
_PYTHON: Final = re.compile(r"(?:python|pypy)(?:\d(?:\.\d+)*)?\Z")
_NEEDING_NOTHING: Final = frozenset(
    (
        *("true", "false", ":", "test", "[", "cd", "echo", "printf", "exit", "export"),
        *("cat", "cmp", "cp", "diff", "env", "exec", "find", "git", "grep", "head"),
        *("kill", "ls", "mkdir", "mv", "pwd", "rm", "sed", "set", "sleep", "sort"),
        *("tail", "touch", "wc", "xargs"),
    )
)


def families_needed(commands: Iterable[str]) -> frozenset[Family]:
    """Return the families that test commands may need.

    A program that is not known, such as make or a script, may need any of them.
    """
    needed: set[Family] = set()
    for command in commands:
        for program in programs_of(command):
            if program in _NEEDING_NOTHING:
                continue
            if _PYTHON.match(program):
                needed.add(Family.PYTHON)
            elif program in _FAMILIES:
                needed.add(_FAMILIES[program])
            else:
                needed.update(Family)
    return frozenset(needed)


_REQUIREMENTS: Final = re.compile(
    r"requirements\.txt|requirements[-_.](?:dev|develop|tests?|testing)\.txt"
    r"|(?:dev|tests?|testing)[-_.]requirements\.txt"
    r"|requirements/(?:base|dev|develop|tests?|testing)\.txt"
)
_MANIFESTS: Final = frozenset(
    (
        *("uv.lock", "pyproject.toml", "setup.py", "setup.cfg"),
        *("package-lock.json", "package.json", "Cargo.lock", "Cargo.toml"),
        *("go.mod", "go.sum"),
    )
)
_FOR_TESTS: Final = ("test", "tests", "testing", "dev")
"""Names of extras and dependency groups that tests need."""


def files_of_interest(names: Iterable[str]) -> tuple[str, ...]:
    """Return those files of a tree that say what its tests need."""
    return tuple(sorted(name for name in names if _is_of_interest(name)))


def _is_of_interest(name: str) -> bool:
    return name in _MANIFESTS or _REQUIREMENTS.fullmatch(name) is not None


def plan_environment(
    files: Mapping[str, str],
    commands: Sequence[str],
    wish: EnvironmentWish,
    surroundings: Surroundings,
) -> EnvironmentPlan:
    """Return what is prepared for these test commands, and why.

    `files` are those of interest at the base, with their content. What the settings say
    comes first, then a virtual environment of the person, then what is detected.
    """
    if wish.prepare:
        return _as_the_settings_say(files, wish)
    if not wish.detect:
        return EnvironmentPlan((), ("[judge.environment] detect is false",))

    needed = families_needed(commands)
    steps = []
    reasons = []
    for family, detector in _DETECTORS.items():
        why_not = ""
        if family not in needed:
            why_not = "no test command needs it"
        elif family is Family.PYTHON and wish.python:
            why_not = f"[judge.environment] names {wish.python}"
        elif family is Family.PYTHON and surroundings.active:
            why_not = f"{listed(surroundings.active)} is active"

        step = detector(files, commands, surroundings)
        if step is None:
            continue
        if why_not:
            reasons.append(f"nothing is prepared for {family}: {why_not}")
        else:
            steps.append(step)
            reasons.append(f"{step.tool}: {step.because}")
    if not reasons:
        reasons.append("no file of the base says that the tests need anything")
    return EnvironmentPlan(tuple(steps), tuple(reasons))


def _as_the_settings_say(
    files: Mapping[str, str], wish: EnvironmentWish
) -> EnvironmentPlan:
    because = "[judge.environment] prepare"
    uses_python = Family.PYTHON in families_needed(wish.prepare)
    step = PreparationStep(
        tool="settings",
        family=Family.PYTHON if uses_python else None,
        commands=wish.prepare,
        inputs=wish.inputs or tuple(files),
        because=because,
    )
    return EnvironmentPlan((step,), (f"settings: {because}",))


def _python_step(
    files: Mapping[str, str],
    commands: Sequence[str],
    surroundings: Surroundings,
) -> PreparationStep | None:
    if "uv.lock" in files and surroundings.has_uv:
        return PreparationStep(
            tool="uv",
            family=Family.PYTHON,
            commands=("uv sync --frozen --all-extras --all-groups",),
            inputs=_present(files, "uv.lock", "pyproject.toml"),
            because="locked by uv.lock",
        )

    requirements = [name for name in files if _REQUIREMENTS.fullmatch(name)]
    project = _Project.of(files)
    texts = [files[name] for name in requirements]
    runs_pytest = any(PYTEST in runners_of(command) for command in commands)
    names_pytest = any(_names_pytest(text) for text in (*texts, *project.texts))
    lacks_pytest = runs_pytest and not names_pytest

    words = []
    for name in requirements:
        words += ["-r", name]
    if project.needs_install:
        words += ["-e", project.target]
    words += project.group
    if lacks_pytest:
        words.append(PYTEST)
    if not words:
        return None

    reasons = [*requirements, *project.reasons]
    because = f"needed by {listed(reasons)}" if reasons else ""
    if "uv.lock" in files:
        because += "; uv is not installed, so its lock file is not used"
    if lacks_pytest:
        because += "; " if because else ""
        because += "a test command runs pytest, which no file names"

    installs = [shlex.join(("pip", "install", *words))]
    if project.needs_install and requirements:
        # requirements may have brought a copy, which tests would import instead
        installs.append("pip install --no-deps -e .")
    return PreparationStep(
        tool="pip",
        family=Family.PYTHON,
        commands=tuple(installs),
        inputs=_present(
            files, *requirements, "pyproject.toml", "setup.py", "setup.cfg"
        ),
        because=because,
    )


@dataclass(frozen=True, slots=True)
class _Project:
    """What a Python project says about itself."""

    needs_install: bool = False
    extras: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    """Requirements of its dependency groups for tests."""
    texts: tuple[str, ...] = ()
    """All requirements that are installed for its tests."""
    reasons: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The project with its extras, as pip expects it."""
        if self.extras:
            return f".[{','.join(self.extras)}]"
        return "."

    @classmethod
    def of(cls, files: Mapping[str, str]) -> _Project:
        """Read pyproject.toml, and look for the files of older projects."""
        try:
            tables = read_toml(files.get("pyproject.toml", ""))
        except InvalidToml:
            tables = {}

        project = _table(tables, "project")
        optional = _table(project, "optional-dependencies")
        groups = _table(tables, "dependency-groups")
        extras = tuple(name for name in _FOR_TESTS if name in optional)
        group: list[str] = []
        reasons = []
        for name in _FOR_TESTS:
            group += _requirements_of(groups, name, ())

        is_project = bool(project) or "build-system" in tables
        is_older = "setup.py" in files or "setup.cfg" in files
        if is_project:
            reasons.append("pyproject.toml")
        elif is_older:
            reasons += _present(files, "setup.py", "setup.cfg")
        elif group:
            reasons.append("the dependency groups of pyproject.toml")

        texts = [*group, *_texts(project.get("dependencies"))]
        for name in extras:
            texts += _texts(optional[name])
        older = [files[name] for name in _present(files, "setup.py", "setup.cfg")]
        return cls(
            needs_install=is_project or is_older,
            extras=extras,
            group=tuple(dict.fromkeys(group)),
            texts=(*texts, *older),
            reasons=tuple(reasons),
        )


def _requirements_of(
    groups: Mapping[str, Any],
    name: str,
    above: tuple[str, ...],
) -> list[str]:
    """Return the requirements of a dependency group, with those it includes."""
    requirements = []
    if name in above:  # a circle is pip's to refuse
        return []
    for entry in _list(groups.get(name)):
        if isinstance(entry, str):
            requirements.append(entry)
        elif isinstance(entry, dict):
            included = str(entry.get("include-group", ""))
            requirements += _requirements_of(groups, included, (*above, name))
    return requirements


_PYTEST_REQUIREMENT: Final = re.compile(r"(?m)^\s*[\"'\[]*pytest\b|[\"']pytest\b")


def _names_pytest(text: str) -> bool:
    """Whether a requirement, or a file of them, names pytest or its plugin."""
    return _PYTEST_REQUIREMENT.search(text) is not None


def _node_step(
    files: Mapping[str, str],
    commands: Sequence[str],
    surroundings: Surroundings,
) -> PreparationStep | None:
    del commands, surroundings
    if "package-lock.json" not in files:
        return None
    return PreparationStep(
        tool="npm",
        family=Family.NODE,
        commands=("npm ci --no-audit --no-fund",),
        inputs=_present(files, "package-lock.json", "package.json"),
        because="locked by package-lock.json",
        folders=("node_modules",),
    )


def _rust_step(
    files: Mapping[str, str],
    commands: Sequence[str],
    surroundings: Surroundings,
) -> PreparationStep | None:
    del commands, surroundings
    if "Cargo.lock" not in files:
        return None
    return PreparationStep(
        tool="cargo",
        family=Family.RUST,
        commands=(f"CARGO_HOME={ENVIRONMENT}/cargo cargo fetch --locked",),
        inputs=_present(files, "Cargo.lock", "Cargo.toml"),
        because="locked by Cargo.lock",
        variables={"CARGO_HOME": f"{ENVIRONMENT}/cargo", "CARGO_NET_OFFLINE": "true"},
    )


def _go_step(
    files: Mapping[str, str],
    commands: Sequence[str],
    surroundings: Surroundings,
) -> PreparationStep | None:
    del commands, surroundings
    if "go.mod" not in files:
        return None
    return PreparationStep(
        tool="go",
        family=Family.GO,
        commands=(f"GOMODCACHE={ENVIRONMENT}/go GOFLAGS=-modcacherw go mod download",),
        inputs=_present(files, "go.mod", "go.sum"),
        because="needed by go.mod",
        variables={"GOMODCACHE": f"{ENVIRONMENT}/go", "GOPROXY": "off"},
    )


_Detector = Callable[
    [Mapping[str, str], Sequence[str], Surroundings], PreparationStep | None
]
_DETECTORS: Final[Mapping[Family, _Detector]] = {
    Family.PYTHON: _python_step,
    Family.NODE: _node_step,
    Family.RUST: _rust_step,
    Family.GO: _go_step,
}


def _present(files: Collection[str], *names: str) -> tuple[str, ...]:
    return tuple(name for name in names if name in files)


def _table(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = tables.get(name)
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [text for text in _list(value) if isinstance(text, str)]


_NOT_IN_NAMES: Final = re.compile(r"[-_.]+")


def copies_of_project(
    project: str,
    tree: str,
    installed: Mapping[str, Mapping[str, Any]],
) -> tuple[str, ...]:
    """Return the installed packages by which tests would import a copy of the project.

    `installed` has for each package where it came from, as its direct_url.json says;
    `tree` is where the project lies. Only a package that is installed to be edited in
    place leads to the judged tree.
    """
    own_name = _normal_name(project)
    copies = []
    for name, origin in installed.items():
        is_editable = _table(origin, "dir_info").get("editable") is True
        url = f"{origin.get('url', '')}/"
        is_from_tree = "dir_info" in origin and url.startswith(f"file://{tree}/")
        is_own = bool(own_name) and _normal_name(name) == own_name
        if not is_editable and (is_own or is_from_tree):
            copies.append(name)
    return tuple(copies)


def project_name(files: Mapping[str, str]) -> str:
    """Return the name in pyproject.toml; nothing where there is none."""
    try:
        tables = read_toml(files.get("pyproject.toml", ""))
    except InvalidToml:
        return ""
    return str(_table(tables, "project").get("name", ""))


def _normal_name(name: str) -> str:
    return _NOT_IN_NAMES.sub("-", name).lower()
