"""The main job, for real: `make run` carries the plan of examples/quickstart out with its good and bad agents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.cli import ROOT, accordance, path_with_accordance
from tests.hostile.stage import git
from tests.limits import LIMIT

pytestmark = [
    pytest.mark.skipif(
        not Path("/proc/self").exists(),
        reason="isolation needs Linux: no agent could be run",
    ),
    pytest.mark.xdist_group("quickstart"),  # one run of it serves all of them
    pytest.mark.unmeasured,  # dozens of interpreters; other tests run the same commands
]
BRANCH = "accordance/parcels-in-april"
VERDICTS = [
    ("Brief: the prices to be taken over", "DONE", "APPROVE"),
    ("New prices", "DONE", "PASSED"),
    ("New prices", "RETRY", "MODIFY"),
    ("New prices", "DONE", "PASSED"),
    ("New prices", "DONE", "APPROVE"),
    ("Rounding to five cents", "REJECT", "SCHEMA_VIOLATION"),
    ("Rounding to five cents", "RETRY", "CI_FAILED"),
    ("Rounding to five cents", "DONE", "PASSED"),
    ("A discount, the quick way", "RETRY", "CI_FAILED"),
    ("A discount, the quick way", "ESCALATE", "CI_FAILED"),
    ("A discount, the other way", "DONE", "PASSED"),
    ("Notes: what is new", "DONE", "APPROVE"),
    ("Express parcels", "REJECT", "SCOPE_CONFLICT"),
]
NEW_PRICES = '    "city": 390,\n    "country": 540,\n    "abroad": 1290,\n'


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """What the script leaves behind, and what it says."""
    folder = tmp_path_factory.mktemp("quickstart") / "project"
    path = os.pathsep.join(
        (str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))
    )
    done = subprocess.run(
        ("sh", ROOT / "examples/quickstart/run.sh", folder),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        env={
            **os.environ,
            "PATH": path,
            "LC_ALL": "C",
        },  # a bare machine: one sign is three letters
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    return folder, done.stdout


def test_agents_are_kept_apart_where_they_can_be(quickstart: tuple[Path, str]) -> None:
    """Limits alone are only for machines that have nothing better."""
    found = {
        one["name"].strip(): one["ok"] for one in accordance("doctor", "--json").json
    }
    assert ("with limits only" in quickstart[1]) is not (
        found["bwrap"] or found["landlock"]
    )


def test_every_agent_gets_what_it_deserves(quickstart: tuple[Path, str]) -> None:
    """The honest work lands, the sloppy work lands in the end, the rest is given up or goes to a person."""
    folder, _ = quickstart
    again = accordance("run", "--json", "--home", folder)
    assert again.code == 1
    found = again.json
    assert found["states"] == {"PENDING": 1, "BLOCKED": 1, "DONE": 7, "DEAD_LETTER": 1}
    verdicts = [
        (one["title"], one["outcome"], one["reason_code"]) for one in found["verdicts"]
    ]
    # two changes are made at once: which of them is rebased depends on the machine
    rebased = [verdict for verdict in verdicts if verdict[2] == "BEHIND"]
    assert sorted(verdicts) == sorted([*VERDICTS, *rebased])
    assert len(found["deliverables"]) == 5
    assert all((folder / one["path"]).is_file() for one in found["deliverables"])
    (question,) = found["questions"]
    assert "tests/test_express.py" in question["text"]


def test_the_changes_are_on_the_plans_branch(quickstart: tuple[Path, str]) -> None:
    """One commit for each approved change; the user's own tree is as it was."""
    repository = quickstart[0] / "repository"
    assert NEW_PRICES in git(repository, "show", f"{BRANCH}:parcels/prices.py")
    assert "| city | 390 |" in git(repository, "show", f"{BRANCH}:README.md")
    titles = git(repository, "log", "--format=%s", f"main..{BRANCH}").splitlines()
    assert sorted(titles) == [
        "A discount, the other way",
        "New prices",
        "Rounding to five cents",
    ]
    assert git(repository, "status", "--short") == ""
    assert git(repository, "rev-list", "--count", "main").strip() == "1"
    git(repository, "checkout", "--quiet", "--detach", BRANCH)
    tests = ("tests.test_prices", "tests.test_rounding", "tests.test_discount")
    ran = subprocess.run(
        (sys.executable, "-m", "unittest", "-q", *tests), cwd=repository, check=False
    )
    assert ran.returncode == 0


