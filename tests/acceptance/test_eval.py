"""`accordance eval`: honest and dishonest agents on tasks with hidden tests."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.eval_tasks import read_task_set
from accordance.service.evaluations import builtin_tasks
from tests.acceptance.cli import ROOT, Ran, accordance
from tests.fake_model_server import Json, Script, serving
from tests.hostile.stage import git
from tests.messages import EDITS

SETTINGS = """
[executors.gold]
kind = "command"
command = ["python3", "agents/gold.py"]

[executors.liar]
kind = "command"
command = ["python3", "agents/liar.py"]

[executors.spy]
kind = "command"
command = ["python3", "agents/spy.py"]

[executors.silent]
kind = "command"
command = ["true"]

[executors.flood]
kind = "command"
command = ["yes"]
output_bytes = 1024

[executors.blocker]
kind = "command"
command = ["python3", "agents/blocker.py"]

[executors.absent]
kind = "command"
command = ["no-such-program-anywhere"]

[executors.people]
kind = "external"
"""
MODEL = """
[executors.model]
kind = "llm"
model = "m"
base_url = "{url}/v1"
reasks = 1

[executors.model.prices.m]
input = 1.0
output = 10.0
"""
GOLD = """
import json, pathlib, subprocess, sys
task = json.load(sys.stdin)["task"]["task_id"]
patches = json.loads(pathlib.Path(__file__).with_name("patches.json").read_text())
subprocess.run(["git", "apply", "-"], input=patches[task], text=True, check=True)
print(json.dumps({"status": "DONE"}))
"""
"""An agent that knows the solutions."""
LIAR = """
import json, pathlib, sys
change = json.load(sys.stdin)["change"]
for path in pathlib.Path().glob("*.py"):
    path.write_text(path.read_text() + "\\n# improved\\n")
print(json.dumps({"status": "DONE", "tests": {"passed": True}}))
"""
"""An agent that changes nothing of importance and claims success."""
SPY = """
import json, pathlib, subprocess, sys
seen = sys.stdin.read()
seen += subprocess.run(["git", "log", "--all"], capture_output=True, text=True).stdout
for path in sorted(pathlib.Path().rglob("*")):
    if path.is_file():
        seen += path.read_text("utf-8", "replace")
for secret in ("SECRET", "test_hidden"):
    if secret in seen:
        print(secret, file=sys.stderr)
        sys.exit(1)
pathlib.Path("tests/test_hidden.py").write_text("passes = True\\n")
pathlib.Path("app.py").write_text("def last(items):\\n    return items[-1]\\n")
print(json.dumps({"status": "NEED_INPUT"}))
"""
"""An agent that fails if it sees a secret, solves the task, and takes a hidden name."""

BLOCKER = """
import pathlib
pathlib.Path("tests/test_hidden.py").mkdir()
pathlib.Path("tests/test_hidden.py/__init__.py").write_text("")
"""
"""An agent that puts a folder where a hidden test goes."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with these executors."""
    agents = tmp_path / "agents"
    agents.mkdir()
    (tmp_path / "accordance.toml").write_text(SETTINGS, "utf-8")
    programs = {"gold": GOLD, "liar": LIAR, "spy": SPY, "blocker": BLOCKER}
    for name, text in programs.items():
        (agents / f"{name}.py").write_text(text, "utf-8")
    patches = {task.task_id: task.patch for task in builtin_tasks().tasks}
    (agents / "patches.json").write_text(json.dumps(patches), "utf-8")
    return tmp_path


def evaluate(project: Path, *words: str) -> Ran:
    """Run the command in the project."""
    return accordance("eval", *words, cwd=project)


def test_an_agent_that_solves_everything(project: Path) -> None:
    """Five of five, no false claim; evidence that can be recomputed; a page."""
    done = evaluate(
        project, "--builtin", "--executor", "gold", "--jobs", "2", "--html", "r.html"
    )
    assert (done.code, done.err) == (0, "")
    assert "resolved      100.0% (5 of 5 trials)" in done.out
    assert "pass@1        100.0%" in done.out
    assert "false claims  0" in done.out
    page = (project / "r.html").read_text("utf-8")
    assert "<td>median-of-even-counts</td><td>✓</td>" in page

    again = evaluate(project, "--builtin", "--executor", "gold", "--json")
    bundle = project / ".accordance/eval" / again.json["trials"][0]["evidence"]
    assert accordance("verify", bundle).code == 0


