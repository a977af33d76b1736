"""Any program as an executor: the assignment as JSON on its standard input, its message on standard output or in a file."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from accordance.domain.executor_specs import CommandSpec
from accordance.executors.programs import Program, cannot_run, run_program
from accordance.executors.protocol import Assignment, Produced, RunLimits
from accordance.executors.run_folder import read_left
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.probing import level_for


@dataclass(frozen=True, slots=True)
class CommandExecutor:
    """Runs the program of its spec.

    A word that names a file below `root` means that file. It can be read, and so can the folder it lies in, unless that is
    the project itself.
    """

    spec: CommandSpec
    root: Path

    def run(self, assignment: Assignment, limits: RunLimits) -> Produced:
        """Run the program once."""
        try:
            program = self._program(assignment)
            ran = run_program(program, limits)
        except (WorkspaceError, OSError) as error:
            return cannot_run(error)
        raw = ran.said
        if self.spec.message is not None:
            raw = (
                read_left(program.room.work, self.spec.message, limits.output_bytes)
                or b""
            )
        if ran.fault is not None or not raw.strip():
            return ran.without_message(limits)
        return Produced(
            raw=raw,
            exit_code=ran.about.exit_code,
            duration_ms=ran.about.duration_ms,
            isolation=ran.about.isolation.value,
        )

    def _program(self, assignment: Assignment) -> Program:
        command, own = self._command()
        return Program(
            command=command,
            level=level_for(self.spec.isolation),
            folder=assignment.folder,
            tree=assignment.work,
            stdin=assignment.as_json(),
            readable=(*own, *(self.root / place for place in self.spec.readable)),
            environment=self.spec.environment,
        )

    def _command(self) -> tuple[str, tuple[Path, ...]]:
        """The command line, and the folders of our own files in it."""
        if isinstance(self.spec.command, str):
            return self.spec.command, ()
        words, own = [], []
        for word in self.spec.command:
            place = self.root / word
            if place.is_file():
                own.append(place if place.parent == self.root else place.parent)
            words.append(str(place) if place.is_file() else word)
        return shlex.join(words), tuple(dict.fromkeys(own))
