"""The error tree. Bad *messages* never raise: they come back as values. These are for everything else.

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
+-- InvalidSettings            accordance.toml says something nobody knows
+-- ContextTooLarge            what an agent must be told does not fit
+-- NotAccepted                a model was asked as often as allowed, and no answer was accepted
+-- IllegalTransition          a move the lifecycle does not know
+-- Conflict                   somebody else was first, or the time for it is over
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
    return f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names)}"


class AccordanceError(Exception):
    """The root of every error accordance raises on purpose."""


class Unparseable(AccordanceError):
    """The text is not exactly one JSON object. Says which rule it broke and where."""

    def __init__(self, code: str, *, expected: str, actual: str, path: str = "$", offset: int = 0) -> None:
        super().__init__(code, expected, actual, path, offset)
        self.code = code
        self.expected = expected
        self.actual = actual
        self.path = path
        self.offset = offset

    def __str__(self) -> str:
        return f"{self.code} at offset {self.offset}: expected {self.expected}, got {self.actual}"


class UnknownName(AccordanceError):
    """A name that nobody registered. Knows what was known, so the message can offer the way out."""

    kind: ClassVar[str] = "name"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        self.near = nearest(name, self.known)
        super().__init__(name, self.known)

    def __str__(self) -> str:
        return f"unknown {self.kind} {self.name!r}; {did_you_mean(self.name, self.known)}"


class UnknownContract(UnknownName):
    """No contract, scope or version of that name."""

    kind = "contract"


class UnknownCode(UnknownName):
    """No violation or warning code of that name."""

    kind = "code"


class UnknownProfile(UnknownName):
    """The contract has no profile of that name, or there is no such schema profile."""

    kind = "profile"


class UnknownRole(UnknownName):
    """No role of that name is registered."""

    kind = "role"


class UnknownExecutor(UnknownName):
    """No executor of that name is configured."""

    kind = "executor"


class UnknownModel(UnknownName):
    """The executor has no model of that name."""

    kind = "model"


class UnknownPrompt(UnknownName):
    """No prompt file of that name."""

    kind = "prompt"


class UnknownAgent(UnknownName):
    """No research agent answers to that name."""

    kind = "agent"


class ContractAlreadyRegistered(AccordanceError):
    """A version means one thing for ever: a second definition is refused."""

    def __init__(self, name: str, holder: str = "") -> None:
        super().__init__(name, holder)
        self.name = name
        self.holder = holder

    def __str__(self) -> str:
        holder = f" for {self.holder}" if self.holder else ""
        return (
            f"{self.name!r} is registered already{holder}; a version is never redefined: "
            "give the new one a new name, or register it in a Registry of its own"
        )


class InvalidContract(AccordanceError):
    """A contract definition that could never work."""


class InvalidContext(AccordanceError):
    """A context that does not fit the messages it is meant for."""


class InvalidPath(AccordanceError):
    """A JSON path that cannot be read, or that leads nowhere in the given value."""


class InvalidPattern(AccordanceError):
    """A pin that leaves the repository or cannot be matched safely."""


class InvalidTScore(AccordanceError):
    """A T-score that is no number from 0 to 1."""

    def __init__(self, fault: str, score: object) -> None:
        super().__init__(fault, score)
        self.fault = fault
        self.score = score

    def __str__(self) -> str:
        return f"{self.fault}: a T-score is a number from 0 to 1, got {self.score!r}"


class InvalidAgents(AccordanceError):
    """A registry of research agents that does not hold together."""


class InvalidGolden(AccordanceError):
    """A golden set, or a report of one, that cannot be read."""


class InvalidComparator(AccordanceError):
    """An expectation that cannot be read. Says what can be written instead."""


class InvalidRun(AccordanceError):
    """An answer that cannot be counted: it selects nothing, or says no time."""


class InvalidRubric(AccordanceError):
    """A rubric whose dimensions do not add up."""


class InvalidFuses(AccordanceError):
    """A fuse nobody knows, or a bound that is none."""


class InvalidPhases(AccordanceError):
    """A level nobody knows, or an executed phase that is none."""

    def __init__(self, fault: str, where: str, found: object) -> None:
        super().__init__(fault, where, found)
        self.fault = fault
        self.where = where
        self.found = found

    def __str__(self) -> str:
        return f"{self.fault}:{self.where}: got {self.found!r}"


class InvalidRouting(AccordanceError):
    """Executors or routes in accordance.toml that could never work."""


class InvalidSettings(AccordanceError):
    """accordance.toml cannot be read, says something nobody knows, or is another user's."""


