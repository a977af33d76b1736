"""The tools of `accordance mcp`: take up a task, hand in its message, see what came of it, ask a person, keep it or put it down.

Whoever has lost a task (their lease ran out, somebody put it down) is told so: nothing they say counts for whoever has it now.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from accordance.contracts.catalogue.review import REVIEW
from accordance.contracts.jsonpath import JsonObject
from accordance.errors import Conflict
from accordance.executors.tool_server import Offer
from accordance.project.home import Home
from accordance.service import tasks
from accordance.service.project import Ledger, Project
from accordance.service.task_records import standing_of
from accordance.service.tasks import Assigned, Taken, WorkRequest

INSTRUCTIONS: Final = (
    "Ask for a task with next, do it, and hand in its message with submit. A task that changes a repository comes with a clone in "
    "the folder workspace: change it there, within its pins, and what you leave is judged when you submit. The answer says what came of it; get_verdict says it "
    "again. Call extend now and then while you work: a task that is not handed in in time goes to somebody else. What only "
    "a person can say, ask with ask_human; a task that you cannot do, put down with release."
)
_TASK: Final[JsonObject] = {
    "type": "string",
    "description": "The task; the one you took up last, if left out.",
}
_ATTEMPT: Final[JsonObject] = {
    "type": "integer",
    "description": "The attempt; the one you have, if left out.",
}


_MESSAGE: Final[JsonObject] = {
    "type": "object",
    "description": "The whole message, as the task's contract wants it. A change may leave it in its clone as submit.json.",
}
_QUESTION: Final[JsonObject] = {
    "type": "string",
    "description": "What you need to know, so that somebody who sees nothing else can answer it.",
}


def _takes(*required: str, **properties: JsonObject) -> JsonObject:
    """What a tool takes, and what of it must be given."""
    return {
        "type": "object",
        "properties": properties,
        **({"required": list(required)} if required else {}),
    }


def _raw(message: object) -> bytes | None:
    """A message as bytes; None if there is none."""
    if message is None:
        return None
    return (
        message.encode()
        if isinstance(message, str)
        else json.dumps(message, ensure_ascii=False).encode()
    )


@dataclass(slots=True)
class Desk:
    """One agent's place at a ledger, and the tasks it has.

    An agent that comes back under a name of its own gets the task it had; under a name that others may share, it is only told
    which tasks are with that name.
    """

    ledger: Ledger
    home: Home
    holder: str
    plan_id: str | None = None
    any_task: bool = (
        True  # also what the routes give to an executor of accordance's own
    )
    resumes: bool = False  # the name is this agent's alone: what it has under it is given to it again
    taken: dict[str, Taken] = field(default_factory=dict)  # by task, the last one last
    _lock: Lock = field(default_factory=Lock)  # one call at a time

    def offers(self) -> tuple[Offer, ...]:
        """The tools."""
        message = _takes(message=_MESSAGE, task_id=_TASK, attempt=_ATTEMPT)
        one, question = (
            _takes(task_id=_TASK),
            _takes("question", question=_QUESTION, task_id=_TASK),
        )
        return (
            Offer(
                "next",
                "Take up the next task: its goal, contract and context.",
                _takes(),
                self.next,
            ),
            Offer(
                "submit",
                "Hand in the message for a task and get the verdict.",
                message,
                self.submit,
            ),
            Offer(
                "get_verdict",
                "What was decided about a task, and where it stands.",
                one,
                self.get_verdict,
            ),
            Offer(
                "ask_human",
                "Ask a person. The task is theirs until they answer; the answer is told to whoever does it then.",
                question,
                self.ask_human,
            ),
            Offer(
                "extend", "Keep the task you have for another while.", one, self.extend
            ),
            Offer(
                "release",
                "Put the task you have down again; it counts as no failure.",
                one,
                self.release,
            ),
        )

    @property
    def project(self) -> Project:
        """The project it works for."""
        return Project(self.home, self.ledger)

    def next(self, arguments: JsonObject) -> JsonObject:  # noqa: ARG002 - it takes none
        """Take up the task that the agent had before it came back, else the next one."""
        with self._lock:
            known = {task_id: taken.attempt for task_id, taken in self.taken.items()}
            request = WorkRequest(
                holder=self.holder,
                plan_id=self.plan_id,
                any_task=self.any_task,
                known=known if self.resumes else None,
            )
            handed = tasks.take_task(self.project, request)
            if not isinstance(handed, Assigned):
                return {**handed.to_json(), **self._already_theirs()}
            task_id = handed.taken.task.task_id
            self.taken.pop(task_id, None)
            self.taken[task_id] = handed.taken
            return handed.view.to_json()

    def _already_theirs(self) -> JsonObject:
        """The tasks that somebody under this name has: to be handed in, or put down with release and their task_id."""
        held = tasks.held_tasks(self.project, self.holder, self.plan_id)
        return {"yours": [taken.task.task_id for taken in held]} if held else {}

    def submit(self, arguments: JsonObject) -> JsonObject:
        """Hand in a message; a review is told by its version. The same message again gets the same answer."""
        said = arguments.get("message")
        words = said if isinstance(said, dict) else {}
        with self._lock:
            named = arguments.get("task_id") or words.get("task_id")
            taken = self._taken(named)
            is_review = words.get("schema_version") in REVIEW.read_versions or (
                not words and taken is not None and taken.kind == "review"
            )
            return self._hand_in(
                _raw(said), taken, named, arguments.get("attempt"), is_review=is_review
            )

    def _hand_in(
        self,
        raw: bytes | None,
        taken: Taken | None,
        named: object,
        attempt: object,
        *,
        is_review: bool,
    ) -> JsonObject:
        task_id = taken.task.task_id if taken else str(named) if named else None
        number = (
            attempt if isinstance(attempt, int) else taken.attempt if taken else None
        )
        if not is_review:
            answer = tasks.submit(
                self.project, raw, task_id=task_id, attempt=number, holder=self.holder
            )
            return answer.to_json()
        if raw is None:
            raise Conflict("a review takes a message: hand one in")
        answer = tasks.review(
            self.project,
            raw,
            task_id=task_id,
            artifact=taken.lease.product if taken else None,
            reviewer=self.holder,
            attempt=number,
            holder=self.holder,
        )
        return answer.to_json()

    def get_verdict(self, arguments: JsonObject) -> JsonObject:
        """Every verdict on a task, the last one last, and where it stands."""
        with self._lock:
            return standing_of(self.project, self._name(arguments)).to_json()

    def ask_human(self, arguments: JsonObject) -> JsonObject:
        """Hand in, in the agent's name, that it needs an answer: the task waits for it."""
        question = arguments.get("question")
        if not isinstance(question, str) or not question.strip():
            raise Conflict(
                "ask_human takes a question: a text that says what you need to know"
            )
        with self._lock:
            taken = self._taken(arguments.get("task_id"))
            if taken is None or taken.kind != "action":
                raise Conflict(
                    "only a task that you have taken up with next can wait for an answer; a review asks by "
                    "action_required REQUEST_EXTERNAL_INPUT"
                )
            return tasks.ask_person(
                self.project, taken, question, holder=self.holder
            ).to_json()

    def extend(self, arguments: JsonObject) -> JsonObject:
        """Say that the task is still being worked on."""
        with self._lock:
            taken = self._has(arguments)
            task_id = taken.task.task_id
            lease = tasks.extend(
                self.project, task_id, attempt=taken.attempt, holder=self.holder
            )
        return {"task_id": task_id, "until": lease.until}

    def release(self, arguments: JsonObject) -> JsonObject:
        """Put a task down again."""
        with self._lock:
            taken = self._has(arguments)
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

    # -- which task is meant

    def _taken(self, named: object) -> Taken | None:
        """The task that is meant, if it was taken up here: by its name or by what it reviews; else the last one."""
        for one in reversed(self.taken.values()):
            if not named or named in (one.task.task_id, one.task.checks):
                return one
        return None

    def _has(self, arguments: JsonObject) -> Taken:
        """The task that is meant: taken up here, or by the same agent before it came back."""
        named = arguments.get("task_id")
        taken = self._taken(named) or self._had(named)
        if taken is None:
            raise Conflict(
                "there is no task to keep or to put down; take one up with next"
            )
        return taken

    def _had(self, named: object) -> Taken | None:
        """A task that the ledger knows to be with this agent; one that is not named must be the only one."""
        held = tasks.held_tasks(self.project, self.holder, self.plan_id)
        fitting = [
            one
            for one in held
            if not named or named in (one.task.task_id, one.task.checks)
        ]
        return fitting[0] if len(fitting) == 1 and (named or self.resumes) else None

    def _name(self, arguments: JsonObject) -> str:
        named = arguments.get("task_id")
        taken = self._taken(named)
        if not named and taken is None:
            raise Conflict("which task? name its task_id, or take one up with next")
        return str(named) if named or taken is None else taken.task.task_id
