"""An environment that uv prepares from a lock file, for real and without network."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from accordance.domain.test_results import TestOutcome
from tests.acceptance.test_environments import BACKEND, PROJECT
from tests.hostile.judged_changes import BROKEN, FIXED, codes, judged

uv = pytest.importorskip("uv")
pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="isolation needs Linux"
)
LOCK = """
version = 1
requires-python = ">=3.11"

[[package]]
name = "app"
version = "1"
source = { editable = "." }
"""
TESTS = """
    import unittest
    from app import last

    class Last(unittest.TestCase):
        def test_last(self):
            self.assertEqual(last([1, 2]), 2)
"""
BASE = {
    "pyproject.toml": f'{PROJECT}requires-python = ">=3.11"\n',
    "backend.py": BACKEND,
    "uv.lock": LOCK,
    "src/app.py": BROKEN,
    "tests/test_app.py": TESTS,
}
TASK = {"allowedTests": ["python -m unittest discover -s tests"]}


def test_what_uv_locks_is_prepared_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tree is installed to be edited, so that its change is what is tested."""
    programs = tmp_path / "programs"
    programs.mkdir()
    shutil.copy2(uv.find_uv_bin(), programs / "uv")  # apart from accordance's own
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_OFFLINE", "1")

    fixed = judged(tmp_path / "1", {"src/app.py": FIXED}, base=BASE, task=TASK)
    assert codes(fixed) == [], fixed.verdict.messages
    (run,) = fixed.facts.runs
    assert run.report is not None
    assert [result.outcome for result in run.report.results] == [TestOutcome.PASSED]

    (environment,) = (tmp_path / "cache/accordance/environments").glob("*/bin")
    log = next(environment.parent.glob("*.log")).read_text("utf-8")
    assert "uv sync --frozen" in log
