"""`accordance run` that is killed when a change would be judged: the agent has ended, nothing is decided.

python -m tests.acceptance.dying_judge HOME
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from accordance.changes import concluding
from accordance.cli.main import main


def die(*_: Any) -> None:
    """Without any last words."""
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    concluding.judge_on = die  # type: ignore[attr-defined,assignment]
    main(["run", "--json", "--home", sys.argv[1]])
