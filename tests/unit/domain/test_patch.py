"""Reading patches: every path counts, content is no header, and what is unclear is a problem."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from accordance.domain.patch import changed_lines, patch_within, read_patch


def git(folder: Path, *words: str) -> str:
    """Git's own output, with nothing of the user's settings."""
    command = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words)
    environment = {
        "PATH": "/usr/bin:/bin",
        "GIT_CONFIG_NOSYSTEM": "1",
        "HOME": str(folder),
    }
    ran = subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True
    )
    return ran.stdout.decode("utf-8", "surrogateescape")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A change of every sort: content, rename, delete, mode, link, binary, empty, and names that are hard to read."""
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q")
    for name in (
        "kept",
        "moved from",
        "gone",
        "run.sh",
        "a/b",
        "tricky",
        "ümläut",
        "both",
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("".join(f"{name} {n}\n" for n in range(9)))
    (folder / "tricky").write_text(
        "-- a/evil.py\n++ b/evil.py\ndiff --git a/evil.py b/evil.py\n"
    )
    (folder / "picture").write_bytes(bytes(range(256)))
    (folder / "link").symlink_to("kept")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "base")
    (folder / "kept").write_text("other\n")
    (folder / "tricky").write_text("")
    (folder / "moved from").rename(folder / "moved to")
    (folder / "gone").unlink()
    (folder / "run.sh").chmod(0o755)
    (folder / "picture").write_bytes(bytes(range(255, -1, -1)))
    (folder / "empty file").touch()
    (folder / "ümläut").write_text("x")
    (folder / 'quo"te\tand tab').write_text("x")
    (folder / "link").unlink()
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "both").unlink()
    (folder / "both").symlink_to("a/b")
    git(folder, "add", "-A")
    return folder


@pytest.mark.parametrize(
    "options",
    [
        ("--find-renames",),
        ("--no-renames",),
        ("--binary", "-U0"),
        ("--no-prefix",),
        ("--src-prefix=i/", "--dst-prefix=w/"),
        ("-R",),
    ],
    ids=" ".join,
)
def test_the_paths_are_those_git_itself_names(
    repository: Path, options: tuple[str, ...]
) -> None:
    """Whatever the style of the diff."""
    patch = read_patch(git(repository, "diff", "--cached", *options))
    names = (
        git(repository, "diff", "--cached", "--no-renames", "--name-only", "-z")
        .rstrip("\0")
        .split("\0")
    )
    assert patch.problem == ""
    assert patch.touched == tuple(sorted(names))
    if options != ("-R",):
        assert patch.links == {"link": "/etc/passwd", "both": "a/b"}


def test_the_changed_lines_are_those_git_itself_counts(repository: Path) -> None:
    """Added and removed; binary files have none."""
    counted = [
        line.split("\t")[:2]
        for line in git(repository, "diff", "--cached", "--numstat").splitlines()
    ]
    total = sum(int(number) for pair in counted for number in pair if number != "-")
    assert total > 0
    assert changed_lines(git(repository, "diff", "--cached", "--binary")) == total


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param(
            "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a/y\n-b\n+++ b/y\n",
            3,
            id="content like a header",
        ),
        pytest.param(
            "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-a\n\n+b\n c\n",
            2,
            id="context does not count",
        ),
        pytest.param("@@ -1,9 +1,9 @@\n-a", 1, id="a hunk that was cut off"),
        pytest.param(
            "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
            2,
            id="no newline",
        ),
    ],
)
def test_changed_lines(text: str, lines: int) -> None:
    """Counted within hunks only."""
    assert changed_lines(text) == lines


