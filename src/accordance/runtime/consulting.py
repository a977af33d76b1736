"""Asking executors about a plan as a whole.

Prompts and reports are kept at once; their events are added to the plan's chain as soon
as there is one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from accordance.contracts.context import NO_CONTEXT, Context
from accordance.contracts.contract import Contract
from accordance.domain.chain import Payload
from accordance.domain.faults import FAULTS, Fault, pause_after
from accordance.domain.fuses import Fuses
from accordance.domain.routing import Choice, Kind, RouteRequest, Routing
from accordance.domain.ruling import UNPARSEABLE
from accordance.domain.spending import Spending, remaining
from accordance.domain.usage import Budget
from accordance.errors import ContextTooLarge, NoExecutor, NotFound
from accordance.executors.catalogue import executor_for, limits_for
from accordance.executors.prompt_building import BuiltPrompt, build_prompt
from accordance.executors.protocol import Assignment, Executor, RunOutcome
from accordance.executors.run_folder import run_tidily
from accordance.project.home import Home
from accordance.runtime.bad_answers import bad_answers
from accordance.runtime.budgets import priced_budget
from accordance.store.ledger import Ledger, Transaction
from accordance.work.run_log import (
    PROMPTED,
    RAN,
    RunKey,
    prompt_payload,
    report_payload,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsultingStep:
    """What is going on while executors are asked about a plan."""

    name: Literal["asking", "checking", "rejected", "imported", "reviewing", "reviewed"]
    attempt: int = 1
    executor: str | None = None
    model: str | None = None
    tokens: int = 0  # so far
    detail: str = ""


class Unanswered(Exception):
    """A run failed in a way that asking again would not fix."""

    def __init__(self, produced: RunOutcome) -> None:
        super().__init__(produced.text)
        self.produced = produced


@dataclass
class Consultation:
    """Asks executors about a plan, one after the other."""

    ledger: Ledger
    home: Home
    routing: Routing
    plan_id: str
    fuses: Fuses
    stop: threading.Event = field(default_factory=threading.Event)
    spent: Spending = field(default_factory=Spending)
    watch: Callable[[ConsultingStep], None] = lambda _: None
    """Called with every step, in the thread that asks."""
    _failures: int = 0  # consecutive faults that pass by themselves
    _events: list[tuple[str, Payload]] = field(default_factory=list)
    """Events that are not in the chain yet."""

    def ask(
        self,
        kind: Kind,
        document: dict[str, Any],
        contract: Contract[Any],
        context: Context = NO_CONTEXT,
    ) -> RunOutcome:
        """Run the executor of the route once. Raises NoExecutor.

        Raises Unanswered for a fault that asking again would not fix.
        """
        role = document["task"]["owner_agent_id"]
        choice = self.routing.choose(RouteRequest(kind=kind, role=role))
        executor = self._executor(choice)
        budget = self._budget(choice)
        instructions = self._instructions(document, choice)

        subject = "plan" if kind == "plan" else "plan_review"
        run = self._run_of(subject, document["attempt"])
        self._record_prompt(run, choice, instructions)

        assignment = Assignment(
            document=document,
            contract=contract,
            context=context,
            prompt=instructions.prompt,
            folder=self.home.new_run(self.plan_id, subject),
            model=choice.model,
        )
        limits = replace(limits_for(choice.spec), stop=self.stop, budget=budget)
        self.watch(
            ConsultingStep(
                name="asking" if kind == "plan" else "reviewing",
                attempt=document["attempt"],
                executor=choice.executor,
                model=choice.model,
                tokens=self.spent.tokens,
            )
        )
        produced = run_tidily(executor, assignment, limits)

        self.spent += produced.spending
        self._record_outcome(run, produced)
        self._wait_after(produced)
        return produced

    def note(self, event: str, payload: Callable[[Transaction], Payload]) -> None:
        """Keep a payload; its event waits for the chain."""
        with self.ledger.write() as tx:
            self._events.append((event, payload(tx)))

    def link(self) -> None:
        """Add the waiting events to the chain, if there is one."""
        with self.ledger.write() as tx:
            try:
                tx.lock(self.plan_id)
            except NotFound:
                return
            self.link_in(tx)

    def link_in(self, tx: Transaction) -> None:
        """Add the waiting events to the chain in the caller's transaction."""
        for event, payload in self._events:
            tx.record(self.plan_id, event, None, payload)
        self._events.clear()

    # -- before a run

    def _executor(self, choice: Choice) -> Executor:
        executor = executor_for(choice.spec, self.home.root)
        if executor is None:
            raise NoExecutor(
                f"{choice.executor} is an outside worker and cannot be asked",
                way_out="name another executor",
            )
        return executor

    def _budget(self, choice: Choice) -> Budget:
        """Return what is left of the plan's own budget."""
        whole = Budget(tokens=self.fuses.tokens_per_run, cost=self.fuses.cost_per_run)

        priced = priced_budget(choice, whole, self.fuses)
        if isinstance(priced, str):
            raise Unanswered(RunOutcome(fault=Fault.UNPREPARED, text=priced))
        if self.spent.uses_up(priced):
            text = (
                f"{self.spent.tokens:,} tokens are used up, more than the plan's fuses"
                " allow"
            )
            raise Unanswered(RunOutcome(fault=Fault.OVER_BUDGET, text=text))
        return remaining(priced, self.spent)

    def _instructions(self, document: dict[str, Any], choice: Choice) -> BuiltPrompt:
        try:
            return build_prompt(
                document, choice.prompt, self.home.root, choice.context_bytes
            )
        except ContextTooLarge as error:
            raise Unanswered(
                RunOutcome(fault=Fault.TOO_LONG, text=str(error))
            ) from None

    def _run_of(self, subject: str, attempt: int) -> RunKey:
        return RunKey(plan_id=self.plan_id, task_id=None, kind=subject, attempt=attempt)

    def _record_prompt(
        self, run: RunKey, choice: Choice, instructions: BuiltPrompt
    ) -> None:
        def payload(tx: Transaction) -> Payload:
            return prompt_payload(tx, run, instructions, choice.executor, choice.model)

        self.note(PROMPTED, payload)

    # -- after a run

    def _record_outcome(self, run: RunKey, produced: RunOutcome) -> None:
        report = produced.to_json()
        self.note(RAN, lambda tx: report_payload(tx, run, report))
        for answer in bad_answers(report):
            self._events.append((UNPARSEABLE, answer))

    def _wait_after(self, produced: RunOutcome) -> None:
        """Wait after a fault that passes by itself. Raises Unanswered for any other."""
        fault = produced.fault
        if fault is None:
            self._failures = 0
            return
        if self.stop.is_set() or not FAULTS[fault].passes:
            raise Unanswered(produced)

        self._failures += 1
        self.stop.wait(pause_after(fault, produced.retry_after, self._failures))
