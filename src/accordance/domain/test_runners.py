"""Which test runner a command calls, by its words.

A command whose runner is known must leave a report of every test. Any other command is
plain: its exit code is all there is, which is weaker, and the verdict says so.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
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
    while rest and (rest[0].startswith("-") or rest[0] in subcommands):
        if rest[0] == "-m":
            break
        rest.pop(0)
    return rest


def _module_called(words: Sequence[str]) -> str:
    """The runner that `python -m` names."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "-m":
            return rest[0] if rest and rest[0] in _MODULES else ""
        if word in _WITH_A_VALUE and rest:
            rest.pop(0)
        elif not word.startswith("-"):
            return ""
    return ""