def test_what_it_says(quickstart: tuple[Path, str]) -> None:
    """Plain lines where there is no terminal; at the end deliverables, verdicts with reasons, and where to look."""
    folder, said = quickstart
    assert "\x1b" not in said
    for line in (
        "✗ REJECT    Rounding to five cents, action 1  SCHEMA_VIOLATION  READY",
        "! ESCALATE  A discount, the quick way, action 2  CI_FAILED  DEAD_LETTER",
        f"  the changes are commits on the branch {BRANCH} of repository",
        "  ↻ RETRY     New prices, review 1                          MODIFY: The README still shows the old prices.",
        "Look closer\n",
        f"  cd {folder}  # the project",
        "  accordance inbox list  # the questions to people",
        "fuses: plan ",
        "Parcel prices from 1 April: 7 of 10 tasks done, ",
        "  Express parcels: SCOPE_CONFLICT: ",
        "    accordance dlq requeue 3f1c9a52-7d0e-4b7a-9d55-1f6a0c2e8b03",
    ):
        assert line in said


def test_what_it_prints_can_be_pasted(quickstart: tuple[Path, str]) -> None:
    """Every line of "Look closer" works as it is printed, once `accordance` is on the path."""
    _, said = quickstart
    lines = said.partition("Look closer\n")[2].splitlines()
    assert len(lines) == 9
    script = "\n".join(
        f"{line} || echo FAILED $?" for line in map(_without_purpose, lines)
    )
    path = path_with_accordance()
    done = subprocess.run(
        ("sh", "-e"),
        input=script,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        cwd="/",
        env={**os.environ, "PATH": path, "GIT_PAGER": "cat"},
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    # there is a question, and there are dead letters
    assert failed == ["FAILED 3", "FAILED 1"], done.stderr
    make = (ROOT / "Makefile").read_text("utf-8")
    assert "type this first:  . $(CURDIR)/$(BIN)/activate" in make


def _without_purpose(line: str) -> str:
    """The shell would take what follows for a comment, too."""
    return line.partition("  # ")[0]


def test_it_can_be_recomputed(quickstart: tuple[Path, str]) -> None:
    """Every state from the events, every verdict from the messages and the evidence; each bundle by itself, too."""
    folder, _ = quickstart
    assert accordance("verify", "--home", folder).code == 0
    bundles = sorted((folder / "artifacts").glob("*/attempt-*"))
    found = accordance("run", "--json", "--home", folder).json
    overtaken = [one for one in found["verdicts"] if one["reason_code"] == "BEHIND"]
    assert len(bundles) == 9 + len(overtaken)
    assert accordance("verify", bundles[0]).code == 0
    lie = json.loads((bundles[-1] / "judgement.json").read_bytes())
    codes = [finding["code"] for finding in lie["findings"]]
    assert codes == ["SCOPE_CONFLICT", "EVIDENCE_INVALID", "TESTS_NOT_RUN"]


def test_a_folder_that_is_no_project_is_left_alone(tmp_path: Path) -> None:
    """The script deletes only what it has made."""
    (tmp_path / "mine.txt").write_text("mine")
    done = subprocess.run(
        ("sh", ROOT / "examples/quickstart/run.sh", tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, (tmp_path / "mine.txt").read_text()) == (2, "mine")
    assert "is no project of accordance" in done.stderr
