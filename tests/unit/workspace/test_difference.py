"""The difference of two trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.domain.facts import (
    ChangeKind,
    EntryKind,
    LinkEscape,
    PathChange,
    Snapshot,
    TreeEntry,
    beyond_caches,
)
from accordance.workspace.difference import difference, in_caches, link_escape

K = ChangeKind


def file(path: str, content: str = "x", mode: int = 0o644) -> TreeEntry:
    """A file whose hash is its content."""
    return TreeEntry(path, EntryKind.FILE, mode, len(content), content)


def folder(path: str, mode: int = 0o755) -> TreeEntry:
    """A directory."""
    return TreeEntry(path, EntryKind.DIRECTORY, mode)


def link(path: str, target: str) -> TreeEntry:
    """A symbolic link."""
    return TreeEntry(path, EntryKind.SYMLINK, 0o777, target=target)


def tree(*entries: TreeEntry) -> Snapshot:
    """A snapshot of these entries."""
    return Snapshot({entry.path: entry for entry in entries})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param([file("a")], [file("a")], [], id="nothing changed"),
        pytest.param([], [file("a")], [("a", K.ADDED, "")], id="added"),
        pytest.param([file("a")], [], [("a", K.DELETED, "")], id="deleted"),
        pytest.param(
            [file("a", "1")], [file("a", "2")], [("a", K.MODIFIED, "")], id="modified"
        ),
        pytest.param(
            [file("a")],
            [file("a", mode=0o755)],
            [("a", K.MODE, "")],
            id="made executable",
        ),
        pytest.param(
            [file("a")], [file("a", mode=0o4644)], [("a", K.MODE, "")], id="made set-id"
        ),
        pytest.param(
            [file("a")],
            [file("a", mode=0o600)],
            [],
            id="modes that do not travel are no change",
        ),
        pytest.param(
            [file("a")],
            [link("a", "b")],
            [("a", K.TYPE, "")],
            id="a file became a link",
        ),
        pytest.param(
            [link("a", "b")],
            [link("a", "c")],
            [("a", K.MODIFIED, "")],
            id="a link was turned",
        ),
        pytest.param(
            [file("a", "1")], [file("b", "1")], [("b", K.RENAMED, "a")], id="renamed"
        ),
        pytest.param(
            [link("a", "t")],
            [link("b", "t")],
            [("b", K.RENAMED, "a")],
            id="a link was renamed",
        ),
        pytest.param(
            [file("a", "")],
            [file("b", "")],
            [("a", K.DELETED, ""), ("b", K.ADDED, "")],
            id="empty files prove nothing",
        ),
        pytest.param(
            [file("a", "1"), file("b", "1")],
            [file("c", "1")],
            [("b", K.DELETED, ""), ("c", K.RENAMED, "a")],
            id="one of two equal files was renamed",
        ),
        pytest.param(
            [file("a", "1")],
            [file("a", "1"), file("b", "1")],
            [("b", K.ADDED, "")],
            id="a copy is an addition",
        ),
        pytest.param(
            [],
            [folder("d"), file("d/a")],
            [("d/a", K.ADDED, "")],
            id="folders are implied by their files",
        ),
        pytest.param(
            [], [file("artifacts/t/report.md")], [], id="evidence is no change"
        ),
        pytest.param(
            [],
            [file("artifacts/t2/x")],
            [("artifacts/t2/x", K.ADDED, "")],
            id="other evidence is",
        ),
    ],
)
def test_changes(
    before: list[TreeEntry],
    after: list[TreeEntry],
    expected: list[tuple[str, ChangeKind, str]],
) -> None:
    """Each kind of change, by path."""
    found = difference(tree(*before), tree(*after), evidence="artifacts/t")
    assert [(one.path, one.kind, one.old_path) for one in found.changes] == expected
    assert bool(found) == bool(expected)


def test_a_rename_touches_both_ends() -> None:
    """Scope is asked about both."""
    found = difference(tree(file("secret/a", "1")), tree(file("src/a", "1")))
    assert found.paths() == {"secret/a", "src/a"}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param([], [folder("d")], [("d", K.ADDED)], id="an empty folder came"),
        pytest.param([folder("d")], [], [("d", K.DELETED)], id="an empty folder went"),
        pytest.param(
            [],
            [folder("d"), folder("d/e")],
            [("d/e", K.ADDED)],
            id="the innermost is named",
        ),
        pytest.param(
            [folder("d")], [folder("d"), file("d/x")], [], id="a folder was filled"
        ),
        pytest.param(
            [folder("d")],
            [folder("d", 0o1777)],
            [("d", K.MODE)],
            id="a special bit was set",
        ),
        pytest.param(
            [],
            [folder("artifacts"), folder("artifacts/t")],
            [],
            id="the evidence folder is expected",
        ),
    ],
)
def test_directories_stand_apart(
    before: list[TreeEntry],
    after: list[TreeEntry],
    expected: list[tuple[str, ChangeKind]],
) -> None:
    """Only what no file implies."""
    found = difference(tree(*before), tree(*after), evidence="artifacts/t")
    assert [(one.path, one.kind) for one in found.directories] == expected


@pytest.mark.parametrize(
    ("path", "target", "expected"),
    [
        ("a", "b", None),
        ("d/a", "../b", None),
        ("d/a", "./x/../y", None),
        ("a", "/etc/passwd", LinkEscape.ABSOLUTE),
        ("a", "..", LinkEscape.OUTSIDE),
        ("d/a", "../../x", LinkEscape.OUTSIDE),
        ("a", "d/../../x", LinkEscape.OUTSIDE),
        ("a", ".git/config", LinkEscape.INTERNALS),
        ("a", "d/.GIT/config", LinkEscape.INTERNALS),
        ("a", "to-d/../x", None),
        ("a", "to-deep/../../../x", LinkEscape.OUTSIDE),
        ("a", "to-etc/passwd", LinkEscape.ABSOLUTE),
        ("a", "round/x", None),
    ],
)
def test_links_that_leave(path: str, target: str, expected: LinkEscape | None) -> None:
    """A link is judged by where it leads, through other links of the tree, without touching the disk."""
    links = [
        link("to-d", "d"),
        link("to-deep", "d/e"),
        link("to-etc", "/etc"),
        link("round", "round"),
    ]
    assert link_escape(path, target, tree(*links).entries) is expected
    found = difference(tree(*links), tree(*links, link(path, target)))
    assert [one.escape for one in found.escaping_links] == (
        [expected] if expected else []
    )


def test_ignored_changes_stand_apart() -> None:
    """Those the rules name; a rename with one end in the open is in the open."""
    before = tree(file("open", "1"), file("x.cache", "2"))
    after = tree(file("hidden.cache", "1"), file("y.cache", "2"), file("z", "3"))
    found = difference(
        before,
        after,
        ignored=lambda paths: {path for path in paths if path.endswith(".cache")},
    )
    assert [(one.path, one.old_path) for one in found.ignored] == [
        ("y.cache", "x.cache")
    ]
    assert [(one.path, one.old_path) for one in found.changes] == [
        ("hidden.cache", "open"),
        ("z", ""),
    ]


def test_caches_are_known_by_their_folder() -> None:
    """A file that is only named like a cache is none."""
    assert in_caches(["a/__pycache__/x.pyc", "__pycache__", "node_modules/x"]) == {
        "a/__pycache__/x.pyc",
        "node_modules/x",
    }
    kept = PathChange("build/x", K.ADDED)
    moved = PathChange("node_modules/x", K.RENAMED, "src/x")
    assert beyond_caches([kept, moved, PathChange(".venv/bin/x", K.ADDED)]) == (
        kept,
        moved,
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("src/app.py", "src/APP.py"),
        ("caf\u00e9", "cafe\u0301"),
        ("stra\u00dfe", "STRASSE"),
    ],
)
def test_twins(old: str, new: str) -> None:
    """A new path that some disks take for an old one."""
    assert difference(tree(file(old)), tree(file(old), file(new, "2"))).twins == (new,)
    assert difference(tree(file(old)), tree(file(old))).twins == ()


def test_what_cannot_be_judged_is_named() -> None:
    """Special and unreadable entries, walks that ended early, git's files."""
    pipe = TreeEntry("pipe", EntryKind.SPECIAL, note="fifo")
    closed = TreeEntry("closed", EntryKind.UNREADABLE, note="Permission denied")
    before = Snapshot({}, {".git/config": file(".git/config", "1")}, (), "")
    after = Snapshot(
        {"pipe": pipe, "closed": closed},
        {".git/config": file(".git/config", "2")},
        ("inner",),
        "more than 3 entries",
    )
    found = difference(before, after)
    assert (found.special, found.unreadable, found.incomplete) == (
        ("pipe",),
        ("closed",),
        "more than 3 entries",
    )
    assert (found.nested_added, found.nested) == (("inner",), ("inner",))
    assert [(one.path, one.kind) for one in found.internals] == [
        (".git/config", K.MODIFIED)
    ]
    assert difference(before, after, internals_known=False).internals == ()
    grown = TreeEntry("closed", EntryKind.UNREADABLE, size=9, note="Permission denied")
    assert [one.kind for one in difference(tree(closed), tree(grown)).changes] == [
        K.MODIFIED
    ]
    assert difference(tree(closed), tree(closed)).unreadable == ("closed",)


PATHS = st.text("abc", min_size=1, max_size=3)
TREES = st.dictionaries(PATHS, st.sampled_from(["", "1", "2", "3"]), max_size=6).map(
    lambda files: tree(*(file(path, content) for path, content in files.items()))
)


@given(TREES, TREES)
def test_the_changes_lead_from_one_tree_to_the_other(
    before: Snapshot, after: Snapshot
) -> None:
    """Applied to the first tree they give the second, and each path is told once."""
    entries = dict(before.entries)
    changes = difference(before, after).changes
    for change in changes:
        for path in change.paths:
            entries.pop(path, None)
    for change in changes:
        if change.after is not None:
            entries[change.path] = change.after
    assert entries == after.entries
    touched = [path for change in changes for path in change.paths]
    assert len(touched) == len(set(touched))
