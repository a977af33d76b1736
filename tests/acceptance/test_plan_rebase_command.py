"""`accordance plan rebase`, and where a moved base is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.coding import FIRST, SECOND, coding_node, coding_plan
from tests.acceptance.test_outside_agents import OutsideProject, mend
from tests.hostile.stage import git

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)


def commit(project: OutsideProject, path: str, text: str) -> None:
    """Commit to the branch that the plan began on."""
    (project.repository / path).write_text(text, "utf-8")
    git(project.repository, "add", "--all")
    git(project.repository, "commit", "--quiet", "--message=own work")


def test_a_moved_base(tmp_path: Path) -> None:
    """Reported in a line with the way out, tried, taken in; and refused where a change does not apply."""
    project = OutsideProject(
        tmp_path / "project",
        plan=coding_plan(coding_node(priority=9), coding_node(SECOND, "Another")),
    )
    project.build()
    project.imports()
    assignment = project.next()
    mend(assignment)
    assert project.submit(assignment).code == 0
    still = project("plan", "rebase")
    assert (still.code, still.out) == (0, "HEAD has not moved since the plan began\n")

    commit(project, "docs/new.md", "new\n")
    line = "HEAD has moved since the plan began ("
    way_out = "`accordance plan rebase` takes that in"
    for command in ("show", "status"):
        shown = " ".join(project("plan", command).out.split())
        assert line in shown
        assert way_out in shown
    assert project("plan", "show", "--json").json["base_moved"].startswith(line)
    tried = project("plan", "rebase", "--dry-run")
    assert (tried.code, "would fit; nothing was moved" in tried.out) == (0, True)
    done = project("plan", "rebase")
    assert (done.code, "the plan's changes are on it now" in done.out) == (0, True), (
        done
    )
    assert project.shown("docs/new.md") == "new\n"
    assert project("plan", "rebase", "--json").json["has_moved"] is False

    commit(project, "src/app.py", "def last(items):\n    return items.pop()\n")
    refused = project("plan", "rebase")
    assert (refused.code, refused.out) == (6, "")
    assert f"the change of task {FIRST} (Mend last()) does not apply" in refused.err
    assert "src/app.py; nothing was moved" in refused.err
    assert project("verify").code == 0
