"""What the tools of `accordance mcp` do.

They take up a task, hand in its message, show the verdict, ask a person, extend the
lease or give the task back. An agent that has lost its task, because the lease ran out
or the task was given back, learns so: its messages do not count for the worker who has
the task now.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from threading import Lock

from accordance.contracts.catalogue.review import REVIEW
from accordance.contracts.jsonpath import JsonObject
from accordance.errors import Conflict
from accordance.executors.tool_server import ToolOffer
from accordance.mcp import offers
from accordance.project.home import Home
from accordance.service import tasks
from accordance.service.project import Ledger, Project
from accordance.service.task_records import standing_of
from accordance.service.tasks import Assigned, Taken, WorkRequest


@dataclass(slots=True)
class Desk:
    """An agent's place at a ledger, and the tasks it has.

    An agent that comes back under a name of its own gets the task it had. Under a name
    that others may share, it only learns which tasks that name has.
    """

    ledger: Ledger
    home: Home
    holder: str
    plan_id: str | None = None

    # Whether it also gets tasks that the routes give to executors of accordance's own.
    any_task: bool = True

    # Whether the name is this agent's alone, so that it gets its tasks back.
    resumes: bool = False

    # By task, the newest last.
    taken: dict[str, Taken] = field(default_factory=dict)

    # Held by every tool: an agent may call several at once.
    _lock: Lock = field(default_factory=Lock)

    def offers(self) -> tuple[ToolOffer, ...]:
        """Return the tools."""
        return offers.offers(
            {
                "next": self.next,
                "submit": self.submit,
                "get_verdict": self.get_verdict,
                "ask_human": self.ask_human,
                "extend": self.extend,
                "release": self.release,
            }
        )

    @property
    def project(self) -> Project:
        """The project the agent works for."""
        return Project(self.home, self.ledger)

    # -- the tools

    def next(self, arguments: JsonObject) -> JsonObject:  # noqa: ARG002 - it takes none
        """Take up the task that the agent had before it came back, or the next."""
        with self._lock:
            assignment = tasks.take_task(self.project, self._work_request())
            if not isinstance(assignment, Assigned):
                return {**assignment.to_json(), **self._already_held()}

            taken = assignment.taken
            task_id = taken.task.task_id
            self.taken.pop(task_id, None)  # so that it becomes the last
            self.taken[task_id] = taken
            return assignment.view.to_json()

    def submit(self, arguments: JsonObject) -> JsonObject:
        """Hand in a message.

        A review is recognised by its version, or by the task if there is no message.
        The same message again gets the same reply.
        """
        message = arguments.get("message")
        content = message if isinstance(message, dict) else {}
        with self._lock:
            name = arguments.get("task_id") or content.get("task_id")
            taken = self._taken(name)

            task_id = str(name) if name else None
            attempt = arguments.get("attempt")
            number = attempt if isinstance(attempt, int) else None
            if taken is not None:
                task_id = taken.task.task_id
                number = taken.attempt if number is None else number

            raw = _as_bytes(message)
            if _is_review(content, taken):
                return self._hand_in_review(raw, task_id, number, taken)
            return self._hand_in(raw, task_id, number)

    def get_verdict(self, arguments: JsonObject) -> JsonObject:
        """Show every verdict on a task, the newest last, and its state."""
        with self._lock:
            task_id = self._task_id(arguments)
            return standing_of(self.project, task_id).to_json()

    def ask_human(self, arguments: JsonObject) -> JsonObject:
        """Report, in the agent's name, that it needs an answer; the task waits."""
        question = arguments.get("question")
        if not isinstance(question, str) or not question.strip():
            raise Conflict("ask_human needs a question: say what you need to know")

        with self._lock:
            taken = self._taken(arguments.get("task_id"))
            if taken is None or taken.kind != "action":
                raise Conflict(
                    "only a task that you took up with next can wait for an answer; "
                    "in a review, ask with action_required REQUEST_EXTERNAL_INPUT"
                )
            answer = tasks.ask_person(self.project, taken, question, holder=self.holder)
            return answer.to_json()

    def extend(self, arguments: JsonObject) -> JsonObject:
        """Keep a task for longer."""
        with self._lock:
            taken = self._held(arguments)
            task_id = taken.task.task_id
            lease = tasks.extend(
                self.project, task_id, attempt=taken.attempt, holder=self.holder
            )
            return {"task_id": task_id, "until": lease.until}

    def release(self, arguments: JsonObject) -> JsonObject:
        """Give a task back."""
        with self._lock:
            taken = self._held(arguments)
            task_id = taken.task.task_id
            task = tasks.release(
                self.project,
                task_id,
                by=self.holder,
                attempt=taken.attempt,
                holder=self.holder,
            )
            self.taken.pop(task_id, None)
            return {"task_id": task_id, "state": task.state.value}

    # -- taking up

    def _work_request(self) -> WorkRequest:
        known = None
        if self.resumes:
            known = {task_id: taken.attempt for task_id, taken in self.taken.items()}
        return WorkRequest(
            holder=self.holder,
            plan_id=self.plan_id,
            any_task=self.any_task,
            known=known,
        )

    def _already_held(self) -> JsonObject:
        """Return the tasks that this name has: to be handed in, or given back by id."""
        held = tasks.held_tasks(self.project, self.holder, self.plan_id)
        if not held:
            return {}
        return {"yours": [taken.task.task_id for taken in held]}

    # -- handing in

    def _hand_in(
        self, raw: bytes | None, task_id: str | None, attempt: int | None
    ) -> JsonObject:
        answer = tasks.submit(
            self.project, raw, task_id=task_id, attempt=attempt, holder=self.holder
        )
        return answer.to_json()

    def _hand_in_review(
        self,
        raw: bytes | None,
        task_id: str | None,
        attempt: int | None,
        taken: Taken | None,
    ) -> JsonObject:
        if raw is None:
            raise Conflict("a review takes a message: hand one in")
        answer = tasks.review(
            self.project,
            raw,
            task_id=task_id,
            artifact=taken.lease.product if taken else None,
            reviewer=self.holder,
            attempt=attempt,
            holder=self.holder,
        )
        return answer.to_json()

    # -- which task is meant

    def _taken(self, name: object) -> Taken | None:
        """Return the task of that name that was taken up here.

        The name is its id or that of the task it reviews; without a name it is the last
        task.
        """
        for taken in reversed(self.taken.values()):
            if not name or _goes_by(taken, name):
                return taken
        return None

    def _held(self, arguments: JsonObject) -> Taken:
        """Return the task that is meant, taken up here or before a reconnection."""
        name = arguments.get("task_id")
        taken = self._taken(name) or self._held_before(name)
        if taken is None:
            raise Conflict("you have no such task; take one up with next")
        return taken

    def _held_before(self, name: object) -> Taken | None:
        """Return the task that the ledger says this agent has.

        Without a name it must be the only task, and the agent's name its own.
        """
        held = tasks.held_tasks(self.project, self.holder, self.plan_id)
        if name:
            held = [taken for taken in held if _goes_by(taken, name)]
        elif not self.resumes:
            return None
        return held[0] if len(held) == 1 else None

    def _task_id(self, arguments: JsonObject) -> str:
        """Return the id of the task that is meant, no matter which worker has it."""
        name = arguments.get("task_id")
        taken = self._taken(name)
        if taken is not None and not name:
            return taken.task.task_id
        if not name:
            raise Conflict("which task? Pass its task_id, or take one up with next")
        return str(name)


def _goes_by(taken: Taken, name: object) -> bool:
    """Whether a name means a task: its own id, or that of the task it reviews."""
    return name in (taken.task.task_id, taken.task.checks)


def _is_review(content: JsonObject, taken: Taken | None) -> bool:
    if content:
        return content.get("schema_version") in REVIEW.read_versions
    return taken is not None and taken.kind == "review"


def _as_bytes(message: object) -> bytes | None:
    """Return a message as bytes, None if there is none."""
    if message is None:
        return None
    if isinstance(message, str):
        return message.encode()
    return json.dumps(message, ensure_ascii=False).encode()