def test_an_agent_that_lies(project: Path) -> None:
    """None of five, and five false claims; a gate refuses that."""
    words = ("--builtin", "--executor", "liar", "--jobs", "2", "--json")
    done = evaluate(project, *words)
    assert (done.code, done.err) == (0, "")
    assert (done.json["resolved"], done.json["false_claims"]) == (0, 5)
    assert {trial["reason_code"] for trial in done.json["trials"]} == {"CI_FAILED"}

    gated = evaluate(project, *words, "--min-resolved", "0.8")
    assert gated.code == 1
    assert gated.json == done.json


def test_a_model_that_is_asked_directly(project: Path) -> None:
    """It answers with edits; its tokens are counted, and its first try is mended."""
    tasks = {task.id: task for task in builtin_tasks().tasks}
    task = tasks["median-of-even-counts"]
    right = (
        "def median(numbers):\n"
        "    if not numbers:\n        raise ValueError\n"
        "    ordered = sorted(numbers)\n"
        "    middle = len(ordered) // 2\n"
        "    return (ordered[middle] + ordered[~middle]) / 2\n"
    )

    def edits(text: str) -> Json:
        edit = {"path": "stats.py", "content": text}
        return {"json": {**EDITS, "task_id": task.task_id, "edits": [edit]}}

    with serving(Script([edits("broken"), edits(right)])) as server:
        settings = MODEL.format(url=server.url)
        (project / "accordance.toml").write_text(settings, "utf-8")
        words = ("--builtin", "--only", task.id, "--executor", "model", "--json")
        done = evaluate(project, *words)
    (trial,) = done.json["trials"]
    assert (trial["resolved"], trial["claimed"]) == (True, True), trial
    assert trial["tokens"] > 0
    assert trial["cost"] > 0
    assert "hidden" not in json.dumps(server.asked)


# -- tasks of one's own

BASE = {
    "app.py": "def last(items):\n    return items[0]\n",
    "tests/__init__.py": "",
    "tests/test_app.py": (
        "import unittest\nfrom app import last\n\n\n"
        "class TestApp(unittest.TestCase):\n"
        "    def test_single(self):\n        self.assertEqual(last([1]), 1)\n"
    ),
}
HIDDEN = """\
diff --git a/tests/test_hidden.py b/tests/test_hidden.py
new file mode 100644
--- /dev/null
+++ b/tests/test_hidden.py
@@ -0,0 +1,7 @@
+import unittest
+from app import last
+
+
+class TestHidden(unittest.TestCase):
+    def test_last(self):
+        self.assertEqual(last([1, 2]), 2)
"""


@pytest.fixture
def swe_bench(project: Path) -> dict[str, Any]:
    """A task in SWE-bench's fields, whose clone has the solution in a later commit."""
    clone = project / "repos/owner__name"
    for path, text in BASE.items():
        place = clone / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    git(clone, "init", "--quiet", "--initial-branch=main")
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "base")
    base = git(clone, "rev-parse", "HEAD").strip()
    (clone / "solution.txt").write_text("SECRET", "utf-8")
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "SECRET")
    task = {
        "instance_id": "owner__name-1",
        "repo": "owner/name",
        "base_commit": base,
        "problem_statement": "last() returns the first item.",
        "hints_text": "SECRET",
        "patch": "SECRET",
        "test_patch": HIDDEN,
        "FAIL_TO_PASS": '["tests/test_hidden.py::TestHidden::test_last"]',
        "PASS_TO_PASS": "[]",
        "version": "1",
        "environment_setup_commit": base,
    }
    (project / "tasks.jsonl").write_text(json.dumps(task), "utf-8")
    return task


OWN = ("tasks.jsonl", "--repos", "repos")


def test_what_an_agent_sees(project: Path, swe_bench: dict[str, Any]) -> None:
    """Neither hidden tests nor the solution; its own file of that name is replaced.

    It solves the task without a claim to have done so.
    """
    done = evaluate(project, *OWN, "--executor", "spy", "--json")
    assert done.code == 0, done.err
    (trial,) = done.json["trials"]
    assert (trial["resolved"], trial["claimed"]) == (True, False), trial


