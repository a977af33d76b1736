"""What is kept of every run: the prompt, part by part, so that it can be rebuilt for ever, and what the run cost.

Before an executor is asked, the parts of its prompt and their recipe are kept as blobs and named by an event, PROMPTED; in the
transaction that settles the run a second event, RAN, says what was seen of it; between them SAID names each answer of a
model, kept before anything is made of it. All are links of the plan's chain.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NoReturn

from accordance.domain.chain import ChainEntry, canonical
from accordance.domain.prompting import Prompt, rebuild
from accordance.domain.spending import Spending, total
from accordance.errors import LedgerError, NotFound
from accordance.store.ledger import Ledger, Transaction

if (
    TYPE_CHECKING
):  # building prompts is for those who send them; many only look at what was sent
    from accordance.executors.prompt_building import BuiltPrompt

PROMPTED: Final = "PROMPTED"
SAID: Final = "SAID"  # a model, within a run
RAN: Final = "RAN"
LEFT_ALONE: Final = "LEFT_ALONE"  # an attempt, by an engine of another version than the one that began it
PLAN_WRITTEN: Final = "PLAN_WRITTEN"  # a planner's message, whatever became of it


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOf:
    """Which run it is: of which plan and task, for what, in which attempt."""

    plan_id: str
    task_id: str | None  # None: it is about the plan as a whole
    kind: str  # action, review, plan or plan_review
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run, as the ledger knows it."""

    kind: str
    attempt: int
    began_at: str
    executor: str | None = None
    model: str | None = None
    recipe: str | None = None  # None: nobody was told anything
    trims: tuple[str, ...] = ()
    report: Mapping[str, Any] | None = None  # None: it still runs, or was cut off
    answers: tuple[
        str, ...
    ] = ()  # of models, also those that an earlier run of the same was cut off after

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "kind": self.kind,
            "attempt": self.attempt,
            "began_at": self.began_at,
            "executor": self.executor,
            "model": self.model,
            "prompt": self.recipe,
            "trims": list(self.trims),
            "ran": dict(self.report) if self.report is not None else None,
        }


def keep_prompt(
    tx: Transaction, run: RunOf, told: BuiltPrompt, *, executor: str, model: str | None
) -> None:
    """Keep a prompt that is about to be sent."""
    said = prompt_payload(tx, run, told, executor, model)
    tx.lock(run.plan_id)
    tx.record(run.plan_id, PROMPTED, run.task_id, said)


def prompt_payload(
    tx: Transaction, run: RunOf, told: BuiltPrompt, executor: str, model: str | None
) -> dict[str, Any]:
    """What is written down of a prompt; its parts and its recipe are kept as blobs."""
    for part in told.prompt.parts:
        tx.keep(part.text.encode())
    return {
        "kind": run.kind,
        "attempt": run.attempt,
        "recipe": tx.keep(canonical(told.prompt.recipe()).encode()),
        "executor": executor,
        "model": model,
        "trims": [str(trim) for trim in told.trims],
    }


@dataclass(frozen=True, slots=True)
class KeptAnswers:
    """What models have answered in a run. A run that was cut off told nobody how it ended: its answers count for the next."""

    ledger: Ledger
    run: RunOf

    def recall(self, asked: str) -> dict[str, Any] | None:
        """The answer to a question, if a run that was cut off got one."""
        with contextlib.suppress(LedgerError), self.ledger.read() as tx:
            found = None
            for entry in tx.entries_of(self.run.task_id or ""):
                said: Mapping[str, Any] = entry.payload
                if entry.kind == RAN:
                    found = None
                elif entry.kind == SAID and said == {
                    **self._about(asked),
                    "answer": said["answer"],
                }:
                    found = said["answer"]
            return json.loads(tx.blob(found)) if found else None
        return None

    def keep(self, asked: str, answer: Mapping[str, Any]) -> None:
        """Keep an answer. If the ledger is away, the run goes on: it has the answer, and its outcome is kept at its end."""
        with contextlib.suppress(LedgerError), self.ledger.write() as tx:
            tx.lock(self.run.plan_id)
            said = {**self._about(asked), "answer": tx.keep(report_bytes(answer))}
            tx.record(self.run.plan_id, SAID, self.run.task_id, said)

    def _about(self, asked: str) -> dict[str, Any]:
        return {"kind": self.run.kind, "attempt": self.run.attempt, "asked": asked}


def report_bytes(report: Mapping[str, Any]) -> bytes:
    """An executor's report as it is kept: the same report has one spelling."""
    return json.dumps(report, sort_keys=True, ensure_ascii=False).encode(
        "utf-8", "replace"
    )


def keep_report(tx: Transaction, run: RunOf, report: Mapping[str, Any]) -> None:
    """Keep what was seen of a run (`Produced.to_json`), and count what it cost."""
    said = report_payload(tx, run, report)
    plan = tx.lock(run.plan_id)
    tx.record(run.plan_id, RAN, run.task_id, said)
    spent = spending_of(report)
    if spent.calls:
        tx.save_plan(
            run.plan_id,
            tokens=plan.tokens + spent.tokens,
            cost=plan.cost + (spent.cost or 0.0),
        )


