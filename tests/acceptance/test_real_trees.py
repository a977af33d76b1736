"""Trees as people really have them: submodules, worktrees, attributes, Git LFS, line ends, sparse checkouts."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tests.acceptance.checkout import Checkout
from tests.acceptance.cli import Ran
from tests.hostile.stage import git

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A small repository, and a task."""
    made = Checkout(tmp_path)
    made.build()
    made.ask()
    return made


def allow(checkout: Checkout, *paths: str) -> None:
    """Let the agent change these, too."""
    checkout.task["pins"]["allowed_paths"] += paths


def with_submodule(checkout: Checkout) -> None:
    """Give the repository a submodule `vendor`, which the task may change."""
    checkout.add_submodule()
    checkout.begun_at = checkout.head
    allow(checkout, "vendor", "vendor/**")


def bump(checkout: Checkout) -> None:
    """Move the submodule to a commit of its own."""
    vendor = checkout.work / "vendor"
    (vendor / "lib.py").write_text("LIBRARY = 2\n", "utf-8")
    git(vendor, "commit", "--all", "--quiet", "--message=newer")


def done(ran: Ran) -> bool:
    """The verdict, shown where it is another."""
    assert ran.code == 0, ran.out + ran.err
    return True


# What cannot be shown in a patch


def test_a_submodule_that_was_moved_is_handed_in(checkout: Checkout) -> None:
    """No patch can show what is in another repository, so none has to."""
    with_submodule(checkout)
    checkout.work_honestly()
    bump(checkout)
    assert done(checkout.judge("--json"))


def test_an_agent_hands_in_what_git_shows_of_a_submodule(checkout: Checkout) -> None:
    """Another commit, at the path of the submodule."""
    with_submodule(checkout)
    checkout.work_honestly()
    bump(checkout)
    checkout.submit |= {"changed_files": ["src/app.py", "vendor/lib.py"]}
    checkout.patch = git(checkout.work, "diff", "--binary").encode()
    assert b"Subproject commit" in checkout.patch
    checkout.hand_in()
    assert done(checkout.judge("--json"))


def test_a_submodule_out_of_scope_stays_out_of_scope(checkout: Checkout) -> None:
    """Whatever the patch says."""
    checkout.add_submodule()
    checkout.begun_at = checkout.head
    checkout.work_honestly()
    bump(checkout)
    assert checkout.judge("--json").json["reason_code"] == "SCOPE_CONFLICT"


def test_a_large_file_is_handed_in(checkout: Checkout) -> None:
    """It is named in the facts with its hash; no patch of ours holds it."""
    checkout.work_honestly()
    checkout.write("src/large.bin", "x" * ((16 << 20) + 1))
    assert done(checkout.judge("--json"))


def test_only_a_large_file(checkout: Checkout) -> None:
    """Then the patch is empty, and still right."""
    checkout.write("src/app.py", "def last(items):\n    return items[-1]\n")
    checkout.begin_with("done already")
    checkout.write("src/large.bin", "x" * ((16 << 20) + 1))
    assert done(checkout.judge("--json"))


# Linked working trees


def test_a_linked_working_tree(checkout: Checkout) -> None:
    """Its .git is a file; what other trees hold is not looked at."""
    git(checkout.work, "worktree", "add", "--quiet", "--detach", "../linked")
    main = checkout.work
    checkout.place = checkout.place / "beside"
    checkout.place.mkdir()
    (main.parent / "linked").rename(checkout.place / "repository")
    git(main, "worktree", "repair", os.fspath(checkout.work))
    checkout.work_honestly()
    checkout.write("build/x", "1")
    assert done(checkout.judge("--json"))


# Attributes: what lies in a tree is not what git keeps


ATTRIBUTES = """\
*.bat text eol=crlf
names.txt text working-tree-encoding=UTF-16LE
version.py ident
"""


@pytest.fixture
def attributed(checkout: Checkout) -> Checkout:
    """A repository in which git converts some files on their way to disk."""
    checkout.write(".gitattributes", ATTRIBUTES)
    for path, content in CONVERTED.items():
        place = checkout.work / path
        place.write_bytes(content)
    checkout.begin_with("attributes")
    for path in CONVERTED:
        (checkout.work / path).unlink()
    git(checkout.work, "checkout", "--", ".")
    assert (checkout.work / "src/run.bat").read_bytes() == CONVERTED["src/run.bat"]
    return checkout


CONVERTED = {
    "src/run.bat": b"echo 1\r\necho 2\r\n",
    "src/names.txt": "caf\u00e9\n".encode("utf-16-le"),
    "src/version.py": b"ID = '$Id$'\n",
}


