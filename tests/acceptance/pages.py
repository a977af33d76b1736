"""Running a page of the documentation: its files are written, its commands are run.

A block with a title, such as ```yaml title="plan.yaml", is a file. In a ```console
block every line after `$ ` is a command for the shell, and what follows is its output.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.acceptance.cli import path_with_accordance
from tests.limits import LIMIT

ROOT = Path(__file__).parent.parent.parent
_BLOCK = re.compile(r"```(\w+)([^\n]*)\n(.*?)```", re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
_PLACE = "/home/ann"
"""What a page shows in place of the folder that it was run in."""
_VARYING = (
    (re.compile(r"\b\d+(\.\d+)? (ms|s|min)\b"), "N s"),
    (re.compile(r"\b\d{4}-\d\d-\d\d([T ][\d:.]+Z?)?"), "DATE"),
    (re.compile(r"\b\d\d:\d\d(:\d\d)?\b"), "TIME"),
    (re.compile(r"\b(q-)?[0-9a-f]{10,64}\b"), "HASH"),
    (re.compile(r"\bjust now\b|\bN s ago\b"), "AGO"),
    (re.compile(r"\b(bwrap|landlock)\b"), "ISOLATION"),
)
"""What differs from run to run, or from machine to machine."""
_PACE = re.compile(r"^\d+ of \d+ tasks? done, .*\n", re.MULTILINE)
"""How far a run is: a line that comes only where it takes long."""
_SETTINGS = {
    "USER": "ann",
    "LOGNAME": "ann",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
}


def compared(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, name in _VARYING:
        text = pattern.sub(name, text)
    return text


class Page:
    """A page that is run in a folder of its own, from its first block to its last."""

    def __init__(self, folder: Path) -> None:
        self._top = folder
        self._folder = folder
        self._code = 0
        (folder / "examples").symlink_to(ROOT / "examples")

    def run(self, text: str) -> str:
        """The page with what its commands really print."""
        return _BLOCK.sub(self._block, text)

    def _block(self, block: re.Match[str]) -> str:
        language, further, content = block.groups()
        title = _TITLE.search(further)
        if title:
            file = self._folder / title[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        if language != "console":
            return block[0]
        shown = "".join(
            map(self._shown, re.split(r"^\$ ", content, flags=re.MULTILINE)[1:])
        )
        return f"```console\n{shown}```"

    def _shown(self, example: str) -> str:
        """A command with its output: the old one, where nothing of weight differs."""
        command, _, before = example.partition("\n")
        output = self._output(command)
        if compared(output) == compared(before):
            output = before
        return f"$ {command}\n{output}"

    def _output(self, command: str) -> str:
        """What a command prints; it begins where the one before it ended."""
        place = self._top / ".place"
        script = f"trap 'pwd > {place}' EXIT\n(exit {self._code})\n{command}"
        first, _, others = path_with_accordance().partition(os.pathsep)
        programs = (first, str(Path(sys.executable).parent), others)
        ran = subprocess.run(
            ("sh", "-c", script),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT,
            cwd=self._folder,
            check=False,
            env={**os.environ, **_SETTINGS, "PATH": os.pathsep.join(programs)},
        )
        self._code = ran.returncode
        self._folder = Path(place.read_text().strip())
        output = _PACE.sub("", ran.stdout.decode())
        return output.replace(str(self._top), _PLACE)
