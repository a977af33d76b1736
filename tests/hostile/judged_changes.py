"""A small repository, a change to it, and the judgement: for tests about tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

from accordance import judge
from accordance.judging.judgement import Judgement
from tests.hostile.stage import git

TASK_ID = "72c84e9c-0975-4c1a-b9a5-864c2725dc8a"
BROKEN = "def last(items):\n    return items[len(items)]\n"
FIXED = "def last(items):\n    return items[-1]\n"
PYTEST = "PYTHONPATH=src python -m pytest -q -p no:cacheprovider tests"
TESTS = """
    from app import last

    def test_last():
        assert last([1, 2]) == 2

    def test_other():
        assert [].copy() == []
"""
BASE: Mapping[str, str] = {"src/app.py": BROKEN, "tests/test_app.py": TESTS}
NO_TASK: Mapping[str, object] = {}
Files = Mapping[str, str | None]


def judged(
    place: Path,
    change: Files,
    *,
    base: Mapping[str, str] = BASE,
    settings: str = "",
    then: Callable[[], object] = str,
    kept: str = "kept",
    task: Mapping[str, object] = NO_TASK,
) -> Judgement:
    """Commit the base, make the change, and judge it. None removes a file.

    `then` is called before it is judged, and `kept` is where the evidence goes.
    """
    repository = place / "repository"
    write(repository, {**base, "accordance.toml": settings})
    git(repository, "init", "--quiet", "--initial-branch=main")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=base")
    commit = git(repository, "rev-parse", "HEAD").strip()

    write(repository, change)
    then()
    asked = {
        "task_id": TASK_ID,
        "goal": "Make last() return the last item.",
        "role": "engineer",
        "pins": {
            "allowed_paths": ["src/**", "tests/**"],
            "forbidden_paths": ["**/secrets/**"],
        },
        "allowedTests": [PYTEST],
        **task,
    }
    task_file = place / "task.json"
    task_file.write_text(json.dumps(asked), "utf-8")
    return judge(task_file, repo=repository, base=commit, artifacts=place / kept)


def write(root: Path, files: Files) -> None:
    """Write files below a folder; None removes one."""
    for path, text in files.items():
        place = root / path
        if text is None:
            place.unlink()
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(dedent(text), "utf-8")


def codes(judgement: Judgement) -> list[str]:
    """The codes of all findings, in their order."""
    return [finding.code for finding in judgement.verdict.findings]