def report_payload(
    tx: Transaction, run: RunOf, report: Mapping[str, Any]
) -> dict[str, Any]:
    """What is written down of a run; what was said on the way is kept as a blob."""
    told = {name: value for name, value in report.items() if name != "seen"}
    if report["seen"]:
        told["report"] = tx.keep(report_bytes(report))
    return {"kind": run.kind, "attempt": run.attempt, **told}


def spending_of(report: Mapping[str, Any]) -> Spending:
    """What a run cost, by its report."""
    return Spending(
        read=report["read_tokens"],
        written=report["written_tokens"],
        cached=report["cached_tokens"],
        cost=report["cost"],
        calls=report["calls"],
        estimated=report["estimated"],
    )


def runs_in(entries: Iterable[ChainEntry]) -> list[RunRecord]:
    """The runs that a task's events tell of, in their order."""
    found: list[RunRecord] = []
    for entry in entries:
        said: Mapping[str, Any] = entry.payload
        if entry.kind == PROMPTED:
            found.append(_begun(found, entry))
        elif entry.kind == SAID and found:
            found[-1] = replace(found[-1], answers=(*found[-1].answers, said["answer"]))
        elif entry.kind == RAN:
            _end(found, entry)
    return found


def _begun(found: list[RunRecord], entry: ChainEntry) -> RunRecord:
    said: Mapping[str, Any] = entry.payload
    run = RunRecord(
        kind=said["kind"],
        attempt=said["attempt"],
        began_at=entry.at,
        executor=said["executor"],
        model=said["model"],
        recipe=said["recipe"],
        trims=tuple(said["trims"]),
    )
    last = found[-1] if found else None
    is_again = last is not None and last.report is None and last.recipe == run.recipe
    return replace(run, answers=last.answers) if last and is_again else run


def _end(found: list[RunRecord], entry: ChainEntry) -> None:
    """Say of the last run that is meant how it ended; of one that never got as far as a prompt, that it was."""
    said: Mapping[str, Any] = entry.payload
    kind, attempt = said["kind"], said["attempt"]
    report = {
        name: value for name, value in said.items() if name not in ("kind", "attempt")
    }
    last = found[-1] if found else None
    if (
        last is not None
        and last.report is None
        and (last.kind, last.attempt) == (kind, attempt)
    ):
        found[-1] = replace(last, report=report)
    else:
        found.append(
            RunRecord(kind=kind, attempt=attempt, began_at=entry.at, report=report)
        )


def rebuilt(tx: Transaction, recipe: str) -> Prompt:
    """A prompt, word for word as it was sent. Raises NotFound."""
    return rebuild(json.loads(tx.blob(recipe)), lambda sha256: tx.blob(sha256).decode())


def run_of(
    tx: Transaction,
    task_id: str,
    *,
    attempt: int | None = None,
    kind: str | None = None,
) -> RunRecord:
    """The last run of a task that was told something; of one attempt, or of one kind. Raises NotFound."""
    found = _meant(tx.entries_of(task_id), attempt, kind)
    return found or _nothing_told("task", task_id, kind, attempt)


def run_about(
    tx: Transaction,
    plan_id: str,
    *,
    attempt: int | None = None,
    kind: str | None = None,
) -> RunRecord:
    """The same of the runs that wrote or reviewed a plan as a whole. Raises NotFound."""
    entries = (entry for entry in tx.entries(plan_id) if entry.task_id is None)
    return _meant(entries, attempt, kind) or _nothing_told(
        "plan", plan_id, kind, attempt
    )


def _meant(
    entries: Iterable[ChainEntry], attempt: int | None, kind: str | None
) -> RunRecord | None:
    told = [run for run in runs_in(entries) if run.recipe is not None]
    meant = [
        run
        for run in told
        if attempt in (None, run.attempt) and kind in (None, run.kind)
    ]
    return meant[-1] if meant else None


def _nothing_told(what: str, *which: object) -> NoReturn:
    raise NotFound(
        f"prompt of {what}", " ".join(str(part) for part in which if part is not None)
    )


def spent_in(entries: Iterable[ChainEntry]) -> Spending:
    """What runs have cost, by their events."""
    return total(spending_of(entry.payload) for entry in entries if entry.kind == RAN)


def spent_by_task(tx: Transaction, plan_id: str) -> dict[str | None, Spending]:
    """What a plan has cost since its beginning, task by task; None is what was spent on the plan as a whole."""
    found: dict[str | None, Spending] = {}
    for entry in tx.entries(plan_id):
        if entry.kind == RAN:
            found[entry.task_id] = found.get(entry.task_id, Spending()) + spending_of(
                entry.payload
            )
    return found
