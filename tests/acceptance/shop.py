"""A repository with a bug, in which hooks ask for a judgement, and a task beside it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.acceptance.cli import Ran, accordance, path_with_accordance
from tests.limits import LIMIT

WRONG = "def total(prices):\n    return sum(prices[1:])\n"
RIGHT = "def total(prices):\n    return sum(prices)\n"
TESTS = """\
import unittest

from shop.prices import total


class TotalTest(unittest.TestCase):
    def test_every_price_counts(self):
        self.assertEqual(total([120, 80]), 200)
"""
TASK: dict[str, Any] = {
    "schema_version": "scc.task.v1",
    "task_id": "72c84e9c-0975-4c1a-b9a5-864c2725dc8a",
    "goal": "total() leaves out the first price. It must add all of them.",
    "role": "engineer",
    "pins": {"allowed_paths": ["shop/**"], "forbidden_paths": []},
    "allowedTests": ["python3 -m unittest tests.test_prices"],
}
FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": WRONG,
    "tests/__init__.py": "",
    "tests/test_prices.py": TESTS,
    "../task.json": json.dumps(TASK),
}


class Shop:
    """The repository, as a person has it before an agent begins."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.work = place / "shop"
        for name, text in FILES.items():
            self.write(name, text)
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "A shop"]):
            subprocess.run(["git", *command], cwd=self.work, check=True)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the working tree."""
        place = self.work / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place

    def read(self, name: str) -> str:
        """Read a file of the working tree."""
        return (self.work / name).read_text()

    def hook(self, *words: str) -> Ran:
        """`accordance hook`, in the repository."""
        return accordance("hook", *words, cwd=self.work)

    def put_in(self, kind: str, *words: str) -> Ran:
        """Put a hook in, with the task; it has to work."""
        done = self.hook(kind, "--task", "../task.json", *words)
        assert done.code == 0, done.err
        return done

    def stops(self, kind: str = "claude", *, again: bool = False) -> dict[str, Any]:
        """What a hook answers to an agent that wants to stop."""
        event = {"session_id": "s-1", "stop_hook_active": again}
        words = ("hook", "run", kind)
        done = accordance(*words, stdin=json.dumps(event).encode(), cwd=self.work)
        assert (done.code, done.err) == (0, "")
        return dict(done.json)

    def git(self, *words: str) -> Ran:
        """Run git as a person does, so that it runs its hooks."""
        done = subprocess.run(
            ["git", *words],
            cwd=self.work,
            env={**os.environ, "PATH": path_with_accordance()},
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    @property
    def tracked(self) -> dict[str, bytes]:
        """Every file of the working tree and every hook of git, with its content."""
        files = (*self.work.rglob("*"), *(self.work / ".git" / "hooks").iterdir())
        return {
            str(file.relative_to(self.work)): file.read_bytes()
            for file in files
            if file.is_file()
            and (".git" not in file.parts or file.parent.name == "hooks")
            and file.suffix != ".sample"
        }

    def outcomes(self) -> list[str]:
        """What the hooks have judged, in their order."""
        states = Path(os.environ["XDG_STATE_HOME"])
        bundles = sorted(states.rglob("judgement.json"))
        return [json.loads(bundle.read_bytes())["outcome"] for bundle in bundles]