@pytest.mark.parametrize(
    ("text", "touched"),
    [
        pytest.param("", (), id="nothing"),
        pytest.param("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", ("x",), id="without git's header"),
        pytest.param("--- x\t2020\n+++ x\t2021\n@@ -1 +1 @@\n-a\n+b\n", ("x",), id="with times, without prefixes"),
        pytest.param("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", ("x",), id="a new file"),
        pytest.param("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", ("x",), id="a file that goes"),
        pytest.param("--- a/x\n+++ a/x\n@@ -1 +1 @@\n-a\n+b\n", ("a/x",), id="a folder that looks like a prefix"),
        pytest.param("--- b/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", ("b/x",), id="and one like the other prefix"),
        pytest.param("--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n", ("/etc/passwd",), id="absolute"),
        pytest.param("--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", ("x",), id="lines end as on Windows"),
        pytest.param("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n\n", ("x",), id="an empty line of context"),
        pytest.param("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a/y\n-b\n+++ b/y\n", ("x",), id="content like a header"),
        pytest.param(
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
            ("x", "y"),
            id="a second file without header",
        ),
        pytest.param("Binary files a/x.png and b/x.png differ\n", ("x.png",), id="binary, without git's header"),
        pytest.param(
            "diff --git a/p b/q\nsimilarity index 100%\ncopy from p\ncopy to q\n", ("q",), id="a copy leaves its source"
        ),
        pytest.param(
            'diff --git "a/\\303\\244" "b/\\303\\244"\nold mode 100644\nnew mode 100755\n', ("ä",), id="quoted bytes"
        ),
        pytest.param('--- "a/\\t\\"x\\""\n+++ "b/\\t\\"x\\""\n@@ -1 +1 @@\n-a\n+b\n', ('\t"x"',), id="quoted signs"),
        pytest.param('diff --git "a/\\"" b/plain\nrename from "\\""\nrename to plain\n', ('"', "plain"), id="one quoted"),
        pytest.param(
            "*** Begin Patch\n*** Add File: n\n+a\n*** Update File: u\n*** Move to: m\n@@\n-a\n+b\n*** End Patch\n",
            ("m", "n", "u"),
            id="envelope",
        ),
        pytest.param("diff --git a/x b/x\nold mode 1\n--- end", ("x",), id="a last line like a header"),
        pytest.param("Subject: it\n\n---\n x | 2 +-\n\ndiff --git a/x b/x\nold mode 1\n", ("x",), id="a mailed patch"),
    ],
)  # fmt: skip
def test_other_shapes(text: str, touched: tuple[str, ...]) -> None:
    """All of them are read, none is guessed at."""
    patch = read_patch(text)
    assert (patch.touched, patch.problem) == (touched, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("I changed docs/a.md.\n", "it names no file"),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-a\n", "cut short: a hunk of x"),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-a\nnonsense\n", "cut short: a hunk of x"),
        ("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n-b\n+c\n", "other lines than it says"),
        ("@@ -1 +1 @@\n-a\n+b\n", "a hunk belongs to no file"),
        ("*** Begin Patch\n*** Add File: x\n", "End Patch is missing"),
        ("diff --cc x\n", "the diff of a merge"),
        ('diff --git "a/x\n', "names no file"),
        ('diff --git "a/x" b/x b/y\n', "not have two names"),
        ("diff --git a/x b/y\n@@ -1 +1 @@\n", "a hunk belongs to no file"),
    ],
)
def test_what_is_unclear_is_a_problem(text: str, problem: str) -> None:
    """A patch that cannot be read for certain says why."""
    patch = read_patch(text)
    assert problem in patch.problem


def test_what_was_read_before_the_problem_still_counts() -> None:
    """A patch that breaks off names what it named."""
    assert read_patch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n").touched == ("x",)


def test_a_patch_as_far_as_it_may_be_shown() -> None:
    """Files are told apart by git's own lines; a rename needs both ends, and what cannot be read is left out."""
    kept = "diff --git a/src/a b/src/a\n--- a/src/a\n+++ b/src/a\n@@ -1 +1 @@\n-diff --git a/x b/x\n+new\n"
    hidden = "diff --git a/secrets/k b/secrets/k\n--- a/secrets/k\n+++ b/secrets/k\n@@ -1 +1 @@\n-hunter2\n+mine\n"
    moved = "diff --git a/secrets/k b/src/k\nsimilarity index 90%\nrename from secrets/k\nrename to src/k\n"
    broken = (
        "diff --git a/src/b b/src/b\n--- a/src/b\n+++ b/src/b\n@@ -1,9 +1,9 @@\n-cut\n"
    )
    shown = patch_within(
        kept + hidden + moved + kept + broken, lambda path: path.startswith("src/")
    )
    assert shown.count(kept) == 2
    assert shown.count("[left out") == 3
    assert "hunter2" not in shown
    assert "cut" not in shown
    assert patch_within("", bool) == ""
