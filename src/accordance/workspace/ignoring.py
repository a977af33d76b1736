"""Which paths the base's own rules ignore. Rules that the agent added do not count.

The only rules are the .gitignore files of the base commit: not those of the judged
tree, nor `.git/info/exclude`, nor the settings of a user. A path that the base tracks
is never ignored.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import Popen
from typing import IO, Final

from accordance.workspace.clone import Workspace
from accordance.workspace.difference import in_caches
from accordance.workspace.errors import GitFailed
from accordance.workspace.fetching import commit_rows
from accordance.workspace.git import Git
from accordance.workspace.names import lies_in_any, name_of, text_of
from accordance.workspace.rule_files import IGNORE, lay_out_rules

_HERE: Final = b"./"
"""Before every name that git is asked about: a name can begin with a sign of git's."""
_NONE_IGNORED: Final = 1  # the exit code of check-ignore when no path is ignored
_QUESTION: Final = ("check-ignore", "--no-index", "--stdin", "-z")
_FIELDS: Final = 4  # of a verbose answer: source, line, pattern and path


class BaseRules:
    """The .gitignore files of the base commit, asked about many paths at once.

    With `carry`, only what tests carry is asked about, and known caches in it are
    ignored as well: everything else that is ignored has been left out by the walk, or
    was added to git by the agent.
    """

    def __init__(
        self,
        workspace: Workspace,
        carry: Sequence[str] | None = None,
    ) -> None:
        self.workspace = workspace
        self.carry = carry

    def __call__(self, paths: Collection[str]) -> frozenset[str]:
        """Return those of the paths that are ignored."""
        git = self.workspace.base
        commit = self.workspace.commit
        if not commit:
            return in_caches(paths)

        if self.carry is not None and not self.carry:
            return frozenset()

        tracked = {row.name for row in commit_rows(git, commit)}
        untracked = [path for path in paths if name_of(path) not in tracked]
        caches: frozenset[str] = frozenset()
        if self.carry is not None:
            untracked = [path for path in untracked if lies_in_any(path, self.carry)]
            caches = in_caches(untracked)
        if not untracked:
            return frozenset()

        names = [os.fsencode(name_of(path)) for path in untracked]
        ignored = _ignored_names(git, commit, names)
        by_rule = frozenset(text_of(os.fsdecode(name)) for name in ignored)
        return by_rule | caches


def _ignored_names(base: Git, commit: str, names: Sequence[bytes]) -> list[bytes]:
    with tempfile.TemporaryDirectory(prefix="accordance-") as folder:
        git = lay_out_rules(base, commit, IGNORE, Path(folder))
        if git is None:
            return []
        question = b"\0".join(_HERE + name for name in names)
        try:
            answer = git(*_QUESTION, given=question)
        except GitFailed as failure:
            if failure.exit_code == _NONE_IGNORED:
                return []
            raise
    answers = answer.rstrip(b"\0").split(b"\0")
    return [name.removeprefix(_HERE) for name in answers]


class IgnoreQuestions:
    """The .gitignore files of the base commit, asked about a path at a time.

    A single process of git answers; there is none where the base has no rules.
    """

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        git = lay_out_rules(workspace.base, workspace.commit, IGNORE, folder)
        self._tree = folder / "tree"
        self._process = None if git is None else git.process(*_QUESTION, "-v", "-n")

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether a path is ignored. Raises GitFailed."""
        if self._process is None:
            return False

        name = name_of(path)
        if is_folder:
            # Some rules are for folders only, and git looks whether it is a folder.
            folder = self._tree / name
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)

        answer = _answer(self._process, os.fsencode(name))
        _source, _line, pattern, _path = answer
        return bool(pattern) and not pattern.startswith(b"!")

    def close(self) -> None:
        """End the process."""
        if self._process is None:
            return
        with suppress(BrokenPipeError):
            self._process.communicate()


def _answer(process: Popen[bytes], name: bytes) -> list[bytes]:
    """Return the fields of git's answer about a name. Raises GitFailed."""
    questions, answers = process.stdin, process.stdout
    assert questions is not None  # noqa: S101 - for the type checker
    assert answers is not None  # noqa: S101
    try:
        questions.write(b"%s%s\0" % (_HERE, name))
        questions.flush()
        return [_field(answers) for _ in range(_FIELDS)]
    except (BrokenPipeError, EOFError):
        raise GitFailed(_QUESTION, process.wait(), "") from None


def _field(answers: IO[bytes]) -> bytes:
    """Read up to the next NUL."""
    field = bytearray()
    while (byte := answers.read(1)) != b"\0":
        if not byte:
            raise EOFError
        field += byte
    return bytes(field)


@contextmanager
def ignore_questions(workspace: Workspace) -> Iterator[IgnoreQuestions]:
    """Yield the rules of a workspace's base for as long as the block runs."""
    with tempfile.TemporaryDirectory(prefix="accordance-") as folder:
        questions = IgnoreQuestions(workspace, Path(folder))
        try:
            yield questions
        finally:
            questions.close()
