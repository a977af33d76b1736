"""The log of runs: the prompt of each, part by part, its answers and its costs.

Before an executor is asked, the parts of its prompt and their recipe are kept as blobs
and named by an event, PROMPTED. The transaction that settles the run writes a second
event, RAN, with the executor's report. Between them each answer of a model is named by
an event, kept before anything is made of it. All are links of the plan's chain, so
every prompt can be rebuilt at any time.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NoReturn

from accordance.domain.chain import ChainEntry, canonical
from accordance.domain.faults import Fault
from accordance.domain.prompting import Prompt, rebuild
from accordance.domain.spending import Spending
from accordance.errors import BlobError, Conflict, LedgerError, NotFound
from accordance.store.blobs.sources import KeptBlob
from accordance.store.ledger import Ledger, Transaction

if TYPE_CHECKING:  # most readers of the log build no prompts
    from accordance.executors.prompt_building import BuiltPrompt
    from accordance.executors.protocol import RunLog

PROMPTED: Final = "PROMPTED"
MODEL_ANSWER: Final = "SAID"
"""A model answered, within a run."""
RAN: Final = "RAN"
LEFT_ALONE: Final = "LEFT_ALONE"
"""An engine left an attempt alone that another version began."""
IS_COUNTED: Final = "is_counted"
"""Marks an answer whose cost was counted with an earlier attempt."""
PLAN_WRITTEN: Final = "PLAN_WRITTEN"
"""A planner handed in a message, accepted or not."""
_COULD_NOT_BE_KEPT: Final = (Fault.STORE_AWAY, Fault.REMOTE_AWAY)
"""The work was paid for; only a place outside was away when it ended."""
_RUN_KEYS: Final = frozenset(("kind", "attempt"))
"""The keys of RAN that tell which run it is; the others are its report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKey:
    """Which run it is: of which plan and task, for what, in which attempt."""

    plan_id: str
    task_id: str | None  # None: the run is about the plan as a whole
    kind: str  # action, review, plan or plan_review
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run, as the ledger knows it."""

    kind: str
    attempt: int
    began_at: str
    executor: str | None = None
    model: str | None = None
    recipe: str | None = None  # None: there was no prompt
    trims: tuple[str, ...] = ()
    report: Mapping[str, Any] | None = None  # None: it still runs, or was cut off
    answers: tuple[str, ...] = ()
    """Answers of models, with those from before a cut of the same run."""

    def to_json(self) -> dict[str, Any]:
        """The run as plain JSON."""
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


# -- writing


def keep_prompt(
    tx: Transaction,
    run: RunKey,
    built: BuiltPrompt,
    *,
    executor: str,
    model: str | None,
) -> None:
    """Keep a prompt that is about to be sent."""
    payload = prompt_payload(tx, run, built, executor, model)
    tx.lock(run.plan_id)
    tx.record(run.plan_id, PROMPTED, run.task_id, payload)


def prompt_payload(
    tx: Transaction, run: RunKey, built: BuiltPrompt, executor: str, model: str | None
) -> dict[str, Any]:
    """Keep the parts of a prompt and its recipe; return what its event says of it."""
    for part in built.prompt.parts:
        tx.keep(part.text.encode())

    recipe = canonical(built.prompt.recipe())
    return {
        "kind": run.kind,
        "attempt": run.attempt,
        "recipe": tx.keep(recipe.encode()),
        "executor": executor,
        "model": model,
        "trims": [str(trim) for trim in built.trims],
    }


@dataclass(frozen=True, slots=True)
class KeptAnswers:
    """The answers that models gave in a run.

    A run that was cut off has no report, so its answers count for the next run. So do
    those of an attempt that ended because the remote of its repository was away: its
    work was done.
    """

    ledger: Ledger
    run: RunKey

    def recall(self, question: str) -> dict[str, Any] | None:
        """Return the answer to a question, if a run that was cut off got it."""
        with contextlib.suppress(LedgerError), self.ledger.read() as tx:
            own, carried = self._last_answers(tx, question)
            sha256 = own or carried
            if sha256 is None:
                return None
            answer: dict[str, Any] = json.loads(tx.blob(sha256))
            return answer if own else {**answer, IS_COUNTED: True}
        return None

    def _last_answers(
        self, tx: Transaction, question: str
    ) -> tuple[str | None, str | None]:
        """The answer of this attempt, and that of an attempt whose work could not be kept."""
        answers: dict[int, str] = {}
        carried: str | None = None
        for entry in tx.entries_of(self.run.task_id or ""):
            payload: Mapping[str, Any] = entry.payload
            if entry.kind == RAN:
                is_carried = payload.get("fault") in _COULD_NOT_BE_KEPT
                own = answers.get(payload["attempt"], carried)
                carried = own if is_carried else None
                answers.clear()
            elif entry.kind == MODEL_ANSWER:
                asked = (payload["kind"], payload["asked"])
                if asked == (self.run.kind, question):
                    answers[payload["attempt"]] = payload["answer"]
        return answers.get(self.run.attempt), carried

    def keep(self, question: str, answer: Mapping[str, Any]) -> None:
        """Keep an answer.

        If the ledger is away the run goes on: it has the answer, and its outcome is
        kept at its end.
        """
        raw = report_bytes(answer)
        with contextlib.suppress(BlobError):  # then it lies in the database
            self.ledger.stage(raw)
        with contextlib.suppress(LedgerError), self.ledger.write() as tx:
            sha256 = tx.keep(raw)
            tx.lock(self.run.plan_id)
            payload = {**self._about(question), "answer": sha256}
            tx.record(self.run.plan_id, MODEL_ANSWER, self.run.task_id, payload)

    def _about(self, question: str) -> dict[str, Any]:
        return {"kind": self.run.kind, "attempt": self.run.attempt, "asked": question}


def report_bytes(report: Mapping[str, Any]) -> bytes:
    """Return a report as it is kept: equal reports have equal bytes."""
    text = json.dumps(report, sort_keys=True, ensure_ascii=False)
    return text.encode("utf-8", "replace")


def keep_report(
    tx: Transaction,
    run: RunKey,
    report: Mapping[str, Any],
    logs: Iterable[RunLog] = (),
) -> None:
    """Keep the report of a run (`Produced.to_json`), and count what it cost."""
    payload = report_payload(tx, run, report)
    kept_logs = {}
    for log in logs:
        with contextlib.suppress(Conflict):  # it was put too long ago
            blob = KeptBlob(log.sha256, log.size, log.content)
            kept_logs[log.name] = [tx.keep_blob(blob), log.size]
    if kept_logs:
        payload["logs"] = kept_logs
    plan = tx.lock(run.plan_id)
    tx.record(run.plan_id, RAN, run.task_id, payload)

    spent = spending_of(report)
    if spent.calls:
        tx.save_plan(
            run.plan_id,
            tokens=plan.tokens + spent.tokens,
            cost=plan.cost + (spent.cost or 0.0),
        )


def report_payload(
    tx: Transaction, run: RunKey, report: Mapping[str, Any]
) -> dict[str, Any]:
    """Keep all of a report as a blob; return what the event of its run says."""
    payload: dict[str, Any] = {"kind": run.kind, "attempt": run.attempt, **report}
    del payload["seen"]
    if report["seen"]:
        payload["report"] = tx.keep(report_bytes(report))
    return payload


def spending_of(report: Mapping[str, Any]) -> Spending:
    """Return what a run cost, by its report."""
    return Spending(
        read=report["read_tokens"],
        written=report["written_tokens"],
        cached=report["cached_tokens"],
        cost=report["cost"],
        calls=report["calls"],
        estimated=report["estimated"],
    )


# -- reading


def runs_in(entries: Iterable[ChainEntry]) -> list[RunRecord]:
    """Return the runs that events tell of, in their order."""
    runs: list[RunRecord] = []
    for entry in entries:
        if entry.kind == PROMPTED:
            runs.append(_begun(runs, entry))
        elif entry.kind == MODEL_ANSWER and runs:
            payload: Mapping[str, Any] = entry.payload
            answers = (*runs[-1].answers, payload["answer"])
            runs[-1] = replace(runs[-1], answers=answers)
        elif entry.kind == RAN:
            _end(runs, entry)
    return runs


def _begun(runs: list[RunRecord], entry: ChainEntry) -> RunRecord:
    """A run that begins; it has the answers of a cut run with the same prompt."""
    payload: Mapping[str, Any] = entry.payload
    run = RunRecord(
        kind=payload["kind"],
        attempt=payload["attempt"],
        began_at=entry.at,
        executor=payload["executor"],
        model=payload["model"],
        recipe=payload["recipe"],
        trims=tuple(payload["trims"]),
    )

    last = runs[-1] if runs else None
    if last is None or last.report is not None or last.recipe != run.recipe:
        return run
    return replace(run, answers=last.answers)


def _end(runs: list[RunRecord], entry: ChainEntry) -> None:
    """Add a report to its run. A run that never got to a prompt begins with it."""
    payload: Mapping[str, Any] = entry.payload
    kind, attempt = payload["kind"], payload["attempt"]
    report = {key: value for key, value in payload.items() if key not in _RUN_KEYS}

    last = runs[-1] if runs else None
    is_open = last is not None and last.report is None
    if last and is_open and (last.kind, last.attempt) == (kind, attempt):
        runs[-1] = replace(last, report=report)
        return

    unprompted = RunRecord(kind=kind, attempt=attempt, began_at=entry.at, report=report)
    runs.append(unprompted)


def rebuilt(tx: Transaction, recipe: str) -> Prompt:
    """Return a prompt, word for word as it was sent. Raises NotFound."""
    return rebuild(json.loads(tx.blob(recipe)), lambda sha256: tx.blob(sha256).decode())


def run_of(
    tx: Transaction,
    task_id: str,
    *,
    attempt: int | None = None,
    kind: str | None = None,
) -> RunRecord:
    """Return the last run of a task that had a prompt. Raises NotFound.

    `attempt` and `kind` narrow it down to the runs of an attempt, or of a kind.
    """
    run = _last_prompted(tx.entries_of(task_id), attempt, kind)
    return run or _no_prompt("task", task_id, kind, attempt)


def run_about(
    tx: Transaction,
    plan_id: str,
    *,
    attempt: int | None = None,
    kind: str | None = None,
) -> RunRecord:
    """Return the last run that wrote or reviewed a plan as a whole. Raises NotFound."""
    entries = (entry for entry in tx.entries(plan_id) if entry.task_id is None)
    run = _last_prompted(entries, attempt, kind)
    return run or _no_prompt("plan", plan_id, kind, attempt)


def _last_prompted(
    entries: Iterable[ChainEntry], attempt: int | None, kind: str | None
) -> RunRecord | None:
    for run in reversed(runs_in(entries)):
        is_meant = attempt in (None, run.attempt) and kind in (None, run.kind)
        if run.recipe is not None and is_meant:
            return run
    return None


def _no_prompt(subject: str, *which: object) -> NoReturn:
    parts = [str(part) for part in which if part is not None]
    raise NotFound(f"prompt of {subject}", " ".join(parts))


def spent_by_task(tx: Transaction, plan_id: str) -> dict[str | None, Spending]:
    """Return what a plan has cost since its beginning, by task.

    The key None holds what was spent on the plan as a whole.
    """
    spent: dict[str | None, Spending] = {}
    for entry in tx.entries(plan_id):
        if entry.kind == RAN:
            before = spent.get(entry.task_id, Spending())
            spent[entry.task_id] = before + spending_of(entry.payload)
    return spent
