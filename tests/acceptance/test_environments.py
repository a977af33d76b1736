"""Tests in an environment of their own, by the command line: in `judge` as in `run`."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.acceptance.checkout import Checkout
from tests.acceptance.cli import Ran, accordance
from tests.acceptance.coding import (
    FIRST,
    CodingProject,
    a_task,
    coding_node,
    coding_plan,
)
from tests.hostile.stage import git

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="isolation needs Linux"
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def a_package(name: str, text: str) -> bytes:
    """A wheel that can be installed without network."""
    info = f"{name}-1.dist-info"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        wheel.writestr(f"{name}.py", text)
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return content.getvalue()


# A build backend in the tree, which writes what setuptools would: a link to src.
BACKEND = """
import os, zipfile
def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "app-1-py3-none-any.whl"
    info = "app-1.dist-info"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("app.pth", os.path.abspath("src"))
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: app\\nVersion: 1\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
def build_wheel(*args, **kwargs):
    raise NotImplementedError
"""
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "app"
version = "1"
"""
SRC_LAYOUT: Mapping[str, str] = {
    "pyproject.toml": PROJECT,
    "backend.py": BACKEND,
    "requirements.txt": "--no-index\n./needed-1-py3-none-any.whl\n",
    "tests/test_installed.py": (
        "import app, needed, unittest\n"
        "class T(unittest.TestCase):\n"
        "    def test_last(self):\n"
        "        self.assertEqual(app.last([1, 2]), needed.TWO)\n"
    ),
}  # fmt: skip
INSTALLED = "python -m unittest tests/test_installed.py"


def lay_src_layout(root: Path) -> None:
    """A project that must be installed before its tests can import it."""
    for path, text in SRC_LAYOUT.items():
        (root / path).write_text(text, "utf-8")
    (root / "needed-1-py3-none-any.whl").write_bytes(a_package("needed", "TWO = 2\n"))


def judged(checkout: Checkout, *options: str | Path) -> Ran:
    """Judge with a new place for the evidence."""
    kept = checkout.place / f"kept-{len(list(checkout.place.glob('kept-*')))}"
    return checkout.judge("--json", "--artifacts", kept, *options)


def test_a_detected_environment_judges_the_tree_and_not_a_copy(
    checkout: Checkout,
) -> None:
    """Installed from the base's files without a setting: the right change is DONE, none is not."""
    lay_src_layout(checkout.work)
    checkout.begin_with("installable")
    checkout.task["allowedTests"] = [INSTALLED]
    (checkout.work / "src/other.py").write_text("OTHER = 2\n", "utf-8")
    wrong = judged(checkout)
    assert wrong.json["reason_code"] == "CI_FAILED", wrong
    assert "test_last" in wrong.out

    checkout.work_honestly()
    assert judged(checkout).json["outcome"] == "DONE"
    assert (
        len(list((checkout.place / "cache/accordance/environments").glob("*.lock")))
        == 1
    )


def test_an_installed_project_in_a_run(tmp_path: Path) -> None:
    """What works in `judge` works in `run`: tests see their copy where the repository stands."""
    project = CodingProject(tmp_path / "project")
    project.plan = coding_plan(coding_node(task=a_task(allowedTests=[INSTALLED])))
    project.build()
    lay_src_layout(project.repository)
    git(project.repository, "add", "--all")
    git(project.repository, "commit", "--quiet", "--message=installable")
    project.agent("app.write_text(RIGHT)\n")
    project.imports()
    ran = project.runs()
    assert ran.code == 0, ran
    assert project.state() == ("DONE", None)


def test_preparing_that_fails_is_told_to_a_person(checkout: Checkout) -> None:
    """With the end of its log, and without an attempt of the agent."""
    (checkout.work / "requirements.txt").write_text("--no-index\nno-such-package\n")
    checkout.begin_with("broken")
    checkout.work_honestly()
    ran = judged(checkout)
    assert ran.code == 3
    assert ran.json["reason_code"] == "ENVIRONMENT_BROKEN"
    assert ran.json["next_action"] == "human"
    assert "No matching distribution found for no-such-package" in ran.out
    assert ran.json["uses_attempt"] is False


def test_a_run_asks_before_an_agent_works(tmp_path: Path) -> None:
    """The agent is not even started; after the answer its first attempt begins."""
    project = CodingProject(tmp_path / "project")
    project.build()
    settings = project.home / "accordance.toml"
    working = settings.read_text("utf-8")
    settings.write_text(
        f'{working}\n[judge.environment]\nprepare = ["echo no wheel today; false"]\n'
    )
    project.agent("app.write_text(RIGHT)\n")
    project.imports()
    assert project.runs().code == 3
    (question,) = project("inbox", "list", "--json").json["items"]
    assert question["text"].startswith("ENVIRONMENT_BROKEN: ")
    assert "no wheel today" in question["text"]
    assert project.task()["failures"] == 0
    assert not project.bundle().exists()

    settings.write_text(working)
    answered = project("inbox", "answer", question["question_id"], "It is mended.")
    assert answered.code == 0
    assert project.runs().code == 0
    assert project.state(FIRST) == ("DONE", None)


