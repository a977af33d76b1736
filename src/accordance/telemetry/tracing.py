"""Spans, where tracing is on. Where it is off, nothing happens and nothing is imported.

The spans of a plan belong together although many processes make them: the ids of its
run and its tasks follow from their names, so that each knows the parent of its own.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from accordance._version import __version__
from accordance.telemetry.names import SCHEMA_URL, SCOPE, Attributes, of_error

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Tracer, TracerProvider

_PARENT: Final = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
NOTHING: Final[Attributes] = {}


@dataclass(frozen=True, slots=True)
class SpanPlace:
    """Where a span stands: its trace and its own id."""

    trace: int
    span: int

    @classmethod
    def of(cls, trace: str, span: str = "") -> SpanPlace:
        """Return the place that follows from names."""
        return cls(_number(trace, 16), _number(f"{trace}\0{span}", 8))

    @classmethod
    def read(cls, traceparent: str) -> SpanPlace | None:
        """Return the place in a `traceparent`; None if it is none."""
        fits = _PARENT.fullmatch(traceparent.strip().lower())
        if fits is None:
            return None
        place = cls(trace=int(fits[1], 16), span=int(fits[2], 16))
        is_valid = bool(place.trace and place.span)
        return place if is_valid else None

    def __str__(self) -> str:
        """Return it as a `traceparent`."""
        return f"00-{self.trace:032x}-{self.span:016x}-01"


def _number(name: str, size: int) -> int:
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:size], "big") or 1


GIVEN: Final[ContextVar[SpanPlace | None]] = ContextVar("given place", default=None)
"""The place that the next span takes, in place of a random one."""


class Span:
    """A span that is being recorded; without tracing it does nothing."""

    __slots__ = ("_recorded",)

    def __init__(self, recorded: Any = None) -> None:
        self._recorded = recorded

    def set(self, attributes: Attributes) -> None:
        """Say more of it."""
        if self._recorded is not None:
            self._recorded.set_attributes(_known(attributes))

    def rename(self, name: str) -> None:
        """Give it the name that is known only now."""
        if self._recorded is not None:
            self._recorded.update_name(name)

    def tell(self, event: str, attributes: Attributes) -> None:
        """Add something that has happened within it."""
        if self._recorded is not None:
            self._recorded.add_event(event, _known(attributes))

    def fail(self, kind: str) -> None:
        """Mark it as failed."""
        if self._recorded is not None:
            from opentelemetry.trace import StatusCode

            self._recorded.set_status(StatusCode.ERROR)
            self.set(of_error(kind))


@dataclass(frozen=True, slots=True)
class _Tracing:
    tracer: Tracer
    has_contents: bool


class _Switch:
    tracing: _Tracing | None = None


def turn_on(provider: TracerProvider, *, contents: bool = False) -> None:
    """Record spans with a provider; prompts and answers of agents, only if wanted."""
    tracer = provider.get_tracer(SCOPE, __version__, SCHEMA_URL)
    _Switch.tracing = _Tracing(tracer, contents)


def turn_off() -> None:
    """Record nothing more."""
    _Switch.tracing = None


def is_on() -> bool:
    """Whether spans are recorded."""
    return _Switch.tracing is not None


def has_contents() -> bool:
    """Whether the prompts and the answers of agents are recorded, too."""
    return _Switch.tracing is not None and _Switch.tracing.has_contents


@contextmanager
def span(
    name: str,
    attributes: Attributes = NOTHING,
    *,
    within: SpanPlace | None = None,
    kind: str = "internal",
) -> Iterator[Span]:
    """Record a span around a block; within the current span unless a place is named.

    Of an error only its type is recorded: its text may hold anything.
    """
    tracing = _Switch.tracing
    if tracing is None:
        yield Span()
        return

    from opentelemetry.trace import SpanKind

    with tracing.tracer.start_as_current_span(
        name,
        context=_context_of(within),
        kind=SpanKind[kind.upper()],
        attributes=_known(attributes),
        record_exception=False,
        set_status_on_exception=False,
    ) as recorded:
        made = Span(recorded)
        try:
            yield made
        except Exception as error:
            made.fail(getattr(error, "code", type(error).__name__))
            raise


def record(
    name: str,
    attributes: Attributes,
    at: SpanPlace,
    *,
    began: str,
    within: SpanPlace | None = None,
) -> None:
    """Record a span that ends now, at its own place. `began` is a time of the ledger."""
    tracing = _Switch.tracing
    if tracing is None:
        return

    from opentelemetry.context import Context

    context = Context() if within is None else _context_of(within)
    token = GIVEN.set(at)
    try:
        recorded = tracing.tracer.start_span(
            name,
            context=context,
            attributes=_known(attributes),
            start_time=_nanoseconds(began),
        )
    finally:
        GIVEN.reset(token)
    recorded.end()


def current() -> SpanPlace | None:
    """Return the place of the current span, if there is any."""
    if _Switch.tracing is None:
        return None

    from opentelemetry.trace import get_current_span

    context = get_current_span().get_span_context()
    return SpanPlace(context.trace_id, context.span_id) if context.is_valid else None


def environment() -> Mapping[str, str]:
    """Return the variables by which a program learns the span that it runs in."""
    place = current()
    return {} if place is None else {"TRACEPARENT": str(place)}


def _known(attributes: Attributes) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}


def _context_of(place: SpanPlace | None) -> Context | None:
    if place is None:
        return None

    from opentelemetry.trace import (
        NonRecordingSpan,
        SpanContext,
        TraceFlags,
        set_span_in_context,
    )

    flags = TraceFlags(TraceFlags.SAMPLED)
    parent = SpanContext(place.trace, place.span, is_remote=True, trace_flags=flags)
    return set_span_in_context(NonRecordingSpan(parent))


def _nanoseconds(moment: str) -> int:
    return int(dt.datetime.fromisoformat(moment).timestamp() * 1e9)
