"""From a spec to the executor that does it. What is not installed here says so when it is asked to run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from accordance.domain.executor_specs import AgentSpec, CommandSpec, LlmSpec, Spec
from accordance.domain.faults import Fault
from accordance.executors.protocol import Assignment, Executor, Produced, RunLimits


@dataclass(frozen=True, slots=True)
class Missing:
    """Stands for an executor that cannot be had: every run ends with the way out."""

    extra: str

    def run(self, assignment: Assignment, limits: RunLimits) -> Produced:  # noqa: ARG002 - it is not even looked at
        """Say what is missing."""
        text = (
            f"this needs the extra {self.extra}: pip install 'accordance[{self.extra}]'"
        )
        return Produced(fault=Fault.NOT_INSTALLED, text=text)


def executor_for(spec: Spec, root: Path) -> Executor | None:
    """Who does it; None where nobody here does: it waits until somebody asks for it with `accordance task next`."""
    if isinstance(spec, CommandSpec):
        from accordance.executors.command import CommandExecutor

        return CommandExecutor(spec, root)
    if isinstance(spec, LlmSpec):
        return _llm(spec, root)
    if isinstance(spec, AgentSpec):
        return _agent(spec, root)
    return None


def _llm(spec: LlmSpec, root: Path) -> Executor:
    if spec.provider == "local":
        from accordance.executors.local import LocalExecutor

        return LocalExecutor(spec, root)
    try:
        from accordance.executors.llm.executor import LlmExecutor
    except ModuleNotFoundError:
        return Missing("llm")
    return LlmExecutor(spec)


def _agent(spec: AgentSpec, root: Path) -> Executor:
    try:
        from accordance.executors.agents.executor import AgentExecutor
    except ModuleNotFoundError:
        return Missing("mcp")
    return AgentExecutor(spec, root)


def limits_for(spec: Spec) -> RunLimits:
    """How much a run may use, as the spec says; the caller adds the task's own bounds and the wish to stop."""
    return RunLimits(seconds=spec.seconds, output_bytes=spec.output_bytes)
