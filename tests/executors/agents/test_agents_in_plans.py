"""Coding agents through `accordance run`: from the plan to the commit on its branch, with the verdicts in the ledger.

One of them is only a pretender, for machines where none is installed; the others are the real command lines.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from accordance.executors.agents.finding import FOLDER_VARIABLE, find_agent
from tests.acceptance.coding import BRANCH, FIRST, CodingProject
from tests.executors.agents import pretender
from tests.executors.agents.test_agents import KEY, LEVELS, ROOT
from tests.fake_model_server import Json, Script, Server, serving
from tests.hostile.stage import TEST, git

pytestmark = pytest.mark.xdist_group("agents")  # each of them wants a core for itself
SETTINGS = """
[workspace]
repo = "repository"

[executors.{kind}]
model = "fake-model"
base_url = "{url}"
key_env = "AGENT_KEY"
isolation = "{isolation}"
{more}

[review]
own_work = true
"""
FOLDER = f"artifacts/{FIRST}"
RIGHT, WRONG = (f"def last(items):\n    return items[{at}]\n" for at in (-1, 0))
SUBMIT: Json = {
    "schema_version": "scc.submit.v1",
    "task_id": FIRST,
    "status": "DONE",
    "changed_files": ["src/app.py"],
    "new_files": [],
    "tests": {"commands": [TEST], "passed": True, "summary": "all green"},
    "artifacts": {
        "report_md": f"{FOLDER}/report.md",
        "selftest_log": f"{FOLDER}/selftest.log",
        "evidence_dir": f"{FOLDER}/evidence",
        "patch_diff": f"{FOLDER}/patch.diff",
        "submit_json": f"{FOLDER}/submit.json",
    },
    "exit_code": 0,
    "needs_input": [],
    "summary": "last() returns the last item.",
}
NEVER_WRITTEN: Json = {**SUBMIT, "new_files": ["src/never.py"]}


def work(content: str, claim: Json) -> Json:
    """Change the file, and leave the evidence of it."""
    return {
        "run": f"printf '%s' '{content}' > src/app.py && mkdir -p {FOLDER}/evidence && (cd {FOLDER} && "
        f"git diff --binary HEAD -- ../../src > patch.diff && echo Mended. > report.md && "
        f"printf '$ %s\\nEXIT_CODE=0\\n' '{TEST}' > selftest.log && printf '%s' '{json.dumps(claim)}' > submit.json)"
    }


def hand_in(claim: Json) -> Json:
    """Through the tool."""
    return {"mcp": "submit", "args": {"message": claim}}


@pytest.fixture(params=["pretender", "codex", "opencode", "claude"])
def agent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """An agent that is installed, and the key in our environment, as a user's would be."""
    monkeypatch.setenv("AGENT_KEY", KEY)
    name = str(request.param)
    if name == "pretender":
        return name
    if find_agent(name, None, ROOT) is None:
        pytest.skip(f"{name} is not installed; `make agents` installs it")
    if (ROOT / ".agents").exists():
        monkeypatch.setenv(FOLDER_VARIABLE, str(ROOT / ".agents"))
    return name


def run(agent: str, server: Server, home: Path) -> CodingProject:
    """The plan, carried out by one agent until it rests."""
    project = CodingProject(home)
    project.build()
    kind, more = agent, ""
    if agent == "pretender":
        program = home / "bin" / "codex"
        program.parent.mkdir()
        program.write_text(
            f"#!{sys.executable}\n{Path(pretender.__file__).read_text()}"
        )
        program.chmod(0o755)
        kind, more = "codex", 'binary = "bin/codex"'
    url = server.url if agent == "claude" else f"{server.url}/v1"
    isolation = "bwrap" if "bwrap" in LEVELS else "rlimit"
    settings = SETTINGS.format(kind=kind, url=url, isolation=isolation, more=more)
    (home / "accordance.toml").write_text(settings, "utf-8")
    assert project.imports().code == 0
    project.ran = project.runs("--executor", kind)
    return project


def test_it_works_is_told_retry_mends_and_is_done(agent: str, tmp_path: Path) -> None:
    """The same words about a tree that is right by now get another verdict; what it leaves behind is judged and committed."""
    steps = [
        work(WRONG, SUBMIT),
        hand_in(SUBMIT),
        work(RIGHT, SUBMIT),
        hand_in(SUBMIT),
        {"json": SUBMIT},
    ]
    with serving(Script(steps, key=KEY)) as server:
        project = run(agent, server, tmp_path / "project")
    assert project.ran is not None
    assert (project.ran.code, project.state()) == (0, ("DONE", None)), project.ran
    assert project.verdicts() == [("DONE", "PASSED")]
    assert project.shown("src/app.py") == RIGHT
    assert (
        git(project.repository, "log", "-1", "--format=%s", BRANCH).strip()
        == "Mend last()"
    )
    assert git(project.repository, "status", "--short") == ""
    told = json.dumps(server.asked[2]["body"])
    assert "CI_FAILED" in told
    assert "AssertionError: wrong" in told
    assert "All checks passed" in json.dumps(server.asked[4]["body"])
    assert project("verify").code == 0


def test_a_file_it_never_wrote_is_no_file(agent: str, tmp_path: Path) -> None:
    """Whatever it claims, with exit code 0 and a good message: RETRY stands in the ledger, and nothing on any branch."""
    steps = [
        work(RIGHT, NEVER_WRITTEN),
        hand_in(NEVER_WRITTEN),
        {"json": NEVER_WRITTEN},
    ]
    with serving(Script(steps, key=KEY)) as server:
        project = run(agent, server, tmp_path / "project")
    assert project.verdicts() == [
        ("RETRY", "EVIDENCE_INVALID"),
        ("ESCALATE", "EVIDENCE_INVALID"),
    ]
    assert "declared, but not changed: src/never.py" in json.dumps(
        server.asked[2]["body"]
    )
    assert git(project.repository, "branch", "--list", "accordance/*") == ""
    assert project("verify").code == 0
