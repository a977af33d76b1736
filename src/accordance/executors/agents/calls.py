"""What was seen of the calls of a model, as the relay notes it: how they ended, what they cost, whether there is hope."""

from __future__ import annotations

import contextlib
import datetime as dt
import http
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

from accordance.domain.case import Budget
from accordance.domain.faults import Fault
from accordance.domain.spending import Spending, total
from accordance.executors.agents.counting import Reading

_HOPELESS_AFTER: Final = 3  # calls in a row that never reached the endpoint
_LAST_WORDS: Final = 2.0  # seconds that calls which were broken off have to end
_LONGEST_WAIT: Final = 24 * 3600.0  # whatever an endpoint asks for
_OVERLOADED: Final = (503, 529)
_REFUSED_KEPT: Final = 20
_REQUEST_CUT: Final = 200  # characters of a request that was refused


class RefusedRequest(NamedTuple):
    """A request that the relay did not pass on."""

    request: str  # its method and path
    status: int
    why: str


@dataclass(slots=True)
class Calls:
    """What was seen of the calls of a model, as facts."""

    budget: Budget = field(default_factory=Budget)
    priced: Callable[[Spending], Spending] = lambda spent: spent
    statuses: list[int] = field(default_factory=list)  # 0: the endpoint was not reached
    answers: list[Reading] = field(
        default_factory=list
    )  # the good ones, also those that are still coming
    refused: list[RefusedRequest] = field(
        default_factory=list
    )  # the first few that the relay did not pass on
    refusals: int = 0  # all of them
    wait: float | None = None  # seconds the endpoint asked to wait, in its last answer
    hopeless: threading.Event = field(default_factory=threading.Event)
    _is_over_budget: bool = False
    _open: set[socket.socket] = field(default_factory=set)
    _lock: threading.Condition = field(default_factory=threading.Condition)

    @contextlib.contextmanager
    def going_on(self, line: socket.socket) -> Iterator[None]:
        """A call that `end` can break off."""
        with self._lock:
            self._open.add(line)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(line)
                self._lock.notify_all()

    def end(self) -> None:
        """Break off every call that is still going on; what came of it has been read then."""
        with self._lock:
            for line in self._open:
                with contextlib.suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)
            self._lock.wait_for(lambda: not self._open, _LAST_WORDS)

    def note(self, status: int, wait: float | None = None) -> None:
        """Remember how a call ended."""
        with self._lock:
            self.statuses.append(status)
            self.wait = wait
            never = self.statuses[-_HOPELESS_AFTER:] == [0] * _HOPELESS_AFTER
            if never or self._last_fault in (Fault.UNAUTHORISED, Fault.UNKNOWN_MODEL):
                self.hopeless.set()

    def refuse(self, request: str, status: int, why: str) -> None:
        """Remember a request that was not passed on. It says nothing about the model."""
        with self._lock:
            self.refusals += 1
            if len(self.refused) < _REFUSED_KEPT:
                self.refused.append(RefusedRequest(request[:_REQUEST_CUT], status, why))

    def listen(self, reading: Reading) -> Reading:
        """Remember a good answer, while it comes."""
        with self._lock:
            self.answers.append(reading)
        return reading

    def may_go_on(self) -> bool:
        """Whether another call may be made; if not, the run has no hope left."""
        if not self.spent.uses_up(self.budget):
            return True
        self._is_over_budget = True
        self.hopeless.set()
        return False

    @property
    def spent(self) -> Spending:
        """What all of them cost."""
        with self._lock:
            return self.priced(total(answer.spending for answer in self.answers))

    @property
    def fault(self) -> Fault | None:
        """What is wrong: with the budget, or with the model and its endpoint, going by the last answer."""
        with self._lock:
            if self._is_over_budget:
                return Fault.OVER_BUDGET
            last = next(
                (answer for answer in reversed(self.answers) if answer.is_work), None
            )
            is_refused = last is not None and last.refused
            return self._last_fault or (Fault.REFUSED if is_refused else None)

    @property
    def _last_fault(self) -> Fault | None:
        """Of the last call. An endpoint that has answered knows the model."""
        fault = fault_of(self.statuses[-1]) if self.statuses else None
        return (
            Fault.REJECTED if fault is Fault.UNKNOWN_MODEL and self.answers else fault
        )


def fault_of(status: int) -> Fault | None:
    """What a status means; None if it is a good one."""
    if status in (401, 403):
        return Fault.UNAUTHORISED
    if status == http.HTTPStatus.NOT_FOUND:
        return Fault.UNKNOWN_MODEL
    if status == http.HTTPStatus.TOO_MANY_REQUESTS:
        return Fault.RATE_LIMITED
    if status == 0 or status in _OVERLOADED:
        return Fault.UNAVAILABLE
    if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
        return Fault.SERVER_ERROR
    return Fault.REJECTED if status >= http.HTTPStatus.BAD_REQUEST else None


def wait_of(said: str | None) -> float | None:
    """How many seconds a Retry-After asks for: a number, or a time."""
    if not said:
        return None
    try:
        seconds = float(said)
    except ValueError:
        seconds = _until(said)
    return min(seconds, _LONGEST_WAIT) if seconds >= 0 else None


def _until(said: str) -> float:
    """How many seconds are left until a time; -1 if it is none."""
    try:
        until = parsedate_to_datetime(said)
    except ValueError:
        return -1
    return max(0.0, (until - dt.datetime.now(until.tzinfo)).total_seconds())
