"""Asking a program: the prompt on its standard input, the answer on its output."""

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
from accordance.domain.research.golden import GivenAnswer, NoAnswer

_ANSWER_BYTES: Final = LIMITS.max_bytes + 1  # a byte too many, which the reader reports
_ERROR_BYTES: Final = 4096  # the end of standard error that is kept
_ERROR_SHOWN: Final = 200  # letters of it that are shown
_PIECE: Final = 1 << 16


def ask(
    command: Sequence[str],
    prompt: str,
    variables: Mapping[str, str],
    timeout: float,
) -> GivenAnswer:
    """Return the answer of a program. It runs without a shell, in its own session.

    The program and all it started are killed when its time is up, or when its answer is
    longer than the reader accepts.
    """
    deadline = time.monotonic() + timeout
    try:
        process = _start(command, prompt, variables)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        return NoAnswer(f"{command[0]}: cannot be started: {reason}")

    with process:
        try:
            output, errors = _read(process, deadline)
            if len(output) == _ANSWER_BYTES:
                os.killpg(process.pid, signal.SIGKILL)
                return output
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return NoAnswer(f"{command[0]}: no answer within {timeout:g} s")
        except BaseException:  # e.g. a signal: the program must end with us
            os.killpg(process.pid, signal.SIGKILL)
            raise

    if process.returncode != 0:
        return NoAnswer(_failure_text(command[0], process.returncode, errors))
    return output


def _start(
    command: Sequence[str],
    prompt: str,
    variables: Mapping[str, str],
) -> subprocess.Popen[bytes]:
    """Start a program with the prompt on its standard input."""
    with tempfile.TemporaryFile() as question:
        question.write(prompt.encode())
        question.seek(0)
        return subprocess.Popen(  # noqa: S603 - the user names the program
            command,
            stdin=question,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **variables},
            start_new_session=True,
        )


def _failure_text(program: str, code: int, errors: bytes) -> str:
    text = f"{program}: ended with {code}"
    words = errors.decode("utf-8", "replace").split()
    last_words = " ".join(words)[-_ERROR_SHOWN:]
    if last_words:
        text += f": {last_words}"
    return text


def _read(process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bytes]:
    """Read the beginning of the answer and the end of standard error.

    Raises TimeoutExpired.
    """
    output = bytearray()
    errors = bytearray()
    with selectors.DefaultSelector() as pipes:
        for pipe, content in ((process.stdout, output), (process.stderr, errors)):
            if pipe is not None:
                pipes.register(pipe, selectors.EVENT_READ, content)

        while pipes.get_map() and len(output) < _ANSWER_BYTES:
            left = deadline - time.monotonic()
            ready = pipes.select(left) if left > 0 else ()
            if not ready:
                raise subprocess.TimeoutExpired(process.args, left)

            for key, _ in ready:
                piece = os.read(key.fd, _PIECE)
                key.data.extend(piece)
                if not piece:
                    pipes.unregister(key.fileobj)
            del errors[:-_ERROR_BYTES]
    return bytes(output[:_ANSWER_BYTES]), bytes(errors)
