"""The error tree. Bad *messages* never raise: they come back as values. These are for everything else.

Every class has a `code` of its own that never changes, and a `category`, from which a face takes its exit code or HTTP status.
Every error has a `text`, what is wrong, and may have a `way_out`, what to do about it. docs/errors.md lists them all.

AccordanceError
+-- Unparseable                the text is not exactly one JSON object (raised by the readers only)
+-- UnknownName                a name nobody registered
|   +-- UnknownContract
|   +-- UnknownCode
|   +-- UnknownProfile
|   +-- UnknownRole
|   +-- UnknownExecutor
|   +-- UnknownModel
|   +-- UnknownPrompt
|   +-- UnknownAgent
+-- ContractAlreadyRegistered  a second definition of one version, scope or name
+-- InvalidContract            a definition that could never work
+-- InvalidContext             a context that does not fit
+-- InvalidPath                a JSON path that cannot be read or followed
+-- InvalidPattern             a pin that could never match safely
+-- InvalidTScore              a score that is no number from 0 to 1
+-- InvalidRole                a role's policy that cannot be read
+-- InvalidTerms               the written terms of a verdict cannot be read
+-- GateNotRun                 a verdict was asked for before every gate had the facts it needs
+-- InvalidAgents              a registry of agents that does not hold together
+-- InvalidGolden              a golden set that cannot be run
+-- InvalidComparator          an expectation that cannot be read
+-- InvalidRun                 an answer without a selection, where answers are counted
+-- InvalidRubric              a rubric whose dimensions do not add up
+-- InvalidFuses               a fuse nobody knows, or a bound that is none
+-- InvalidPhases              a level nobody knows, or a phase that is none
+-- InvalidRouting             executors or routes that could never work
|   +-- OwnWork                whoever would review a product has made it
|   +-- NoExecutor             nothing is configured that could do the work
|       +-- NoModel            a model is to be asked, and none is named
+-- InvalidSettings            accordance.toml says something nobody knows
|   +-- IsolationTurnedOff     a file asks for less isolation than there is
+-- ContextTooLarge            what an agent must be told does not fit
+-- NotAccepted                a model was asked as often as allowed, and no answer was accepted
+-- IllegalTransition          a move the lifecycle does not know
+-- Conflict                   somebody else was first, or the time for it is over
|   +-- AttemptJudged          there is a bundle of that attempt already
|   +-- TasksWait              others wait for a task that is to be cancelled
+-- NotFound                   no such plan, task, question or message
|   +-- NoPlan                 none was named, and there is none
+-- CannotWrite                a file or a stream takes nothing
+-- LedgerError                the ledger could not do it; nothing was changed
|   +-- LedgerBusy             somebody else holds it for too long
|   +-- LedgerUnavailable      it cannot be opened, read or written
|   +-- LedgerMissing          there is none
|   +-- LedgerTooNew           it was written by a newer accordance
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, ClassVar


def nearest(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The known names that look most like `name`, letter case aside."""
    by_folded = {word.casefold(): word for word in known}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=count, cutoff=0.5)
    return tuple(by_folded[word] for word in found)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The way out of a name nobody knows: the nearest known ones, else all of them."""
    names = tuple(known)
    near = nearest(name, names)
    return (
        f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names)}"
    )


class Category(Enum):
    """What an error means to whoever called, whatever they called with."""

    USAGE = "what was asked for cannot be done as it was asked"
    NOT_FOUND = "what was named does not exist"
    CONFLICT = "another one was first, or it is too late"
    AUTH = "this user may not"
    REJECTED = "what was looked at does not hold"
    UNAVAILABLE = "a file, a database or this machine cannot do it"


class AccordanceError(Exception):
    """The root of every error accordance raises on purpose.

    A way out names no option of a command: a face that has one adds it, by the error's code.
    """

    code: str = "error"
    category: ClassVar[Category] = Category.USAGE

    def __init__(self, *args: object, way_out: str = "") -> None:
        super().__init__(*args)
        self._way_out = way_out

    @property
    def text(self) -> str:
        """What is wrong."""
        return super().__str__()

    @property
    def way_out(self) -> str:
        """What to do about it; empty where the text says all there is."""
        return self._way_out

    def __str__(self) -> str:
        return f"{self.text}; {self.way_out}" if self.way_out else self.text


class Unparseable(AccordanceError):
    """The text is not exactly one JSON object. Says which rule it broke and where."""

    code = "unparseable"

    def __init__(
        self, code: str, *, expected: str, actual: str, path: str = "$", offset: int = 0
    ) -> None:
        super().__init__(code, expected, actual, path, offset)
        self.code = code
        self.expected = expected
        self.actual = actual
        self.path = path
        self.offset = offset

    @property
    def text(self) -> str:
        """The rule, and what stands there."""
        return f"{self.code} at offset {self.offset}: expected {self.expected}, got {self.actual}"


class UnknownName(AccordanceError):
    """A name that nobody registered. Knows what was known, so the message can offer the way out."""

    code = "unknown-name"
    category = Category.NOT_FOUND
    kind: ClassVar[str] = "name"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        self.near = nearest(name, self.known)
        super().__init__(name, self.known)

    @property
    def text(self) -> str:
        """The name, and of what it is none."""
        return f"unknown {self.kind} {self.name!r}"

    @property
    def way_out(self) -> str:
        """The nearest known names, else all of them."""
        return did_you_mean(self.name, self.known)


class UnknownContract(UnknownName):
    """No contract, scope or version of that name."""

    code = "unknown-contract"
    kind = "contract"


class UnknownCode(UnknownName):
    """No violation or warning code of that name."""

    code = "unknown-code"
    kind = "code"


class UnknownProfile(UnknownName):
    """The contract has no profile of that name, or there is no such schema profile."""

    code = "unknown-profile"
    kind = "profile"


class UnknownRole(UnknownName):
    """No role of that name is registered."""

    code = "unknown-role"
    kind = "role"


class UnknownExecutor(UnknownName):
    """No executor of that name is configured."""

    code = "unknown-executor"
    kind = "executor"


class UnknownModel(UnknownName):
    """The executor has no model of that name."""

    code = "unknown-model"
    kind = "model"


class UnknownPrompt(UnknownName):
    """No prompt file of that name."""

    code = "unknown-prompt"
    kind = "prompt"


class UnknownAgent(UnknownName):
    """No research agent answers to that name."""

    code = "unknown-agent"
    kind = "agent"


class ContractAlreadyRegistered(AccordanceError):
    """A version means one thing for ever: a second definition is refused."""

    code = "contract-already-registered"

    def __init__(self, name: str, holder: str = "") -> None:
        super().__init__(name, holder)
        self.name = name
        self.holder = holder

    @property
    def text(self) -> str:
        """The name, and what has it."""
        holder = f" for {self.holder}" if self.holder else ""
        return f"{self.name!r} is registered already{holder}"

    @property
    def way_out(self) -> str:
        """Another name, or another registry."""
        return "a version is never redefined: give the new one a new name, or register it in a Registry of its own"


class InvalidContract(AccordanceError):
    """A contract definition that could never work."""

    code = "invalid-contract"


class InvalidContext(AccordanceError):
    """A context that does not fit the messages it is meant for."""

    code = "invalid-context"


class InvalidPath(AccordanceError):
    """A JSON path that cannot be read, or that leads nowhere in the given value."""

    code = "invalid-path"


class InvalidPattern(AccordanceError):
    """A pin that leaves the repository or cannot be matched safely."""

    code = "invalid-pattern"


class InvalidTScore(AccordanceError):
    """A T-score that is no number from 0 to 1."""

    code = "invalid-t-score"

    def __init__(self, fault: str, score: object) -> None:
        super().__init__(fault, score)
        self.fault = fault
        self.score = score

    @property
    def text(self) -> str:
        """The fault, and the score."""
        return f"{self.fault}: a T-score is a number from 0 to 1, got {self.score!r}"


class InvalidAgents(AccordanceError):
    """A registry of research agents that does not hold together."""

    code = "invalid-agents"


class InvalidGolden(AccordanceError):
    """A golden set, or a report of one, that cannot be read."""

    code = "invalid-golden"


class InvalidComparator(AccordanceError):
    """An expectation that cannot be read. Says what can be written instead."""

    code = "invalid-comparator"


class InvalidRun(AccordanceError):
    """An answer that cannot be counted: it selects nothing, or says no time."""

    code = "invalid-run"


class InvalidRubric(AccordanceError):
    """A rubric whose dimensions do not add up."""

    code = "invalid-rubric"


class InvalidFuses(AccordanceError):
    """A fuse nobody knows, or a bound that is none."""

    code = "invalid-fuses"


class InvalidPhases(AccordanceError):
    """A level nobody knows, or an executed phase that is none."""

    code = "invalid-phases"

    def __init__(self, fault: str, where: str, found: object) -> None:
        super().__init__(fault, where, found)
        self.fault = fault
        self.where = where
        self.found = found

    @property
    def text(self) -> str:
        """The fault, its place, and what stands there."""
        return f"{self.fault}:{self.where}: got {self.found!r}"


class InvalidRouting(AccordanceError):
    """Executors or routes in accordance.toml that could never work."""

    code = "invalid-routing"


class InvalidSettings(AccordanceError):
    """accordance.toml cannot be read, says something nobody knows, or is another user's."""

    code = "invalid-settings"


