"""The workflow in examples/ci: its script is run as GitHub would run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.acceptance.checkout import Checkout
from tests.hostile.stage import FIXED, git
from tests.unit.cases import TASK_ID

WORKFLOW = Path(__file__).parents[2] / "examples/ci/accordance.yml"


def script(step: str) -> str:
    """The commands of one step."""
    text = WORKFLOW.read_text("utf-8")
    found = re.search(
        rf"- name: {step}\n(?:(?!      - ).*\n)*?        run: \|\n((?:          .*\n)+)",
        text,
    )
    assert found is not None
    return textwrap.dedent(found[1])


@pytest.mark.parametrize(
    ("branch", "readme", "exit_code", "says"),
    [
        (f"agent/{TASK_ID}", None, 0, "DONE"),
        (
            f"agent/{TASK_ID}",
            "mine\n",
            1,
            "::error file=README.md,title=accordance SCOPE_CONFLICT::",
        ),
        ("agent/another", None, 5, "no file"),
        ("agent/../../etc", None, 2, "must be called agent/TASK_ID"),
    ],
)
def test_the_gate(
    checkout: Checkout, branch: str, readme: str | None, exit_code: int, says: str
) -> None:
    """A pull request of an agent passes, or its job fails with the reason."""
    place, base = checkout.place, checkout.work
    checkout.write(f"tasks/{TASK_ID}.json", json.dumps(checkout.task))
    checkout.commit("a task")
    sha = git(base, "rev-parse", "HEAD").strip()
    git(place, "clone", "--quiet", os.fspath(base), "work")
    (place / "work/src/app.py").write_text(FIXED, "utf-8")
    if readme:
        (place / "work/README.md").write_text(readme, "utf-8")
    git(place / "work", "commit", "--quiet", "--all", "--message=done")
    base.rename(place / "base")
    (place / "temp").mkdir()
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HEAD_REF": branch,
        "BASE_SHA": sha,
        "RUNNER_TEMP": os.fspath(place / "temp"),
    }
    done = subprocess.run(
        ("bash", "-e", "-c", script("Judge")),
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exit_code, done
    assert says in done.stdout + done.stderr
    assert bool(list((place / "temp").rglob("verdict.json"))) == (exit_code in (0, 1))
