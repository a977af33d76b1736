"""The outcome of an agent's run: a message or a fault, its cost, and its records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from accordance.domain.facts import IsolationLevel
from accordance.domain.faults import FAULTS, Fault
from accordance.domain.spending import Spending
from accordance.executors.agents.calls import Calls
from accordance.executors.agents.command_line import AgentReport
from accordance.executors.agents.submit_tool import SubmitTool
from accordance.executors.left_files import read_file_inside
from accordance.executors.opinion import by_contract
from accordance.executors.programs import ProgramRun
from accordance.executors.protocol import (
    TOOLS,
    Assignment,
    Observation,
    RunLimits,
    RunOutcome,
    whole_characters,
)
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.names import folder_name

_ONLY_GOOD_MESSAGES: Final = (Fault.REFUSED, Fault.OVER_BUDGET)
"""Faults after which a message counts only if it honours its contract."""

_ERROR_KEPT: Final = 500  # characters of the agent's own error in the records
_ERROR_SHOWN: Final = 300  # characters of it in the text of a fault


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOutcome:
    """Everything known about a run of an agent after its end."""

    assignment: Assignment
    limits: RunLimits
    work: Path
    level: IsolationLevel
    program_run: ProgramRun
    report: AgentReport
    tool: SubmitTool
    calls: Calls
    started: float  # on the monotonic clock

    def produced(self) -> RunOutcome:
        """Return the outcome of the run."""
        message = self._message()
        produced = self._fault() if message is None else self._success(message)
        produced = replace(produced, spending=self._spent(), seen=tuple(self._seen()))

        submitted = self.tool.done
        if self.program_run.fault is Fault.TIMED_OUT and submitted is not None:
            seconds = submitted.at - self.started
            return _done_before_timeout(produced, round(seconds * 1000))
        return produced

    # -- the message

    def _message(self) -> bytes | None:
        """Return what counts as the message.

        An agent that was killed has none, unless it had submitted good work before it
        hung.
        """
        fault = self.program_run.fault
        if fault is Fault.TIMED_OUT:
            submitted = self.tool.done
            return submitted.raw if submitted else None
        if fault is not None and not self.calls.hopeless.is_set():
            return None

        candidates = list(self._candidates())
        for raw in candidates:
            if self._honours_contract(raw):
                return raw

        if not candidates or self.calls.fault in _ONLY_GOOD_MESSAGES:
            return None
        return candidates[0]

    def _candidates(self) -> Iterator[bytes]:
        """Yield what could be the message, the likeliest first."""
        if self.tool.submitted:
            yield self.tool.submitted[-1].raw

        file = self._submitted_file()
        if file:
            yield file

        if self.report.ended and self.report.final.strip():
            yield whole_characters(self.report.final).encode()

    def _submitted_file(self) -> bytes | None:
        task_id = self.assignment.context.task_id or ""
        try:
            name = f"artifacts/{folder_name(task_id)}/submit.json"
        except WorkspaceError:
            return None
        return read_file_inside(self.work, name, self.limits.output_bytes)

    def _honours_contract(self, raw: bytes) -> bool:
        opinion = by_contract(raw, self.assignment.contract, self.assignment.context)
        return opinion.done

    # -- the outcome with a message, and without

    def _success(self, message: bytes) -> RunOutcome:
        command_run = self.program_run.command_run
        return RunOutcome(
            raw=message,
            exit_code=command_run.exit_code,
            duration_ms=command_run.duration_ms,
            isolation=self.level.value,
        )

    def _fault(self) -> RunOutcome:
        produced = self.program_run.without_message(self.limits)

        fault = self.calls.fault
        if fault is not None and not self.limits.stop.is_set():
            text = FAULTS[fault].meaning
            if self.report.error:
                text += f": {self.report.error[:_ERROR_SHOWN]}"
            return replace(
                produced,
                fault=fault,
                text=text,
                retry_after=self.calls.wait,
            )

        if self.calls.refused:
            last = self.calls.refused[-1]
            refusal = f"the relay refused {last.request}: {last.why}"
            text = f"{produced.text}; {refusal}" if produced.text else refusal
            return replace(produced, text=text)
        return produced

    # -- cost and records

    def _spent(self) -> Spending:
        """Return the cost as the relay saw it or as the agent claims it, if larger."""
        counted = self.calls.spent
        claimed = replace(self.report.spending, calls=counted.calls)
        claimed = self.calls.priced(claimed)
        return claimed if claimed.tokens > counted.tokens else counted

    def _seen(self) -> Iterator[Observation]:
        report = self.report
        agent = {
            "session": report.session,
            "ended": report.ended,
            "error": report.error[:_ERROR_KEPT],
        }
        yield Observation("agent", agent)
        tools = {"used": list(report.tools), "refused": list(report.refused_tools)}
        yield Observation(TOOLS, tools)
        yield Observation("model_calls", {"statuses": list(self.calls.statuses)})

        if self.calls.refusals:
            first = [request._asdict() for request in self.calls.refused]
            details = {"count": self.calls.refusals, "first": first}
            yield Observation("refused_requests", details)

        for message in self.tool.submitted:
            yield Observation("submitted", message.opinion.to_json())


def _done_before_timeout(produced: RunOutcome, duration_ms: int) -> RunOutcome:
    """Count only the time until the agent was done; record that it hung afterwards."""
    details = {"after_ms": produced.duration_ms, "done_after_ms": duration_ms}
    timed_out = Observation("timed_out", details)
    return replace(produced, duration_ms=duration_ms, seen=(*produced.seen, timed_out))
