"""docs/research.md runs: every command of the page, in its order, with the output it shows."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.acceptance.cli import accordance

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "research.md"


def run_page(text: str, folder: Path) -> str:
    """The page with what its commands really print."""
    (folder / "examples").symlink_to(ROOT / "examples")
    code = 0

    def run_block(block: re.Match[str]) -> str:
        nonlocal code
        shown = []
        for line in block[1].splitlines():
            if not line.startswith("$ "):
                continue
            if line == "$ echo $?":
                shown.append(f"{line}\n{code}\n")
                continue
            program, *words = shlex.split(
                line[2:].replace("python ", f"{sys.executable} ")
            )
            assert program == "accordance"
            ran = accordance(*words, cwd=folder)
            code = ran.code
            shown.append(f"{line}\n{ran.out}{ran.err}")
        return f"```console\n{''.join(shown)}```"

    return re.sub(r"```console\n(.*?)```", run_block, text, flags=re.DOTALL)


def test_the_page_shows_what_happens(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """`pytest tests/acceptance/test_walkthrough.py --update-examples` writes it anew."""
    text = PAGE.read_text(encoding="utf-8")
    real = run_page(text, tmp_path)
    if request.config.getoption("--update-examples"):
        PAGE.write_text(real, encoding="utf-8")
    else:
        assert text == real
