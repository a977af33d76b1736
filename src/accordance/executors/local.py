"""A model in a GGUF file on this machine, through llama-cpp-python (extra `local`), held to the schema by a grammar."""

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
from accordance.executors.programs import Program, Ran, cannot_run, run_program
from accordance.executors.protocol import Assignment, Produced, RunLimits
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.probing import level_for

_SOURCE: Final = Path(llama.__file__).read_text("utf-8")
_THREADS: Final = 1
_COOL: Final = 0.2


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """Asks the model in its file once; the grammar leaves little to ask again for."""

    spec: LlmSpec
    root: Path

    def run(self, assignment: Assignment, limits: RunLimits) -> Produced:
        """Ask it."""
        if find_spec("llama_cpp") is None:
            text = "this needs the extra local: pip install 'accordance[local]'"
            return Produced(fault=Fault.NOT_INSTALLED, text=text)
        model = self.root / (assignment.model or self.spec.model)
        if not model.is_file():
            return Produced(
                fault=Fault.UNKNOWN_MODEL,
                text=f"{model} is no file; model names a GGUF file",
            )
        most = min(self.spec.max_tokens, limits.budget.tokens or self.spec.max_tokens)
        words = (sys.executable, "-c", _SOURCE, str(model), str(_THREADS), str(most))
        try:
            program = Program(
                command=shlex.join(words),
                level=level_for(),
                folder=assignment.folder,
                stdin=self._asked(assignment),
                readable=(model,),
            )
            ran = run_program(program, limits)
        except (WorkspaceError, OSError) as error:
            return cannot_run(error)
        if ran.fault is not None or not ran.said.strip():
            return ran.without_message(limits)
        return Produced(
            raw=ran.said,
            exit_code=ran.about.exit_code,
            duration_ms=ran.about.duration_ms,
            isolation=ran.about.isolation.value,
            spending=_spent(ran),
        )

    def _asked(self, assignment: Assignment) -> bytes:
        prompt = assignment.prompt
        told = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        temperature = _COOL if self.spec.temperature is None else self.spec.temperature
        schema = export_schema(assignment.contract, "llguidance").schema
        return json.dumps(
            {"messages": told, "schema": schema, "temperature": temperature}
        ).encode()


def _spent(ran: Ran) -> Spending:
    """What the last line on standard error says of tokens."""
    try:
        usage = json.loads(ran.errors.rpartition("\n")[2])
        return Spending(
            read=usage["prompt_tokens"],
            written=usage["completion_tokens"],
            cost=0.0,
            calls=1,
        )
    except (ValueError, KeyError, TypeError):
        return Spending(cost=0.0, calls=1, estimated=True)