class IsolationTurnedOff(InvalidSettings):
    """accordance.toml asks for less isolation than there is: the agent that is to be held back may have written it."""

    code = "isolation-turned-off"


class OwnWork(InvalidRouting):
    """Whoever would review a product has made it."""

    code = "own-work"


class NoExecutor(InvalidRouting):
    """Nothing is configured that could do the work."""

    code = "no-executor"


class NoModel(NoExecutor):
    """A model is to be asked, and none is named."""

    code = "no-model"


class ContextTooLarge(AccordanceError):
    """What an agent must be told does not fit into its context."""

    code = "context-too-large"

    def __init__(self, needed: int, budget: int) -> None:
        super().__init__(needed, budget)
        self.needed = needed
        self.budget = budget

    @property
    def text(self) -> str:
        """How much it takes, and how much there is."""
        return f"what must be told takes {self.needed:,} bytes, and {self.budget:,} are allowed"

    @property
    def way_out(self) -> str:
        """Less to tell, or more room."""
        return "split the task or raise its context budget"


class NotAccepted(AccordanceError):
    """A model was asked as often as allowed, and no answer honoured the contract."""

    code = "not-accepted"

    def __init__(self, attempts: Sequence[Any], last: str) -> None:
        self.attempts = tuple(attempts)
        self.last = last
        super().__init__(self.attempts, last)

    @property
    def text(self) -> str:
        """How often it was asked, and what was wrong with the last answer."""
        count = len(self.attempts)
        times = "once" if count == 1 else f"{count} times"
        return f"asked {times}, no answer was accepted; the last one: {self.last}"


