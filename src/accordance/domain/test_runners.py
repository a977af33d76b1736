"""Which test runner a command calls, by its words.

A command whose runner is known must leave a report of every test. Any other command is
plain: its exit code is all there is, which is weaker, and the verdict says so.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Final

PYTEST: Final = "pytest"
UNITTEST: Final = "unittest"
NODE: Final = "node"
_MODULES: Final = (PYTEST, UNITTEST)
"""Runners that Python starts as a module."""

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PYTHON: Final = re.compile(r"(?:python|pypy)(?:\d(?:\.\d+)*)?\Z")
_WRAPPERS: Final = {
    "uv": ("run",),
    "poetry": ("run",),
    "pdm": ("run",),
    "hatch": ("run",),
    "pipenv": ("run",),
    "coverage": ("run",),
    "env": (),
    "time": (),
    "nice": (),
    "exec": (),
    "xvfb-run": (),
}
_INTERPRETERS: Final = frozenset(
    ("sh", "bash", "dash", "zsh", "node", "perl", "ruby", "php", ".", "source")
)
_CODE_OPTION: Final = ("-c", "-m")
_CODE_OPTIONS: Final = {
    "node": ("-e", "-p"),
    "perl": ("-e",),
    "ruby": ("-e",),
    "php": ("-r",),
}
_CARGO_OTHER: Final = frozenset(("--nocapture", "-q", "--quiet", "--format"))
"""Options with which the harness prints something else than a line for each test."""
_JS_WRAPPERS: Final = ("npx", "pnpm", "yarn", "npm", "bunx")
_JS_SUBCOMMANDS: Final = ("exec", "dlx")
_WITH_A_VALUE: Final = ("-X", "-W")  # options of Python
_OPERATORS: Final = frozenset({"&&", "||", ";", "|", "&", "(", ")"})


def runners_of(command: str) -> tuple[str, ...]:
    """The known runners that a shell command calls by name, in their order."""
    names = []
    for words in _simple_commands(command):
        name = _runner_called(words)
        if name and name not in names:
            names.append(name)
    return tuple(names)


def programs_of(command: str) -> tuple[str, ...]:
    """The names of the programs that a shell command calls, without their folders."""
    names = []
    for words in _simple_commands(command):
        for word in words:
            if not _ASSIGNMENT.match(word):
                names.append(word.rpartition("/")[2])
                break
    return tuple(names)


def scripts_of(command: str) -> tuple[str, ...]:
    """The files that a shell command runs as programs, relative to the repository.

    What it only passes to a program is not among them.
    """
    scripts = []
    folder = ""
    for words in _simple_commands(command):
        script = _script_called(words)
        if words[:1] == ["cd"]:
            folder = posixpath.join(folder, *words[1:2])
        elif script:
            scripts.append(posixpath.normpath(posixpath.join(folder, script)))
    return tuple(scripts)


def _script_called(words: Sequence[str]) -> str:
    """The file that a simple command runs: its program, or what it interprets."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        program = word.rpartition("/")[2]
        if _ASSIGNMENT.match(word):
            continue
        if program in _WRAPPERS:
            rest = _without_options(rest, _WRAPPERS[program])
            continue
        if program in _INTERPRETERS or _PYTHON.match(program):
            return _first_file(rest, _CODE_OPTIONS.get(program, _CODE_OPTION))
        return word
    return ""


def _first_file(words: Sequence[str], code_options: Sequence[str]) -> str:
    """The first argument of an interpreter that is no option.

    There is none where an option gives it the code, or the name of a module.
    """
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in code_options:
            return ""
        if word in _WITH_A_VALUE and rest:
            rest.pop(0)
        elif not word.startswith("-"):
            return word
    return ""


def foreign_runner(command: str) -> str:
    """The tool of a command that prints a report of its own; empty where none does."""
    for words in _simple_commands(command):
        name = _foreign_runner_called(words)
        if name:
            return name
    return ""


def _foreign_runner_called(words: Sequence[str]) -> str:
    rest = [word for word in words if not _ASSIGNMENT.match(word)]
    while rest:
        program = rest.pop(0).rpartition("/")[2]
        if program in (*_WRAPPERS, *_JS_WRAPPERS):
            rest = _without_options(rest, _WRAPPERS.get(program, _JS_SUBCOMMANDS))
            continue
        reports = _REPORTING.get(program)
        if reports is not None and reports(rest):
            return program
        return ""
    return ""


def _go_reports(words: Sequence[str]) -> bool:
    return words[:1] == ["test"] and "-json" in words


def _cargo_reports(words: Sequence[str]) -> bool:
    return words[:1] == ["test"] and _CARGO_OTHER.isdisjoint(words)


def _jest_reports(words: Sequence[str]) -> bool:
    return "--json" in words


def _vitest_reports(words: Sequence[str]) -> bool:
    pairs = pairwise(words)
    return "--reporter=json" in words or ("--reporter", "json") in pairs


_REPORTING: Final[Mapping[str, Callable[[Sequence[str]], bool]]] = MappingProxyType(
    {
        "go": _go_reports,
        "cargo": _cargo_reports,
        "jest": _jest_reports,
        "vitest": _vitest_reports,
    }
)
"""Tools that can print a report of their own, and whether a call asks for it."""


def _simple_commands(command: str) -> Iterator[list[str]]:
    """The commands between the operators of a shell line."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if word in _OPERATORS:
                yield words
                words = []
            else:
                words.append(word)
    except ValueError:  # an unclosed quote: the shell will say so
        return
    yield words


def _runner_called(words: Sequence[str]) -> str:
    rest = list(words)
    while rest:
        word = rest.pop(0)
        program = word.rpartition("/")[2]
        if _ASSIGNMENT.match(word):
            continue
        if program in _WRAPPERS:
            rest = _without_options(rest, _WRAPPERS[program])
            if program == "coverage":
                return _module_called(rest)
            continue
        if program in ("pytest", "py.test"):
            return PYTEST
        if _PYTHON.match(program):
            return _module_called(rest)
        if program == "node" and "--test" in rest:
            return NODE
        return ""
    return ""


def _without_options(words: Sequence[str], subcommands: Sequence[str]) -> list[str]:
    rest = list(words)
    while rest:
        word = rest[0]
        is_option = word.startswith("-") and word != "-m"
        if not is_option and word not in subcommands:
            break
        rest.pop(0)
    return rest


def _module_called(words: Sequence[str]) -> str:
    """The runner that `python -m` names."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "-m":
            if rest and rest[0] in _MODULES:
                return rest[0]
            return ""
        if word in _WITH_A_VALUE and rest:
            rest.pop(0)
        elif not word.startswith("-"):
            return ""
    return ""
