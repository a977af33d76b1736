"""Reading is bounded: a clone holds what may be read, and nothing in it brings the rest back."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from pathlib import Path

import pytest

from accordance.domain.facts import ChangeKind, EntryKind, TreeEntry
from accordance.workspace.attempt_setting import AttemptSetting
from accordance.workspace.branch import Branch, apply_patch
from accordance.workspace.clone import Workspace, clone
from accordance.workspace.collecting import base_snapshot, collect
from accordance.workspace.difference import difference
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.evidence import EvidenceRequest
from accordance.workspace.fetching import BRANCH
from accordance.workspace.git import Git
from accordance.workspace.ignoring import BaseRules
from accordance.workspace.leftovers import leftovers_in, restore_leftovers
from accordance.workspace.overlay import laid_over, whole_tree
from accordance.workspace.patching import readable_patch
from tests.hostile.stage import git
from tests.unit.workspace.repositories import commit, repository, with_submodule, write

SECRET = "hunter2-of-the-base"
OLD_SECRET = "hunter1-of-long-ago"
FILES = {
    "src/app.py": "APP = 1\n",
    "src/run.sh": "#!/bin/sh\necho run\n",
    "secrets/key.txt": f"{SECRET}\n",
    "docs/guide.md": "A guide.\n",
    ".gitattributes": "*.bat text eol=crlf\n",
    "src/go.bat": "echo go\n",
}
TASK = "72c84e9c-0975-4c1a-b9a5-864c2725dc8a"


def below_src(paths: Collection[str]) -> frozenset[str]:
    """What may be read here."""
    return frozenset(path for path in paths if path.startswith(("src/", ".git")))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A repository whose forbidden file has a past, a branch, a tag, a stash and packed refs."""
    place = repository(
        tmp_path / "repository", {**FILES, "secrets/key.txt": f"{OLD_SECRET}\n"}
    )
    git(place, "tag", "old")
    git(place, "branch", "other")
    write(place, FILES)
    (place / "src/run.sh").chmod(0o755)
    (place / "src/link").symlink_to("../secrets/key.txt")
    commit(place, "second, with secrets/key.txt in its message")
    write(place, {"secrets/key.txt": "stashed\n"})
    git(place, "stash", "--quiet")
    git(place, "pack-refs", "--all")
    return place


@pytest.fixture
def workspace(source: Path, tmp_path: Path) -> Workspace:
    """A clone of it that holds `src`."""
    return clone(source, tmp_path / "attempt", readable=below_src)


def changed(workspace: Workspace) -> dict[str, ChangeKind]:
    """What the agent changed, by path."""
    before = base_snapshot(clone_again(workspace))
    found = difference(before, whole_tree(workspace), ignored=BaseRules(workspace))
    return {path: change.kind for change in found.changes for path in change.paths}


def all_objects(work: Path) -> str:
    """The content of every object there is, be it part of a commit or not."""
    raw = Git(work / ".git")(
        "cat-file", "--batch-all-objects", "--batch", "--buffer", "--unordered"
    )
    return raw.decode("utf-8", "replace")


def clone_again(workspace: Workspace) -> Workspace:
    """The same clone, fresh."""
    attempt = workspace.work.parent
    fresh = attempt.with_name(f"{attempt.name}-fresh")
    return clone(
        attempt.parent / "repository", fresh, base=workspace.commit, readable=below_src
    )


def test_only_what_may_be_read_is_there(workspace: Workspace) -> None:
    """Files, links and executable bits; neither a folder nor a name of anything else."""
    there = {
        place.relative_to(workspace.work).as_posix()
        for place in workspace.work.rglob("*")
        if ".git" not in place.relative_to(workspace.work).parts
    }
    assert there == {
        ".gitattributes",
        "src",
        "src/app.py",
        "src/run.sh",
        "src/go.bat",
        "src/link",
    }
    assert os.access(workspace.work / "src/run.sh", os.X_OK)
    assert not (workspace.work / "src/link").exists()  # it leads to what is withheld
    assert (workspace.work / "src/go.bat").read_bytes() == b"echo go\r\n"


@pytest.mark.seed("003-5", "004-9")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            ("show", "HEAD:secrets/key.txt"), id="a withheld file cannot be shown"
        ),
        pytest.param(("show", "HEAD~1"), id="there is no commit before"),
        pytest.param(("show", "old:secrets/key.txt"), id="no tag comes along"),
        pytest.param(("show", "stash@{0}"), id="no stash comes along"),
        pytest.param(
            ("rev-parse", "--verify", "other"), id="no other branch comes along"
        ),
    ],
)
def test_git_gives_nothing_back(workspace: Workspace, command: tuple[str, ...]) -> None:
    """What history holds is as far away as the file itself."""
    with pytest.raises(subprocess.CalledProcessError):
        git(workspace.work, *command)


