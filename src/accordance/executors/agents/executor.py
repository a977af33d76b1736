"""A coding agent as an executor: in its clone, in isolation, with a model it can reach and a key it cannot.

Neither its exit code nor anything it says is trusted. What it handed in is a message like any other; the clone is looked at
by whoever judges.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Final

from accordance.domain.executor_specs import AgentSpec
from accordance.domain.facts import IsolationLevel
from accordance.domain.faults import FAULTS, Fault
from accordance.domain.spending import Spending
from accordance.executors.agents import submit_tool
from accordance.executors.agents.calls import Calls
from accordance.executors.agents.claude import Claude
from accordance.executors.agents.codex import Codex
from accordance.executors.agents.command_line import (
    AgentCall,
    AgentProgram,
    AgentReport,
    events_of,
)
from accordance.executors.agents.finding import PACKAGES, Found, find_agent
from accordance.executors.agents.lending import Lent
from accordance.executors.agents.opencode import Opencode
from accordance.executors.agents.relay import SOCKET, Endpoint, relaying
from accordance.executors.agents.submit_tool import SubmitTool
from accordance.executors.inside import bridge, pipe
from accordance.executors.opinion import Opinion, by_contract
from accordance.executors.pricing import pricing
from accordance.executors.programs import Program, Ran, cannot_run, run_program
from accordance.executors.protocol import (
    Assignment,
    Produced,
    RunLimits,
    Seen,
    whole_characters,
)
from accordance.executors.redaction import withhold, without_key
from accordance.executors.run_folder import ROOM, read_left
from accordance.workspace.errors import IsolationUnavailable, WorkspaceError
from accordance.workspace.names import folder_name
from accordance.workspace.probing import AUTO, level_for, probe

AGENTS: Final[Mapping[str, AgentProgram]] = {
    "codex": Codex(),
    "opencode": Opencode(),
    "claude": Claude(),
}
_SPEAK_FOR_THEMSELVES: Final = (Fault.REFUSED, Fault.OVER_BUDGET)
"""Faults after which only a message that honours its contract is better than none."""
PORT: Final = 4141  # inside the sandbox, where nobody else listens
_PYTHON: Final = os.path.realpath(sys.executable)
_BRIDGE: Final = Path(bridge.__file__).read_text("utf-8")
_PIPE: Final = Path(pipe.__file__).read_text("utf-8")


@dataclass(frozen=True, slots=True)
class AgentExecutor:
    """Runs the agent of its spec."""

    spec: AgentSpec
    root: Path

    def run(self, assignment: Assignment, limits: RunLimits) -> Produced:
        """Run it once."""
        agent = AGENTS[self.spec.kind]
        found = find_agent(self.spec.kind, self.spec.binary, self.root)
        if found is None:
            return Produced(fault=Fault.NOT_INSTALLED, text=_not_installed(self.spec))
        model = assignment.model or self.spec.model
        if model is None:
            return Produced(
                fault=Fault.UNKNOWN_MODEL,
                text=f"{self.spec.kind} needs a model: set model",
            )
        key = os.environ.get(self.spec.key_env or agent.key_env)
        if not key and (self.spec.key_env or not self.spec.base_url):
            name = self.spec.key_env or agent.key_env
            return Produced(
                fault=Fault.KEY_MISSING,
                text=f"the environment variable {name} is not set",
            )
        endpoint = Endpoint(
            self.spec.base_url or agent.endpoint,
            agent.headers(key) if key else (),
            key or "",
        )
        try:
            level = _level(self.spec.isolation)
            run = _Run(
                self.spec, self.root, agent, assignment, limits, found, model, level
            )
            return run.go(endpoint)
        except (WorkspaceError, OSError) as error:
            return cannot_run(error)


def _not_installed(spec: AgentSpec) -> str:
    where = (
        f"{spec.binary} is no program" if spec.binary else f"{spec.kind} was not found"
    )
    return (
        f"{where}; install it with `npm install --prefix .agents {PACKAGES[spec.kind]}`"
    )


def _level(wish: str) -> IsolationLevel:
    """The level to use. An agent has to reach its model, so it is bwrap or, by explicit wish, limits only."""
    if wish != AUTO:
        return level_for(wish)
    try:
        return level_for(IsolationLevel.BWRAP.value)
    except IsolationUnavailable:
        raise IsolationUnavailable(wish, probe()) from None


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of one agent."""

    spec: AgentSpec
    root: Path
    agent: AgentProgram
    assignment: Assignment
    limits: RunLimits
    found: Found
    model: str
    level: IsolationLevel

    @property
    def room(self) -> Path:
        return self.assignment.folder / ROOM

    @property
    def work(self) -> Path:
        return self.assignment.work or self.room / "work"

    @property
    def lent(self) -> Lent:
        return Lent(self.agent.requests, self.model, self.agent.is_same_model)

    def go(self, endpoint: Endpoint) -> Produced:
        self.room.mkdir(parents=True, mode=0o700)
        tool = SubmitTool(self._opinion)
        calls = Calls(self.limits.budget, pricing(self.spec, self.model) or _unpriced)
        inside = self.room if self.level is IsolationLevel.BWRAP else None
        began = time.monotonic()
        with (
            tool.offered(self.room, 4 * self.limits.output_bytes),
            relaying(endpoint, self.lent, inside, calls) as door,
        ):
            address = (
                f"http://127.0.0.1:{door.port or PORT}{endpoint.parts.path.rstrip('/')}"
            )
            program = self._program(address, door.key)
            stop = _Either(self.limits.stop, calls.hopeless)
            ran = run_program(program, replace(self.limits, stop=stop))
        told = self.agent.read(events_of(ran.said))
        told = replace(
            told, error=without_key(told.error, endpoint.key)
        )  # before it is cut
        produced = withhold(self._produced(ran, told, tool, calls), endpoint.key)
        if ran.fault is Fault.TIMED_OUT and tool.done is not None:
            return _in_time(produced, round((tool.done.at - began) * 1000))
        return produced

    def _opinion(self, raw: bytes) -> Opinion:
        if self.assignment.opinion is not None:
            return self.assignment.opinion(raw)
        return by_contract(raw, self.assignment.contract, self.assignment.context)

    def _program(self, address: str, key: str) -> Program:
        state = self.room / "home"
        line = self.agent.line(
            AgentCall(
                program=self.found.program,
                model=self.model,
                url=address,
                key=key,
                state=state,
                work=self.work,
                contract=self.assignment.contract,
                tool=(
                    _PYTHON,
                    "-I",
                    "-S",
                    "-c",
                    _PIPE,
                    str(self.room),
                    submit_tool.SOCKET,
                ),
                confined=self.level.confines,
                arguments=tuple(self.spec.arguments),
            )
        )
        for name, text in line.files.items():
            (state / name).parent.mkdir(parents=True, exist_ok=True)
            (state / name).write_text(text, "utf-8")
        words = line.words
        if self.level is IsolationLevel.BWRAP:
            words = (
                _PYTHON,
                "-I",
                "-S",
                "-c",
                _BRIDGE,
                str(self.room),
                SOCKET,
                str(PORT),
                *words,
            )
        return Program(
            command=f"exec {shlex.join(words)}",
            level=self.level,
            folder=self.assignment.folder,
            tree=self.assignment.work,
            stdin=self.assignment.prompt.text.encode(),
            readable=(
                self.found.folder,
                *(self.root / place for place in self.spec.readable),
            ),
            environment=line.environment,
        )

    def _produced(
        self, ran: Ran, told: AgentReport, tool: SubmitTool, calls: Calls
    ) -> Produced:
        raw = self._message(ran, told, tool, calls)
        seen = (
            Seen(
                "agent",
                {
                    "session": told.session,
                    "ended": told.ended,
                    "error": told.error[:500],
                },
            ),
            Seen("tools", {"used": list(told.tools)}),
            Seen("model_calls", {"statuses": list(calls.statuses)}),
            *_refused(calls),
            *(Seen("submitted", one.opinion.to_json()) for one in tool.submitted),
        )
        spent = _larger(calls, told)
        if raw is not None:
            return Produced(
                raw=raw,
                exit_code=ran.about.exit_code,
                duration_ms=ran.about.duration_ms,
                isolation=self.level.value,
                spending=spent,
                seen=seen,
            )
        produced = replace(ran.without_message(self.limits), spending=spent, seen=seen)
        fault = calls.fault
        if fault is not None and not self.limits.stop.is_set():
            said = f": {told.error[:300]}" if told.error else ""
            text = f"{FAULTS[fault].meaning}{said}"
            return replace(produced, fault=fault, text=text, retry_after=calls.wait)
        if calls.refused:
            last = calls.refused[-1]
            why = f"the relay refused {last.request}: {last.why}"
            return replace(
                produced, text="; ".join(part for part in (produced.text, why) if part)
            )
        return produced

    def _message(
        self, ran: Ran, told: AgentReport, tool: SubmitTool, calls: Calls
    ) -> bytes | None:
        """What counts as the message. An agent that was ended has none, but for what was good before it hung."""
        if ran.fault is Fault.TIMED_OUT:
            return tool.done.raw if tool.done else None
        if ran.fault is not None and not calls.hopeless.is_set():
            return None
        said = list(self._said(told, tool))
        for raw in said:
            if by_contract(raw, self.assignment.contract, self.assignment.context).done:
                return raw
        return (
            next(iter(said), None) if calls.fault not in _SPEAK_FOR_THEMSELVES else None
        )

    def _said(self, told: AgentReport, tool: SubmitTool) -> Iterator[bytes]:
        """What could be the message, the likeliest first."""
        yield from [one.raw for one in tool.submitted[-1:]]
        task = self.assignment.context.task_id or ""
        with contextlib.suppress(WorkspaceError):
            place = f"artifacts/{folder_name(task)}/submit.json"
            if file := read_left(self.work, place, self.limits.output_bytes):
                yield file
        if told.ended and told.final.strip():
            yield whole_characters(told.final).encode()


def _refused(calls: Calls) -> Iterator[Seen]:
    """What the agent asked of the endpoint and was not lent."""
    if calls.refusals:
        first = [one._asdict() for one in calls.refused]
        yield Seen("refused_requests", {"count": calls.refusals, "first": first})


def _unpriced(spent: Spending) -> Spending:
    return spent


def _larger(calls: Calls, told: AgentReport) -> Spending:
    """What it cost: as the relay has seen it, or as the agent says, whichever is more."""
    seen = calls.spent
    said = calls.priced(replace(told.spending, calls=seen.calls))
    return said if said.tokens > seen.tokens else seen


def _in_time(produced: Produced, duration_ms: int) -> Produced:
    """An agent that was done and then hung took as long as it worked; that it was ended is noted."""
    ended = Seen(
        "timed_out", {"after_ms": produced.duration_ms, "done_after_ms": duration_ms}
    )
    return replace(produced, duration_ms=duration_ms, seen=(*produced.seen, ended))


class _Either(Event):
    """Set as soon as one of two is."""

    def __init__(self, one: Event, other: Event) -> None:
        super().__init__()
        self._both = (one, other)

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._both)
