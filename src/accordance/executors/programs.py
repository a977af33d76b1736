"""Running a program for an executor: isolated, with its input, within its limits."""

from __future__ import annotations

import errno
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from accordance.domain.facts import CommandRun, Ending, IsolationLevel
from accordance.domain.faults import Fault
from accordance.executors.left_files import tail
from accordance.executors.protocol import RunLimits, RunOutcome
from accordance.executors.run_folder import ERRORS, ROOM
from accordance.telemetry import tracing
from accordance.workspace.errors import IsolationUnavailable, WorkspaceError
from accordance.workspace.isolation import CommandLimits as ProcessLimits
from accordance.workspace.isolation import Room
from accordance.workspace.running import run

_LOG: Final = "stdout.log"
_ERRORS_SHOWN: Final = 300  # characters of standard error in the text of a fault
_NOT_RUNNABLE: Final = (126, 127)  # a shell's codes: not executable, no such program
_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)
_SIGNAL_BASE: Final = 128  # a shell adds the number of the signal to it

_FAULTS: Final[Mapping[Ending, tuple[Fault, str]]] = {
    Ending.TIMED_OUT: (
        Fault.TIMED_OUT,
        "it took longer than {seconds:g} s and was ended",
    ),
    Ending.OUTPUT_LIMIT: (
        Fault.FLOODED,
        "it wrote more than {output_bytes:,} bytes of output and was ended",
    ),
    Ending.ABANDONED: (Fault.STOPPED, "it was stopped"),
    Ending.MEMORY_LIMIT: (
        Fault.CRASHED,
        "it exceeded its memory limit and was ended",
    ),
    Ending.PROCESS_LIMIT: (
        Fault.CRASHED,
        "it started too many processes and was ended",
    ),
    Ending.DISK_LIMIT: (
        Fault.CRASHED,
        "it exceeded its disk limit and was ended",
    ),
    Ending.NOT_STARTED: (Fault.CRASHED, "it could not be started: {note}"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program to run, and where."""

    command: str
    level: IsolationLevel
    folder: Path  # of this run; it holds the room and the logs
    tree: Path | None = None
    stdin: bytes = b""
    readable: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    sees_accordance: bool = False
    """Whether it runs in the Python environment of accordance."""

    @property
    def room(self) -> Room:
        """The room in which it runs."""
        return Room(
            self.folder / ROOM,
            readable=self.readable,
            environment={**tracing.environment(), **self.environment},
            tree=self.tree,
            log=ERRORS,
            sees_accordance=self.sees_accordance,
        )


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """A program that has ended."""

    command_run: CommandRun
    output: bytes
    errors: str  # the end of its standard error

    @property
    def fault(self) -> Fault | None:
        """Why we ended it, if we did; its output counts for nothing then."""
        fault_and_text = _FAULTS.get(self.command_run.ending)
        return fault_and_text[0] if fault_and_text else None

    def without_message(self, limits: RunLimits) -> RunOutcome:
        """Return the outcome of a run that left no message to judge."""
        fault, text = self._reason(limits)
        if self.errors:
            one_line = " ".join(self.errors.split())
            text += f"; its standard error ends: {one_line[-_ERRORS_SHOWN:]}"

        return RunOutcome(
            fault=fault,
            text=text,
            exit_code=self.command_run.exit_code,
            duration_ms=self.command_run.duration_ms,
            isolation=self.command_run.isolation.value,
        )

    def _reason(self, limits: RunLimits) -> tuple[Fault, str]:
        ending = self.command_run.ending
        exit_code = self.command_run.exit_code

        if ending in _FAULTS:
            fault, template = _FAULTS[ending]
            text = template.format(
                seconds=limits.seconds,
                output_bytes=limits.output_bytes,
                note=self.command_run.note,
            )
            return fault, text

        if ending is Ending.SIGNALLED:
            signal_number = exit_code - _SIGNAL_BASE
            return Fault.CRASHED, f"it was killed by signal {signal_number}"
        if exit_code in _NOT_RUNNABLE:
            return Fault.NOT_INSTALLED, "the program is not installed or cannot be run"
        if exit_code:
            text = f"it ended with exit code {exit_code} and without a message"
            return Fault.CRASHED, text
        return Fault.SILENT, "it ended without a message"


def cannot_run(error: WorkspaceError | OSError) -> RunOutcome:
    """Return the outcome of a run that could not even be started."""
    if isinstance(error, IsolationUnavailable):
        return not_isolated(error)
    if isinstance(error, WorkspaceError):
        return RunOutcome(fault=Fault.UNPREPARED, text=str(error))
    return no_space(error) or RunOutcome(
        fault=Fault.CRASHED, text=f"it could not be run: {error}"
    )


def not_isolated(error: IsolationUnavailable) -> RunOutcome:
    """Return the outcome of a run that could not be isolated as required."""
    return RunOutcome(
        fault=Fault.NOT_ISOLATED,
        text=str(error),
        lacks="isolation",
    )


def no_space(error: Exception) -> RunOutcome | None:
    """Return the outcome of a run for which the disk had no room, if that was it."""
    if not isinstance(error, OSError) or error.errno not in _NO_SPACE:
        return None
    return RunOutcome(
        fault=Fault.NO_SPACE,
        text=str(error),
        lacks="space on the disk",
    )


def run_program(program: Program, limits: RunLimits) -> ProgramRun:
    """Run a program until it ends, reaches a limit or is stopped.

    No process of it is left afterwards.
    """
    room = program.room
    room.folder.mkdir(
        parents=True,
        mode=0o700,
        exist_ok=True,
    )
    stdin = room.folder / "stdin"
    stdin.write_bytes(program.stdin)
    room.prepare(program.level)

    errors = room.folder / ERRORS
    source = shlex.quote(str(stdin))
    target = shlex.quote(str(errors))
    redirection = f"exec < {source} 2> {target}"
    log = program.folder / _LOG
    command_run = run(
        f"{redirection}\n{program.command}",
        room,
        log,
        level=program.level,
        limits=ProcessLimits(seconds=limits.seconds, output_bytes=limits.output_bytes),
        stop=limits.stop,
    )

    output = log.read_bytes() if log.exists() else b""
    return ProgramRun(command_run, output, tail(room.folder, ERRORS))
