"""Events as sentences: a clause for each kind, in a table.

A kind that is missing here fails a test, so that no new event is shown as a bare word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeAlias

from accordance.domain.findings import with_code
from accordance.domain.lifecycle import Event
from accordance.rendering.amounts import counted
from accordance.rendering.durations import duration_text

_LONGEST: Final = 300
"""Characters of a text from outside that a sentence repeats."""
_THOUSAND: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """An event, with what its payload only points at."""

    kind: str
    subject: str  # the title of the task, or of the plan
    payload: Mapping[str, object] = field(default_factory=dict)
    attempt: int | None = None
    is_review: bool = False  # it is about the review of that attempt
    who: str | None = None  # the executor, or the person who has the task
    why: str = ""  # the reason in words

    def text(self, key: str) -> str:
        """Return a text of the payload, in a line that is not too long."""
        value = self.payload.get(key)
        if value is None:
            return ""
        return _shortened(str(value))

    @property
    def nth(self) -> str:
        """The attempt, and who made it: `attempt 2 by coder`."""
        number = "an attempt" if self.attempt is None else f"attempt {self.attempt}"
        if self.is_review:
            number = f"the review of {number}"
        if self.who:
            return f"{number} by {_shortened(self.who)}"
        return number

    @property
    def by(self) -> str:
        """The person who did it, as the end of a clause."""
        person = self.text("by")
        return f" by {person}" if person else ""


Clause: TypeAlias = Callable[[Happening], str]


def sentence(event: Happening) -> str:
    """Return an event as a sentence: its subject, and what happened to it."""
    clause = EVENT_CLAUSES.get(event.kind, _unknown)
    return f"{_shortened(event.subject)}: {clause(event)}"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= _LONGEST:
        return line
    return f"{line[:_LONGEST]}…"


def _plain(clause: str) -> Clause:
    return lambda _: clause


def _with_person(clause: str) -> Clause:
    return lambda event: f"{clause}{event.by}"


def _of_attempt(clause: str) -> Clause:
    return lambda event: f"{event.nth} {clause}"


def _unknown(event: Happening) -> str:
    """The word itself, for a ledger that a newer accordance has written."""
    return event.kind


def _because(clause: str, reason: str) -> str:
    if reason:
        return f"{clause}: {reason}"
    return clause


# -- clauses with details


def _unparseable(event: Happening) -> str:
    return _because("a message broke its contract", event.text("why"))


def _verdict(event: Happening) -> str:
    outcome = event.text("outcome")
    code = event.text("reason_code")
    what = f"{event.nth} ended {outcome}"
    if code and event.why:
        return f"{what}, {with_code(code, _shortened(event.why))}"
    if code:
        return f"{what}, {code}"
    return what


def _message(event: Happening) -> str:
    if event.payload.get("kind") == "FAULT":
        return f"{event.nth} ended without a message"
    noun = "review" if event.payload.get("kind") == "REVIEW" else "message"
    verb = "honours" if event.payload.get("accepted") else "breaks"
    return f"a {noun} arrived and {verb} its contract"


def _message_refused(event: Happening) -> str:
    return _because("a message was refused", event.text("why"))


def _asked_person(event: Happening) -> str:
    return _because("a person is asked", event.text("text"))


def _answered(event: Happening) -> str:
    """What a person answered, as far as a line can show it."""
    words = [event.text("text"), event.text("choose")]
    decisions = {
        "approve": "approved",
        "give_up": "given up",
        "yes": "yes",
    }
    words += [word for key, word in decisions.items() if event.payload.get(key)]
    if event.payload.get("yes") is False:
        words.append("no")
    files = event.payload.get("files")
    if isinstance(files, list) and files:
        words.append(counted(len(files), "file"))

    answer = ", ".join(word for word in words if word)
    return _because(f"{event.text('question')} was answered{event.by}", answer)


def _prompted(event: Happening) -> str:
    name = event.text("executor") or "the executor"
    model = event.text("model")
    if model:
        name = f"{name} ({model})"
    return f"{name} got its prompt for {_run_name(event)}"


def _run_name(event: Happening) -> str:
    kind = event.text("kind")
    noun = {"action": "attempt", "review": "the review of attempt"}.get(kind)
    if noun is None:
        return "the plan" if kind == "plan" else "the review of the plan"
    return f"{noun} {event.text('attempt')}"


def _ran(event: Happening) -> str:
    milliseconds = event.payload.get("duration_ms")
    what = f"the run for {_run_name(event)} ended"
    if isinstance(milliseconds, int):
        what += f" after {duration_text(milliseconds / _THOUSAND)}"
    code = event.text("code")
    if code:
        return f"{what}, {with_code(code, event.text('text'))}"
    return what


def _reserved(event: Happening) -> str:
    """Say what an attempt may use at most; a plan bounds tokens, money or both."""
    tokens, cost = event.payload.get("tokens"), event.payload.get("cost")
    amounts = []
    if isinstance(tokens, int):
        amounts.append(counted(tokens, "token"))
    if isinstance(cost, int | float):
        amounts.append(f"a cost of {cost:.2f}")
    reserved = " and ".join(amounts)
    return f"{_run_name(event)} reserved {reserved} of the plan's budget"


def _answer_kept(event: Happening) -> str:
    """Work of an agent is kept in the same way as the answer of a model."""
    if event.payload.get("asked") == "work":
        return "the work was kept, to be judged"
    return "the model answered"


def _judged(event: Happening) -> str:
    return f"the change was judged; its evidence is in {event.text('bundle')}"


def _lent(event: Happening) -> str:
    worker = event.text("executor") or "an outside worker"
    return f"a clone was lent to {worker} for attempt {event.text('attempt')}"


def _left_alone(event: Happening) -> str:
    version = event.text("version")
    return f"attempt {event.text('attempt')} waits for a worker of version {version}"


def _inputs_changed(event: Happening) -> str:
    missing = event.payload.get("missing")
    if not missing:
        return "all its inputs are there"
    return f"{counted(int(str(missing)), 'input')} missing"


def _evidence_added(event: Happening) -> str:
    return f"the input {event.text('reference')} was supplied"


def _evidence_stale(event: Happening) -> str:
    return f"the input {event.text('path')} has changed or is gone"


def _imported(event: Happening) -> str:
    revision = event.text("revision") or "1"
    clause = f"revision {revision} was imported"
    nodes = event.payload.get("nodes")
    if isinstance(nodes, int):
        return f"{clause}, {counted(nodes, 'node')}"
    return clause


def _fuse_blown(event: Happening) -> str:
    return _because("a fuse blew, and the plan is held", event.text("fuse"))


def _plan_written(event: Happening) -> str:
    faults = event.payload.get("faults")
    if isinstance(faults, list) and faults:
        what = "a planner handed in a plan that breaks its contract"
        return _because(what, _shortened(str(faults[0])))
    return "a planner handed in a plan"


def _reported(event: Happening) -> str:
    worker = event.text("by") or "the worker"
    return f"{worker} reports: {event.text('text') or 'it goes on'}"


def _cancelled(event: Happening) -> str:
    clause = f"cancelled{event.by}"
    along = event.payload.get("along")
    if isinstance(along, list) and along:
        others = counted(len(along), "task")
        return f"{clause}, with {others} that waited for it"
    return clause


# -- the table

_TASK_CLAUSES: Final[Mapping[str, Clause]] = {
    Event.ENABLED: _plain("can begin"),
    Event.DISABLED: _plain("can no longer begin: it lost something that it needs"),
    Event.CLAIMED: _of_attempt("began"),
    Event.RELEASED: _with_person("was handed back"),
    Event.LEASE_LOST: _of_attempt("did not report in time, so its lease ran out"),
    Event.IDLED: _of_attempt("reports that there is nothing to do"),
    Event.PRODUCED: _of_attempt("delivered a product"),
    Event.ASKED: _of_attempt("needs documents"),
    Event.STALLED: _of_attempt("cannot go on without help"),
    Event.ERRED: _of_attempt("failed"),
    Event.UNPARSEABLE: _unparseable,
    Event.ASKED_AGAIN: _plain("the executor is asked again, within the same run"),
    Event.REVIEWER_ASKED_AGAIN: _plain(
        "the reviewer is asked again, within the same run"
    ),
    Event.APPROVED: _plain("approved"),
    Event.RETURNED: _plain("the review asks for changes"),
    Event.REFERRED: _plain("the review needs something from outside"),
    Event.MISREVIEWED: _plain("the reviewer's run ended without a review"),
    Event.RECHECKED: _plain("the product gets another review"),
    Event.ANSWERED: _with_person("goes on: its question was answered"),
    Event.RETRIED: _plain("gets another attempt"),
    Event.GRANTED: _with_person("got another chance"),
    Event.VOUCHED: _with_person("approved as it is"),
    Event.ESCALATED: _plain("waits for a person"),
    Event.BURIED: _plain("given up, now a dead letter"),
    Event.REQUEUED: _with_person("taken back from the dead letters"),
    Event.COMPLETED: _plain("done, because its parts are"),
    Event.DROPPED: _plain("no longer needed"),
    Event.CHOSEN: _plain("chosen again, in place of its alternative"),
}
_PLAN_CLAUSES: Final[Mapping[str, Clause]] = {
    "PLAN_IMPORTED": _imported,
    "PLAN_APPROVED": _plain("the plan was approved"),
    "PLAN_REVIEW_WAIVED": _with_person("the review of the plan was waived"),
    "PLAN_RETURNED": _plain("the review asks for a better plan"),
    "PLAN_REFERRED": _plain("the review of the plan needs a person"),
    "PLAN_FUSE_BLOWN": _fuse_blown,
    "PLAN_ANSWERED": _with_person(
        "the plan is reviewed again: a question was answered"
    ),
    "PLAN_RESUMED": _with_person("the plan was resumed, and its fuses count from zero"),
    "PLAN_AMENDED": _with_person("the plan was amended"),
    "PLAN_REBASED": _with_person("the plan's changes were rebased"),
    "PLAN_PAUSED": _with_person("the plan was paused"),
    "PLAN_CANCELLED": _with_person("the plan was cancelled"),
    "PLAN_ARCHIVED": _with_person("the plan was archived"),
    "PLAN_UNARCHIVED": _with_person("the plan was taken back from the archive"),
    "PLAN_DELETED": _with_person("the plan was deleted"),
}
_RECORD_CLAUSES: Final[Mapping[str, Clause]] = {
    "ASKED_A_PERSON": _asked_person,
    "CANCELLED": _cancelled,
    Event.OVERTAKEN: _plain("is good, and lands on the plan's new head next"),
    "CAUSE_GONE": _plain("goes on: the cause that blocked it is gone"),
    "EVIDENCE_ADDED": _evidence_added,
    "EVIDENCE_KEPT": _plain("the evidence of its change was kept"),
    "EVIDENCE_STALE": _evidence_stale,
    "INPUTS_CHANGED": _inputs_changed,
    "JUDGED": _judged,
    "LEFT_ALONE": _left_alone,
    "LENT": _lent,
    "MESSAGE": _message,
    "MESSAGE_REFUSED": _message_refused,
    "PLAN_BEGAN": _plain("the chain of its events began"),
    "PLAN_WRITTEN": _plan_written,
    "PROMPTED": _prompted,
    "QUESTION_ANSWERED": _answered,
    "RAN": _ran,
    "REPORTED": _reported,
    "RESERVED": _reserved,
    "KEY_MADE": _with_person("a key was made"),
    "KEY_REVOKED": _with_person("a key was revoked"),
    "WEBHOOK_MADE": _with_person("a webhook was added"),
    "WEBHOOK_REMOVED": _with_person("a webhook was removed"),
    "REVIEW_CAUSE_GONE": _plain("is reviewed again: the cause that blocked it is gone"),
    "ROWS_TAKEN_OVER": _plain("rows were sealed as a migration left them"),
    "ROWS_WRITTEN": _plain("rows were sealed"),
    "SAID": _answer_kept,
    "UNRESERVED": _plain("the review freed its part of the plan's budget"),
    "VERDICT": _verdict,
}
EVENT_CLAUSES: Final[Mapping[str, Clause]] = MappingProxyType(
    {**_TASK_CLAUSES, **_PLAN_CLAUSES, **_RECORD_CLAUSES}
)
"""What happened, by the kind of the event."""
