"""The calls of a model in a run, as the relay records them.

How they ended, what they cost, and whether further calls make sense.
"""

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

from accordance.domain.faults import Fault
from accordance.domain.spending import Spending, total
from accordance.domain.usage import Budget
from accordance.executors.agents.answer_reader import AnswerReader

_UNREACHED: Final = 0  # stands for a status where the endpoint was not reached
_HOPELESS_AFTER: Final = 3  # consecutive calls that never reached the endpoint
_CLOSING_SECONDS: Final = 2.0  # for calls that were cut off
_LONGEST_WAIT: Final = 24 * 3600.0  # seconds, whatever an endpoint asks for
_REFUSED_KEPT: Final = 20
_REQUEST_CHARACTERS: Final = 200  # of a refused request

_STATUS_FAULTS: Final = {
    _UNREACHED: Fault.UNAVAILABLE,
    http.HTTPStatus.UNAUTHORIZED: Fault.UNAUTHORISED,
    http.HTTPStatus.FORBIDDEN: Fault.UNAUTHORISED,
    http.HTTPStatus.NOT_FOUND: Fault.UNKNOWN_MODEL,
    http.HTTPStatus.TOO_MANY_REQUESTS: Fault.RATE_LIMITED,
    http.HTTPStatus.SERVICE_UNAVAILABLE: Fault.UNAVAILABLE,
    529: Fault.UNAVAILABLE,  # overloaded, in Anthropic's dialect
}


class RefusedRequest(NamedTuple):
    """A request that the relay did not pass on."""

    request: str  # its method and path
    status: int
    why: str


@dataclass(slots=True)
class Calls:
    """The calls of a model in a run. May be used from any thread."""

    budget: Budget = field(default_factory=Budget)
    priced: Callable[[Spending], Spending] = lambda spent: spent
    statuses: list[int] = field(default_factory=list)  # 0: endpoint not reached
    answers: list[AnswerReader] = field(default_factory=list)
    """The good answers, including those still arriving."""
    refused: list[RefusedRequest] = field(default_factory=list)  # the first few
    refusals: int = 0  # the number of all refused requests
    wait: float | None = None  # seconds the last answer asked to wait
    hopeless: threading.Event = field(default_factory=threading.Event)
    _is_over_budget: bool = False
    _open: set[socket.socket] = field(default_factory=set)
    _lock: threading.Condition = field(default_factory=threading.Condition)

    @contextlib.contextmanager
    def tracking(self, connection: socket.socket) -> Iterator[None]:
        """Make a call that `end` can cut off."""
        with self._lock:
            self._open.add(connection)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(connection)
                self._lock.notify_all()

    def end(self) -> None:
        """Cut off every open call, and wait until its answer has been read."""
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self._lock.wait_for(lambda: not self._open, _CLOSING_SECONDS)

    def record_status(self, status: int, wait: float | None = None) -> None:
        """Record how a call ended."""
        with self._lock:
            self.statuses.append(status)
            self.wait = wait

            recent = self.statuses[-_HOPELESS_AFTER:]
            is_unreachable = recent == [_UNREACHED] * _HOPELESS_AFTER
            is_rejected = self._last_fault in (Fault.UNAUTHORISED, Fault.UNKNOWN_MODEL)
            if is_unreachable or is_rejected:
                self.hopeless.set()

    def record_refusal(self, request: str, status: int, why: str) -> None:
        """Record a request that was not passed on; it says nothing about the model."""
        with self._lock:
            self.refusals += 1
            if len(self.refused) < _REFUSED_KEPT:
                shortened = request[:_REQUEST_CHARACTERS]
                self.refused.append(RefusedRequest(shortened, status, why))

    def record_answer(self, reader: AnswerReader) -> AnswerReader:
        """Record a good answer while it arrives."""
        with self._lock:
            self.answers.append(reader)
        return reader

    def may_continue(self) -> bool:
        """Whether the budget allows another call; if not, the run is hopeless."""
        if not self.spent.uses_up(self.budget):
            return True
        self._is_over_budget = True
        self.hopeless.set()
        return False

    @property
    def spent(self) -> Spending:
        """The cost of all calls."""
        with self._lock:
            return self.priced(total(answer.spending for answer in self.answers))

    @property
    def fault(self) -> Fault | None:
        """What is wrong with the budget, or with the model in its last answer."""
        with self._lock:
            if self._is_over_budget:
                return Fault.OVER_BUDGET
            if self._last_fault is not None:
                return self._last_fault
            return Fault.REFUSED if self._is_last_work_refused else None

    @property
    def _is_last_work_refused(self) -> bool:
        for answer in reversed(self.answers):
            if answer.is_work:
                return answer.refused
        return False

    @property
    def _last_fault(self) -> Fault | None:
        """The fault of the last call. An endpoint that has answered knows the model."""
        if not self.statuses:
            return None
        fault = fault_of_status(self.statuses[-1])
        if fault is Fault.UNKNOWN_MODEL and self.answers:
            return Fault.REJECTED
        return fault


def fault_of_status(status: int) -> Fault | None:
    """Return the fault that a status stands for; None if the status is good."""
    fault = _STATUS_FAULTS.get(status)
    if fault is not None:
        return fault
    if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
        return Fault.SERVER_ERROR
    if status >= http.HTTPStatus.BAD_REQUEST:
        return Fault.REJECTED
    return None


def seconds_to_wait(retry_after: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for: a number, or a date."""
    if not retry_after:
        return None

    try:
        seconds = float(retry_after)
    except ValueError:
        until = _parsed_date(retry_after)
        if until is None:
            return None
        left = until - dt.datetime.now(until.tzinfo)
        seconds = max(0.0, left.total_seconds())

    return min(seconds, _LONGEST_WAIT) if seconds >= 0 else None


def _parsed_date(text: str) -> dt.datetime | None:
    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return None
