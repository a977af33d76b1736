"""Tasks as a client outside sees them: where they stand, what is asked, what came of them.

The root of a plan stands for the whole plan: it shows the plan's questions and products.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from accordance.domain.access import Identity
from accordance.domain.client_tasks import (
    COMES_BACK,
    ENDS,
    ClientArtifact,
    ClientTask,
    Stage,
    StageFacts,
    Utterance,
    life_in,
    name_of,
    stage_of,
)
from accordance.domain.filters import Term, Word
from accordance.domain.lifecycle import TERMINAL, Event, State
from accordance.domain.plan_lifecycle import visible_state
from accordance.domain.records import (
    ArtifactRecord,
    PlanRecord,
    QuestionRecord,
    TaskRecord,
)
from accordance.domain.verdict import Outcome
from accordance.errors import NotFound
from accordance.service.inbox import asked_in
from accordance.service.project import Project, exact_task
from accordance.service.views.questions import AskedView, question_view
from accordance.service.views.verdicts import VerdictView, verdicts_in, verdicts_on
from accordance.store.ledger import Transaction
from accordance.work.exporting import deliverables

_LARGEST_SHOWN: Final = 1 << 18
"""Bytes of a product that are shown; the export has the rest."""
_MOST_VERDICTS: Final = 200
_MEDIA_TYPES: Final = {
    "md": "text/markdown",
    "txt": "text/plain",
    "json": "application/json",
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
}


class SeenTask(NamedTuple):
    """A task that a caller may look at, and which of its lives is meant."""

    task: TaskRecord
    life: int

    @property
    def name(self) -> str:
        """What the client calls it."""
        return name_of(self.task.task_id, self.life)


def seen_task(project: Project, identity: Identity, name: str) -> SeenTask:
    """Return the task of a name. Raises NotFound, also for what is not to be seen."""
    task, life = _task_named(project, name)
    if not identity.sees_task(task.task_id, task.plan_id):
        raise NotFound("task", name)
    return SeenTask(task, life)


def _task_named(project: Project, name: str) -> tuple[TaskRecord, int]:
    try:
        return exact_task(project, name), 1
    except NotFound:
        task_id, life = life_in(name)
        if life == 1:
            raise
    task = exact_task(project, task_id)
    with project.ledger.read() as tx:
        if life > len(_ends(tx, task_id)) + 1:
            raise NotFound("task", name)
    return task, life


def current_name(project: Project, task_id: str) -> str:
    """Return what a client calls a task in the life it leads now."""
    with project.ledger.read() as tx:
        return name_of(task_id, len(_ends(tx, task_id)) + 1)


def _ends(tx: Transaction, task_id: str) -> list[Stage]:
    """Return the ends from which a task was taken back, the oldest first."""
    ends = []
    for entry in tx.entries_of(task_id):
        if entry.kind in (Event.REQUEUED, Event.CHOSEN):
            ends.append(COMES_BACK[Event(entry.kind)])
    return ends


def client_task(
    project: Project,
    name: str,
    client: str,
    *,
    known: Collection[str] | None = (),
) -> ClientTask:
    """Return a task as a client sees it. Raises NotFound.

    `known` are the artifacts that are left out, by name; None: all.
    """
    task, life = _task_named(project, name)
    with project.ledger.read() as tx:
        ends = _ends(tx, task.task_id)
        if life <= len(ends):
            return _ended(task, life, ends[life - 1])
        record = tx.task(task.task_id)
        plan = tx.plan(record.plan_id)
        return _Showing(tx, record, plan, life, client, known).task()


def _ended(task: TaskRecord, life: int, stage: Stage) -> ClientTask:
    """Show a life of a task that is over, and which task goes on."""
    later = name_of(task.task_id, life + 1)
    return ClientTask(
        name=name_of(task.task_id, life),
        plan_id=task.plan_id,
        stage=stage,
        at="",
        status=Utterance(text=f"It was taken up again as {later}.", is_ours=True),
        refers_to=_life_before(task, life),
        details={"title": task.title, "goesOnAs": later},
    )


def _life_before(task: TaskRecord, life: int) -> str | None:
    """Return the name that a task had in its life before, if there was any."""
    if life == 1:
        return None
    return name_of(task.task_id, life - 1)


def events_filter(task: TaskRecord, *, is_root: bool) -> str:
    """Return the filter of the events after which a task may look different."""
    plan = Term(Word.PLAN, task.plan_id)
    if is_root:
        return str(plan)
    own = Term(Word.TASK, task.task_id)
    return f"{plan} {own}"


def root_of(project: Project, plan_id: str) -> str:
    """Return the task that stands for a plan. Raises NotFound."""
    with project.ledger.read() as tx:
        return tx.plan(plan_id).root_task_id


def is_root(project: Project, task: TaskRecord) -> bool:
    """Whether a task stands for its whole plan."""
    with project.ledger.read() as tx:
        return tx.plan(task.plan_id).root_task_id == task.task_id


@dataclass(frozen=True, slots=True)
class _Showing:
    """A task in its present life, as it is read for a client."""

    tx: Transaction
    record: TaskRecord
    plan: PlanRecord
    life: int
    client: str
    known: Collection[str] | None

    def task(self) -> ClientTask:
        questions = self._questions()
        open_questions = [asked for asked in questions if asked.answered_at is None]
        verdicts = self._verdicts()
        stage = stage_of(self._stage_facts(open_questions, verdicts))
        return ClientTask(
            name=name_of(self.record.task_id, self.life),
            plan_id=self.record.plan_id,
            stage=stage,
            at=self._time(questions),
            status=self._status(stage, open_questions, verdicts),
            artifacts=tuple(self._artifacts(verdicts)),
            talk=tuple(_talk(questions)),
            refers_to=_life_before(self.record, self.life),
            details=self._details(),
        )

    # -- what is read

    @property
    def is_root(self) -> bool:
        return self.plan.root_task_id == self.record.task_id

    def _questions(self) -> list[QuestionRecord]:
        where = {"plan_id": self.record.plan_id}
        if not self.is_root:
            where["task_id"] = self.record.task_id
        return self.tx.find(QuestionRecord, **where)

    def _verdicts(self) -> tuple[VerdictView, ...]:
        """Return what was decided; of a whole plan, once it is over."""
        if not self.is_root:
            return verdicts_on(self.tx, self.record.task_id)
        if self.record.progress.state not in TERMINAL:
            return ()
        return verdicts_in(self.tx, self.plan)

    # -- what follows from it

    def _stage_facts(
        self,
        asked: list[QuestionRecord],
        verdicts: tuple[VerdictView, ...],
    ) -> StageFacts:
        waits_for_key = [question_view(each).waits_for_key for each in asked]
        progress = self.record.progress
        lease = self.record.lease
        plan_state = None
        has_begun = progress.standing.counters.attempts > 0
        if self.is_root:
            plan_state = visible_state(
                self.plan.state, progress.state, is_archived=False
            )
            has_begun = self._has_plan_begun()
        return StageFacts(
            state=progress.state,
            plan_state=plan_state,
            has_begun=has_begun,
            asks=bool(asked),
            lacks_key=bool(asked) and all(waits_for_key),
            is_with_client=lease is not None and lease.holder == self.client,
            is_refused=bool(verdicts) and verdicts[-1].outcome == Outcome.REJECT,
        )

    def _has_plan_begun(self) -> bool:
        counts = self.tx.count_states(self.record.plan_id)
        waiting = (State.PENDING, State.READY)
        begun = [count for state, count in counts.items() if state not in waiting]
        return any(begun)

    def _time(self, questions: list[QuestionRecord]) -> str:
        moments = [self.record.updated_at]
        if self.is_root:
            moments.append(self.plan.imported_at)
        for asked in questions:
            moments += [asked.asked_at, asked.answered_at or ""]
        return max(moments)

    def _status(
        self,
        stage: Stage,
        asked: list[QuestionRecord],
        verdicts: tuple[VerdictView, ...],
    ) -> Utterance:
        if asked and stage not in ENDS:
            return _question(asked_in(self.tx, asked[0]), len(asked))
        text = self._summary(stage)
        if verdicts and not self.is_root:
            last = verdicts[-1]
            text = f"{text} The last verdict: {last.outcome}. {last.why}".strip()
        return Utterance(text=text, is_ours=True)

    def _summary(self, stage: Stage) -> str:
        if not self.is_root:
            return f"{self.record.title}: {self.record.progress.state}."
        counts = self.tx.count_states(self.record.plan_id)
        done = counts.get(State.DONE, 0)
        state = visible_state(
            self.plan.state, self.record.progress.state, is_archived=False
        )
        word = State.DEAD_LETTER if stage is Stage.FAILED else state
        return f"{self.plan.title}: {word}. {done} of {self.plan.nodes} tasks are done."

    def _details(self) -> dict[str, Any]:
        record = self.record
        details: dict[str, Any] = {
            "title": self.plan.title if self.is_root else record.title,
            "taskId": record.task_id,
            "state": record.progress.state.value,
            "nodeType": record.node_type,
            "attempts": record.progress.standing.counters.attempts,
        }
        if self.is_root:
            details["planState"] = self.plan.state.value
        if record.last_error:
            details["lastError"] = record.last_error
        return details

    # -- what came of it

    def _artifacts(self, verdicts: tuple[VerdictView, ...]) -> Iterator[ClientArtifact]:
        if self.known is None:
            return
        for made in self._products():
            if _name_of_product(made) not in self.known:
                yield self._product(made)
        if verdicts and _name_of_verdicts(verdicts) not in self.known:
            yield _judgement(verdicts)

    def _products(self) -> list[ArtifactRecord]:
        if self.is_root:
            return deliverables(self.tx, self.plan)
        return self.tx.products(self.record.task_id)[-1:]

    def _product(self, made: ArtifactRecord) -> ClientArtifact:
        size = self.tx.blob_size(made.sha256) or 0
        about: dict[str, Any] = {
            "taskId": made.task_id,
            "version": made.version,
            "attempt": made.attempt,
            "sha256": made.sha256,
            "bytes": size,
            "approved": made.approved_at is not None,
        }
        text = None
        data = None
        if size <= _LARGEST_SHOWN:
            text = self.tx.blob(made.sha256).decode("utf-8", "replace")
        else:
            data = {**about, "note": "too large to be shown; the plan's export has it"}
        return ClientArtifact(
            name=_name_of_product(made),
            title=made.file_name,
            about=made.summary or "A product.",
            text=text,
            media_type=_MEDIA_TYPES.get(made.format, "text/plain"),
            data=data,
            details=about,
        )


def _name_of_product(made: ArtifactRecord) -> str:
    """A version that was approved is another artifact than before."""
    approved = "/approved" if made.approved_at else ""
    return f"{made.task_id}/v{made.version}{approved}"


def _name_of_verdicts(verdicts: tuple[VerdictView, ...]) -> str:
    return f"verdicts/{len(verdicts)}"


def _question(asked: AskedView, count: int) -> Utterance:
    """Return a question as words, and what answering it takes as data."""
    more = ""
    if count > 1:
        more = f" ({count - 1} more after this)"
    data = {
        "question": asked.question_id,
        "number": asked.number,
        "kind": asked.kind,
        "taskId": asked.task_id,
        "reason": asked.reason,
        "reasonCode": asked.reason_code,
        "choices": [choice.to_json() for choice in asked.choices],
    }
    return Utterance(
        text=f"{asked.text}{more}",
        is_ours=True,
        data=data,
    )


def _talk(questions: list[QuestionRecord]) -> Iterator[Utterance]:
    """Yield the questions that were answered, each with its answer."""
    for asked in questions:
        if asked.answer is None:
            continue
        yield Utterance(text=asked.text, is_ours=True)
        answer = asked.answer.get("text") or asked.answer.get("answer")
        text = answer if isinstance(answer, str) else "answered"
        yield Utterance(
            text=text,
            is_ours=False,
            data=dict(asked.answer),
        )


def _judgement(verdicts: tuple[VerdictView, ...]) -> ClientArtifact:
    """Return the verdicts as an artifact."""
    rows = [verdict.to_json() for verdict in verdicts[-_MOST_VERDICTS:]]
    return ClientArtifact(
        name=_name_of_verdicts(verdicts),
        title="verdicts.json",
        about="What accordance decided, and where the evidence lies.",
        data={"verdicts": rows, "total": len(verdicts)},
    )
