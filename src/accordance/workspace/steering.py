"""Files that can decide how a test run ends, or whether a hook is asked.

A change to such a file is a fact of its own.
"""

from __future__ import annotations

import re
from typing import Final

from accordance.domain.facts import (
    CURRENT_FACTS,
    WITH_AGENT_HOOKS,
    WITH_LEFT_OUT,
    ChangeKind,
    ChangeSet,
    PathChange,
    SteeringFile,
)
from accordance.domain.hooks.steering import steered_hooks
from accordance.workspace.shadowing import shadows

# What files of these names steer, in whatever folder and letter case. Bundles store
# these words and compare them: they must not change.
_BY_NAME: Final = {
    "conftest.py": "pytest",
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "pytest.toml": "pytest",
    "tox.ini": "tox and pytest",
    "tox.toml": "tox",
    "noxfile.py": "nox",
    "setup.cfg": "pytest and setuptools",
    "setup.py": "setuptools",
    "pyproject.toml": "pytest, coverage and the build",
    ".coveragerc": "coverage",
    "sitecustomize.py": "Python",
    "usercustomize.py": "Python",
    "pyvenv.cfg": "Python",
    ".env": "environment",
    ".envrc": "environment",
    "package.json": "npm scripts",
    "package-lock.json": "npm",
    ".npmrc": "npm",
    ".yarnrc": "yarn",
    ".yarnrc.yml": "yarn",
    "tsconfig.json": "TypeScript",
    "babel.config.js": "Babel",
    ".babelrc": "Babel",
    "makefile": "make",
    "gnumakefile": "make",
    "justfile": "just",
    "taskfile.yml": "task",
    "rakefile": "rake",
    ".rspec": "rspec",
    "phpunit.xml": "PHPUnit",
    "phpunit.xml.dist": "PHPUnit",
    "pom.xml": "Maven",
    "build.gradle": "Gradle",
    "build.gradle.kts": "Gradle",
    "settings.gradle": "Gradle",
    "gradle.properties": "Gradle",
    "cargo.toml": "Cargo",
    "build.rs": "Cargo",
    "go.mod": "Go",
    "go.work": "Go",
    "cmakelists.txt": "CMake",
    "ctestcustom.cmake": "CTest",
    "dockerfile": "Docker",
    ".gitattributes": "git",
    ".gitmodules": "git",
    "test.runsettings": "dotnet",
    "directory.build.props": "dotnet",
}
_BY_PATTERN: Final = (
    (
        re.compile(
            r"(?:jest|vitest|vite|playwright|cypress|karma|ava|webpack|rollup)\.(?:config|conf)\.\w+"
        ),
        "JavaScript tests",
    ),
    (re.compile(r"\.mocharc(?:\.\w+)?"), "mocha"),
    (re.compile(r"\.(?:nyc|c8)rc(?:\.\w+)?"), "JavaScript coverage"),
    (re.compile(r".+\.pth"), "Python"),
    (re.compile(r".+\.pyc"), "Python"),
    (re.compile(r"__pycache__/.+"), "Python"),
    (re.compile(r"(?:jest|vitest|test)[._-]setup\.\w+"), "JavaScript tests"),
    (re.compile(r".+\.mk"), "make"),
)
_FOLDERS: Final = {
    ".cargo": "Cargo",
    ".mvn": "Maven",
    "node_modules": "npm",
    ".venv": "Python",
    "venv": "Python",
}
_LATER_NAMES: Final = {".pytest.toml": "pytest"}
_TEST_FOLDERS: Final = frozenset(("tests", "test"))
_NEW: Final = (ChangeKind.ADDED, ChangeKind.RENAMED, ChangeKind.TYPE)
_WORKFLOWS: Final = (".github/workflows/", ".gitlab-ci", ".circleci/")


def steers(path: str) -> str:
    """Return what a file at this path can steer, or nothing."""
    folded_path = path.casefold()
    *folders, name = folded_path.split("/")
    if name in _BY_NAME:
        return _BY_NAME[name]
    for pattern, steered in _BY_PATTERN:
        if pattern.fullmatch(name):
            return steered
    for folder in folders:
        if folder in _FOLDERS:
            return _FOLDERS[folder]
    if folded_path.startswith(_WORKFLOWS):
        return "continuous integration"
    return ""


def steering_files(
    changes: ChangeSet, version: int = CURRENT_FACTS
) -> tuple[SteeringFile, ...]:
    """Return the changed files that steer a test run.

    Both ends of a rename count, and so does a deletion. `version` is that of the facts:
    earlier ones knew fewer files.
    """
    files = []
    for change in changes.changes:
        for path in change.paths:
            steered = steers(path)
            if version >= WITH_LEFT_OUT:
                steered = steered or _steers_by_place(change, path)
            if version >= WITH_AGENT_HOOKS:
                steered = steered or steered_hooks(path)
            if steered:
                files.append(SteeringFile(path, steered, change.kind))
    return tuple(files)


def _steers_by_place(change: PathChange, path: str) -> str:
    """Return what a file steers because of where it stands.

    A module that was there before is part of the project, whatever it is called. An
    empty `__init__.py` does nothing. Names that the first versions of facts did not know
    are here, too.
    """
    after = change.after
    is_there = after is not None and path == change.path
    is_new = is_there and change.kind in _NEW
    if is_new and shadows(path):
        return f"Python: it takes the place of {shadows(path)}"

    *folders, name = path.split("/")
    later_name = _LATER_NAMES.get(name.casefold())
    if later_name:
        return later_name
    is_in_tests = not _TEST_FOLDERS.isdisjoint(folders)
    is_empty = after is not None and after.size == 0
    if name == "__init__.py" and is_in_tests and not is_empty:
        return "Python: it runs before the tests of its folder"
    return ""