class IllegalTransition(AccordanceError):
    """A move the lifecycle's table does not know. Nothing has changed."""

    code = "illegal-transition"
    category = Category.CONFLICT

    def __init__(self, state: str, event: str, legal: Iterable[str]) -> None:
        self.state = state
        self.event = event
        self.legal = tuple(legal)
        super().__init__(state, event, self.legal)

    @property
    def text(self) -> str:
        """The event, and the state."""
        return f"{self.event} cannot happen to a task that is {self.state}"

    @property
    def way_out(self) -> str:
        """What can happen in that state."""
        return (
            f"possible there: {', '.join(self.legal)}"
            if self.legal
            else "nothing leaves that state"
        )


class InvalidRole(AccordanceError):
    """A role's policy that cannot be read: an unknown key, a wrong type, a pattern that leaves the repository."""

    code = "invalid-role"


class InvalidTerms(AccordanceError):
    """The written terms of a verdict cannot be read, so it cannot be recomputed."""

    code = "invalid-terms"


class GateNotRun(AccordanceError):
    """A gate has not run, or a fact it needs was not collected. That is never a pass."""

    code = "gate-not-run"


class Conflict(AccordanceError):
    """Somebody else was first, or the time for it is over. Nothing has changed."""

    code = "conflict"
    category = Category.CONFLICT


