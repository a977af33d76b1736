"""Asking a program for an answer: the prompt on its standard input, the answer on its standard output."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Final

from accordance.contracts.limits import LIMITS
from accordance.domain.research.golden import Given, NoAnswer

_MOST: Final = (
    LIMITS.max_bytes + 1
)  # of an answer: one byte more than the reader takes, which then says so
_COMPLAINT: Final = 4096  # of standard error, its end
_PIECE: Final = 1 << 16


def ask(
    command: Sequence[str], prompt: str, told: Mapping[str, str], timeout: float
) -> Given:
    """What the program answers. It runs without a shell, in a session of its own.

    It is ended, with all it started, when its time is up or when it has said more than the reader takes.
    """
    deadline = time.monotonic() + timeout
    with tempfile.TemporaryFile() as question:
        question.write(prompt.encode())
        question.seek(0)
        try:
            asked = subprocess.Popen(  # noqa: S603 - the user names the program
                command,
                stdin=question,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **told},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return NoAnswer(
                f"{command[0]}: cannot be started: {getattr(error, 'strerror', None) or error}"
            )
    with asked:
        try:
            out, err = _listen(asked, deadline)
            if len(out) == _MOST:
                os.killpg(asked.pid, signal.SIGKILL)
                return out
            asked.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(asked.pid, signal.SIGKILL)
            return NoAnswer(f"{command[0]}: no answer within {timeout:g} s")
        except BaseException:  # stopped by a signal: what was asked ends, too
            os.killpg(asked.pid, signal.SIGKILL)
            raise
    if asked.returncode != 0:
        said = " ".join(err.decode("utf-8", "replace").split())[-200:]
        return NoAnswer(
            f"{command[0]}: ended with {asked.returncode}"
            + (f": {said}" if said else "")
        )
    return out


def _listen(asked: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bytes]:
    """What it says until it falls silent: the beginning of its answer, the end of its complaints. Raises TimeoutExpired."""
    out, err = bytearray(), bytearray()
    with selectors.DefaultSelector() as pipes:
        for pipe, heard in ((asked.stdout, out), (asked.stderr, err)):
            if pipe is not None:
                pipes.register(pipe, selectors.EVENT_READ, heard)
        while pipes.get_map() and len(out) < _MOST:
            left = deadline - time.monotonic()
            ready = pipes.select(left) if left > 0 else ()
            if not ready:
                raise subprocess.TimeoutExpired(asked.args, left)
            for key, _ in ready:
                piece = os.read(key.fd, _PIECE)
                key.data.extend(piece)
                if not piece:
                    pipes.unregister(key.fileobj)
            del err[:-_COMPLAINT]
    return bytes(out[:_MOST]), bytes(err)
