"""Running the real command line, as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output as JSON."""
        return json.loads(self.out)


def accordance(
    *args: str | Path, stdin: bytes = b"", cwd: Path | None = None, env: dict[str, str] | None = None
) -> Ran:
    """Run `accordance` in a process of its own. The time limit only keeps a hanging command from hanging the tests."""
    command = [sys.executable, "-m", "accordance.cli.main", *map(str, args)]
    around = {**os.environ, **(env or {})}
    done = subprocess.run(
        command, input=stdin, capture_output=True, timeout=600, cwd=cwd, check=False, env=around
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
