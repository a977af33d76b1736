"""A change on another commit: three-way, by content alone, whatever the repository would like to happen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from accordance.workspace.rebasing import (
    RebaseConflict,
    Rebased,
    ReplayConflict,
    rebase,
    replay,
)
from tests.hostile.stage import git

LINES = "".join(f"line {number}\n" for number in range(12))
FIRST = LINES.replace("line 0\n", "first\n")
LAST = LINES.replace("line 11\n", "last\n")
OTHER_FIRST = LINES.replace("line 0\n", "another first\n")
UNION = "*.txt merge=union\n"


def committed(place: Path, files: Mapping[str, str | None], parent: str = "") -> str:
    """Commit files on top of a commit; None deletes one. Returns the commit."""
    if not place.exists():
        place.mkdir()
        git(place, "init", "--quiet", "--initial-branch=main")
    if parent:
        git(place, "checkout", "--quiet", "--detach", parent)
    for name, text in files.items():
        if text is None:
            (place / name).unlink()
        else:
            (place / name).write_text(text, "utf-8")
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--allow-empty", "--message=a change")
    return git(place, "rev-parse", "HEAD").strip()


@pytest.mark.parametrize(
    ("change", "head", "expected"),
    [
        pytest.param({"a.txt": FIRST}, {"a.txt": LAST}, None, id="other lines of one file"),
        pytest.param({"a.txt": FIRST}, {"b.txt": "b\n"}, None, id="other files"),
        pytest.param({"a.txt": FIRST}, {"a.txt": FIRST}, None, id="the same change"),
        pytest.param({"a.txt": None}, {"b.txt": "b\n"}, None, id="a file less"),
        pytest.param({"a.txt": FIRST}, {"a.txt": OTHER_FIRST}, ("a.txt",), id="the same line"),
        pytest.param({"a.txt": FIRST}, {"a.txt": None}, ("a.txt",), id="a file that is gone"),
        pytest.param({"a.txt": None}, {"a.txt": LAST}, ("a.txt",), id="a file that was changed"),
        pytest.param({"b.txt": "one\n"}, {"b.txt": "two\n"}, ("b.txt",), id="a new file of the same name"),
        pytest.param({"a.txt": FIRST, ".gitattributes": UNION}, {"a.txt": OTHER_FIRST}, ("a.txt",), id="a change that wants both lines"),
        pytest.param({"a.txt": FIRST}, {"a.txt": OTHER_FIRST, ".gitattributes": UNION}, ("a.txt",), id="a head that wants both lines"),
    ],
)  # fmt: skip
def test_rebase(
    tmp_path: Path,
    change: Mapping[str, str | None],
    head: Mapping[str, str | None],
    expected: tuple[str, ...] | None,
) -> None:
    """It applies as git's own merge of lines would have it, or names the files."""
    place = tmp_path / "r"
    base = committed(place, {"a.txt": LINES})
    commit = committed(place, change, base)
    onto = committed(place, head, base)
    rebased = rebase(place, commit, onto)
    if expected is not None:
        assert rebased == RebaseConflict(expected)
        return
    assert isinstance(rebased, Rebased)
    merged = git(place, "merge-tree", "--write-tree", onto, commit).split()[0]
    assert rebased.tree == merged


def test_replay(tmp_path: Path) -> None:
    """All changes, in their order, with their words; what is there already is an empty commit."""
    place = tmp_path / "r"
    base = committed(place, {"a.txt": LINES})
    first = committed(place, {"a.txt": FIRST}, base)
    second = committed(place, {"b.txt": "b\n"}, first)
    onto = committed(place, {"a.txt": FIRST.replace("line 11", "last")}, base)
    replayed = replay(place, [first, second], onto)
    assert isinstance(replayed, tuple)
    assert git(place, "rev-parse", f"{replayed[1]}~2").strip() == onto
    assert git(place, "diff", "--name-only", f"{replayed[0]}~1", replayed[0]) == ""
    assert git(place, "show", f"{replayed[1]}:b.txt") == "b\n"
    assert git(place, "log", "-1", "--format=%s", replayed[0]).strip() == "a change"
    git(place, "fsck", "--strict")


def test_replay_of_a_change_that_does_not_apply(tmp_path: Path) -> None:
    """Its commit and its files are named."""
    place = tmp_path / "r"
    base = committed(place, {"a.txt": LINES})
    first = committed(place, {"b.txt": "b\n"}, base)
    second = committed(place, {"a.txt": FIRST}, first)
    onto = committed(place, {"a.txt": OTHER_FIRST}, base)
    assert replay(place, [first, second], onto) == ReplayConflict(second, ("a.txt",))
