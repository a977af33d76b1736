"""Which program or module a command lacked, by its exit code and the end of its output.

A shell reports a program that it cannot find or run by the exit codes 127 and 126, and
Python names a module that it cannot find in its last line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from accordance.domain.test_runners import runners_of

_NOT_FOUND: Final = 127
_NOT_RUNNABLE: Final = 126
_BY_THE_SHELL: Final = re.compile(
    r"(?:.*: )?(?:line )?\d+: (?P<program>\S+): (?:not found|Permission denied)"
)
_MODULE: Final = re.compile(r"\S*python\S*: No module named (?P<module>[\w.]+)")


def missing_program(command: str, exit_code: int, lines: Sequence[str]) -> str:
    """Return the program or test runner that a command lacked, or nothing."""
    last = lines[-1].strip() if lines else ""
    if exit_code in (_NOT_FOUND, _NOT_RUNNABLE):
        by_the_shell = _BY_THE_SHELL.fullmatch(last)
        return by_the_shell["program"] if by_the_shell else command

    module = _MODULE.fullmatch(last)
    if exit_code and module and module["module"] in runners_of(command):
        return module["module"]
    return ""
