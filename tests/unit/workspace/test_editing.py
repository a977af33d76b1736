"""Edits that were only said: laid into a clone, whole or not at all, and nothing outside of it is touched."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.workspace.editing import Draft


@dataclass(frozen=True)
class Edit:
    """One file as it shall be."""

    path: str
    content: str | None = "new\n"
    executable: bool | None = None


def a_clone(root: Path) -> Path:
    """A folder with files and links, beside another one that is nobody's business."""
    outside, work = root / "outside", root / "work"
    (work / "src").mkdir(parents=True)
    (work / ".git/hooks").mkdir(parents=True)
    (work / "src/app.py").write_text("old\n")
    (work / "run.sh").write_text("#!/bin/sh\n")
    (work / "run.sh").chmod(0o755)
    outside.mkdir()
    (outside / "file").write_text("theirs\n")
    (work / "out").symlink_to(outside)
    (work / "to-file").symlink_to(outside / "file")
    (work / "inside").symlink_to("src")
    (work / "loop").symlink_to("loop")
    os.mkfifo(work / "pipe")
    return work


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Such a folder."""
    return a_clone(tmp_path)


def seen(folder: Path) -> dict[str, object]:
    """All that lies in a folder: contents, modes, links."""
    return {
        str(place.relative_to(folder)): (
            place.readlink()
            if place.is_symlink()
            else (place.read_bytes(), place.stat().st_mode)
            if place.is_file()
            else place.is_dir()
        )
        for place in folder.rglob("*")
    }


def test_edits_are_laid_and_taken_out(clone: Path) -> None:
    """Replaced, made with its folders, deleted; the next set takes the place of the last, and counts from the beginning."""
    before, draft = seen(clone), Draft(clone)
    first = (
        Edit("src/app.py"),
        Edit("docs/deep/page.md", "Zürich\n"),
        Edit("./run.sh", None),
    )
    assert draft.lay(first) == ()
    assert (clone / "src/app.py").read_text() == "new\n"
    assert (clone / "docs/deep/page.md").read_bytes() == "Zürich\n".encode()
    assert not (clone / "run.sh").exists()
    assert draft.lay((Edit("src/other.py", ""),)) == ()
    assert seen(clone) == {**before, "src/other.py": (b"", 0o100644)}
    draft.take_out()
    assert seen(clone) == before


@pytest.mark.parametrize(
    ("edit", "mode"),
    [
        (Edit("run.sh"), 0o755),
        (Edit("run.sh", executable=False), 0o644),
        (Edit("src/app.py"), 0o644),
        (Edit("src/app.py", executable=True), 0o755),
        (Edit("bin/tool", executable=True), 0o755),
        (Edit("bin/tool"), 0o644),
    ],
)
def test_a_file_can_be_run_if_it_could_or_is_said_to(
    clone: Path, edit: Edit, mode: int
) -> None:
    """What is not said stays as it was."""
    assert Draft(clone).lay((edit,)) == ()
    assert (clone / edit.path).stat().st_mode & 0o777 == mode


@pytest.mark.parametrize(
    ("edit", "why", "leaves"),
    [
        (Edit("../outside/file"), "is not the path of a file", True),
        (Edit("src/../../outside/file"), "is not the path of a file", True),
        (Edit("/etc/passwd"), "is not the path of a file", True),
        (Edit("src\\app.py"), "is not the path of a file", True),
        (Edit(".git/hooks/pre-commit"), "is not the path of a file", True),
        (Edit("src/.GIT/config"), "is not the path of a file", True),
        (Edit("out/file"), "leads through a link, out", True),
        (Edit("out/file", None), "leads through a link, out", True),
        (Edit("out/new/file"), "leads through a link, out", True),
        (Edit("inside/app.py"), "leads through a link, inside", True),
        (Edit("loop/x"), "leads through a link, loop", True),
        (Edit("to-file"), "is a link, and links are not written through", True),
        (Edit("to-file", None), "is a link, and links are not written through", True),
        (Edit("out"), "is a link, and links are not written through", True),
        (Edit("src"), "is not a file", False),
        (Edit("pipe"), "is not a file", False),
        (Edit("src/app.py/x"), "src/app.py is a file, not a folder", False),
        (
            Edit("src/gone.py", None),
            "cannot be deleted because it does not exist",
            False,
        ),
        (
            Edit("gone/gone.py", None),
            "cannot be deleted because it does not exist",
            False,
        ),
        (Edit(f"src/{'x' * 300}"), "File name too long", False),
    ],
)
def test_what_cannot_be_made(clone: Path, edit: Edit, why: str, leaves: bool) -> None:
    """Nothing is touched, neither there nor here: not even by the edits beside it that could have been made."""
    around = seen(clone.parent)
    (refusal,) = Draft(clone).lay((Edit("src/app.py"), Edit("a/b/c"), edit))
    assert (refusal.path, why in refusal.why, refusal.leaves) == (
        edit.path,
        True,
        leaves,
    ), refusal
    assert seen(clone.parent) == around


@given(
    st.lists(
        st.tuples(
            st.lists(
                st.sampled_from(
                    [
                        "src",
                        "out",
                        "inside",
                        "to-file",
                        "..",
                        ".",
                        "",
                        ".git",
                        "a",
                        "app.py",
                    ]
                ),
                max_size=4,
            ).map("/".join),
            st.sampled_from([None, "x"]),
        ),
        max_size=4,
    )
)
def test_nothing_outside_is_ever_touched(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str | None]]
) -> None:
    """Whatever is said, what lies around the clone and git's own folder stay as they were."""
    root = tmp_path_factory.mktemp("said")
    work = a_clone(root)
    before = seen(root)
    draft = Draft(work)
    draft.lay([Edit(path, content) for path, content in said])
    after = seen(root)
    changed = {
        path
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }
    assert all(
        path.startswith("work/") and not path.startswith("work/.git")
        for path in changed
    )
    draft.take_out()
    assert seen(root) == before
