"""A coding agent as an executor.

It works in its clone, in isolation, with a model it can reach and a key it cannot see.
Neither its exit code nor anything it prints is trusted: what it submits is a message
like any other, and its clone is inspected by the judge.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Final

from accordance.domain.executor_specs import AgentSpec
from accordance.domain.facts import IsolationLevel
from accordance.domain.faults import Fault
from accordance.domain.spending import Spending
from accordance.executors.agents import submit_tool
from accordance.executors.agents.calls import Calls
from accordance.executors.agents.claude import Claude
from accordance.executors.agents.codex import Codex
from accordance.executors.agents.command_line import (
    AgentCall,
    AgentProgram,
    CommandLine,
    events_of,
)
from accordance.executors.agents.finding import PACKAGES, InstalledAgent, find_agent
from accordance.executors.agents.grants import Grant
from accordance.executors.agents.opencode import Opencode
from accordance.executors.agents.outcome import AgentOutcome
from accordance.executors.agents.relay import SOCKET, Endpoint, relaying
from accordance.executors.agents.submit_tool import SubmitTool
from accordance.executors.endpoints import lacking_endpoint
from accordance.executors.inside import bridge, pipe
from accordance.executors.opinion import Opinion, by_contract
from accordance.executors.pricing import pricing
from accordance.executors.programs import Program, cannot_run, run_program
from accordance.executors.protocol import Assignment, RunLimits, RunOutcome
from accordance.executors.redaction import withhold, without_key
from accordance.executors.run_folder import ROOM
from accordance.workspace.errors import IsolationUnavailable, WorkspaceError
from accordance.workspace.judges_python import OWN
from accordance.workspace.probing import AUTO, level_for, probe

AGENTS: Final[Mapping[str, AgentProgram]] = {
    "codex": Codex(),
    "opencode": Opencode(),
    "claude": Claude(),
}
PORT: Final = 4141  # inside the sandbox, where nothing else listens
_BRIDGE: Final = Path(bridge.__file__).read_text("utf-8")
_PIPE: Final = Path(pipe.__file__).read_text("utf-8")
_PYTHON_SOURCE: Final = (os.path.realpath(sys.executable), "-I", "-S", "-c")
"""A command that runs the Python source which follows it."""


class _CannotStart(Exception):
    """A run that is missing something, with its outcome."""

    def __init__(self, fault: Fault, text: str, lacks: str = "") -> None:
        super().__init__(text)
        self.outcome = RunOutcome(fault=fault, text=text, lacks=lacks)


@dataclass(frozen=True, slots=True)
class AgentExecutor:
    """Runs the agent of its spec."""

    spec: AgentSpec
    root: Path

    def run(self, assignment: Assignment, limits: RunLimits) -> RunOutcome:
        """Run the agent once."""
        agent = AGENTS[self.spec.kind]
        try:
            installed = self._installed()
            model = self._model(assignment)
            endpoint = self._endpoint(agent)
        except _CannotStart as error:
            return error.outcome

        try:
            run = _AgentRun(
                spec=self.spec,
                root=self.root,
                agent=agent,
                assignment=assignment,
                limits=limits,
                installed=installed,
                model=model,
                level=_isolation_level(self.spec.isolation),
            )
            return run.carry_out(endpoint)
        except (WorkspaceError, OSError) as error:
            return cannot_run(error)

    def why_not_start(self) -> RunOutcome | None:
        """Return how a run would end for want of a program or a key."""
        try:
            self._installed()
            self._endpoint(AGENTS[self.spec.kind])
        except _CannotStart as error:
            return error.outcome
        return None

    def _installed(self) -> InstalledAgent:
        kind = self.spec.kind
        binary = self.spec.binary

        installed = find_agent(kind, binary, self.root)
        if installed is not None:
            return installed

        problem = f"{binary} is not a program" if binary else f"{kind} is not installed"
        remedy = f"install it with `npm install --prefix .agents {PACKAGES[kind]}`"
        raise _CannotStart(
            Fault.NOT_INSTALLED, f"{problem}; {remedy}", lacks=binary or kind
        )

    def _model(self, assignment: Assignment) -> str:
        model = assignment.model or self.spec.model
        if model is None:
            text = f"{self.spec.kind} needs a model: set model"
            raise _CannotStart(Fault.UNKNOWN_MODEL, text)
        return model

    def _endpoint(self, agent: AgentProgram) -> Endpoint:
        """Return the endpoint with its key; a custom endpoint may need none."""
        variable = self.spec.key_env or agent.key_env
        key = os.environ.get(variable)
        url = self.spec.base_url or agent.endpoint
        if key:
            return Endpoint(url, agent.headers(key), key)

        needs_key = bool(self.spec.key_env) or not self.spec.base_url
        if needs_key:
            text = f"the environment variable {variable} is not set"
            raise _CannotStart(Fault.KEY_MISSING, text, lacks=variable)
        return Endpoint(url)


def _isolation_level(wish: str) -> IsolationLevel:
    """Return the isolation level to use.

    An agent has to reach its model, so only bwrap will do, unless the settings ask for
    another level explicitly.
    """
    if wish != AUTO:
        return level_for(wish)
    try:
        return level_for(IsolationLevel.BWRAP.value)
    except IsolationUnavailable:
        raise IsolationUnavailable(wish, probe()) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _AgentRun:
    """A single run of an agent."""

    spec: AgentSpec
    root: Path
    agent: AgentProgram
    assignment: Assignment
    limits: RunLimits
    installed: InstalledAgent
    model: str
    level: IsolationLevel

    @property
    def room(self) -> Path:
        return self.assignment.folder / ROOM

    @property
    def work(self) -> Path:
        return self.assignment.work or self.room / "work"

    def carry_out(self, endpoint: Endpoint) -> RunOutcome:
        self.room.mkdir(parents=True, mode=0o700)

        tool = SubmitTool(self._opinion)
        calls = Calls(self.limits.budget, pricing(self.spec, self.model) or _unpriced)
        grant = Grant(self.agent.requests, self.model, self.agent.is_same_model)
        socket_folder = self.room if self.level is IsolationLevel.BWRAP else None
        started = time.monotonic()

        with (
            tool.offered(self.room, 4 * self.limits.output_bytes),
            relaying(endpoint, grant, socket_folder, calls) as access,
        ):
            port = access.port or PORT
            address = f"http://127.0.0.1:{port}{endpoint.path}"
            program = self._program(address, access.key)
            stop = _EitherEvent(self.limits.stop, calls.hopeless)
            program_run = run_program(program, replace(self.limits, stop=stop))

        report = self.agent.read(events_of(program_run.output))
        error = without_key(report.error, endpoint.key)  # before it is shortened
        outcome = AgentOutcome(
            assignment=self.assignment,
            limits=self.limits,
            work=self.work,
            level=self.level,
            program_run=program_run,
            report=replace(report, error=error),
            tool=tool,
            calls=calls,
            started=started,
        )
        produced = outcome.produced()
        lacks = lacking_endpoint(produced.fault, endpoint.url)
        return withhold(replace(produced, lacks=lacks), endpoint.key)

    def _opinion(self, raw: bytes) -> Opinion:
        if self.assignment.opinion is not None:
            return self.assignment.opinion(raw)
        return by_contract(raw, self.assignment.contract, self.assignment.context)

    def _program(self, address: str, key: str) -> Program:
        line = self._command_line(address, key)
        words = line.words
        if self.level is IsolationLevel.BWRAP:
            bridge_words = (*_PYTHON_SOURCE, _BRIDGE, str(self.room), SOCKET, str(PORT))
            words = (*bridge_words, *words)

        readable = [self.root / place for place in self.spec.readable]
        return Program(
            command=f"exec {shlex.join(words)}",
            level=self.level,
            folder=self.assignment.folder,
            tree=self.assignment.work,
            stdin=self.assignment.prompt.text.encode(),
            readable=(self.installed.folder, *readable),
            environment=line.environment,
            sees_accordance=OWN.is_needed_for((str(self.installed.program),)),
        )

    def _command_line(self, address: str, key: str) -> CommandLine:
        """Return the agent's command line, with its files already written."""
        state = self.room / "home"
        call = AgentCall(
            program=self.installed.program,
            model=self.model,
            url=address,
            key=key,
            state=state,
            work=self.work,
            contract=self.assignment.contract,
            tool=(*_PYTHON_SOURCE, _PIPE, str(self.room), submit_tool.SOCKET),
            confined=self.level.confines,
            arguments=tuple(self.spec.arguments),
        )
        line = self.agent.line(call)

        for name, text in line.files.items():
            file = state / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        return line


def _unpriced(spent: Spending) -> Spending:
    return spent


class _EitherEvent(Event):
    """Is set as soon as either of two events is."""

    def __init__(self, first: Event, second: Event) -> None:
        super().__init__()
        self._first = first
        self._second = second

    def is_set(self) -> bool:
        return self._first.is_set() or self._second.is_set()
