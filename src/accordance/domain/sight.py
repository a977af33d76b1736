"""Sight: which paths of a repository the agent of a task may read.

Pins limit reading as they limit writing. An agent reads what it may write (the pins,
narrowed by its role), what the task gives it to read (`files`, `pins.read_paths`), what
its role reads in any task (`read`), and the tests its commands name. Forbidden paths
win over all of it.

A command names tests by a path or by a Python module (`tests/test_a.py::test_b`,
`tests.test_a`). A command that names none (`make test`, `pytest`) leaves the search to
its runner, so the usual places of tests can be read. A test in a folder of tests makes
the whole folder readable: helpers and fixtures are there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Final

from accordance.contracts.jsonpath import without
from accordance.contracts.pins import Pins, normal_path
from accordance.domain.roles import AgentRole

_TEST_FOLDERS: Final = frozenset(("tests", "test", "spec", "specs", "__tests__"))
_IN_TEST_FOLDERS: Final = tuple(f"**/{folder}/**" for folder in sorted(_TEST_FOLDERS))
_USUAL_TESTS: Final = (
    *_IN_TEST_FOLDERS,
    "**/conftest.py",
    "**/test_*.py",
    "**/*_test.py",
    "**/*_test.go",
    "**/*.test.*",
    "**/*.spec.*",
    "**/*_spec.rb",
    "**/*Test.java",
)
_TESTS: Final = Pins.of(_USUAL_TESTS)
_READ_FIRST: Final = ("conftest.py", "__init__.py")
"""What pytest and Python read in each folder on the way to a test."""

_WORD_BREAK: Final = re.compile(r"[\s'\"`;&|()<>]+")
_OPTION: Final = re.compile(r"-|\w+=")  # options and variables name no file
_MODULE: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


@dataclass(frozen=True, slots=True)
class Sight:
    """What the agent of a task may read."""

    pins: Pins  # of the task
    role: Pins  # what its role may write
    given: tuple[str, ...]  # patterns that may be read and not written
    tests: tuple[str, ...]  # commands
    _open: Pins  # all that is not forbidden

    @classmethod
    def of(cls, task: Mapping[str, Any], role: AgentRole) -> Sight:
        """Return the sight of a task of scc.task.v1 (as JSON) in a role."""
        task_pins = task["pins"]
        pins = Pins.of(task_pins["allowed_paths"], task_pins.get("forbidden_paths", ()))
        patterns = (
            *(task.get("files") or ()),
            *task_pins.get("read_paths", ()),
            *role.read,
        )
        given = [pattern for pattern in patterns if normal_path(pattern) is not None]
        forbidden = [*pins.forbidden, *role.write.forbidden, "**/.git"]
        return cls(
            pins=pins,
            role=role.write,
            given=tuple(given),
            tests=tuple(task.get("allowedTests") or ()),
            _open=Pins.of(["**"], forbidden),
        )

    def forbids(self, path: str) -> bool:
        """Whether a path is forbidden, so that the agent sees nothing of it."""
        return path not in self._open

    @property
    def folders(self) -> frozenset[str]:
        """The folders in which the pins name something.

        A new file has a place there, whatever else the agent may read.
        """
        folders = set()
        for pattern in self.pins.allowed:
            directories = pattern.split("/")[:-1]
            folder = "/".join(takewhile(_is_plain, directories))
            if folder and not self.forbids(f"{folder}/x"):
                folders.add(folder)
        return frozenset(folders)

    def may_be_shown(self, path: str) -> bool:
        """Whether a path may be shown without a look at the repository.

        The tests that commands name are not looked for.
        """
        without_tests = replace(self, tests=())
        return path in without_tests.readable((path,))

    def shown_task(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Return the task as its agent gets to see it.

        Whatever its context has under the name of a forbidden path is left out, and so
        are hidden tests.
        """
        task = _without_hidden_tests(task)
        context = task.get("context")
        if not isinstance(context, dict):
            return dict(task)
        visible = {
            key: self._without_forbidden(value) for key, value in context.items()
        }
        return {**task, "context": visible}

    def _without_forbidden(self, value: object) -> object:
        if isinstance(value, dict):
            return {
                key: self._without_forbidden(inner)
                for key, inner in value.items()
                if not self._names_forbidden(key)
            }
        if isinstance(value, list):
            return [
                self._without_forbidden(inner)
                for inner in value
                if not self._names_forbidden(inner)
            ]
        return value

    def _names_forbidden(self, value: object) -> bool:
        return isinstance(value, str) and self._open.rule(value) == "forbidden"

    def readable(self, paths: Collection[str]) -> frozenset[str]:
        """Return those paths of a repository that may be read."""
        given = Pins.of((*self.given, *named_by(self.tests, paths)))
        allowed = set()
        for path in paths:
            if path not in self._open:
                continue
            is_writable = path in self.pins and path in self.role
            if is_writable or path in given:
                allowed.add(path)
        return frozenset(allowed)