class AttemptJudged(Conflict):
    """There is a bundle of that attempt already."""

    code = "attempt-judged"


class TasksWait(Conflict):
    """A task cannot be cancelled by itself: others would wait for it for ever."""

    code = "tasks-wait"


class NotFound(UnknownName):
    """No plan, task, question or message of that name."""

    code = "not-found"

    def __init__(self, kind: str, name: str, known: Iterable[str] = ()) -> None:
        super().__init__(name, known)
        self.what = kind

    @property
    def text(self) -> str:
        """What there is none of."""
        return f"no {self.what} {self.name!r}"

    @property
    def way_out(self) -> str:
        """The nearest names, if any is near."""
        return f"did you mean {' or '.join(self.near)}?" if self.near else ""


class NoPlan(NotFound):
    """No plan was named, and the ledger has none."""

    code = "no-plan"

    def __init__(self) -> None:
        super().__init__("plan", "")

    @property
    def text(self) -> str:
        """There is nothing to name."""
        return "there is no plan yet"


class CannotWrite(AccordanceError):
    """A file or a stream takes nothing: no room, no permission, nobody there."""

    code = "cannot-write"
    category = Category.UNAVAILABLE

    def __init__(self, what: object, why: OSError) -> None:
        super().__init__(what, why)
        self.what = what
        self.why = why.strerror or str(why)

    @property
    def text(self) -> str:
        """The place, and why."""
        return f"{self.what}: cannot be written ({self.why})"

    @property
    def way_out(self) -> str:
        """Another place, or this one made writable."""
        return "name another place, or make this one writable"


class LedgerError(AccordanceError):
    """The ledger could not do it. Nothing has changed."""

    code = "ledger-error"


class LedgerBusy(LedgerError):
    """Somebody else holds the ledger for too long."""

    code = "ledger-busy"
    category = Category.CONFLICT


class LedgerUnavailable(LedgerError):
    """The ledger cannot be opened, read or written."""

    code = "ledger-unavailable"
    category = Category.UNAVAILABLE


class LedgerAddress(LedgerUnavailable):
    """What was named as a ledger can be none."""

    code = "ledger-address"
    category = Category.USAGE


class LedgerUnreachable(LedgerUnavailable):
    """The database does not answer, or has no such database."""

    code = "ledger-unreachable"
    category = Category.NOT_FOUND


class LedgerDenied(LedgerUnavailable):
    """The database, the file or the folder is not open to this user."""

    code = "ledger-denied"
    category = Category.AUTH


class LedgerDamaged(LedgerError):
    """Something in the ledger is not what accordance writes."""

    code = "ledger-damaged"
    category = Category.REJECTED

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    @property
    def text(self) -> str:
        """What is not as it was written."""
        return f"the ledger was changed from outside: {self.what}"

    @property
    def way_out(self) -> str:
        """Have all of it looked at."""
        return "have the ledger verified"


class LedgerTooOld(LedgerError):
    """The ledger has to be upgraded first, and may only be read here."""

    code = "ledger-too-old"


class LedgerMissing(LedgerError):
    """There is no ledger there."""

    code = "ledger-missing"
    category = Category.NOT_FOUND


class LedgerTooNew(LedgerError):
    """The ledger was written by a newer accordance."""

    code = "ledger-too-new"
