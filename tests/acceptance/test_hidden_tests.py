"""Hidden tests in `accordance run`: the agent hears of them only that they failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.coding import (
    FIRST,
    CodingProject,
    a_task,
    coding_node,
    coding_plan,
)

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no agent could be run",
)
SECRET = "chrysanthemum"
HIDDEN = f"""
import sys
sys.path.insert(0, "src")
from app import last
assert last([1, 2, 3]) == 3, "{SECRET}"
"""
PASSES_WHAT_IT_SEES = "def last(items):\\n    return 2\\n"
AGENT = f"""
import os, re
if told["attempt"] == 1:
    app.write_text("{PASSES_WHAT_IT_SEES}")
else:
    app.write_text(RIGHT)
seen = repr([told, *map(str, Path(".").rglob("*")), *os.environ.values()])
heard = set(re.findall("the hidden tests failed|test_hidden|issue-17", seen))
change(told, " ".join(sorted(heard)) or "nothing")
"""


def test_the_agent_hears_only_that_they_failed(tmp_path: Path) -> None:
    hidden = {"folder": "issue-17", "tests": ["python -B tests/test_hidden.py"]}
    node = coding_node(task=a_task(hidden_tests=hidden))
    project = CodingProject(tmp_path / "project", plan=coding_plan(node))
    project.build()
    settings = project.home / "accordance.toml"
    with settings.open("a", encoding="utf-8") as file:
        file.write('\n[judge]\nhidden_tests = "hidden"\n')
    place = project.home / "hidden/issue-17/tests/test_hidden.py"
    place.parent.mkdir(parents=True)
    place.write_text(HIDDEN, "utf-8")
    project.agent(AGENT)

    project.imports()
    ran = project.runs()

    assert ran.code == 0, ran.out
    assert project.verdicts() == [("RETRY", "CI_FAILED"), ("DONE", "PASSED")]
    summaries = []
    for attempt in (1, 2):
        submit = (project.bundle(attempt) / "submit.json").read_bytes()
        summaries.append(json.loads(submit)["summary"])
        assert project("verify", project.bundle(attempt)).code == 0
    assert summaries == ["nothing", "the hidden tests failed"]

    for number in "12":
        prompt = project("task", "prompt", FIRST, "--attempt", number).out
        assert SECRET not in prompt
        assert "test_hidden" not in prompt
        assert "issue-17" not in prompt
