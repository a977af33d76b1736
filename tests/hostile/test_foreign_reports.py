"""Commands that accordance cannot watch, and the reports they write themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.conftest import Score
from tests.hostile.judged_changes import BROKEN, FIXED, codes, judged

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)
RUNNER = """
    import os, sys
    os.makedirs("build", exist_ok=True)
    sys.path.insert(0, "src")
    from app import last
    try:
        fault = "" if last([1, 2]) == 2 else "<failure message='wrong'/>"
    except IndexError:
        fault = "<error message='index'/>"
    cases = f"<testcase name='last'>{fault}</testcase><testcase name='other'/>"
    with open("build/junit.xml", "w") as file:
        file.write(f"<testsuite>{cases}</testsuite>")
    sys.exit(bool(fault))
"""
BASE = {"src/app.py": BROKEN, "tests/run_all.py": RUNNER}
TASK = {
    "allowedTests": ["python tests/run_all.py"],
    "pins": {"allowed_paths": ["src/**", "build/**"]},
    "test_reports": ["build/*.xml"],
}
STALE = "<testsuite><testcase name='last'/><testcase name='other'/></testsuite>\n"
EXITS = "import os\nos._exit(0)\n" + BROKEN
IGNORED = {**BASE, ".gitignore": "build/\n"}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_an_honest_report_is_compared_with_the_base(
    tmp_path: Path, score: Score
) -> None:
    judgement = judged(tmp_path, {"src/app.py": FIXED}, base=IGNORED, task=TASK)

    score(True, bool(judgement))
    assert codes(judgement) == []
    compared = judgement.to_json()["tests_compared"]
    assert isinstance(compared, dict)
    assert compared["fail_to_pass"] == ["last"]
    (notice,) = judgement.verdict.notices[1:]
    assert notice.startswith("the report of the tests was written by their own run")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"src/app.py": EXITS}, id="none is written"),
        pytest.param(
            {"src/app.py": EXITS, "build/junit.xml": STALE}, id="it was there before"
        ),
    ],
)
def test_a_run_that_writes_no_report_shows_nothing(
    change: dict[str, str | None], tmp_path: Path, score: Score
) -> None:
    judgement = judged(tmp_path, change, base=BASE, task=TASK)

    score(False, bool(judgement))
    assert codes(judgement) == ["TESTS_NOT_RUN"]


def test_a_failure_in_the_report_counts(tmp_path: Path, score: Score) -> None:
    lies = "import atexit, os\natexit.register(os._exit, 0)\n" + BROKEN

    judgement = judged(tmp_path, {"src/app.py": lies}, base=IGNORED, task=TASK)

    score(False, bool(judgement))
    assert "CI_FAILED" in codes(judgement)