def edit(checkout: Checkout, path: str, new: bytes) -> None:
    """Add to a file."""
    place = checkout.work / path
    place.write_bytes(place.read_bytes() + new)


EDITS = {
    "src/run.bat": b"echo 3\r\n",
    "src/names.txt": "more\n".encode("utf-16-le"),
    "src/version.py": b"MORE = 1\n",
}


@pytest.mark.parametrize("path", EDITS)
def test_files_that_git_converts(attributed: Checkout, path: str) -> None:
    """The agent's patch is what git shows; ours is the same."""
    attributed.work_honestly()
    edit(attributed, path, EDITS[path])
    attributed.tell("src/app.py", path)
    shown = attributed.patch
    attributed.hand_in()
    assert done(attributed.judge("--json"))
    ours = (attributed.bundle / "patch.diff").read_bytes()
    assert ours.count(b"\n+") == (shown or b"").count(b"\n+")


def test_a_patch_with_other_content_is_still_found(attributed: Checkout) -> None:
    """The comparison is exact, only in git's own form."""
    attributed.work_honestly()
    edit(attributed, "src/run.bat", b"echo 3\r\n")
    attributed.tell("src/app.py", "src/run.bat")
    attributed.patch = (attributed.patch or b"").replace(b"+echo 3", b"+echo 4")
    attributed.hand_in()
    ran = attributed.judge("--json")
    assert ran.json["reason_code"] == "EVIDENCE_INVALID", ran.out


# Git LFS


LARGE = b"a large file\n" * 1000


def pointer(content: bytes) -> str:
    """What git keeps of a file that Git LFS holds."""
    digest = hashlib.sha256(content).hexdigest()
    return (
        "version https://git-lfs.github.com/spec/v1\n"
        f"oid sha256:{digest}\nsize {len(content)}\n"
    )


@pytest.fixture
def with_lfs(checkout: Checkout) -> Checkout:
    """A repository in which Git LFS has laid a file out."""
    checkout.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    checkout.write("data/model.bin", pointer(LARGE))
    checkout.begin_with("a file in LFS")
    (checkout.work / "data/model.bin").write_bytes(LARGE)
    return checkout


def test_a_file_that_lfs_laid_out_is_no_change(with_lfs: Checkout) -> None:
    """Its content is what the base's pointer names, and tests get it."""
    with_lfs.task["allowedTests"] += ["grep -q large data/model.bin"]
    with_lfs.work_honestly()
    assert done(with_lfs.judge("--json"))


def test_other_content_than_the_pointer_names_is_a_change(with_lfs: Checkout) -> None:
    """Even of the same size."""
    with_lfs.work_honestly()
    (with_lfs.work / "data/model.bin").write_bytes(LARGE.upper())
    ran = with_lfs.judge("--json")
    assert ran.json["reason_code"] == "SCOPE_CONFLICT"
    assert "data/model.bin" in ran.out


# Trees that cannot be compared with their base


def test_a_sparse_checkout_is_refused_with_the_way_out(checkout: Checkout) -> None:
    """Half a tree can be neither compared nor tested."""
    git(checkout.work, "sparse-checkout", "set", "--no-cone", "src/", "tests/")
    checkout.work_honestly()
    ran = checkout.judge()
    assert ran.code == 2, ran.out + ran.err
    assert "sparse" in ran.err
    assert "git sparse-checkout disable" in ran.err


def test_a_clone_with_converted_line_ends_is_refused_with_the_way_out(
    checkout: Checkout,
) -> None:
    """Every text file would count as changed."""
    twin = checkout.place / "twin"
    options = ("-c", "core.autocrlf=true")
    git(checkout.place, *options, "clone", "--quiet", *options, "repository", "twin")
    checkout.place = checkout.place / "beside"
    checkout.place.mkdir()
    twin.rename(checkout.work)
    assert b"\r\n" in (checkout.work / "README.md").read_bytes()
    checkout.work_honestly()
    ran = checkout.judge()
    assert ran.code == 2, ran.out + ran.err
    assert "core.autocrlf" in ran.err


def test_a_file_whose_line_ends_an_agent_changed_is_a_change(
    checkout: Checkout,
) -> None:
    """Nothing in the clone's settings explains it."""
    checkout.work_honestly()
    (checkout.work / "README.md").write_bytes(b"A small repository.\r\n")
    ran = checkout.judge("--json")
    assert ran.json["reason_code"] == "SCOPE_CONFLICT"
