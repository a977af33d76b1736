"""Running one program for an executor: kept apart, with its input, within limits, stopped when it is told to."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from accordance.domain.facts import CommandRun, Ending, IsolationLevel
from accordance.domain.faults import Fault
from accordance.executors.protocol import Produced, RunLimits
from accordance.executors.run_folder import ERRORS, ROOM, tail
from accordance.workspace.errors import IsolationUnavailable, WorkspaceError
from accordance.workspace.isolation import CommandLimits as ProcessLimits
from accordance.workspace.isolation import Room
from accordance.workspace.running import run

_LOG: Final = "stdout.log"
_NOT_FOUND: Final = (
    126,
    127,
)  # a shell's words for: no such program, or it cannot be run
_FAULTS: Final[Mapping[Ending, tuple[Fault, str]]] = {
    Ending.TIMED_OUT: (
        Fault.TIMED_OUT,
        "it took longer than {seconds:g} s and was ended",
    ),
    Ending.OUTPUT_LIMIT: (
        Fault.FLOODED,
        "it said more than {output_bytes:,} bytes and was ended",
    ),
    Ending.ABANDONED: (Fault.STOPPED, "it was stopped"),
    Ending.MEMORY_LIMIT: (
        Fault.CRASHED,
        "it used more memory than it may and was ended",
    ),
    Ending.PROCESS_LIMIT: (
        Fault.CRASHED,
        "it started more processes than it may and was ended",
    ),
    Ending.DISK_LIMIT: (
        Fault.CRASHED,
        "it wrote more to the disk than it may and was ended",
    ),
    Ending.NOT_STARTED: (Fault.CRASHED, "it could not be started: {note}"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is run, and where."""

    command: str
    level: IsolationLevel
    folder: Path  # of this run: the room and the logs lie in it
    tree: Path | None = None
    stdin: bytes = b""
    readable: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def room(self) -> Room:
        """Where it runs."""
        return Room(
            self.folder / ROOM,
            readable=self.readable,
            environment=self.environment,
            tree=self.tree,
            log=ERRORS,
        )


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program did."""

    about: CommandRun
    said: bytes
    errors: str  # its last words on standard error

    @property
    def fault(self) -> Fault | None:
        """Why it was ended, if it was; what it says counts for nothing then."""
        return _FAULTS[self.about.ending][0] if self.about.ending in _FAULTS else None

    def without_message(self, limits: RunLimits) -> Produced:
        """The end of a run that said nothing anybody could judge."""
        exited = self.about.exit_code
        if self.fault is not None:
            fault, words = self.fault, _FAULTS[self.about.ending][1]
            text = words.format(
                seconds=limits.seconds,
                output_bytes=limits.output_bytes,
                note=self.about.note,
            )
        elif self.about.ending is Ending.SIGNALLED:
            fault, text = Fault.CRASHED, f"it ended by signal {exited - 128}"
        elif exited in _NOT_FOUND:
            fault, text = (
                Fault.NOT_INSTALLED,
                "there is no such program, or it cannot be run",
            )
        elif exited:
            fault, text = (
                Fault.CRASHED,
                f"it ended with exit code {exited} and without a message",
            )
        else:
            fault, text = Fault.SILENT, "it ended without a message"
        said = (
            f"; it said: {' '.join(self.errors.split())[-300:]}" if self.errors else ""
        )
        return Produced(
            fault=fault,
            text=text + said,
            exit_code=exited,
            duration_ms=self.about.duration_ms,
            isolation=self.about.isolation.value,
        )


def cannot_run(error: WorkspaceError | OSError) -> Produced:
    """The end of a run that was never begun, for a reason of our own."""
    if isinstance(error, IsolationUnavailable):
        return Produced(fault=Fault.NOT_ISOLATED, text=str(error))
    if isinstance(error, WorkspaceError):
        return Produced(fault=Fault.UNPREPARED, text=str(error))
    return Produced(fault=Fault.CRASHED, text=f"it could not be run: {error}")


def run_program(program: Program, limits: RunLimits) -> Ran:
    """Run it to its end, its limits or the wish to stop. Nothing of it is running afterwards."""
    room = program.room
    room.folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    (room.folder / "stdin").write_bytes(program.stdin)
    room.prepare(program.level)
    around = f"exec < {shlex.quote(str(room.folder / 'stdin'))} 2> {shlex.quote(str(room.folder / ERRORS))}"
    allowed = ProcessLimits(seconds=limits.seconds, output_bytes=limits.output_bytes)
    log = program.folder / _LOG
    done = run(
        f"{around}\n{program.command}",
        room,
        log,
        level=program.level,
        limits=allowed,
        stop=limits.stop,
    )
    return Ran(
        done, log.read_bytes() if log.exists() else b"", tail(room.folder, ERRORS)
    )
