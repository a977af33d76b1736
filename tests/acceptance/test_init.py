"""`accordance init`: a folder in which the printed commands work as they are printed."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from accordance.cli.init import next_commands
from accordance.domain.templates import TEMPLATES
from tests.acceptance.cli import Ran, accordance


def printed_commands(ran: Ran) -> list[list[str]]:
    """The commands below `Next:`, as words."""
    lines = ran.out.partition("Next:\n")[2].splitlines()
    return [shlex.split(line) for line in lines]


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_printed_commands_work(tmp_path: Path, template: str) -> None:
    """Each of them, in the order and in the folder that is printed."""
    ran = accordance("init", "my project", "--template", template, cwd=tmp_path)
    assert ran.code == 0, ran.err

    (change_folder, *commands) = printed_commands(ran)
    assert change_folder == ["cd", "my project"]
    assert len(commands) == 3
    for name, *words in commands:
        assert name == "accordance"
        done = accordance(*words, cwd=tmp_path / "my project")
        assert done.code == 0, (words, done.out, done.err)


def test_in_the_current_folder_nothing_is_overwritten(tmp_path: Path) -> None:
    """With a single file of the template in the way, nothing at all is written."""
    (tmp_path / "plan.yaml").write_text("mine")
    ran = accordance("init", cwd=tmp_path)
    assert (ran.code, ran.out) == (6, "")
    assert ran.err == (
        "accordance: plan.yaml is there already, and nothing is overwritten;"
        " name an empty folder, or move the file away\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["plan.yaml"]


def test_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    """It is in the way too."""
    (tmp_path / "agents").write_text("mine")
    ran = accordance("init", "--json", cwd=tmp_path)
    assert ran.code == 6
    assert "agents is there already" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["agents"]


def test_a_dry_run_lists_what_would_be_written(tmp_path: Path) -> None:
    """And writes nothing; without a folder no command says to go there."""
    ran = accordance("init", "--dry-run", cwd=tmp_path)
    assert ran.code == 0
    assert ran.out.splitlines()[:2] == [
        ".: 5 files would be written",
        "  accordance.toml",
    ]
    assert "Next:" not in ran.out
    assert list(tmp_path.iterdir()) == []

    view = accordance("init", "--dry-run", "--template", "ci", "--json", cwd=tmp_path)
    assert view.json["files"] == list(TEMPLATES["ci"].files)
    assert view.json["next"] == next_commands("ci")
    assert view.json["written"] is False
