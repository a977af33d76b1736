"""`accordance export`: a run in a single file."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from tests.acceptance.cli import accordance
from tests.messages import PLAN, small_plan


def test_a_run_as_a_page(tmp_path: Path) -> None:
    """The file opens from disk; an archive of the products is another format."""
    (tmp_path / "plan.json").write_text(json.dumps(small_plan()))
    imported = accordance("plan", "import", "plan.json", cwd=tmp_path)
    assert imported.code == 0, imported.err
    done = accordance("export", cwd=tmp_path)
    assert (done.code, done.out.partition(":")[0]) == (0, f"{PLAN}.html"), done.err
    text = (tmp_path / f"{PLAN}.html").read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert "<script" not in text
    packed = accordance("export", "--format", "zip", "-o", "a.zip", cwd=tmp_path)
    assert packed.code == 0, packed.err
    assert zipfile.is_zipfile(tmp_path / "a.zip")
    missing = accordance("export", "nowhere", cwd=tmp_path)
    assert missing.code == 5
