"""Reading tasks and submissions, and what is not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from accordance.contracts.limits import LIMITS
from accordance.errors import NotFound
from accordance.judging.task_input import (
    Paper,
    TaskInReach,
    TaskRequest,
    out_of_reach,
    read_paper,
    read_submission,
    submission_left_in,
)
from accordance.workspace.errors import WorkspaceError
from tests.hostile.stage import git
from tests.unit.cases import TASK_ID, a_task
from tests.unit.workspace.repositories import repository


@pytest.mark.parametrize(
    ("paper", "raw"),
    [
        pytest.param(b"\xff", b"\xff", id="bytes, whatever they are"),
        pytest.param("é", b"\xc3\xa9", id="text"),
        pytest.param(
            "\ud800", b"\xed\xa0\x80", id="half a character, for the contract"
        ),
        pytest.param({"goal": "é"}, b'{"goal": "\xc3\xa9"}', id="a value"),
    ],
)
def test_a_message_is_bytes_text_or_a_value(paper: Paper, raw: bytes) -> None:
    assert read_paper(paper) == raw


def test_a_message_is_a_file(tmp_path: Path) -> None:
    """Read up to the byte by which it is too long."""
    file = tmp_path / "task.json"
    with pytest.raises(NotFound, match="no file"):
        read_paper(file)
    with pytest.raises(WorkspaceError, match="cannot be read: Is a directory"):
        read_paper(tmp_path)
    file.write_bytes(b"x" * (LIMITS.max_bytes + 5))
    assert len(read_paper(file)) == LIMITS.max_bytes + 1


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A judged tree beside a file that is nobody's business."""
    (tmp_path / "secret").write_bytes(b"secret")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "submit.json").write_bytes(b"{}")
    return tree


@pytest.mark.parametrize("name", ["tree/submit.json", "secret", "link-to-the-tree"])
def test_a_submission_is_read_inside_and_outside_the_tree(
    tmp_path: Path, tree: Path, name: str
) -> None:
    (tmp_path / "link-to-the-tree").symlink_to(tree / "submit.json")
    file = tmp_path / name
    assert read_submission(file, tree) == file.read_bytes()


@pytest.mark.parametrize("name", ["link", "folder/secret"])
def test_a_submission_that_leads_out_of_the_tree_is_not_read(
    tmp_path: Path, tree: Path, name: str
) -> None:
    (tree / "link").symlink_to(tmp_path / "secret")
    (tree / "folder").symlink_to(tmp_path)
    with pytest.raises(WorkspaceError, match="leads out of the tree"):
        read_submission(tree / name, tree)


def test_a_submission_left_behind(tmp_path: Path) -> None:
    """It is a file in the evidence folder; no link is followed to it."""
    folder = tmp_path / "artifacts" / TASK_ID
    place = folder / "submit.json"
    assert submission_left_in(tmp_path, TASK_ID) is None
    folder.mkdir(parents=True)
    place.write_bytes(b"{}")
    assert submission_left_in(tmp_path, TASK_ID) == b"{}"
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    assert submission_left_in(tmp_path, TASK_ID) is None


def test_a_task_in_the_judged_tree_must_be_the_bases(tmp_path: Path) -> None:
    """The agent may have written any other."""
    root = repository(tmp_path / "tree", {"task.json": "{}"})
    base = git(root, "rev-parse", "HEAD").strip()
    (root / "later.json").write_bytes(b"{}")
    outside = tmp_path / "task.json"
    request = TaskRequest(b"{}", a_task())

    for trusted in (root / "task.json", outside, b"{}"):
        out_of_reach(trusted, request, root, base)
    with pytest.raises(TaskInReach, match=r"later\.json lies in the tree"):
        out_of_reach(root / "later.json", request, root, base)
    with pytest.raises(TaskInReach, match="differs from the base"):
        out_of_reach(root / "task.json", TaskRequest(b"{ }", a_task()), root, base)
