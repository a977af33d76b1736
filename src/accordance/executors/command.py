"""Any program as an executor.

It gets the assignment as JSON on standard input, and leaves its message on standard
output or in a file.
"""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from accordance.domain.executor_specs import CommandSpec
from accordance.domain.faults import Fault
from accordance.executors.left_files import read_file_inside
from accordance.executors.programs import Program, cannot_run, run_program
from accordance.executors.protocol import Assignment, RunLimits, RunOutcome
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.judges_python import OWN
from accordance.workspace.probing import level_for

_PROGRAM: Final = re.compile(r"[\w./+-]+")


@dataclass(frozen=True, slots=True)
class CommandExecutor:
    """Runs the program of its spec.

    A word that names a file below `root` means that file. The program may read it, and
    the folder it lies in, unless that folder is the project itself.
    """

    spec: CommandSpec
    root: Path

    def run(self, assignment: Assignment, limits: RunLimits) -> RunOutcome:
        """Run the program once."""
        try:
            program = self._program(assignment)
            program_run = run_program(program, limits)
        except (WorkspaceError, OSError) as error:
            return cannot_run(error)

        raw: bytes | None = program_run.output
        if self.spec.message is not None:
            work = program.room.work
            raw = read_file_inside(work, self.spec.message, limits.output_bytes)

        if program_run.fault is not None or not raw or not raw.strip():
            return self._with_missing_program(program_run.without_message(limits))

        command_run = program_run.command_run
        return RunOutcome(
            raw=raw,
            exit_code=command_run.exit_code,
            duration_ms=command_run.duration_ms,
            isolation=command_run.isolation.value,
        )

    def _with_missing_program(self, outcome: RunOutcome) -> RunOutcome:
        """Name the program that is not there, where that is why nothing came."""
        if outcome.fault is not Fault.NOT_INSTALLED:
            return outcome
        return replace(outcome, lacks=self._missing_program())

    def why_not_start(self) -> RunOutcome | None:
        """Return how a run would end for want of its program."""
        program = self._missing_program()
        if not program:
            return None
        text = f"{program} is not installed"
        return RunOutcome(
            fault=Fault.NOT_INSTALLED,
            text=text,
            lacks=program,
        )

    def _missing_program(self) -> str:
        """Return the program of the command if it is not there; else nothing.

        Of a text for a shell, only a plain first word is looked for.
        """
        command = self.spec.command
        words = command.split(maxsplit=1) if isinstance(command, str) else command
        program = words[0] if words else ""
        if not _PROGRAM.fullmatch(program):
            return ""
        is_there = (self.root / program).is_file() or shutil.which(program)
        return "" if is_there else program

    def _program(self, assignment: Assignment) -> Program:
        words, own_places = self._words()
        command = self.spec.command
        configured_places = [self.root / place for place in self.spec.readable]
        return Program(
            command=command if isinstance(command, str) else shlex.join(words),
            level=level_for(self.spec.isolation),
            folder=assignment.folder,
            tree=assignment.work,
            stdin=assignment.as_json(),
            readable=(*own_places, *configured_places),
            environment=self.spec.environment,
            sees_accordance=OWN.is_needed_for(words),
        )

    def _words(self) -> tuple[list[str], list[Path]]:
        """Return the words of the command, and the places of the project's files."""
        if isinstance(self.spec.command, str):
            return self.spec.command.split(), []

        words = []
        places: dict[Path, None] = {}  # in order, each once
        for word in self.spec.command:
            file = self.root / word
            if not file.is_file():
                words.append(word)
                continue
            words.append(str(file))
            is_in_root = file.parent == self.root
            places[file if is_in_root else file.parent] = None
        return words, list(places)
