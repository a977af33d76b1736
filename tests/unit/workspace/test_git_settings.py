"""Git's own settings: what runs a program is seen, and what does not is nobody's business."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from accordance.workspace.git_settings import changed_settings, git_settings, programs
from tests.hostile.stage import git

HOOK = "#!/bin/sh\ntouch never\n"
Act = Callable[[Path], object]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one commit."""
    place = tmp_path_factory.mktemp("template") / "repository"
    place.mkdir()
    git(place, "init", "--quiet", "--initial-branch=main")
    (place / "a.txt").write_text("a\n", "utf-8")
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message=base")
    return place


@pytest.fixture
def repository(template: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(template, tmp_path / "repository", symlinks=True))


def setting(key: str, value: str) -> Act:
    """A line of the repository's own config."""
    return lambda place: git(place, "config", key, value)


def file(path: str, text: str = HOOK, mode: int = 0o755) -> Act:
    """A file below the repository."""

    def act(place: Path) -> None:
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, "utf-8")
        (place / path).chmod(mode)

    return act


def hooks_elsewhere(place: Path) -> None:
    """Hooks in the tree itself, as some tools have them."""
    file("tools/hooks/post-checkout")(place)
    git(place, "config", "core.hooksPath", "tools/hooks")


def linked_hook(place: Path) -> None:
    """A hook that is a link."""
    (place / ".git/hooks").mkdir(exist_ok=True)
    (place / ".git/hooks/pre-push").symlink_to("/bin/true")


def two_values(place: Path) -> None:
    """Some keys have several values, and all count."""
    git(place, "config", "--add", "credential.helper", "store")
    git(place, "config", "--add", "credential.helper", "!./evil")


RUNS: list[tuple[Act, str]] = [
    (file(".git/hooks/pre-commit"), "hook pre-commit"),
    (linked_hook, "hook pre-push"),
    (hooks_elsewhere, "hook post-checkout"),
    (file(".git/modules/lib/hooks/pre-commit"), "modules/lib: hook pre-commit"),
    (setting("core.fsmonitor", "./evil"), "config core.fsmonitor = ./evil"),
    (setting("core.sshCommand", "./evil"), "config core.sshcommand = ./evil"),
    (setting("filter.X.clean", "./evil"), "config filter.X.clean = ./evil"),
    (setting("filter.x.process", "./evil"), "config filter.x.process = ./evil"),
    (setting("diff.x.textconv", "./evil"), "config diff.x.textconv = ./evil"),
    (setting("merge.x.driver", "./evil"), "config merge.x.driver = ./evil"),
    (setting("alias.st", "!./evil"), "config alias.st = !./evil"),
    (setting("pager.log", "./evil"), "config pager.log = ./evil"),
    (setting("gpg.program", "./evil"), "config gpg.program = ./evil"),
    (setting("submodule.x.update", "!./evil"), "config submodule.x.update = !./evil"),
    (two_values, "config credential.helper = store | !./evil"),
]


@pytest.mark.parametrize(("act", "told"), RUNS, ids=[told for _, told in RUNS])
def test_what_runs_a_program(repository: Path, act: Act, told: str) -> None:
    """It is listed, and seen to be new."""
    if told.startswith("modules/"):
        git(repository, "init", "--quiet", "--bare", ".git/modules/lib")
    before = git_settings(repository)
    act(repository)
    after = git_settings(repository)
    assert programs(before) == ()
    assert told in programs(after)
    name = told.partition(" = ")[0]
    assert f"{name} (added)" in changed_settings(before, after)
    assert f"{name} (removed)" in changed_settings(after, before)


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(setting("core.fsmonitor", "true"), id="a switch"),
        pytest.param(setting("pager.log", "false"), id="a pager that is turned off"),
        pytest.param(
            setting("alias.st", "status"),
            id="a short name for one of git's own commands",
        ),
        pytest.param(setting("user.email", "agent@localhost"), id="an address"),
        pytest.param(
            setting("branch.x.merge", "refs/heads/x"),
            id="a branch that follows another",
        ),
        pytest.param(file(".git/hooks/pre-commit.sample"), id="a sample"),
        pytest.param(
            lambda place: git(place, "commit", "--allow-empty", "--quiet", "-m", "x"),
            id="a commit",
        ),
    ],
)
def test_everyday_work(repository: Path, act: Act) -> None:
    """An honest agent is not stopped by it."""
    before = git_settings(repository)
    act(repository)
    assert git_settings(repository) == before


@pytest.mark.parametrize(
    ("act", "told"),
    [
        pytest.param(
            setting("include.path", "../more"),
            "config include.path (added)",
            id="a further file",
        ),
        pytest.param(
            setting("url.x.insteadOf", "y"),
            "config url.x.insteadof (added)",
            id="another address",
        ),
        pytest.param(
            file(".git/info/attributes", "* filter=x\n"),
            "file info/attributes (added)",
            id="attributes",
        ),
        pytest.param(
            file(".git/hooks/pre-push", mode=0o644),
            "hook pre-push (added)",
            id="a hook that cannot run yet",
        ),
        pytest.param(
            file(".git/config", "[broken"),
            "config unreadable (added)",
            id="a config that cannot be read",
        ),
    ],
)
def test_what_leads_elsewhere_is_seen(repository: Path, act: Act, told: str) -> None:
    """No program by itself, but a change of where git looks."""
    before = git_settings(repository)
    act(repository)
    after = git_settings(repository)
    assert told in changed_settings(before, after)
    assert programs(after) == ()


def test_a_hook_that_was_rewritten(repository: Path) -> None:
    """Its content counts, and so does whether it can run."""
    file(".git/hooks/pre-push", mode=0o644)(repository)
    before = git_settings(repository)
    (repository / ".git/hooks/pre-push").chmod(0o755)
    assert changed_settings(before, git_settings(repository)) == (
        "hook pre-push (changed)",
    )


def test_what_is_no_file_is_not_waited_for(repository: Path) -> None:
    """A pipe in the place of the config, or of a hook, holds nobody up."""
    (repository / ".git/hooks").mkdir(exist_ok=True)
    os.mkfifo(repository / ".git/hooks/pre-push")
    (repository / ".git/config").unlink()
    os.mkfifo(repository / ".git/config")
    assert {"config unreadable", "hook pre-push"} <= git_settings(repository).keys()


def test_a_directory_without_git(tmp_path: Path) -> None:
    """There is nothing to run."""
    assert git_settings(tmp_path) == {}
