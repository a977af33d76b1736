"""Whether a test command could be started at all, checked before the task begins."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from typing import Final

from accordance.contracts.pins import normal_path
from accordance.domain.facts import EntryKind, IsolationLevel, Snapshot, TreeEntry
from accordance.workspace.confining import environment
from accordance.workspace.entries import is_executable
from accordance.workspace.isolation import Room
from accordance.workspace.judges_python import BARE_PROGRAMS
from accordance.workspace.names import lies_in_any

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_LEFT_TO_THE_SHELL: Final = re.compile(r"[$`(){}*?\[\]!~<>|&;]")
_BUILT_IN: Final = frozenset(
    [
        *(".", ":", "alias", "break", "case", "cd", "command", "continue", "eval"),
        *("exec", "exit", "export", "false", "fi", "for", "if", "pwd", "read"),
        *("return", "set", "shift", "test", "time", "times", "trap", "true", "type"),
        *("ulimit", "umask", "unset", "until", "wait", "while"),
    ]
)


def why_not_runnable(
    command: str,
    tree: Snapshot,
    room: Room,
    carry: Sequence[str] = (),
) -> str:
    """Return why this command cannot be started in this tree, or an empty text.

    Only the program it names first is looked for. The folders that tests `carry` are
    not in the base, and may not be there yet.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        return f"the shell cannot read it: {error}"

    program = _first_program(words)
    if not program:
        return "it names no program"

    syntax_error = _syntax_error(command)
    if syntax_error:
        return f"the shell cannot read it: {syntax_error}"

    if program in _BUILT_IN or _LEFT_TO_THE_SHELL.search(program):
        return ""
    if "/" not in program:
        return _why_not_on_path(program, room)
    if program.startswith("/"):
        return _why_not_on_disk(program)
    if lies_in_any(normal_path(program) or "", carry):
        return ""
    return _why_not_in_tree(program, tree)


def _first_program(words: list[str]) -> str:
    """Return the first word that sets no variable."""
    for word in words:
        if not _ASSIGNMENT.fullmatch(word):
            return word
    return ""


def _syntax_error(command: str) -> str:
    """Return what the shell finds wrong with a command, without running it."""
    checked = subprocess.run(  # noqa: S603
        ("sh", "-n", "-c", command),  # noqa: S607
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    )
    if checked.returncode == 0:
        return ""
    return " ".join(checked.stderr.split())


def _why_not_on_path(program: str, room: Room) -> str:
    if program in BARE_PROGRAMS:
        return ""
    search_path = environment(room, IsolationLevel.BWRAP)["PATH"]
    if shutil.which(program, path=search_path):
        return ""
    return f"{program} is not installed where tests can see it"


def _why_not_on_disk(program: str) -> str:
    if os.access(program, os.X_OK):
        return ""
    return f"{program} does not exist or cannot be run"


def _why_not_in_tree(program: str, tree: Snapshot) -> str:
    path = normal_path(program) or ""
    entry = tree.entries.get(path)
    if entry is None:
        return f"{program} is not in the repository"
    if not _can_be_run(entry):
        return f"{program} is not executable"
    return ""


def _can_be_run(entry: TreeEntry) -> bool:
    """Whether an entry is executable; where a link leads is left to the shell."""
    if entry.kind is EntryKind.SYMLINK:
        return True
    return entry.kind is EntryKind.FILE and is_executable(entry.mode)
