"""Any program as an executor.

It gets the assignment as JSON on standard input, and leaves its message on standard
output or in a file.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from accordance.domain.executor_specs import CommandSpec
from accordance.executors.programs import Program, cannot_run, run_program
from accordance.executors.protocol import Assignment, RunLimits, RunOutcome
from accordance.executors.run_folder import read_file_inside
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.judges_python import OWN
from accordance.workspace.probing import level_for


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
            return program_run.without_message(limits)

        command_run = program_run.command_run
        return RunOutcome(
            raw=raw,
            exit_code=command_run.exit_code,
            duration_ms=command_run.duration_ms,
            isolation=command_run.isolation.value,
        )

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
