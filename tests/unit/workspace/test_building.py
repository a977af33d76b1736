"""Repositories that accordance builds: from files, with more files, with a patch."""

from __future__ import annotations

from pathlib import Path

import pytest

from accordance.workspace.building import (
    apply_without,
    build_repository,
    extend_repository,
)
from accordance.workspace.errors import WorkspaceError
from tests.hostile.stage import git

FILES = {"app.py": "a = 1\n", ".gitignore": "*.log\n", "docs/[x] *.md": "text\n"}


def test_the_same_files_are_the_same_commit(tmp_path: Path) -> None:
    """Trials on another machine begin at the same base."""
    first = build_repository(tmp_path / "first", FILES)
    second = build_repository(tmp_path / "second", FILES)
    assert first == second
    listed = git(tmp_path / "first", "ls-files", "-z").split("\0")
    assert set(FILES) <= set(listed)


def test_more_files(tmp_path: Path) -> None:
    """They are there though the repository ignores them; its own commit stays."""
    source = tmp_path / "source"
    commit = build_repository(source, FILES)
    patch = "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+b = 2\n"
    more = {"hidden.log": "x\n", "app.py": "a = 2\n"}
    extended = extend_repository(source, commit, tmp_path / "more", more, patch)
    files = git(tmp_path / "more", "ls-tree", "-r", "--name-only", extended)
    assert {"hidden.log", "new.py"} <= set(files.splitlines())
    assert git(tmp_path / "more", "status", "--short") == ""
    assert git(source, "rev-parse", "HEAD").strip() == commit


def test_a_patch_that_does_not_fit(tmp_path: Path) -> None:
    """The set is wrong, not the agent."""
    commit = build_repository(tmp_path / "source", FILES)
    patch = "--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-z\n+y\n"
    with pytest.raises(WorkspaceError, match="does not fit the base"):
        extend_repository(tmp_path / "source", commit, tmp_path / "more", {}, patch)


def test_a_link_on_the_way(tmp_path: Path) -> None:
    """No file is written outside the repository."""
    source = tmp_path / "source"
    build_repository(source, FILES)
    (source / "tests").symlink_to(tmp_path)
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message=link")
    commit = git(source, "rev-parse", "HEAD").strip()
    with pytest.raises(WorkspaceError, match="through a link"):
        extend_repository(source, commit, tmp_path / "more", {"tests/x.py": "x\n"}, "")
    assert not (tmp_path / "x.py").exists()


CHANGE = """\
diff --git a/app.py b/app.py
--- a/app.py
+++ b/app.py
@@ -1 +1 @@
-a = 1
+a = 2
diff --git a/docs/[x] *.md b/docs/[x] *.md
--- a/docs/[x] *.md\t
+++ b/docs/[x] *.md\t
@@ -1 +1 @@
-text
+changed
diff --git a/artifacts/t/report.md b/artifacts/t/report.md
new file mode 100644
--- /dev/null
+++ b/artifacts/t/report.md
@@ -0,0 +1 @@
+done
"""


@pytest.mark.parametrize(
    ("excluded", "changed"),
    [
        ((), [" M app.py", " M docs/[x] *.md", "?? artifacts/"]),
        (("artifacts/t/",), [" M app.py", " M docs/[x] *.md"]),
        (("docs/[x] *.md", "artifacts/"), [" M app.py"]),
        (("docs/*.md", "a*.py"), [" M app.py", " M docs/[x] *.md", "?? artifacts/"]),
        (("app.py", "docs/", "artifacts/"), []),
    ],
)
def test_a_change_without_some_paths(
    tmp_path: Path, excluded: tuple[str, ...], changed: list[str]
) -> None:
    """A path means itself, whatever signs it has; with a slash, all below it."""
    build_repository(tmp_path / "work", FILES)
    assert apply_without(CHANGE.encode(), tmp_path / "work", excluded)
    status = git(tmp_path / "work", "status", "--porcelain", "-z").split("\0")
    assert [line for line in status if line] == changed


def test_a_change_that_does_not_fit(tmp_path: Path) -> None:
    """It is said, and nothing is changed; no change at all always fits."""
    work = tmp_path / "work"
    build_repository(work, {"app.py": "z\n"})
    assert not apply_without(CHANGE.encode(), work, ())
    assert apply_without(b"\n", work, ())
    assert git(work, "status", "--short") == ""
