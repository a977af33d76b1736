"""The branch a plan builds: commits that are kept until they land, and what is said when one is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from accordance.workspace.branch import Branch, apply_patch, branch_name, conflicts
from accordance.workspace.clone import clone
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.difference import difference
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.patching import readable_patch
from accordance.workspace.snapshot import take_snapshot
from tests.hostile.stage import git
from tests.unit.workspace.repositories import commit, repository, write

AT = "2026-01-01T00:00:00.000000Z"


def a_change(branch: Branch, folder: Path, text: str, base: str = "main") -> str:
    """The commit of a change that was judged."""
    workspace = clone(branch.repository, folder, base=base)
    before = base_snapshot(workspace)
    write(workspace.work, {"src/app.py": text})
    changes = difference(before, take_snapshot(workspace.work))
    return branch.write(
        workspace, readable_patch(workspace, changes), "a task/é-1", "A change", AT
    )


def kept(branch: Branch) -> list[str]:
    """The commits that wait for being approved, by what keeps them."""
    return git(
        branch.repository, "for-each-ref", "--format=%(refname)", "refs/accordance"
    ).split()


def throw_away(branch: Branch) -> None:
    """What git does in its own time with all that nobody points to."""
    git(branch.repository, "gc", "--quiet", "--prune=now")


def test_a_change_is_kept_until_it_lands(tmp_path: Path) -> None:
    """Git throws away what nobody points to; what may still be approved is pointed to."""
    branch = Branch(repository(tmp_path / "r"), branch_name("plan"))
    first, other = (
        a_change(branch, tmp_path / name, f"APP = '{name}'\n")
        for name in ("first", "other")
    )
    throw_away(branch)
    assert len(kept(branch)) == 2
    assert all(ref.startswith("refs/accordance/plan/a-task") for ref in kept(branch))
    branch.move_to(first)
    assert (branch.tip, len(kept(branch))) == (first, 1)
    second = a_change(branch, tmp_path / "second", "APP = 2\n", base=first)
    branch.move_to(second)
    (left,) = kept(branch)
    assert left.endswith(other[:12])


def test_what_is_in_the_way_is_told_apart(tmp_path: Path) -> None:
    """A commit that is gone; a branch that somebody else has moved; one that is checked out."""
    branch = Branch(repository(tmp_path / "r"), branch_name("plan"))
    made = a_change(branch, tmp_path / "made", "APP = 2\n")
    (ref,) = kept(branch)
    git(branch.repository, "switch", "--quiet", "-c", branch.name)
    with pytest.raises(WorkspaceError, match="is checked out"):
        branch.move_to(made)
    write(branch.repository, {"src/app.py": "APP = 3\n"})
    commit(branch.repository, "somebody's")
    git(branch.repository, "switch", "--quiet", "main")
    with pytest.raises(WorkspaceError, match="was moved by someone else"):
        branch.move_to(made)
    git(branch.repository, "update-ref", "-d", ref)
    throw_away(branch)
    with pytest.raises(
        WorkspaceError,
        match=f"the commit {made} of the branch {branch.name} is missing in",
    ):
        branch.move_to(made)
    git(branch.repository, "branch", "-D", branch.name)
    with pytest.raises(WorkspaceError, match="is missing in"):
        branch.move_to(made)


def a_patch(of: Branch, folder: Path, files: dict[str, str]) -> bytes:
    """A change of the base, as the evidence keeps it."""
    workspace = clone(of.repository, folder, base="main")
    before = base_snapshot(workspace)
    write(workspace.work, files)
    return readable_patch(
        workspace, difference(before, take_snapshot(workspace.work))
    ).text


def test_an_earlier_change_that_no_longer_fits_names_its_files(tmp_path: Path) -> None:
    """Those that changed in the meantime, and those that came in its place; not the ones that would still fit."""
    branch = Branch(repository(tmp_path / "r"), branch_name("plan"))
    earlier = a_patch(
        branch,
        tmp_path / "a",
        {"src/app.py": "APP = 'mine'\n", "new.txt": "x\n", "fits.txt": "y\n"},
    )
    moved = a_change(branch, tmp_path / "b", "APP = 'theirs'\n")
    work = clone(branch.repository, tmp_path / "c", base=moved).work
    (work / "new.txt").write_text("theirs\n")
    assert not apply_patch(earlier, work)
    assert conflicts(earlier, work) == ("new.txt", "src/app.py")


def test_an_earlier_change_that_fits_is_no_conflict(tmp_path: Path) -> None:
    """It lies in the clone; nor is there one where nothing was to be laid in."""
    branch = Branch(repository(tmp_path / "r"), branch_name("plan"))
    earlier = a_patch(branch, tmp_path / "a", {"src/app.py": "APP = 'mine'\n"})
    work = clone(branch.repository, tmp_path / "c", base="main").work
    assert apply_patch(earlier, work)
    assert conflicts(earlier, work) == ()
    assert conflicts(b"\n", work) == ()


@pytest.mark.parametrize("moves", [1, 2])
def test_two_processes_may_move_a_branch_at_once(tmp_path: Path, moves: int) -> None:
    """The other was first, to the same commit or beyond it: both have what they want."""
    branch = Branch(repository(tmp_path / "r"), branch_name("plan"))
    first = a_change(branch, tmp_path / "first", "APP = 'first'\n")
    second = a_change(branch, tmp_path / "second", "APP = 'second'\n", base=first)
    landed = (first, second)[:moves]

    class Overtaken(Branch):
        def is_checked_out(self) -> bool:
            for tip in landed:
                branch.move_to(tip)
            return False

    Overtaken(branch.repository, branch.name).move_to(first)

    assert branch.tip == landed[-1]