class OwnWork(InvalidRouting):
    """Whoever would review a product has made it."""


class NoExecutor(InvalidRouting):
    """Nothing is configured that could do the work."""


class ContextTooLarge(AccordanceError):
    """What an agent must be told does not fit into its context."""

    def __init__(self, needed: int, budget: int) -> None:
        super().__init__(needed, budget)
        self.needed = needed
        self.budget = budget

    def __str__(self) -> str:
        return (
            f"what must be told takes {self.needed:,} bytes, and {self.budget:,} are allowed; "
            "split the task or raise its context budget"
        )


class NotAccepted(AccordanceError):
    """A model was asked as often as allowed, and no answer honoured the contract."""

    def __init__(self, attempts: Sequence[Any], last: str) -> None:
        self.attempts = tuple(attempts)
        self.last = last
        super().__init__(self.attempts, last)

    def __str__(self) -> str:
        count = len(self.attempts)
        times = "once" if count == 1 else f"{count} times"
        return f"asked {times}, no answer was accepted; the last one: {self.last}"


class IllegalTransition(AccordanceError):
    """A move the lifecycle's table does not know. Nothing has changed."""

    def __init__(self, state: str, event: str, legal: Iterable[str]) -> None:
        self.state = state
        self.event = event
        self.legal = tuple(legal)
        super().__init__(state, event, self.legal)

    def __str__(self) -> str:
        way_out = f"possible there: {', '.join(self.legal)}" if self.legal else "nothing leaves that state"
        return f"{self.event} cannot happen to a task that is {self.state}; {way_out}"


class InvalidRole(AccordanceError):
    """A role's policy that cannot be read: an unknown key, a wrong type, a pattern that leaves the repository."""


class InvalidTerms(AccordanceError):
    """The written terms of a verdict cannot be read, so it cannot be recomputed."""


class GateNotRun(AccordanceError):
    """A gate has not run, or a fact it needs was not collected. That is never a pass."""


class Conflict(AccordanceError):
    """Somebody else was first, or the time for it is over. Nothing has changed."""


class NotFound(UnknownName):
    """No plan, task, question or message of that name."""

    def __init__(self, kind: str, name: str, known: Iterable[str] = ()) -> None:
        super().__init__(name, known)
        self.what = kind

    def __str__(self) -> str:
        offer = f"; did you mean {' or '.join(self.near)}?" if self.near else ""
        return f"no {self.what} {self.name!r}{offer}"


class NoPlan(NotFound):
    """No plan was named, and the ledger has none."""

    def __init__(self) -> None:
        super().__init__("plan", "")

    def __str__(self) -> str:
        return "there is no plan yet"


class CannotWrite(AccordanceError):
    """A file or a stream takes nothing: no room, no permission, nobody there."""

    def __init__(self, what: object, why: OSError) -> None:
        super().__init__(what, why)
        self.what = what
        self.why = why.strerror or str(why)

    def __str__(self) -> str:
        return f"{self.what}: cannot be written ({self.why}); name another place, or make this one writable"


class LedgerError(AccordanceError):
    """The ledger could not do it. Nothing has changed."""


class LedgerBusy(LedgerError):
    """Somebody else holds the ledger for too long."""


class LedgerUnavailable(LedgerError):
    """The ledger cannot be opened, read or written."""


class LedgerAddress(LedgerUnavailable):
    """What was named as a ledger can be none."""


class LedgerUnreachable(LedgerUnavailable):
    """The database does not answer, or has no such database."""


class LedgerDenied(LedgerUnavailable):
    """The database, the file or the folder is not open to this user."""


class LedgerDamaged(LedgerError):
    """Something in the ledger is not what accordance writes."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return (
            f"the ledger was changed from outside: {self.what}; `accordance verify` says what does not hold"
        )


class LedgerTooOld(LedgerError):
    """The ledger has to be upgraded first, and may only be read here."""


class LedgerMissing(LedgerError):
    """There is no ledger there."""


class LedgerTooNew(LedgerError):
    """The ledger was written by a newer accordance."""
