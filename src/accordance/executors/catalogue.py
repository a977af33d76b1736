"""From a spec to its executor.

An executor that is not installed reports that when it is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from accordance.domain.executor_specs import AgentSpec, CommandSpec, LlmSpec, Spec
from accordance.domain.faults import Fault
from accordance.executors.protocol import (
    Assignment,
    ConfiguredExecutor,
    RunLimits,
    RunOutcome,
)


@dataclass(frozen=True, slots=True)
class Missing:
    """Stands in for an executor whose extra is not installed."""

    extra: str

    def run(self, assignment: Assignment, limits: RunLimits) -> RunOutcome:  # noqa: ARG002 - never read
        """Report what to install."""
        return self.why_not_start()

    def why_not_start(self) -> RunOutcome:
        """Report what to install."""
        text = (
            f"this needs the extra {self.extra}: pip install 'accordance[{self.extra}]'"
        )
        lacks = f"accordance[{self.extra}]"
        return RunOutcome(
            fault=Fault.NOT_INSTALLED,
            text=text,
            lacks=lacks,
        )


def executor_for(spec: Spec, root: Path) -> ConfiguredExecutor | None:
    """Return the executor of a spec.

    None for an outside worker, which fetches its work with `accordance task next`.
    """
    if isinstance(spec, CommandSpec):
        from accordance.executors.command import CommandExecutor

        return CommandExecutor(spec, root)
    if isinstance(spec, LlmSpec):
        return _llm(spec, root)
    if isinstance(spec, AgentSpec):
        return _agent(spec, root)
    return None


def _llm(spec: LlmSpec, root: Path) -> ConfiguredExecutor:
    if spec.provider == "local":
        from accordance.executors.local import LocalExecutor

        return LocalExecutor(spec, root)
    try:
        from accordance.executors.llm.executor import LlmExecutor
    except ModuleNotFoundError:
        return Missing("llm")
    return LlmExecutor(spec)


def _agent(spec: AgentSpec, root: Path) -> ConfiguredExecutor:
    try:
        from accordance.executors.agents.executor import AgentExecutor
    except ModuleNotFoundError:
        return Missing("mcp")
    return AgentExecutor(spec, root)


def limits_for(spec: Spec) -> RunLimits:
    """Return the limits in a spec; the caller adds those of the task, and `stop`."""
    return RunLimits(seconds=spec.seconds, output_bytes=spec.output_bytes)
