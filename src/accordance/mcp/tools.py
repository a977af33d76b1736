"""What the tools for agents do.

They take up a task, check and hand in its message, show the verdict and its evidence,
ask a person, report progress or give the task back. An agent that has lost its task,
because the lease ran out or the task was given back, learns so: its messages do not
count for the worker who has the task now.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from accordance.contracts.catalogue.review import REVIEW
from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.reading import parse_object
from accordance.domain.access import Identity, Right
from accordance.errors import Conflict, NotFound, Unparseable
from accordance.executors.tool_server import ToolOffer
from accordance.mcp import offers
from accordance.mcp.arguments import BadArguments
from accordance.mcp.evidence import read_part
from accordance.service import contracts, downloads, tasks
from accordance.service.project import Project, exact_task
from accordance.service.task_access import seen_task_id
from accordance.service.task_checks import check_for_task
from accordance.service.task_records import standing_of
from accordance.service.tasks import Assigned, Taken, WorkRequest

_LONGEST_REPORT: Final = 2000


@dataclass(slots=True)
class Desk:
    """An agent's place at a project, and the tasks it has.

    An agent that comes back under a name of its own gets the task it had. Under a name
    that others may share, it only learns which tasks that name has.
    """

    project: Project
    identity: Identity
    plan_id: str | None = None

    # Whether it also gets tasks that the routes give to executors of accordance's own.
    any_task: bool = True

    # Whether the name is this agent's alone, so that it gets its tasks back.
    resumes: bool = False

    # By task, the newest last. Over HTTP a desk lasts for a call and remembers nothing:
    # there the ledger knows what the agent has.
    taken: dict[str, Taken] = field(default_factory=dict)

    # Held while the tasks above are looked at: an agent may call several tools at once.
    lock: Lock = field(default_factory=Lock)

    @property
    def holder(self) -> str:
        """What the ledger calls the agent."""
        return self.identity.name

    def offers(self) -> tuple[ToolOffer, ...]:
        """Return the tools."""
        return offers.offers(
            {
                "next_task": self.next_task,
                "check": self.check,
                "submit": self.submit,
                "get_verdict": self.get_verdict,
                "read_evidence": self.read_evidence,
                "ask_human": self.ask_human,
                "progress": self.progress,
                "release": self.release,
            }
        )

    # -- the tools

    def next_task(self, arguments: JsonObject) -> JsonObject:  # noqa: ARG002 - it takes none
        """Take up the task that the agent had before it came back, or the next."""
        with self.lock:
            assignment = tasks.take_task(self.project, self._work_request())
            if not isinstance(assignment, Assigned):
                return {**assignment.to_json(), **self._already_held()}

            taken = assignment.taken
            task_id = taken.task.task_id
            self.taken.pop(task_id, None)  # so that it becomes the last
            self.taken[task_id] = taken
            return assignment.view.to_json()

    def check(self, arguments: JsonObject) -> JsonObject:
        """Check a message, without handing it in."""
        self.identity.must(Right.CHECK)
        raw = _as_bytes(arguments.get("message")) or b""
        contract = _text(arguments, "contract")
        task_id = _text(arguments, "task_id")
        if contract is not None:
            context = Context(task_id=task_id) if task_id else Context()
            return contracts.check_message(raw, contract, context).to_json()

        taken = self._taken(task_id)
        if taken is None:
            raise Conflict(
                "you have no such task: name a contract, or take up a task with"
                " next_task"
            )
        return check_for_task(self.project, taken, raw).to_json()

    def submit(self, arguments: JsonObject) -> JsonObject:
        """Hand in a message.

        A review is recognised by its version, or by the task if there is no message.
        The same message again gets the same reply.
        """
        message = arguments.get("message")
        content = _content(message)
        name = _text(arguments, "task_id") or _text(content, "task_id")
        taken = self._taken(name)

        task_id = name
        number = _number(arguments, "attempt")
        if taken is not None:
            task_id = taken.task.task_id
            number = taken.attempt if number is None else number
        self._must_be_bound_to(task_id)

        raw = _as_bytes(message)
        self.identity.must_hand_in(tasks.contract_of_message(raw))
        if _is_review(content, taken):
            return self._hand_in_review(raw, task_id, number, taken)
        patch = _text(arguments, "patch")
        return self._hand_in(raw, task_id, number, patch)

    def get_verdict(self, arguments: JsonObject) -> JsonObject:
        """Show every verdict on a task, the newest last, and its state."""
        task_id = self._seen_task(arguments)
        return standing_of(self.project, task_id).to_json()

    def read_evidence(self, arguments: JsonObject) -> JsonObject:
        """List the files that an attempt left, or read a part of one."""
        task_id = self._seen_task(arguments)
        attempt = _number(arguments, "attempt")
        name = _text(arguments, "file")
        if name is None:
            return downloads.list_evidence(self.project, task_id, attempt).to_json()
        file = downloads.evidence_file(self.project, task_id, name, attempt)
        return read_part(name, file.content, _number(arguments, "offset") or 0)

    def ask_human(self, arguments: JsonObject) -> JsonObject:
        """Report, in the agent's name, that it needs an answer; the task waits."""
        question = _text(arguments, "question")
        if question is None or not question.strip():
            raise BadArguments("ask_human needs a question: say what you need to know")

        taken = self._taken(_text(arguments, "task_id"))
        if taken is None or taken.kind != "action":
            raise Conflict(
                "only a task that you took up with next_task can wait for an answer; "
                "in a review, ask with action_required REQUEST_EXTERNAL_INPUT"
            )
        answer = tasks.ask_person(self.project, taken, question, holder=self.holder)
        return answer.to_json()

    def progress(self, arguments: JsonObject) -> JsonObject:
        """Keep a task for longer, and say how far the work is."""
        report = (_text(arguments, "report") or "").strip()
        if len(report) > _LONGEST_REPORT:
            raise BadArguments(
                f"report of progress has up to {_LONGEST_REPORT} characters,"
                f" not {len(report)}"
            )
        taken = self._held(arguments)
        task_id = taken.task.task_id
        lease = tasks.extend(
            self.project,
            task_id,
            attempt=taken.attempt,
            holder=self.holder,
            report=report or None,
        )
        return {"task_id": task_id, "until": lease.until}

    def release(self, arguments: JsonObject) -> JsonObject:
        """Give a task back."""
        taken = self._held(arguments)
        task_id = taken.task.task_id
        task = tasks.release(
            self.project,
            task_id,
            by=self.holder,
            attempt=taken.attempt,
            holder=self.holder,
        )
        with self.lock:
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
            only=self.identity.tasks,
        )

    def _already_held(self) -> JsonObject:
        """Return the tasks that this name has: to be handed in, or given back by id."""
        held = self._held_in_ledger()
        if not held:
            return {}
        return {"yours": [taken.task.task_id for taken in held]}

    # -- handing in

    def _hand_in(
        self,
        raw: bytes | None,
        task_id: str | None,
        attempt: int | None,
        patch: str | None,
    ) -> JsonObject:
        answer = tasks.submit(
            self.project,
            raw,
            task_id=task_id,
            attempt=attempt,
            holder=self.holder,
            patch=_as_bytes(patch),
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

    def _taken(self, name: str | None) -> Taken | None:
        """Return the task of that name that the agent has, taken up here or before.

        The name is its id or that of the task it reviews; without a name it is the last
        task.
        """
        with self.lock:
            for taken in reversed(self.taken.values()):
                if not name or _goes_by(taken, name):
                    return taken
        return self._held_before(name)

    def _held(self, arguments: JsonObject) -> Taken:
        """Return the task that is meant. Raises Conflict if the agent does not have it."""
        taken = self._taken(_text(arguments, "task_id"))
        if taken is None:
            raise Conflict("you have no such task; take one up with next_task")
        return taken

    def _held_before(self, name: str | None) -> Taken | None:
        """Return the task that the ledger says this agent has.

        Without a name it must be the only task, and the agent's name its own.
        """
        held = self._held_in_ledger()
        if name:
            held = [taken for taken in held if _goes_by(taken, name)]
        elif not self.resumes:
            return None
        return held[0] if len(held) == 1 else None

    def _held_in_ledger(self) -> list[Taken]:
        """Return what this name has, except tasks that its key is not bound to."""
        held = tasks.held_tasks(self.project, self.holder, self.plan_id)
        return [taken for taken in held if not self._is_bound_elsewhere(taken)]

    def _is_bound_elsewhere(self, taken: Taken) -> bool:
        task = taken.task
        return self.identity.is_bound_elsewhere(task.task_id, task.plan_id)

    def _must_be_bound_to(self, task_id: str | None) -> None:
        """Raise NotFound for a task that the agent's key is not bound to."""
        if task_id is None or not self.identity.tasks:
            return
        task = exact_task(self.project, task_id)
        if self.identity.is_bound_elsewhere(task.task_id, task.plan_id):
            raise NotFound("task", task_id)

    def _seen_task(self, arguments: JsonObject) -> str:
        """Return the id of the task that is meant, no matter which worker has it."""
        name = _text(arguments, "task_id")
        if name:
            return seen_task_id(self.project, self.identity, name)
        taken = self._taken(None)
        if taken is None:
            raise Conflict(
                "which task? Pass its task_id, or take one up with next_task"
            )
        return taken.task.task_id


def _goes_by(taken: Taken, name: str) -> bool:
    """Whether a name means a task: its own id, or that of the task it reviews."""
    return name in (taken.task.task_id, taken.task.checks)


def _is_review(content: JsonObject, taken: Taken | None) -> bool:
    if content:
        return content.get("schema_version") in REVIEW.read_versions
    return taken is not None and taken.kind == "review"


def _content(message: object) -> JsonObject:
    """Return what a message says, also one that was sent as a text.

    What cannot be read says nothing; it is refused when it is handed in.
    """
    if isinstance(message, dict):
        return message
    try:
        return parse_object(_as_bytes(message) or b"")
    except Unparseable:
        return {}


def _as_bytes(message: object) -> bytes | None:
    """Return a message as bytes, None if there is none."""
    if message is None:
        return None
    text = message
    if not isinstance(message, str):
        text = json.dumps(message, ensure_ascii=False)
    # a lone surrogate is refused by the reader, with the place where it is
    return str(text).encode("utf-8", "surrogatepass")


def _text(arguments: JsonObject, name: str) -> str | None:
    value = arguments.get(name)
    return value if isinstance(value, str) and value else None


def _number(arguments: JsonObject, name: str) -> int | None:
    value = arguments.get(name)
    return value if isinstance(value, int) else None
