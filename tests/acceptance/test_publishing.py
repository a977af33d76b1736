"""The branch follows the ledger, whatever came between: a kill, a person, a branch that could not be moved."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from accordance.changes.workshop import workshop_of
from accordance.project.home import Home
from accordance.runtime.publishing import Publishing
from accordance.store.opening import open_ledger
from tests.acceptance.coding import BRANCH, CodingProject
from tests.hostile.stage import git
from tests.limits import until
from tests.messages import PLAN
from tests.runtime.test_workers import started

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)
HONEST = "app.write_text(RIGHT)\nchange(told, 'Mended.')\n"


@pytest.fixture
def project(tmp_path: Path) -> CodingProject:
    """A project in which a change has landed."""
    made = CodingProject(tmp_path / "project")
    made.build()
    made.agent(HONEST)
    return made


def tip(project: CodingProject) -> str:
    """Where the plan's branch stands; nothing if there is none."""
    return git(
        project.repository,
        "for-each-ref",
        "--format=%(objectname)",
        f"refs/heads/{BRANCH}",
    ).strip()


@contextlib.contextmanager
def publishing(project: CodingProject, told: list[str]) -> Iterator[Publishing]:
    """Somebody who looks after the branches."""
    home = Home(project.home)
    with contextlib.closing(open_ledger(home.ledger)) as ledger:
        yield Publishing(ledger, workshop_of(home), None, told.append, seconds=0)


def test_a_branch_catches_up(project: CodingProject) -> None:
    """It was not moved when the change was approved; why it cannot be is said once."""
    project.imports()
    assert project.runs().code == 0
    landed = tip(project)
    git(project.repository, "switch", "--quiet", "--force-create", BRANCH, "main")
    told: list[str] = []
    with publishing(project, told) as ours:
        for _ in range(2):
            ours.catch_up()
        (said,) = told
        assert said.startswith(
            f"{PLAN}: the changes are in the ledger, but the branch {BRANCH} is checked out"
        )
        git(project.repository, "switch", "--quiet", "main")
        ours.catch_up()
    assert (tip(project), len(told)) == (landed, 1)


def test_a_worker_looks_after_branches(
    project: CodingProject, postgresql_url: str
) -> None:
    """A kill came between the ledger and the branch: the next worker that begins moves it."""
    settings = project.home / "accordance.toml"
    settings.write_text(f'ledger = "{postgresql_url}"\n{settings.read_text()}')
    project.imports()
    assert project.runs().code == 0
    landed = tip(project)
    git(project.repository, "branch", "--quiet", "-D", BRANCH)
    with started(project.home, "worker") as worker:
        try:
            until(lambda: tip(project) == landed)
        finally:
            worker.terminate()