MISSING = {
    "a runner that is not installed": (
        "[judge.environment]\ndetect = false\n",
        "python -m pytest -q tests",
        "pytest is not installed where tests can see it",
    ),
    "a program that a script calls": (
        "",
        "sh tools/run.sh && no-such-program",
        "no-such-program is not installed where tests can see it",
    ),
    "accordance's own interpreter": (
        "",
        f"cd src && {sys.executable} -c pass",
        f"{sys.executable} is not installed where tests can see it",
    ),
    "a readable folder that is not there": (
        '[judge]\nreadable = ["/nowhere"]\n',
        "true",
        "/nowhere by [judge] readable, and it does not exist",
    ),
}


@pytest.mark.parametrize(("settings", "test", "text"), MISSING.values(), ids=MISSING)
def test_what_is_missing_is_no_fault_of_the_agent(
    checkout: Checkout, settings: str, test: str, text: str
) -> None:
    """A person is asked, and no attempt is lost."""
    (checkout.work / "accordance.toml").write_text(settings, "utf-8")
    checkout.begin_with("settings")
    checkout.task["allowedTests"] = [test]
    checkout.work_honestly()
    ran = judged(checkout)
    assert ran.json["reason_code"] == "ENVIRONMENT_BROKEN", ran
    assert text in ran.out
    assert (ran.code, ran.json["uses_attempt"]) == (3, False)


def test_wrong_evidence_does_not_hide_a_broken_environment(checkout: Checkout) -> None:
    """No further attempt of the agent would mend it: a person is asked at once."""
    test = "sh tools/run.sh && no-such-program"
    checkout.task["allowedTests"] = [test]
    checkout.submit["tests"]["commands"] = [test]
    checkout.work_honestly()
    checkout.patch = b"not the change"
    checkout.hand_in()
    ran = judged(checkout)
    assert ran.json["reason_code"] == "ENVIRONMENT_BROKEN", ran
    assert "EVIDENCE_INVALID" in {finding["code"] for finding in ran.json["findings"]}
    assert (ran.code, ran.json["uses_attempt"]) == (3, False)


def test_who_takes_a_program_away_answers_for_it(checkout: Checkout) -> None:
    """The base has it, so the environment is not to blame."""
    checkout.task["allowedTests"] = ["sh src/run.sh"]
    checkout.task["files"] = ["src/run.sh"]
    (checkout.work / "src/run.sh").write_text("exit 0\n", "utf-8")
    checkout.begin_with("a script")
    (checkout.work / "src/run.sh").write_text("no-such-program\n", "utf-8")
    ran = judged(checkout)
    assert ran.json["reason_code"] == "CI_FAILED", ran


def test_a_judge_in_reach_of_the_agent_is_refused(checkout: Checkout) -> None:
    """The agent's src/click.py would run in the judge."""
    checkout.work_honestly()
    (checkout.work / "src/click.py").write_text("raise SystemExit(0)\n", "utf-8")
    ran = accordance(
        "judge", "--task", checkout.place / "task.json", "--repo", checkout.work,
        env={"PYTHONPATH": os.fspath(checkout.work / "tests")},
        cwd=checkout.place,
    )  # fmt: skip
    assert ran.code == 2
    assert "accordance itself imports from" in ran.err


def test_what_would_be_prepared_is_explained(checkout: Checkout) -> None:
    """Nothing is run; a task is not needed."""
    lay_src_layout(checkout.work)
    checkout.begin_with("installable")
    told = accordance("judge", "--explain-environment", "--repo", checkout.work)
    assert told.code == 0
    assert told.out.splitlines() == [
        "tests:  not named yet",
        "python: the prepared interpreter",
        "- pip: needed by requirements.txt, pyproject.toml",
        "  $ pip install -r requirements.txt -e .",
        "  $ pip install --no-deps -e .",
        "prepared once at the base, and anew when this changes: requirements.txt, pyproject.toml",
        "nothing was run",
    ]
    as_json = checkout.judge("--explain-environment", "--json").json
    assert as_json["tests"] == checkout.task["allowedTests"]
    assert [step["tool"] for step in as_json["steps"]] == ["pip"]
    assert not (checkout.place / "cache").exists()


def test_judging_needs_a_task(checkout: Checkout) -> None:
    """Only the explanation can do without."""
    ran = accordance("judge", "--repo", checkout.work)
    assert (ran.code, "--task" in ran.err) == (2, True)


def test_variables_in_their_old_place_are_an_error(checkout: Checkout) -> None:
    """The message shows where they belong."""
    (checkout.work / "accordance.toml").write_text(
        '[judge]\nenvironment = { TZ = "UTC" }\n'
    )
    checkout.begin_with("old settings")
    ran = checkout.judge()
    assert ran.code == 2
    assert "variables" in ran.err
