"""A project in a test: a ledger of any kind, a folder, a clock that is moved by hand, and short words for what people do."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accordance import Accepted, check_value
from accordance.audit.findings import AuditFindings
from accordance.audit.verifying import verify_ledger, verify_plan
from accordance.domain.input_binding import InputFile
from accordance.domain.records import PlanRecord, QuestionRecord, Rules, TaskRecord
from accordance.domain.ruling import QuestionKind
from accordance.project.home import Home
from accordance.store.ledger import Ledger
from accordance.store.seals import ROWS_WRITTEN
from accordance.work.importing import Imported, import_plan
from accordance.work.inbox import answer
from accordance.work.input_files import look_at_inputs
from accordance.work.intake import submit
from accordance.work.person_answers import PersonAnswer
from accordance.work.receipts import Receipt
from accordance.work.reviewing import review, review_plan
from accordance.work.taking import NoTaskReason, Taken, take_next
from tests.messages import ACTION, NEEDS_INPUT, PLAN, Message
from tests.reviews import node_review, plan_review


@dataclass
class Clock:
    """Moves a little whenever it is looked at, and as far as it is told."""

    at: dt.datetime = field(
        default_factory=lambda: dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    )

    def __call__(self) -> str:
        self.at += dt.timedelta(milliseconds=1)
        return self.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def pass_by(self, seconds: int) -> None:
        """So much later."""
        self.at += dt.timedelta(seconds=seconds)


def encoded(message: object) -> bytes:
    """A message as it comes; bytes are what they are."""
    return message if isinstance(message, bytes) else json.dumps(message).encode()


def product(
    task: str, content: str = "text", name: str = "report", kind: str = "md"
) -> Message:
    """An action with a product."""
    return {
        **ACTION,
        "task_id": task,
        "artifact": {"name": name, "format": kind, "content": content, "summary": None},
    }


def asking(
    task: str, name: str = "sheet", *types: str, path: str | None = None
) -> Message:
    """An action that needs a document."""
    doc = {
        "name": name,
        "description": "prices",
        "accepted_types": list(types),
        "suggested_path": path or f"workspace/inputs/{name}/",
    }
    return {**NEEDS_INPUT, "task_id": task, "needs_input": {"required_docs": [doc]}}


def failing(task: str, code: str = "LLM_FAILED") -> Message:
    """An action that failed."""
    said = {"code": code, "message": "it broke"}
    return {
        "schema_version": "xiaobo_action_v1",
        "task_id": task,
        "result_type": "ERROR",
        "error": said,
    }


def idle(task: str) -> Message:
    """An action that did nothing."""
    return {
        "schema_version": "xiaobo_action_v1",
        "task_id": task,
        "result_type": "NOOP",
    }


@dataclass
class Project:
    """What people do with a plan."""

    ledger: Ledger
    home: Home
    clock: Clock

    # -- plans

    def imports(
        self, message: Message, rules: Rules | None = None, waived_by: str | None = None
    ) -> Imported:
        """Import a plan that honours its contract."""
        result = check_value(json.loads(json.dumps(message)), "PLAN_GEN")
        assert isinstance(result, Accepted), result
        return import_plan(
            self.ledger, result.value, rules or Rules(), waived_by=waived_by
        )

    def runs(self, message: Message, rules: Rules | None = None) -> Project:
        """Import a plan that may begin at once."""
        self.imports(message, rules, waived_by="test")
        return self

    def review_plan(self, message: object = None) -> Receipt:
        """Review the plan; well, unless told otherwise."""
        return review_plan(self.ledger, encoded(message or plan_review()), PLAN)

    def plan(self) -> PlanRecord:
        """The plan."""
        with self.ledger.read() as tx:
            return tx.plan(PLAN)

    # -- work

    def take(self, **more: Any) -> Taken | NoTaskReason:
        """Take up what is next."""
        return take_next(self.ledger, self.files(), **more)

    def takes(self, **more: Any) -> str | None:
        """The name of what is next; None if there is nothing."""
        found = self.take(**more)
        return found.task.task_id if isinstance(found, Taken) else None

    def submit(
        self, task: str, message: object = None, *, attempt: int | None = None
    ) -> Receipt:
        """Hand in a product, unless told otherwise."""
        raw = encoded(product(task) if message is None else message)
        return submit(self.ledger, self.home, raw, task_id=task, attempt=attempt)

    def review(
        self,
        task: str,
        score: int = 95,
        action: str | None = None,
        *,
        of: str | None = None,
    ) -> Receipt:
        """Review the current product of a task, or of the task that a CHECK reviews."""
        record = self.task(self.task(task).checks or task)
        said = node_review(record.task_id, score, action)
        return self.review_raw(task, said, of=of)

    def review_raw(
        self, task: str, message: object, *, of: str | None = None
    ) -> Receipt:
        """Hand in a review as it is."""
        current = self.task(self.task(task).checks or task).product
        return review(
            self.ledger, encoded(message), task_id=task, product=of or current
        )

    def finish(self, *tasks: str) -> None:
        """Do each, and have it approved."""
        for task in tasks:
            assert self.submit(task).status == "accepted"
            assert self.review(task).content["state"] == "DONE"

    # -- people

    def questions(self, kind: QuestionKind | None = None) -> list[QuestionRecord]:
        """What is asked and not answered."""
        with self.ledger.read() as tx:
            return [one for one in tx.open_questions() if kind in (None, one.kind)]

    def answer(self, **said: Any) -> QuestionRecord:
        """Answer the one open question."""
        (question,) = self.questions()
        return answer(
            self.ledger,
            self.home,
            question.question_id,
            PersonAnswer(by="test", **said),
        )

    def put(self, path: str, content: str = "content") -> Path:
        """Put a file under workspace/inputs/."""
        file = self.home.inputs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        return file

    def files(self) -> list[InputFile]:
        """The input files."""
        return look_at_inputs(self.ledger, self.home)

    # -- looking

    def task(self, task: str) -> TaskRecord:
        """A task."""
        with self.ledger.read() as tx:
            return tx.task(task)

    def state(self, task: str) -> str:
        """Where a task stands."""
        return self.task(task).progress.state.value

    def states(self) -> dict[str, str]:
        """Where all tasks stand."""
        with self.ledger.read() as tx:
            return {task.task_id: task.progress.state.value for task in tx.tasks(PLAN)}

    def kinds(self, task: str | None = None) -> list[str]:
        """The kinds of all events, or of a task's, seals aside."""
        with self.ledger.read() as tx:
            entries = tx.entries_of(task) if task else tx.entries(PLAN)
            return [one.kind for one in entries if one.kind != ROWS_WRITTEN]

    def verify(self) -> AuditFindings:
        """Recompute everything."""
        with self.ledger.read() as tx:
            return verify_plan(tx, PLAN)

    def holds(self) -> bool:
        """Whether everything that was recomputed is as it was written."""
        with self.ledger.read() as tx:
            for found in verify_ledger(tx):
                assert (found.integrity, found.completeness) == ([], [])
        return True