def test_no_object_holds_what_is_withheld(workspace: Workspace) -> None:
    """Neither its content nor its name: in no object, pack, log or file of the agent's repository."""
    log = git(workspace.work, "log", "--all", "--reflog", "--patch", "--format=%H %B")
    objects = all_objects(workspace.work)
    for text in (log, objects):
        assert SECRET not in text
        assert OLD_SECRET not in text
        assert "guide" not in text
    assert "APP = 1" in objects
    for place in workspace.work.rglob("*"):
        if place.is_file() and not place.is_symlink():
            assert b"key.txt" not in place.read_bytes(), place
    assert not list(workspace.work.rglob("alternates"))
    assert git(workspace.work, "rev-list", "--all").split() == [
        git(workspace.work, "rev-parse", "HEAD").strip()
    ]


def test_git_works_for_the_agent(workspace: Workspace) -> None:
    """A clean tree on a branch; a change is seen, and can be committed."""
    work = workspace.work
    assert git(work, "status", "--porcelain") == git(work, "remote") == ""
    assert git(work, "branch", "--show-current").strip() == BRANCH
    write(work, {"src/app.py": "APP = 2\n"})
    assert git(work, "diff", "--name-only").split() == ["src/app.py"]
    git(work, "commit", "--quiet", "--all", "--message=mine")
    assert git(work, "status", "--porcelain") == ""


def test_what_was_withheld_is_no_deletion(workspace: Workspace) -> None:
    """Nothing was done, so nothing has changed; and a change is that change alone."""
    assert changed(workspace) == {}


@pytest.mark.parametrize(
    ("files", "kinds"),
    [
        pytest.param(
            {"src/app.py": "APP = 2\n"},
            {"src/app.py": ChangeKind.MODIFIED},
            id="a change is that change alone",
        ),
        pytest.param(
            {"secrets/key.txt": "mine"},
            {"secrets/key.txt": ChangeKind.MODIFIED},
            id="a file at a withheld path is a change of it",
        ),
        pytest.param(
            {"secrets": "a file"},
            {"secrets": ChangeKind.ADDED, "secrets/key.txt": ChangeKind.DELETED},
            id="a file in the place of a withheld folder deletes what is in it",
        ),
        pytest.param(
            {"docs/guide.md/x": "x"},
            {"docs/guide.md": ChangeKind.DELETED, "docs/guide.md/x": ChangeKind.ADDED},
            id="a folder in the place of a withheld file deletes it",
        ),
        pytest.param(
            {"docs/guide.md": "A guide.\n"},
            {},
            id="the same content at a withheld path changes nothing",
        ),
    ],
)
def test_what_an_agent_puts_over_the_base(
    workspace: Workspace, files: dict[str, str], kinds: dict[str, ChangeKind]
) -> None:
    """Withheld files are still there below what the agent left."""
    write(workspace.work, files)
    assert changed(workspace) == kinds


def test_tests_see_the_whole_base(workspace: Workspace, tmp_path: Path) -> None:
    """The judge's own run has what was withheld, the agent's change on top, and the agent's clone has not."""
    before = base_snapshot(workspace)
    write(workspace.work, {"src/app.py": "APP = 2\n"})
    command = f"grep -q {SECRET} secrets/key.txt && grep -q 'APP = 2' src/app.py && test -x src/run.sh && git log -1"
    found = collect(
        workspace,
        before,
        tmp_path / "scratch",
        EvidenceRequest.usually(TASK, (command,)),
    ).facts
    assert [run.exit_code for run in found.runs] == [0]
    assert not (workspace.work / "secrets").exists()


