"""Running git so that nothing a repository holds can run.

No hooks, filters, monitors, foreign config or network. Where it matters, git is given a
private git directory of ours and never the agent's, so that its config is ours as well.
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


def _as_options(settings: Mapping[str, str]) -> tuple[str, ...]:
    options = []
    for key, value in settings.items():
        options += ["-c", f"{key}={value}"]
    return tuple(options)


_OPTIONS: Final = _as_options(_SETTINGS)
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
# The side that serves a fetch reads the source's config. It may serve any commit, and
# any owner's repository.
UPLOAD_PACK: Final = (
    "git -c uploadpack.allowAnySHA1InWant=true -c core.fsmonitor=false "
    "-c core.hooksPath=/dev/null -c safe.directory=* upload-pack"
)


@dataclass(frozen=True, slots=True)
class Git:
    """Git with a certain git directory, and perhaps a work tree and an index."""

    directory: Path
    work_tree: Path | None = None
    index: Path | None = None

    def __call__(self, *command: str, given: bytes = b"") -> bytes:
        """Run a command with `given` as its input, and return its output.

        Raises GitFailed.
        """
        cwd = self.work_tree or self.directory
        return _run(command, self._places(), given, cwd)

    def process(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command that answers questions as long as it is asked."""
        return subprocess.Popen(  # noqa: S603 - a fixed program with separate arguments
            ("git", *_OPTIONS, *command),  # noqa: S607 - git is looked up on the path
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(self._places()),
            cwd=self.work_tree or self.directory,
        )

    def _places(self) -> dict[str, str]:
        places = {"GIT_DIR": os.fspath(self.directory)}
        if self.work_tree is not None:
            places["GIT_WORK_TREE"] = os.fspath(self.work_tree)
        if self.index is not None:
            places["GIT_INDEX_FILE"] = os.fspath(self.index)
        return places

    def text(self, *command: str) -> str:
        """Run a command and return its output as text, for output of a single line."""
        return self(*command).decode("utf-8", "replace").strip()


def _environment(places: Mapping[str, str]) -> dict[str, str]:
    search_path = os.environ.get("PATH", os.defpath)
    return {"PATH": search_path, **_ENVIRONMENT, **places}


def _run(
    command: Sequence[str],
    places: Mapping[str, str],
    given: bytes,
    cwd: Path,
) -> bytes:
    try:
        result = subprocess.run(  # noqa: S603 - a fixed program with separate arguments
            ("git", *_OPTIONS, *command),  # noqa: S607 - git is looked up on the path, as everywhere
            input=given,
            capture_output=True,
            env=_environment(places),
            cwd=cwd,
            timeout=TIMEOUT,
            check=False,
        )
    except (FileNotFoundError, NotADirectoryError):
        raise _not_started(cwd) from None
    except subprocess.TimeoutExpired:
        raise GitFailed(command, 124, f"no end after {TIMEOUT} seconds") from None

    if result.returncode != 0:
        output = result.stderr.decode("utf-8", "replace")
        raise GitFailed(command, result.returncode, output)
    return result.stdout


def _not_started(cwd: Path) -> WorkspaceError:
    if not cwd.is_dir():
        return WorkspaceError(f"{cwd} is not a folder, so git cannot work there")
    return WorkspaceError(
        "git is not installed; install it, or judge a directory without git"
    )


def git_directory(repository: Path) -> Path | None:
    """Return the git directory of a working tree; None where there is none.

    A linked working tree and a submodule have a file that points to it.
    """
    dot_git = repository / ".git"
    if dot_git.is_dir():
        return dot_git
    if not dot_git.is_file():
        return None

    pointer = dot_git.read_text("utf-8", "surrogateescape").strip()
    place = repository / pointer.removeprefix("gitdir: ")
    return place if place.is_dir() else None


def resolve(repository: Path, revision: str) -> str:
    """Return the full id of the commit that a revision names. Raises UnknownBase."""
    directory = git_directory(repository)
    if directory is None:
        raise UnknownBase(
            f"{repository} is not a git repository, so it has no commit {revision!r}"
        )
    git = Git(directory)
    options = ("--verify", "--end-of-options")
    try:
        return git.text("rev-parse", *options, f"{revision}^{{commit}}")
    except GitFailed:
        raise UnknownBase(f"{repository} has no commit {revision!r}") from None


def object_format(commit: str) -> str:
    """Return the option of `git init` for a repository that can hold this commit.

    The length of its id shows which hash it was made with.
    """
    if len(commit) == _SHA256_DIGITS:
        return "--object-format=sha256"
    return "--object-format=sha1"


def show(repository: Path, base: str, path: str) -> bytes | None:
    """Return a file as it is at the base; None where there is none.

    The base is a commit or, without git, an earlier copy.
    """
    directory = git_directory(repository)
    try:
        if directory is not None:
            return Git(directory)("show", f"{base}:{path}")
        return (Path(base) / path).read_bytes()
    except (GitFailed, FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
