"""Asking an executor about a plan as a whole. All that is said is kept at once, and linked into the plan's chain when there is one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from accordance.contracts.context import NO_CONTEXT, Context
from accordance.contracts.contract import Contract
from accordance.domain.case import Budget
from accordance.domain.chain import Payload
from accordance.domain.faults import FAULTS, Fault, pause_after
from accordance.domain.fuses import Fuses
from accordance.domain.routing import Choice, Kind, RouteRequest, Routing
from accordance.domain.ruling import UNPARSEABLE
from accordance.domain.spending import Spending, remaining
from accordance.errors import ContextTooLarge, NoExecutor, NotFound
from accordance.executors.catalogue import executor_for, limits_for
from accordance.executors.prompt_building import BuiltPrompt, tell
from accordance.executors.protocol import Assignment, Executor, Produced
from accordance.executors.run_folder import run_tidily
from accordance.project.home import Home
from accordance.runtime.budgets import why_unpriced
from accordance.runtime.mending import answers_mended
from accordance.store.ledger import Ledger, Transaction
from accordance.work.run_log import PROMPTED, RAN, RunOf, prompt_payload, report_payload


class Unanswered(Exception):
    """A run failed in a way that asking again does not mend."""

    def __init__(self, produced: Produced) -> None:
        super().__init__(produced.text)
        self.produced = produced


@dataclass
class Consultation:
    """Executors are asked about one plan, one after the other."""

    ledger: Ledger
    home: Home
    routing: Routing
    plan_id: str
    fuses: Fuses
    stop: threading.Event = field(default_factory=threading.Event)
    spent: Spending = field(default_factory=Spending)
    runs: int = 0
    _failed: int = 0  # in a row, in ways that pass
    _events: list[tuple[str, Payload]] = field(
        default_factory=list
    )  # not in the chain yet

    def ask(
        self,
        kind: Kind,
        document: dict[str, Any],
        contract: Contract[Any],
        context: Context = NO_CONTEXT,
    ) -> Produced:
        """Let the executor of the route run once. Raises Unanswered for what asking again does not mend, and NoExecutor."""
        choice = self.routing.choose(
            RouteRequest(kind=kind, role=document["task"]["owner_agent_id"])
        )
        executor, budget = self._executor(choice), self._budget(choice)
        instructions = self._instructions(document, choice)
        about = "plan" if kind == "plan" else "plan_review"
        run = RunOf(
            plan_id=self.plan_id, task_id=None, kind=about, attempt=document["attempt"]
        )
        self.note(
            PROMPTED,
            lambda tx: prompt_payload(
                tx, run, instructions, choice.executor, choice.model
            ),
        )
        self.runs += 1
        given = Assignment(
            document=document,
            contract=contract,
            context=context,
            prompt=instructions.prompt,
            folder=self.home.new_run(self.plan_id, about),
            model=choice.model,
        )
        limits = replace(limits_for(choice.spec), stop=self.stop, budget=budget)
        produced = run_tidily(executor, given, limits)
        self.spent += produced.spending
        report = produced.to_json()
        self.note(RAN, lambda tx: report_payload(tx, run, report))
        for answer in answers_mended(report):
            self._events.append(
                (UNPARSEABLE, {"answer": answer["answer"], "why": answer["why"]})
            )
        if produced.fault is not None:
            self._wait_or_end(produced, produced.fault)
        else:
            self._failed = 0
        return produced

    def note(self, event: str, payload: Callable[[Transaction], Payload]) -> None:
        """Keep what is said; its event waits for the chain."""
        with self.ledger.write() as tx:
            self._events.append((event, payload(tx)))

    def link(self) -> None:
        """Link what was said into the chain, if there is one."""
        with self.ledger.write() as tx:
            try:
                tx.lock(self.plan_id)
            except NotFound:
                return
            self.link_in(tx)

    def link_in(self, tx: Transaction) -> None:
        """The same in a transaction of the caller's."""
        for event, payload in self._events:
            tx.record(self.plan_id, event, None, payload)
        self._events.clear()

    def _executor(self, choice: Choice) -> Executor:
        executor = executor_for(choice.spec, self.home.root)
        if executor is None:
            raise NoExecutor(
                f"{choice.executor} works when it asks for work",
                way_out="name one that can be asked",
            )
        return executor

    def _instructions(self, document: dict[str, Any], choice: Choice) -> BuiltPrompt:
        try:
            return tell(document, choice.prompt, self.home.root, choice.context_bytes)
        except ContextTooLarge as error:
            raise Unanswered(Produced(fault=Fault.TOO_LONG, text=str(error))) from None

    def _budget(self, choice: Choice) -> Budget:
        """What is left of the plan's own."""
        whole = Budget(tokens=self.fuses.tokens_per_run, cost=self.fuses.cost_per_run)
        if why := why_unpriced(choice, whole):
            raise Unanswered(Produced(fault=Fault.UNPREPARED, text=why))
        if self.spent.uses_up(whole):
            text = f"{self.spent.tokens:,} tokens are used up, more than the plan's fuses allow"
            raise Unanswered(Produced(fault=Fault.OVER_BUDGET, text=text))
        return remaining(whole, self.spent)

    def _wait_or_end(self, produced: Produced, fault: Fault) -> None:
        if self.stop.is_set() or not FAULTS[fault].passes:
            raise Unanswered(produced)
        self._failed += 1
        self.stop.wait(pause_after(fault, produced.retry_after, self._failed))
