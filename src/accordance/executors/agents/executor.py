"""A coding agent as an executor: in its clone, in isolation, with a model it can reach and a key it cannot.

Neither its exit code nor anything it says is trusted. What it handed in is a message like any other; the clone is looked at
by whoever judges.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Final

from accordance.domain.executor_specs import AgentSpec
from accordance.domain.facts import IsolationLevel
from accordance.domain.faults import FAULTS, Fault
from accordance.domain.spending import Spending, priced
from accordance.executors.agents import submit_tool
from accordance.executors.agents.claude import Claude
from accordance.executors.agents.codex import Codex
from accordance.executors.agents.command_line import Agent, Call, Told, events_of
from accordance.executors.agents.finding import PACKAGES, Found, find_agent
from accordance.executors.agents.opencode import Opencode
from accordance.executors.agents.relay import SOCKET, Calls, Endpoint, fault_of, relaying
from accordance.executors.agents.submit_tool import SubmitTool
from accordance.executors.inside import bridge, pipe
from accordance.executors.leftover import ROOM, read_left
from accordance.executors.opinion import Opinion, by_contract
from accordance.executors.programs import Program, Ran, run_program
from accordance.executors.protocol import Assignment, Limits, Produced, Seen
from accordance.workspace.errors import IsolationUnavailable, WorkspaceError
from accordance.workspace.names import folder_name
from accordance.workspace.probing import AUTO, level_for, probe

AGENTS: Final[Mapping[str, Agent]] = {"codex": Codex(), "opencode": Opencode(), "claude": Claude()}
PORT: Final = 4141  # inside the sandbox, where nobody else listens
_PYTHON: Final = os.path.realpath(sys.executable)
_BRIDGE: Final = Path(bridge.__file__).read_text("utf-8")
_PIPE: Final = Path(pipe.__file__).read_text("utf-8")


@dataclass(frozen=True, slots=True)
class AgentExecutor:
    """Runs the agent of its spec."""

    spec: AgentSpec
    root: Path

    def run(self, assignment: Assignment, limits: Limits) -> Produced:
        """Run it once."""
        agent = AGENTS[self.spec.kind]
        found = find_agent(self.spec.kind, self.spec.binary, self.root)
        if found is None:
            return Produced(fault=Fault.NOT_INSTALLED, text=_not_installed(self.spec))
        model = assignment.model or self.spec.model
        if model is None:
            return Produced(fault=Fault.UNKNOWN_MODEL, text=f"{self.spec.kind} needs a model: set model")
        key = os.environ.get(self.spec.key_env or agent.key_env)
        if not key and (self.spec.key_env or not self.spec.base_url):
            name = self.spec.key_env or agent.key_env
            return Produced(fault=Fault.KEY_MISSING, text=f"the environment variable {name} is not set")
        endpoint = Endpoint(self.spec.base_url or agent.endpoint, agent.headers(key) if key else ())
        try:
            run = _Run(self.spec, agent, assignment, limits, found, model, _level(self.spec.isolation))
            return run.go(endpoint)
        except (WorkspaceError, OSError) as error:
            return Produced(fault=Fault.NOT_ISOLATED, text=str(error))


def _not_installed(spec: AgentSpec) -> str:
    where = f"{spec.binary} is no program" if spec.binary else f"{spec.kind} was not found"
    return f"{where}; install it with `npm install --prefix .agents {PACKAGES[spec.kind]}`"


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
    agent: Agent
    assignment: Assignment
    limits: Limits
    found: Found
    model: str
    level: IsolationLevel

    @property
    def room(self) -> Path:
        return self.assignment.folder / ROOM

    @property
    def work(self) -> Path:
        return self.assignment.work or self.room / "work"

    def go(self, endpoint: Endpoint) -> Produced:
        self.room.mkdir(parents=True, mode=0o700)
        tool = SubmitTool(self._opinion)
        inside = self.room if self.level is IsolationLevel.BWRAP else None
        with (
            tool.offered(self.room, 4 * self.limits.output_bytes),
            relaying(endpoint, inside) as (port, calls),
        ):
            address = f"http://127.0.0.1:{port or PORT}{endpoint.parts.path.rstrip('/')}"
            program = self._program(address)
            stop = _Either(self.limits.stop, calls.hopeless)
            ran = run_program(program, replace(self.limits, stop=stop))
        told = self.agent.read(events_of(ran.said))
        return self._produced(ran, told, tool, calls)

    def _opinion(self, raw: bytes) -> Opinion:
        if self.assignment.opinion is not None:
            return self.assignment.opinion(raw)
        return by_contract(raw, self.assignment.contract, self.assignment.context)

    def _program(self, address: str) -> Program:
        state = self.room / "home"
        line = self.agent.line(
            Call(
                program=self.found.program,
                model=self.model,
                url=address,
                state=state,
                work=self.work,
                contract=self.assignment.contract,
                tool=(_PYTHON, "-I", "-S", "-c", _PIPE, str(self.room), submit_tool.SOCKET),
                confined=self.level.confines,
                arguments=tuple(self.spec.arguments),
            )
        )
        for name, text in line.files.items():
            (state / name).parent.mkdir(parents=True, exist_ok=True)
            (state / name).write_text(text, "utf-8")
        words = line.words
        if self.level is IsolationLevel.BWRAP:
            words = (_PYTHON, "-I", "-S", "-c", _BRIDGE, str(self.room), SOCKET, str(PORT), *words)
        return Program(
            command=f"exec {shlex.join(words)}",
            level=self.level,
            folder=self.assignment.folder,
            tree=self.assignment.work,
            stdin=self.assignment.prompt.text.encode(),
            readable=(self.found.folder, *map(Path, self.spec.readable)),
            environment=line.environment,
        )

    def _produced(self, ran: Ran, told: Told, tool: SubmitTool, calls: Calls) -> Produced:
        raw = next(self._candidates(told, tool), None)
        seen = (
            Seen("agent", {"session": told.session, "ended": told.ended, "error": told.error[:500]}),
            Seen("tools", {"used": list(told.tools)}),
            Seen("model_calls", {"statuses": list(calls.statuses)}),
            *(Seen("submitted", opinion.to_json()) for _, opinion in tool.submitted),
        )
        answered = sum(fault_of(status) is None for status in calls.statuses)
        spent = self._priced(replace(told.spending, calls=answered))
        stopped = ran.fault is not None and not calls.hopeless.is_set()
        if raw is not None and not stopped:
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
            return replace(produced, fault=fault, text=f"{FAULTS[fault].meaning}{said}")
        return produced

    def _candidates(self, told: Told, tool: SubmitTool) -> Iterator[bytes]:
        """What could be the message, the likeliest first: what honours the contract, else the last that was said."""
        said = [raw for raw, _ in reversed(tool.submitted)][:1]
        task = self.assignment.context.task_id or ""
        with contextlib.suppress(WorkspaceError):
            file = read_left(
                self.work, f"artifacts/{folder_name(task)}/submit.json", self.limits.output_bytes
            )
            said += [file] if file else []
        said += [told.final.encode()] if told.ended and told.final.strip() else []
        good = [
            raw for raw in said if by_contract(raw, self.assignment.contract, self.assignment.context).done
        ]
        yield from (*good, *said)

    def _priced(self, spent: Spending) -> Spending:
        price = self.spec.price_of(self.model)
        return replace(spent, cost=priced(spent, price)) if price else spent


class _Either(Event):
    """Set as soon as one of two is."""

    def __init__(self, one: Event, other: Event) -> None:
        super().__init__()
        self._both = (one, other)

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._both)
