"""A process beside the story, which obeys a command a line and answers `ok`.

The process that forks the workers must keep a single thread; whatever serves them runs
here.
"""

from __future__ import annotations

import subprocess
import sys
from types import TracebackType
from typing import Self


class HelperProcess:
    """A module of these tests that runs as a process of its own."""

    def __init__(self, module: str, *words: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"tests.chaos.{module}", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.first_line = self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()  # waits for its end, and closes the pipes

    def send(self, command: str) -> None:
        """Let it carry out a command."""
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        assert answer == "ok", answer

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def say(line: str) -> None:
    """Answer from within the helper."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