def test_an_agent_is_not_shown_what_is_forbidden_by_way_of_a_test(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Tests run beside forbidden files. What they print of those is not for the agent; what they print without them is."""
    before = base_snapshot(workspace)
    tests = (
        "cat secrets/key.txt; git show HEAD:secrets/key.txt; echo honest; false",
        "! cat secrets/*",
        "true",
    )
    setting = AttemptSetting(forbids=lambda path: path.startswith("secrets/"))
    found = collect(
        workspace,
        before,
        tmp_path / "scratch",
        EvidenceRequest.usually(TASK, tests),
        setting,
    )
    assert [run.passed for run in found.facts.runs] == [False, False, True]
    assert SECRET in found.logs[0].read_text("utf-8")
    assert found.shown == (None, None, None)  # both name them, or pass without them
    honest = ("cat secrets/k*; echo honest; false",)
    found = collect(
        workspace,
        before,
        tmp_path / "again",
        EvidenceRequest.usually(TASK, honest),
        setting,
    )
    (shown,) = found.shown
    assert shown is not None
    assert "honest" in shown.read_text("utf-8")
    assert SECRET not in shown.read_text("utf-8")


def test_the_commit_that_lands_is_the_change_on_the_real_base(
    workspace: Workspace, source: Path
) -> None:
    """Its parent is the base; what was withheld is in it, untouched."""
    before = base_snapshot(workspace)
    write(workspace.work, {"src/app.py": "APP = 2\n"})
    git(workspace.work, "commit", "--quiet", "--all", "--message=mine")
    patch = readable_patch(
        workspace,
        difference(before, whole_tree(workspace), ignored=BaseRules(workspace)),
    )
    made = Branch(source, "accordance/x").write(
        workspace, patch, "name", "Two", "2024-01-01T00:00:00Z"
    )
    assert git(source, "rev-parse", f"{made}~1").strip() == workspace.commit
    assert git(source, "diff", "--name-only", f"{made}~1", made).split() == [
        "src/app.py"
    ]
    assert git(source, "show", f"{made}:secrets/key.txt").strip() == SECRET


def test_an_earlier_change_is_laid_into_a_bounded_clone(workspace: Workspace) -> None:
    """What an agent left can be laid again, to the last bit; a patch of withheld files fits nowhere, and shows nothing."""
    before = base_snapshot(workspace)
    write(workspace.work, {"src/app.py": "APP = 2\n"})
    left = leftovers_in(workspace, before)
    assert left is not None
    fresh = clone_again(workspace)
    assert restore_leftovers(left, fresh, base_snapshot(fresh))
    write(workspace.work, {"secrets/key.txt": "mine\n"})
    reaching = leftovers_in(workspace, before)
    assert reaching is not None
    assert not apply_patch(reaching.patch, fresh.work)
    assert not (fresh.work / "secrets").exists()


def test_submodules_are_bounded_too(tmp_path: Path) -> None:
    """Each is a repository of its own with what may be read of it; one with nothing to read is not there."""
    source = with_submodule(tmp_path)
    paths: set[str] = set()

    def only_inner(names: Collection[str]) -> frozenset[str]:
        paths.update(names)
        return frozenset(
            name
            for name in names
            if name.startswith("vendor/inner/") or name == "src/app.py"
        )

    made = clone(source, tmp_path / "attempt", readable=only_inner)
    assert {"vendor/lib.txt", "vendor/inner/inner.txt", "docs/guide.md"} <= paths
    assert (made.work / "vendor/inner/inner.txt").read_text("utf-8") == "inner\n"
    assert not (made.work / "vendor/lib.txt").exists()
    assert git(made.work, "status", "--porcelain") == ""
    objects = all_objects(made.work / "vendor")
    assert "library" not in objects
    before = base_snapshot(made)
    assert before.nested == ("vendor", "vendor/inner")
    assert "vendor/lib.txt" in before.entries
    write(made.work, {"vendor/inner/inner.txt": "mine\n"})
    found = difference(before, whole_tree(made), ignored=BaseRules(made))
    assert [change.path for change in found.changes] == ["vendor/inner/inner.txt"]
    none = clone(source, tmp_path / "none", readable=lambda _: {"src/app.py"})
    assert sorted(place.name for place in none.work.iterdir()) == [".git", "src"]


def test_names_that_are_no_text_are_withheld_or_given_like_others(
    tmp_path: Path,
) -> None:
    """A name of odd bytes, a backslash, a line end: each keeps its bytes on the way."""
    source = repository(tmp_path / "repository")
    names = [
        b"src/\xff.txt",
        b"src/a\\b.txt",
        b"src/a\nb.txt",
        "src/\u00fc.txt".encode(),
    ]
    for name in names:
        (source / os.fsdecode(name)).write_text("odd\n", "utf-8")
    commit(source, "odd")
    given = clone(source, tmp_path / "given", readable=frozenset)
    assert all((given.work / os.fsdecode(name)).is_file() for name in names)
    assert git(given.work, "status", "--porcelain") == ""
    withheld = clone(source, tmp_path / "withheld", readable=lambda _: frozenset())
    assert [place.name for place in withheld.work.iterdir()] == [".git"]
    assert base_snapshot(given).entries == base_snapshot(withheld).entries


def test_a_folder_without_git_is_not_given_whole(tmp_path: Path) -> None:
    """Where reading cannot be bounded, nothing begins."""
    plain = write(tmp_path / "plain", {"a.txt": "a"})
    with pytest.raises(WorkspaceError, match="cannot be bounded"):
        clone(plain, tmp_path / "attempt", readable=below_src)


def test_two_trees_as_one() -> None:
    """The upper one counts where both have a path; folders of both are there."""

    def entry(path: str, kind: EntryKind = EntryKind.FILE) -> TreeEntry:
        return TreeEntry(path, kind)

    folder = EntryKind.DIRECTORY
    below = {
        path: entry(path, folder if path in ("d", "e") else EntryKind.FILE)
        for path in ("d", "d/x", "e", "e/y", "f")
    }
    above = {
        "d": entry("d"),
        "e": entry("e", folder),
        "f": entry("f", folder),
        "f/z": entry("f/z"),
    }
    assert laid_over(above, below) == {**above, "e/y": below["e/y"]}