def _without_hidden_tests(task: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a task without what it says of hidden tests, and of tests by their ids."""
    if task.get("hidden_tests") is None:
        return task
    unseen = ("hidden_tests", "fail_to_pass", "pass_to_pass")
    return without(task, unseen)


def named_by(commands: Iterable[str], paths: Collection[str]) -> frozenset[str]:
    """Return patterns for the files of a repository that test commands need."""
    tree = _Tree.of(paths)
    patterns: set[str] = set()
    for command in commands:
        places = tree.places(command)
        for place in places:
            patterns.update(_with_surroundings(place))
        names_a_test = any(_is_test(place) for place in places)
        if not names_a_test:
            patterns.update(_USUAL_TESTS)
    return frozenset(patterns)


def places_named(command: str, paths: Collection[str]) -> frozenset[str]:
    """Return those of the paths, and of their folders, that a command names."""
    return _Tree.of(paths).places(command)


def _words(command: str) -> list[str]:
    """Return the words of a command that could name a file, also those in quotes."""
    words = _WORD_BREAK.split(command)
    return [word for word in words if word and not _OPTION.match(word)]


@dataclass(frozen=True, slots=True)
class _Tree:
    """The files of a repository, and the folders they are in."""

    files: frozenset[str]
    folders: frozenset[str]

    @classmethod
    def of(cls, paths: Collection[str]) -> _Tree:
        folders: set[str] = set()
        for path in paths:
            folders.update(_folders_above(path))
        return cls(frozenset(paths), frozenset(folders))

    def places(self, command: str) -> frozenset[str]:
        """Return the files and folders a command names."""
        places: set[str] = set()
        for word in _words(command):
            places.update(self._places_of_word(word))
        return frozenset(places)

    def _places_of_word(self, word: str) -> Iterator[str]:
        """Yield what a word names, as a path or as a module of Python."""
        path = normal_path(word.partition("::")[0])
        is_place = path in self.files or path in self.folders
        if path is not None and is_place:
            yield path
        elif _MODULE.fullmatch(word):
            yield from self._places_of_module(word.split("."))

    def _places_of_module(self, names: list[str]) -> Iterator[str]:
        """Yield the file of a module, or the folder of a package.

        `tests.test_a.Case.test_b` is in tests/test_a.py.
        """
        package = "/".join(names)
        if package in self.folders:
            yield package
        for end in range(len(names), 0, -1):
            module = f"{'/'.join(names[:end])}.py"
            if module in self.files:
                yield module
                return


def _with_surroundings(place: str) -> Iterator[str]:
    """Yield a named file or folder, what is read before it, and its folder of tests."""
    yield place
    yield from _READ_FIRST
    for folder in _folders_above(place):
        for name in _READ_FIRST:
            yield f"{folder}/{name}"
        folder_name = folder.rpartition("/")[2]
        if folder_name in _TEST_FOLDERS:
            yield f"{folder}/"


def _is_plain(name: str) -> bool:
    return "*" not in name


def _is_test(place: str) -> bool:
    return place in _TESTS or f"{place}/x" in _TESTS


def _folders_above(path: str) -> list[str]:
    """Return the folders a path is in, the outermost first."""
    names = path.split("/")[:-1]
    return ["/".join(names[:end]) for end in range(1, len(names) + 1)]
