"""Files that can decide how a test run ends without being a test.

A change to such a file is a fact of its own.
"""

from __future__ import annotations

import re
from typing import Final

from accordance.domain.facts import ChangeSet, SteeringFile

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


def steering_files(changes: ChangeSet) -> tuple[SteeringFile, ...]:
    """Return the changed files that steer a test run.

    Both ends of a rename count, and so does a deletion.
    """
    files = []
    for change in changes.changes:
        for path in change.paths:
            steered = steers(path)
            if steered:
                files.append(SteeringFile(path, steered, change.kind))
    return tuple(files)
