"""What a person may get wrong while they steer a plan: one clear line, and nothing changes."""

from __future__ import annotations

import json
import os
import pty
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.cli import ROOT, Ran, accordance

PLAN = """title: Spring
tasks:
  - title: Collect
  - title: Write
    needs: Collect
  - title: Draw
  - title: Print
"""
FILES = {
    "indent.yaml": "title: T\ntasks:\n  - title: A\n   needs: B\n",
    "key.yaml": "title: T\ntasks:\n  - title: A\n    neds: B\n",
    "cycle.yaml": "title: T\ntasks:\n  - {title: A, needs: B}\n  - {title: B, needs: A}\n",
    "twice.yaml": "title: T\ntasks:\n  - title: A\n  - title: A\n",
    "orphan.yaml": "title: Spring\ntasks:\n  - Write\n  - Draw\n  - Print\n",
}
REFUSAL = {
    "schema_version": "xiaobo_action_v1",
    "result_type": "ERROR",
    "error": {"code": "LLM_REFUSAL", "message": "no"},
}


def spring(home: Path, *words: str, stdin: bytes = b"") -> Ran:
    """A command in the project."""
    return accordance(*words, cwd=home, stdin=stdin)


def refuses(home: Path, task: str) -> None:
    """An agent refuses a task, so that a person is asked."""
    message = {**REFUSAL, "task_id": f"spring.{task}"}
    ran = spring(home, "task", "submit", "-", stdin=json.dumps(message).encode())
    assert "BLOCKED" in ran.out, ran


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan with a running task, an answered question, and two open ones."""
    tmp_path = tmp_path_factory.mktemp("spring")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "plan.yaml").write_text(PLAN)
    spring(tmp_path, "plan", "import", "plan.yaml", "--by", "ann")
    assert spring(tmp_path, "inbox", "answer", "1", "approve", "--by", "ann").code == 0
    assert spring(tmp_path, "task", "next", "--worker", "ben").code == 0
    refuses(tmp_path, "draw")
    refuses(tmp_path, "print")
    return tmp_path


def events_of(home: Path) -> list[str]:
    """The hash of every event: nothing changes without an event."""
    with closing(sqlite3.connect(home / ".accordance/ledger.db")) as ledger:
        rows = ledger.execute("select hash from task_events order by plan_id, seq")
        return [row[0] for row in rows]


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        pytest.param(["plan", "import", "indent.yaml"], 1, "indent.yaml:4: the indentation does not fit the lines above; align the keys of a task in the same column, with spaces", id="a short plan with a wrong indent"),
        pytest.param(["plan", "import", "key.yaml"], 1, "key.yaml:4: a task has no key 'neds'; did you mean needs or read?", id="an unknown key"),
        pytest.param(["plan", "import", "cycle.yaml"], 1, "cycle.yaml:4: tasks wait for each other: 'A' needs 'B' needs 'A'; remove one of these needs", id="a cycle"),
        pytest.param(["plan", "import", "twice.yaml"], 1, "twice.yaml:4: two tasks are titled 'A' (lines 3 and 4); give either of them an id", id="two tasks of one title"),
        pytest.param(["plan", "amend", "Spring", "orphan.yaml", "--yes"], 1, "task spring.collect is IN_PROGRESS and cannot be removed; wait until it ends, or keep spring.collect and cancel it", id="an amendment that would orphan running work"),
        pytest.param(["inbox", "answer", "1", "approve"], 6, "question 1 was answered by ann", id="an answer to a question already answered"),
    ],
)  # fmt: skip
def test_one_clear_line(home: Path, words: list[str], code: int, line: str) -> None:
    """With the way out; not an event is added."""
    before = events_of(home)
    ran = spring(home, *words)
    assert (ran.code, ran.out) == (code, ""), ran
    (printed,) = ran.err.splitlines()
    assert printed.startswith(f"accordance: {line}")
    assert events_of(home) == before


def test_many_things_of_which_some_changed_meanwhile(
    home: Path, tmp_path: Path
) -> None:
    """A task changes while a person reads the preview: it is left out and named."""
    home = shutil.copytree(home, tmp_path / "copy")
    ours, theirs = pty.openpty()
    retry = subprocess.Popen(
        [sys.executable, "-m", "accordance.cli.main", "task", "retry", "--filter", "state:blocked"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    shown = read_until(ours, b"[y/N]")
    assert "Draw" in shown
    assert "Print" in shown
    assert spring(home, "task", "cancel", "Draw", "--by", "ann").code == 0
    before = events_of(home)

    os.write(ours, b"y\n")
    told = read_until(ours, b"\n\n")
    assert retry.wait() == 6, told
    os.close(ours)
    (left_out,) = [line for line in told.splitlines() if "meanwhile" in line]
    assert "Draw" in left_out
    states = {
        task["title"]: task["state"]
        for task in spring(home, "task", "list", "--json").json["items"]
    }
    assert (states["Draw"], states["Print"]) == ("ABANDONED", "READY")
    assert events_of(home)[: len(before)] == before
    assert spring(home, "verify").code == 0


def read_until(terminal: int, mark: bytes) -> str:
    """What a terminal shows up to a mark, or to the end of the program."""
    seen = b""
    while mark not in seen:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the program has ended
            break
        if not piece:
            break
        seen += piece
    return seen.decode(errors="replace")
