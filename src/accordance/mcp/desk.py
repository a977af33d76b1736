"""The tools of `accordance mcp`: `next` gives a task, `submit` takes its message, `extend` says that somebody is still there."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from accordance.contracts.catalogue.review import REVIEW
from accordance.contracts.jsonpath import JsonObject
from accordance.engine.assignment import assignment
from accordance.engine.home import Home
from accordance.engine.inputs import look_at_inputs
from accordance.engine.reviewing import review
from accordance.engine.settings import holding_for
from accordance.engine.submitting import submit
from accordance.engine.working import Nothing, Taken, extend, take_next
from accordance.errors import Conflict
from accordance.executors.tool_server import Offer
from accordance.store.ledger import Ledger

INSTRUCTIONS: Final = (
    "Ask for a task with next, do it, and hand in its message with submit. The answer says what came of it. Call extend now "
    "and then while you work: a task that is not handed in in time goes to somebody else."
)
_NOTHING: Final[JsonObject] = {"type": "object", "properties": {}}
_MESSAGE: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "message": {"type": "object", "description": "The whole message, as the task's contract wants it."},
        "task_id": {"type": "string", "description": "The task it is for; the one you have, if left out."},
    },
    "required": ["message"],
}


@dataclass(slots=True)
class Desk:
    """One agent's place at a ledger, and the task it has."""

    ledger: Ledger
    home: Home
    holder: str
    plan_id: str | None = None
    taken: Taken | None = None
    _lock: Lock = field(default_factory=Lock)  # one call at a time

    def offers(self) -> tuple[Offer, ...]:
        """The tools."""
        return (
            Offer("next", "Take up the next task: its goal, contract and context.", _NOTHING, self.next),
            Offer("submit", "Hand in the message for a task and get the verdict.", _MESSAGE, self.submit),
            Offer("extend", "Keep the task you have for another while.", _NOTHING, self.extend),
        )

    def next(self, arguments: JsonObject) -> JsonObject:  # noqa: ARG002 - it takes none
        """Take up the next task."""
        with self._lock:
            files = look_at_inputs(self.ledger, self.home)
            taken = take_next(
                self.ledger,
                files,
                plan_id=self.plan_id,
                holder=self.holder,
                holding=holding_for(self.home),
            )
            if isinstance(taken, Nothing):
                return {"task": None, "why": taken.name, "text": taken.value}
            self.taken = taken
            with self.ledger.read() as tx:
                return assignment(tx, self.home, taken)

    def submit(self, arguments: JsonObject) -> JsonObject:
        """Hand in a message; a review is told by its version."""
        said = arguments.get("message")
        raw = said.encode() if isinstance(said, str) else json.dumps(said, ensure_ascii=False).encode()
        named = arguments.get("task_id")
        task = str(named) if named else self.taken.task.task_id if self.taken else None
        with self._lock:
            if isinstance(said, dict) and said.get("schema_version") in REVIEW.read_versions:
                product = self.taken.lease.product if self.taken else None
                return review(self.ledger, raw, task_id=task, product=product).to_json()
            return submit(self.ledger, self.home, raw, task_id=task).to_json()

    def extend(self, arguments: JsonObject) -> JsonObject:  # noqa: ARG002 - it takes none
        """Say that the task is still being worked on."""
        if self.taken is None:
            raise Conflict("there is no task to keep; take one up with next")
        task = self.taken.task
        with self._lock:
            lease = extend(self.ledger, task.task_id, attempt=task.progress.standing.counters.attempts)
        return {"task_id": task.task_id, "until": lease.until}
