"""A model in a GGUF file on this machine, held to the schema by a grammar.

Runs through llama-cpp-python (extra `local`).
"""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from accordance.contracts.schemas import export_schema
from accordance.domain.executor_specs import LlmSpec
from accordance.domain.faults import Fault
from accordance.domain.spending import Spending
from accordance.executors.inside import llama
from accordance.executors.programs import (
    Program,
    ProgramRun,
    cannot_run,
    run_program,
)
from accordance.executors.protocol import Assignment, RunLimits, RunOutcome
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.probing import level_for

_SOURCE: Final = Path(llama.__file__).read_text("utf-8")
_THREADS: Final = 1
_DEFAULT_TEMPERATURE: Final = 0.2


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Asks the model in its file once; the grammar leaves little to ask again for."""

    spec: LlmSpec
    root: Path

    def run(self, assignment: Assignment, limits: RunLimits) -> RunOutcome:
        """Ask the model."""
        not_installed = self.why_not_start()
        if not_installed is not None:
            return not_installed

        model = self.root / (assignment.model or self.spec.model)
        if not model.is_file():
            text = f"{model} is not a file; set model to a GGUF file"
            return RunOutcome(fault=Fault.UNKNOWN_MODEL, text=text)

        try:
            program = self._program(assignment, limits, model)
            program_run = run_program(program, limits)
        except (WorkspaceError, OSError) as error:
            return cannot_run(error)

        if program_run.fault is not None or not program_run.output.strip():
            return program_run.without_message(limits)

        command_run = program_run.command_run
        return RunOutcome(
            raw=program_run.output,
            exit_code=command_run.exit_code,
            duration_ms=command_run.duration_ms,
            isolation=command_run.isolation.value,
            spending=_spent(program_run),
        )

    def why_not_start(self) -> RunOutcome | None:
        """Return how a run would end for want of llama-cpp-python."""
        if find_spec("llama_cpp") is not None:
            return None
        text = "this needs the extra local: pip install 'accordance[local]'"
        return RunOutcome(
            fault=Fault.NOT_INSTALLED,
            text=text,
            lacks="llama_cpp",
        )

    def _program(
        self,
        assignment: Assignment,
        limits: RunLimits,
        model: Path,
    ) -> Program:
        max_tokens = self.spec.max_tokens
        if limits.budget.tokens:
            max_tokens = min(max_tokens, limits.budget.tokens)

        arguments = (str(model), str(_THREADS), str(max_tokens))
        return Program(
            command=shlex.join((sys.executable, "-c", _SOURCE, *arguments)),
            level=level_for(),
            folder=assignment.folder,
            stdin=self._request(assignment),
            readable=(model,),
            sees_accordance=True,
        )

    def _request(self, assignment: Assignment) -> bytes:
        prompt = assignment.prompt
        messages = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        temperature = self.spec.temperature
        if temperature is None:
            temperature = _DEFAULT_TEMPERATURE

        schema = export_schema(assignment.contract, "llguidance").schema
        request = {
            "messages": messages,
            "schema": schema,
            "temperature": temperature,
        }
        return json.dumps(request).encode()


def _spent(program_run: ProgramRun) -> Spending:
    """Return the tokens that the last line on standard error reports."""
    last_line = program_run.errors.rpartition("\n")[2]
    try:
        usage = json.loads(last_line)
        return Spending(
            read=usage["prompt_tokens"],
            written=usage["completion_tokens"],
            cost=0.0,
            calls=1,
        )
    except (ValueError, KeyError, TypeError):
        return Spending(cost=0.0, calls=1, estimated=True)