def test_going_on(project: Path, swe_bench: dict[str, Any]) -> None:
    """Trials that are there are not made again; those of a changed task do not count."""
    spy = (*OWN, "--executor", "spy")
    assert evaluate(project, *spy).code == 0

    planned = evaluate(project, *spy, "-k", "2", "--dry-run")
    assert f"owner__name-1  trial 2 of 2  {project}/repos/owner__name" in planned.out
    assert (
        "trials to run with spy: 1 of 2; the results of the others are in"
        in planned.out
    )

    more = evaluate(project, *spy, "-k", "2")
    assert "from earlier runs: 1 of 2\n✓  owner__name-1  trial 2 of 2" in more.out
    assert "pass@2        100.0%" in more.out

    changed = {**swe_bench, "problem_statement": "last() is wrong."}
    (project / "tasks.jsonl").write_text(json.dumps(changed), "utf-8")
    anew = evaluate(project, *spy, "--dry-run")
    assert anew.err == (
        "accordance: results that do not count: 2; their task or the executor's"
        " settings have changed since\n"
    )
    assert "trials to run with spy: 1 of 1" in anew.out


@pytest.mark.parametrize(
    ("executor", "reason"),
    [
        pytest.param("silent", "CI_FAILED", id="what it left is judged"),
        pytest.param("flood", "EXECUTOR_ERROR", id="it broke off"),
        pytest.param("blocker", "MERGE_CONFLICT", id="no room for the hidden tests"),
    ],
)
def test_an_agent_that_hands_in_nothing(
    project: Path, swe_bench: dict[str, Any], executor: str, reason: str
) -> None:
    """It claims nothing, and has not resolved its task."""
    done = evaluate(project, *OWN, "--executor", executor, "--json")
    assert done.code == 0, done.err
    (trial,) = done.json["trials"]
    assert (trial["resolved"], trial["claimed"]) == (False, False)
    assert trial["reason_code"] == reason


def test_the_known_solutions(project: Path, swe_bench: dict[str, Any]) -> None:
    """They show whether a set can be resolved; this one's solution does not fit."""
    done = evaluate(project, *OWN, "--solutions", "--json")
    assert done.code == 1
    assert "the known solution does not fit the base" in done.err


def blocks(language: str) -> list[str]:
    """The blocks of a language in the page about evaluations."""
    page = (ROOT / "docs/eval.md").read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_the_page_shows_what_is_printed(project: Path) -> None:
    """Its example is run, and what it prints is what the page shows."""
    (shown,) = blocks("console")
    line, _, output = shown.partition("\n")
    words = line.removeprefix("$ accordance eval ").split()
    done = evaluate(project, *words)
    assert (done.code, done.err, done.out) == (0, "", output)


def test_the_tasks_of_the_page_can_be_read() -> None:
    """Every task on it is one."""
    (own,) = blocks("toml")
    assert len(read_task_set(own, "tasks.toml")) == 2


def test_a_trial_that_cannot_be_made(project: Path, swe_bench: dict[str, Any]) -> None:
    """It says nothing about the agent: it is told, not counted, and made next time."""
    done = evaluate(project, *OWN, "--executor", "absent", "--json")
    assert done.code == 1
    assert (done.json["trials"], done.json["trials_missing"]) == ([], 1)
    assert "owner__name-1, trial 1 was not run: " in done.err


def test_a_broken_environment_is_nobodys_failure(
    project: Path, swe_bench: dict[str, Any]
) -> None:
    """The trial is not counted: neither as unresolved nor as a false claim."""
    settings = project / "accordance.toml"
    broken = '\n[judge.environment]\npython = "/no/such/python"\n'
    settings.write_text(settings.read_text("utf-8") + broken, "utf-8")
    done = evaluate(project, *OWN, "--executor", "liar")
    assert done.code != 0
    assert "was not run: " in done.err
    assert "/no/such/python" in done.err


@pytest.mark.parametrize(
    ("words", "code", "fault"),
    [
        ((), 2, "name a file of tasks, or --builtin"),
        (("tasks.jsonl", "--builtin"), 2, "name a file of tasks, or --builtin"),
        (("--builtin", "--solutions", "--executor", "gold"), 2, "or --solutions"),
        (("missing.json",), 5, "no file 'missing.json'"),
        (("agents",), 2, "agents: cannot be read (Is a directory)"),
        (("tasks.jsonl",), 5, "no repository 'owner/name'"),
        ((*OWN, "--only", "owner__name-2"), 5, "did you mean owner__name-1?"),
        ((*OWN, "--executor", "people"), 2, "people works elsewhere"),
        ((*OWN, "--executor", "golden"), 5, "did you mean gold or"),
    ],
)
def test_what_cannot_be_evaluated(
    project: Path,
    swe_bench: dict[str, Any],
    words: tuple[str, ...],
    code: int,
    fault: str,
) -> None:
    """One line, before anything is begun."""
    if "--executor" not in words:
        words = (*words, "--executor", "spy")
    done = evaluate(project, *words)
    assert done.code == code
    assert fault in done.err
    assert done.err.count("\n") == 1
