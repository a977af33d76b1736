"""The tree as an agent left it, without what tools left beside the work.

What the base ignores and what known tools cache is listed and passed by: it is no part
of the change, of the tests' copy or of what is taken over. The folders that tests carry
and the evidence are read in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from accordance.domain.facts import Snapshot
from accordance.domain.left_out import IGNORED, cache_in
from accordance.workspace.clone import Workspace
from accordance.workspace.errors import GitFailed
from accordance.workspace.git import Git, git_directory
from accordance.workspace.ignoring import IgnoreQuestions, ignore_questions
from accordance.workspace.names import lies_in_any, text_of
from accordance.workspace.overlay import whole_tree
from accordance.workspace.snapshot import SeenFiles, WalkLimits


def tree_left(
    workspace: Workspace,
    before: Snapshot,
    needed: Sequence[str] = (),
    *,
    reach: WalkLimits | None = None,
    seen: SeenFiles | None = None,
) -> Snapshot:
    """Return the tree as it is now, without what is left out.

    `needed` are folders that are read in any case. What is as `seen` before is not read
    again. Raises WorkspaceChanging, GitFailed.
    """
    with ExitStack() as stack:
        rule = _Rule(
            before.entries.keys(),
            _tracked_by_the_agent(workspace),
            tuple(needed),
            _Questions(workspace, stack),
        )
        return whole_tree(
            workspace,
            reach=reach,
            leaving=rule,
            seen=seen,
        )


@dataclass(frozen=True, slots=True)
class _Rule:
    """Leaves out what the base ignores, and known caches."""

    base: Collection[str]
    tracked: Collection[str]
    needed: tuple[str, ...]
    ignores: Callable[[str, bool], bool]

    def __call__(
        self,
        path: str,
        *,
        is_folder: bool,
        holds: Callable[[str], bool],
    ) -> str:
        """Return why a path is left out, or nothing."""
        if path in self.base or path in self.tracked or self._is_needed(path):
            return ""
        cache = cache_in(
            path,
            is_folder=is_folder,
            base=self.base,
            holds=holds,
        )
        if cache:
            return cache
        return IGNORED if self.ignores(path, is_folder) else ""

    def _is_needed(self, path: str) -> bool:
        """Whether a path is a needed folder, or lies in or above such a folder."""
        if lies_in_any(path, self.needed):
            return True
        return any(folder.startswith(f"{path}/") for folder in self.needed)


@dataclass(slots=True)
class _Questions:
    """Asks git, which is started with the first question: most trees have none."""

    workspace: Workspace
    stack: ExitStack
    asked: IgnoreQuestions | None = field(default=None)

    def __call__(self, path: str, is_folder: bool) -> bool:
        """Whether the base's rules ignore a path."""
        if not self.workspace.commit:
            return False
        if self.asked is None:
            self.asked = self.stack.enter_context(ignore_questions(self.workspace))
        return self.asked.ignores(path, is_folder=is_folder)


def _tracked_by_the_agent(workspace: Workspace) -> frozenset[str]:
    """Return what the agent added to git itself, with the folders above it.

    A branch that is merged as it is takes over whatever is committed, ignored or not.
    From our own clone only the judged change is taken over.
    """
    is_our_clone = workspace.pristine is None
    directory = git_directory(workspace.work)
    if is_our_clone or directory is None:
        return frozenset()

    git = Git(directory)
    names = {
        *_names(git, "ls-files", "--cached"),
        *_names(git, "ls-tree", "-r", "--name-only", "--full-tree", "HEAD"),
    }
    tracked: set[str] = set()
    for name in names:
        path = text_of(name)
        while path and path not in tracked:
            tracked.add(path)
            path = path.rpartition("/")[0]
    return frozenset(tracked)


def _names(git: Git, *command: str) -> Iterator[str]:
    try:
        listing = git(*command, "-z")
    except GitFailed:
        return  # no commit yet, or an index that git itself cannot read
    for name in listing.split(b"\0"):
        if name:
            yield name.decode("utf-8", "surrogateescape")
