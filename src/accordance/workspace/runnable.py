"""Whether a test command could be started at all, asked before anybody works on the task."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from typing import Final

from accordance.contracts.pins import normal_path
from accordance.domain.facts import EntryKind, IsolationLevel, Snapshot
from accordance.workspace.isolation import Room, environment

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_LEFT_TO_THE_SHELL: Final = re.compile(r"[$`(){}*?\[\]!~<>|&;]")
_BUILT_IN: Final = (
    " . : alias break case cd command continue eval exec exit export false fi for if pwd read return set shift "
    "test time times trap true type ulimit umask unset until wait while "
)


def why_not(command: str, tree: Snapshot, room: Room) -> str:
    """Why this command cannot be started in this tree, or nothing. Only its first word is looked for."""
    try:
        words = shlex.split(command)
    except ValueError as fault:
        return f"the shell cannot read it: {fault}"
    head = next((word for word in words if not _ASSIGNMENT.fullmatch(word)), "")
    if not head:
        return "it names no program"
    if complaint := _syntax(command):
        return f"the shell cannot read it: {complaint}"
    if f" {head} " in _BUILT_IN or _LEFT_TO_THE_SHELL.search(head):
        return ""
    return _program(head, tree, room)


def _syntax(command: str) -> str:
    only_read = ("sh", "-n", "-c", command)
    done = subprocess.run(  # noqa: S603 - not run
        only_read, capture_output=True, text=True, timeout=10, check=False
    )
    return " ".join(done.stderr.split()) if done.returncode else ""


def _program(head: str, tree: Snapshot, room: Room) -> str:
    if "/" not in head:
        path = environment(room, IsolationLevel.BWRAP)["PATH"]
        return (
            ""
            if shutil.which(head, path=path)
            else f"{head} is not installed where tests can see it"
        )
    if head.startswith("/"):
        return (
            ""
            if os.access(head, os.X_OK)
            else f"{head} does not exist or cannot be run"
        )
    entry = tree.entries.get(normal_path(head) or "")
    if entry is None:
        return f"{head} is not in the repository"
    runs = entry.kind is EntryKind.SYMLINK or (
        entry.kind is EntryKind.FILE and entry.mode & 0o100
    )
    return "" if runs else f"{head} is not executable"
