"""Where an attempt began: the tree, the commit, and what changed in git's settings."""

from __future__ import annotations

from pathlib import Path

from accordance.domain.case import Breach
from accordance.domain.findings import listed
from accordance.errors import NotFound
from accordance.workspace.baseline import Baseline, fixed_base
from accordance.workspace.errors import BasesDiffer, NoEarlierCopy
from accordance.workspace.git import git_directory
from accordance.workspace.git_settings import git_settings, programs
from accordance.workspace.waiting import refuse_endless_files


def top_of(repo: Path, base: str | None = None) -> Path:
    """Return the top of the working tree. Raises NotFound, WorkspaceError.

    A directory without git, judged against an earlier copy, is its own top.
    """
    here = repo.resolve()
    if not here.is_dir():
        raise NotFound("directory", str(repo))

    is_copy = base is not None and Path(base).is_dir()
    if is_copy and git_directory(here) is None:
        return here

    for folder in (here, *here.parents):
        directory = git_directory(folder)
        if directory is not None:
            refuse_endless_files(directory)
            return folder
    return here


def starting_commit(root: Path, base: str | None, baseline: Baseline | None) -> str:
    """Return the commit, or the earlier copy, that the agent began with.

    Raises BasesDiffer, UnfixedBase, UnknownBase, NoEarlierCopy.
    """
    if baseline is not None:
        if base is not None and base != baseline.commit:
            raise BasesDiffer(
                f"{base} is not the commit of the baseline, {baseline.commit}",
                way_out="name either of the two, not both",
            )
        return baseline.commit

    if git_directory(root):
        return fixed_base(root, base)
    if base is None:
        raise NoEarlierCopy(
            f"{root} is not a git repository, so an earlier copy is needed to compare "
            "it with"
        )
    return str(Path(base).resolve())


def settings_breaches(
    root: Path,
    baseline: Baseline | None,
    *,
    strict: bool,
) -> tuple[Breach, ...]:
    """Return what was done to git's own settings, as far as that can be known."""
    text = ""
    if baseline is not None:
        text = _changed_settings(root, baseline)
    elif strict:
        text = _unexplained_programs(root)
    return (Breach("SCOPE_CONFLICT", text),) if text else ()


def _changed_settings(root: Path, baseline: Baseline) -> str:
    changed = baseline.changed_settings(root)
    if not changed:
        return ""
    return f"git's own settings have changed since the baseline: {listed(changed)}"


def _unexplained_programs(root: Path) -> str:
    run_by_git = programs(git_settings(root))
    if not run_by_git:
        return ""
    return (
        "git would run programs in this tree, and no baseline says that they were "
        f"there before: {listed(run_by_git)}"
    )
