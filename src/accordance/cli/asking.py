"""Asking a program for an answer: the prompt on its standard input, the answer on its standard output."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from accordance.domain.research.golden import Given, NoAnswer


def ask(command: Sequence[str], prompt: str, told: Mapping[str, str], timeout: float) -> Given:
    """What the program answers. It runs without a shell, in a session of its own, and is ended when its time is up."""
    try:
        asked = subprocess.Popen(  # noqa: S603 - the user names the program
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **told},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return NoAnswer(f"{command[0]}: cannot be started: {getattr(error, 'strerror', None) or error}")
    with asked:
        try:
            out, err = asked.communicate(prompt.encode(), timeout)
        except subprocess.TimeoutExpired:
            os.killpg(asked.pid, signal.SIGKILL)
            return NoAnswer(f"{command[0]}: no answer within {timeout:g} s")
    if asked.returncode != 0:
        said = " ".join(err.decode("utf-8", "replace").split())[-200:]
        return NoAnswer(f"{command[0]}: ended with {asked.returncode}" + (f": {said}" if said else ""))
    return out
