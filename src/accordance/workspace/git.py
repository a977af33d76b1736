"""Running git so that nothing a repository holds can run: no hooks, filters, monitors, foreign config or network.

Where it matters git is given a private git directory of ours, never the agent's: its config is then ours as well.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.workspace.errors import GitFailed, UnknownBase, WorkspaceError

TIMEOUT: Final = 600  # seconds; git on a local disk that takes longer is stuck
_NOWHERE: Final = os.devnull
_SHA256_DIGITS: Final = 64

_SETTINGS: Final = {
    "core.hooksPath": _NOWHERE,
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.attributesFile": _NOWHERE,
    "core.excludesFile": _NOWHERE,
    "core.pager": "cat",
    "core.quotePath": "false",
    "core.symlinks": "true",
    "core.fileMode": "true",
    "core.autocrlf": "false",
    "core.sshCommand": "false",
    "core.askPass": "false",
    "credential.helper": "",
    "diff.external": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "protocol.file.allow": "always",
    "submodule.recurse": "false",
    "safe.directory": "*",
}
_OPTIONS: Final = tuple(
    part for key, value in _SETTINGS.items() for part in ("-c", f"{key}={value}")
)
_ENVIRONMENT: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": _NOWHERE,
    "GIT_CONFIG_GLOBAL": _NOWHERE,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_AUTHOR_NAME": "accordance",
    "GIT_AUTHOR_EMAIL": "accordance@localhost",
    "GIT_COMMITTER_NAME": "accordance",
    "GIT_COMMITTER_EMAIL": "accordance@localhost",
    "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_DATE": "1700000000 +0000",
    "HOME": _NOWHERE,
    "LC_ALL": "C.UTF-8",
}
# The side that serves a fetch reads the source's config; it may serve any commit, and any owner's repository.
UPLOAD_PACK: Final = (
    "git -c uploadpack.allowAnySHA1InWant=true -c core.fsmonitor=false "
    "-c core.hooksPath=/dev/null -c safe.directory=* upload-pack"
)


@dataclass(frozen=True, slots=True)
class Git:
    """Git with a given git directory, and perhaps a work tree and an index of its own."""

    directory: Path
    work_tree: Path | None = None
    index: Path | None = None

    def __call__(self, *command: str, given: bytes = b"") -> bytes:
        """Run one command and return what it wrote. Raises GitFailed."""
        places = {"GIT_DIR": os.fspath(self.directory)}
        if self.work_tree is not None:
            places["GIT_WORK_TREE"] = os.fspath(self.work_tree)
        if self.index is not None:
            places["GIT_INDEX_FILE"] = os.fspath(self.index)
        return _run(command, places, given, cwd=self.work_tree or self.directory)

    def text(self, *command: str) -> str:
        """The same, for answers of one line."""
        return self(*command).decode("utf-8", "replace").strip()


def _run(
    command: Sequence[str], places: Mapping[str, str], given: bytes, cwd: Path
) -> bytes:
    environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT, **places}
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program with separate arguments
            ("git", *_OPTIONS, *command),  # noqa: S607 - git is looked up on the path, as everywhere
            input=given,
            capture_output=True,
            env=environment,
            cwd=cwd,
            timeout=TIMEOUT,
            check=False,
        )
    except (FileNotFoundError, NotADirectoryError):
        if not cwd.is_dir():
            raise WorkspaceError(f"{cwd} is no folder; git cannot work there") from None
        raise WorkspaceError(
            "git is not installed; install it, or judge a directory without git"
        ) from None
    except subprocess.TimeoutExpired:
        raise GitFailed(command, 124, f"no end after {TIMEOUT} seconds") from None
    if done.returncode != 0:
        raise GitFailed(
            command, done.returncode, done.stderr.decode("utf-8", "replace")
        )
    return done.stdout


def git_directory(repository: Path) -> Path | None:
    """The git directory of a working tree, also of a linked one or of a submodule, or None."""
    dot_git = repository / ".git"
    if dot_git.is_dir():
        return dot_git
    if dot_git.is_file():
        pointer = dot_git.read_text("utf-8", "surrogateescape").strip()
        place = repository / pointer.removeprefix("gitdir: ")
        return place if place.is_dir() else None
    return None


def resolve(repository: Path, revision: str) -> str:
    """The full id of the commit a revision names. Raises UnknownBase."""
    directory = git_directory(repository)
    if directory is None:
        raise UnknownBase(
            f"{repository} is no git repository, so it has no commit {revision!r}"
        )
    try:
        return Git(directory).text(
            "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}"
        )
    except GitFailed:
        raise UnknownBase(f"{repository} has no commit {revision!r}") from None


def object_format(commit: str) -> str:
    """The option of `git init` for a repository that can hold this commit: its id tells by which hash it was made."""
    return f"--object-format={'sha256' if len(commit) == _SHA256_DIGITS else 'sha1'}"


def show(repository: Path, base: str, path: str) -> bytes | None:
    """A file as it is at the base, a commit or, without git, an earlier copy; None where there is none."""
    directory = git_directory(repository)
    try:
        if directory is not None:
            return Git(directory)("show", f"{base}:{path}")
        return (Path(base) / path).read_bytes()
    except (GitFailed, FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
