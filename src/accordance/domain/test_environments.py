"""What the tests of a repository need, by the files of its base.

A step says which commands make an environment, from which files, and why. Nothing is
run here. `{environment}` in a text stands for the folder of the environment.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from accordance.domain.findings import listed
from accordance.domain.python_projects import PythonProject, mentions_pytest, present
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
            inputs=present(files, "uv.lock", "pyproject.toml"),
            because="locked by uv.lock",
        )

    requirements = [name for name in files if _REQUIREMENTS.fullmatch(name)]
    project = PythonProject.of(files)
    lacks_pytest = _lacks_pytest(files, commands, requirements, project)

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

    named = [*requirements, *project.reasons]
    reasons = []
    if named:
        reasons.append(f"needed by {listed(named)}")
    if "uv.lock" in files:
        reasons.append("uv is not installed, so its lock file is not used")
    if lacks_pytest:
        reasons.append("a test command runs pytest, which no file names")

    installs = [shlex.join(("pip", "install", *words))]
    if project.needs_install and requirements:
        # requirements may have brought a copy, which tests would import instead
        installs.append("pip install --no-deps -e .")
    return PreparationStep(
        tool="pip",
        family=Family.PYTHON,
        commands=tuple(installs),
        inputs=present(files, *requirements, "pyproject.toml", "setup.py", "setup.cfg"),
        because="; ".join(reasons),
    )


def _lacks_pytest(
    files: Mapping[str, str],
    commands: Sequence[str],
    requirements: Sequence[str],
    project: PythonProject,
) -> bool:
    """Whether a test command runs pytest, and nothing would install it."""
    runs_pytest = any(PYTEST in runners_of(command) for command in commands)
    if not runs_pytest:
        return False
    texts = [files[name] for name in requirements]
    return not any(map(mentions_pytest, (*texts, *project.texts)))


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
        inputs=present(files, "package-lock.json", "package.json"),
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
        inputs=present(files, "Cargo.lock", "Cargo.toml"),
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
        inputs=present(files, "go.mod", "go.sum"),
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
