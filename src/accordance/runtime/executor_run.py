"""A run that is about to begin: its executor, instructions, limits and records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from accordance.changes.attempt import Commission
from accordance.contracts.catalogue.answer import ANSWER
from accordance.contracts.catalogue.edits import EDITS
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.domain.context_pack import Piece
from accordance.domain.executor_specs import LlmSpec
from accordance.domain.faults import Fault
from accordance.domain.routing import PROMPTS, Choice
from accordance.errors import ContextTooLarge
from accordance.executors.code_map import code_map
from accordance.executors.opinion import Opinion
from accordance.executors.prompt_building import build_prompt
from accordance.executors.protocol import (
    Assignment,
    Executor,
    Observation,
    RunLimits,
    RunOutcome,
)
from accordance.executors.run_folder import run_tidily
from accordance.executors.shown_files import show
from accordance.store.ledger import Ledger
from accordance.telemetry import names, tracing
from accordance.work.assignment import MERGE_CONFLICT, with_conflict
from accordance.work.run_log import KeptAnswers, RunKey, keep_prompt
from accordance.workspace.branch import conflicts

_PROMPTS: Final[Mapping[str, str]] = {
    SUBMIT.version: "coder.v1",
    EDITS.version: "editor.v1",
    ANSWER.version: "researcher.v1",
}
"""Prompts by the contract of the message, for routes that do not set one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorRun:
    """Everything that was read from the ledger for a run.

    The ledger is not read again until the run has ended.
    """

    ledger: Ledger
    root: Path
    run: RunKey
    choice: Choice
    executor: Executor
    limits: RunLimits
    document: dict[str, Any]  # the assignment, as plain JSON
    contract: Contract[Any]
    context: Context
    folder: Path
    context_bytes: int | None = None  # None: the budget of the role
    job: Commission | None = None  # where a repository is changed

    def begin(self) -> RunOutcome:
        """Run the executor on a task that changes no repository."""
        produced = self._begin(self.document)
        return replace(produced, stronger=bool(self.choice.stronger))

    def begin_in(self, work: Path, opinion: Callable[[bytes], Opinion]) -> RunOutcome:
        """Run the executor in a clone.

        The change of the last attempt was applied to it, as far as it still fits.
        """
        start = self.job.start if self.job else b""
        conflicting = conflicts(start, work)
        document = with_conflict(self._with_code_map(work), conflicting)

        produced = self._begin(document, work, opinion)
        if not conflicting:
            return produced

        details = {"code": MERGE_CONFLICT, "paths": list(conflicting)}
        conflict = Observation("merge_conflict", details)
        return replace(produced, seen=(conflict, *produced.seen))

    @property
    def memory(self) -> KeptAnswers:
        """The answers that an interrupted run of the same attempt has kept."""
        return KeptAnswers(self.ledger, self.run)

    def _begin(
        self,
        document: dict[str, Any],
        work: Path | None = None,
        opinion: Callable[[bytes], Opinion] | None = None,
    ) -> RunOutcome:
        """Build the instructions, keep them, and run the executor."""
        shown = self._shown_files(work)
        try:
            instructions = build_prompt(
                document, self._prompt_name, self.root, self.context_bytes, shown
            )
        except ContextTooLarge as error:
            return RunOutcome(fault=Fault.TOO_LONG, text=str(error))

        with self.ledger.write() as tx:
            keep_prompt(
                tx,
                self.run,
                instructions,
                executor=self.choice.executor,
                model=self.choice.model,
            )

        assignment = Assignment(
            document=document,
            contract=self.contract,
            context=self.context,
            prompt=instructions.prompt,
            folder=self.folder,
            model=self.choice.model,
            work=work,
            opinion=opinion,
            memory=self.memory,
        )
        choice = self.choice
        agent = names.of_agent(choice.executor, _provider(choice), choice.model)
        name = names.agent_span(choice.executor)
        with tracing.span(name, agent, kind="client") as span:
            produced = run_tidily(self.executor, assignment, self.limits)
            _describe(span, assignment, produced)
        return produced

    @property
    def _prompt_name(self) -> str:
        """The prompt of the route; the default prompt depends on the contract."""
        prompt = self.choice.prompt
        is_default = prompt == PROMPTS["action"]
        return _PROMPTS.get(self.contract.version, prompt) if is_default else prompt

    def _with_code_map(self, work: Path) -> dict[str, Any]:
        """Return the assignment with a map of the code, unless the task has its own."""
        change = self.document.get("change")
        if change is None or "map_summary" in change.get("context", {}):
            return self.document
        context = {**self.document["context"], "map_summary": code_map(work, change)}
        return {**self.document, "context": context}

    def _shown_files(self, work: Path | None) -> tuple[Piece, ...]:
        """Return the files of the clone for a model, which cannot look itself."""
        if work is None or self.contract.version != EDITS.version:
            return ()
        return show(work, self.document["change"])


def _provider(choice: Choice) -> str:
    """Return whose model is asked, or the kind of the program that asks a model."""
    spec = choice.spec
    return spec.provider if isinstance(spec, LlmSpec) else spec.kind


def _describe(span: tracing.Span, assignment: Assignment, produced: RunOutcome) -> None:
    """Say in a span what a run has used and how it ended; the contents, if wanted."""
    spent = produced.spending
    used = names.of_spending(spent.read, spent.written, spent.cached, spent.cost)
    span.set(used)
    if produced.fault is not None:
        span.fail(produced.fault.value)
    if tracing.has_contents():
        prompt = assignment.prompt
        span.set(names.of_question(prompt.system, prompt.user))
        span.set(names.of_reply((produced.raw or b"").decode("utf-8", "replace")))
