"""Sight: which paths of a repository the agent of a task may read.

Pins bound reading as they bound writing. An agent reads what it may write (the pins, narrowed by its role), what the task
gives it to read (`files`, `pins.read_paths`), what its role reads in any task (`read`), and the tests its commands name.
Forbidden paths win over all of it.

A command names tests by a path or by a Python module (`tests/test_a.py::test_b`, `tests.test_a`). One that names none (`make
test`, `pytest`) leaves the search to its runner, so the usual places of tests can be read. A test in a folder of tests brings
that folder along: helpers and fixtures lie there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Any, Final

from accordance.contracts.pins import Pins, normal_path
from accordance.domain.roles import Role

_TEST_FOLDERS: Final = frozenset(("tests", "test", "spec", "specs", "__tests__"))
_USUAL_TESTS: Final = (
    *(f"**/{folder}/**" for folder in sorted(_TEST_FOLDERS)),
    "**/conftest.py",
    "**/test_*.py",
    "**/*_test.py",
    "**/*_test.go",
    "**/*.test.*",
    "**/*.spec.*",
    "**/*_spec.rb",
    "**/*Test.java",
)
_IS_TEST: Final = Pins.of(_USUAL_TESTS)
_ON_THE_WAY: Final = (
    "conftest.py",
    "__init__.py",
)  # read by pytest and Python before the test itself
_BETWEEN_WORDS: Final = re.compile(r"[\s'\"`;&|()<>]+")
_NO_PLACE: Final = re.compile(r"-|\w+=")  # options and variables say how, not what
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
    def of(cls, task: Mapping[str, Any], role: Role) -> Sight:
        """The sight of a task of scc.task.v1 (as JSON) in a role."""
        pins = Pins.of(
            task["pins"]["allowed_paths"], task["pins"].get("forbidden_paths", ())
        )
        given = (
            *(task.get("files") or ()),
            *task["pins"].get("read_paths", ()),
            *role.read,
        )
        return cls(
            pins=pins,
            role=role.write,
            given=tuple(
                pattern for pattern in given if normal_path(pattern) is not None
            ),
            tests=tuple(task.get("allowedTests") or ()),
            _open=Pins.of(["**"], [*pins.forbidden, *role.write.forbidden, "**/.git"]),
        )

    def forbids(self, path: str) -> bool:
        """Whether a path is forbidden: nothing that is told to the agent may come from there."""
        return path not in self._open

    @property
    def folders(self) -> frozenset[str]:
        """The folders in which the pins name something, so that a new file has a place, whatever else is there."""
        leading = (
            "/".join(takewhile(_is_plain, pattern.split("/")[:-1]))
            for pattern in self.pins.allowed
        )
        return frozenset(
            folder for folder in leading if folder and not self.forbids(f"{folder}/x")
        )

    def may_be_shown(self, path: str) -> bool:
        """Whether a path may be shown to the agent by whoever does not know the repository: tests are not looked for."""
        return path in replace(self, tests=()).readable((path,))

    def told(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """The task as its agent is told it: what its context has under the name of a forbidden path is left out."""
        context = task.get("context")
        if not isinstance(context, dict):
            return dict(task)
        return {
            **task,
            "context": {
                key: self._without_forbidden(value) for key, value in context.items()
            },
        }

    def _without_forbidden(self, value: object) -> object:
        if isinstance(value, dict):
            return {
                key: self._without_forbidden(one)
                for key, one in value.items()
                if not self._names_forbidden(key)
            }
        if isinstance(value, list):
            return [
                self._without_forbidden(one)
                for one in value
                if not self._names_forbidden(one)
            ]
        return value

    def _names_forbidden(self, value: object) -> bool:
        return isinstance(value, str) and self._open.rule(value) == "forbidden"

    def readable(self, paths: Collection[str]) -> frozenset[str]:
        """Those paths of a repository that may be read."""
        given = Pins.of((*self.given, *named_by(self.tests, paths)))
        return frozenset(
            path
            for path in paths
            if path in self._open
            and (path in given or (path in self.pins and path in self.role))
        )


def named_by(commands: Iterable[str], paths: Collection[str]) -> frozenset[str]:
    """Patterns for the files of a repository that test commands need and name."""
    tree = _Tree.of(paths)
    found: set[str] = set()
    for command in commands:
        named = tree.places(command)
        for place in named:
            found.update(_with_surroundings(place))
        if not any(_is_test(place) for place in named):
            found.update(_USUAL_TESTS)
    return frozenset(found)


def places_named(command: str, paths: Collection[str]) -> frozenset[str]:
    """Those of the paths, and of the folders they lie in, that a command names."""
    return _Tree.of(paths).places(command)


def _words(command: str) -> list[str]:
    """The words of a command that could name a file, those inside quotes among them."""
    return [
        word
        for word in _BETWEEN_WORDS.split(command)
        if word and not _NO_PLACE.match(word)
    ]


@dataclass(frozen=True, slots=True)
class _Tree:
    """The files of a repository, and the folders they lie in."""

    files: frozenset[str]
    folders: frozenset[str]

    @classmethod
    def of(cls, paths: Collection[str]) -> _Tree:
        return cls(
            frozenset(paths),
            frozenset(folder for path in paths for folder in _above(path)),
        )

    def places(self, command: str) -> frozenset[str]:
        """The files and folders a command names."""
        return frozenset(
            place for word in _words(command) for place in self._named(word)
        )

    def _named(self, word: str) -> Iterator[str]:
        """What a word names, as a path or as a module of Python."""
        path = normal_path(word.partition("::")[0])
        if path is not None and (path in self.files or path in self.folders):
            yield path
        elif _MODULE.fullmatch(word):
            yield from self._module(word.split("."))

    def _module(self, names: list[str]) -> Iterator[str]:
        """`tests.test_a.Case.test_b` lies in tests/test_a.py; a whole package is a folder."""
        if (package := "/".join(names)) in self.folders:
            yield package
        modules = (f"{'/'.join(names[:end])}.py" for end in range(len(names), 0, -1))
        yield from islice((module for module in modules if module in self.files), 1)


def _with_surroundings(place: str) -> Iterator[str]:
    """A named file or folder, what is read on the way to it, and the folder of tests it lies in."""
    yield place
    above = _above(place)
    yield from _ON_THE_WAY
    yield from (f"{folder}/{name}" for folder in above for name in _ON_THE_WAY)
    yield from (
        f"{folder}/" for folder in above if folder.rpartition("/")[2] in _TEST_FOLDERS
    )


def _is_plain(name: str) -> bool:
    return "*" not in name


def _is_test(place: str) -> bool:
    return place in _IS_TEST or f"{place}/x" in _IS_TEST


def _above(path: str) -> list[str]:
    """The folders a path lies in, the outermost first."""
    names = path.split("/")[:-1]
    return ["/".join(names[:end]) for end in range(1, len(names) + 1)]
