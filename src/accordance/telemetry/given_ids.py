"""Ids of spans: random, unless a span is given its place. Needs the extra `otel`."""

from __future__ import annotations

from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from accordance.telemetry.tracing import GIVEN


class GivenIds(RandomIdGenerator):
    """Gives a span the place that follows from its name, if it has any."""

    def generate_span_id(self) -> int:
        """Return the id of a span."""
        place = GIVEN.get()
        return super().generate_span_id() if place is None else place.span

    def generate_trace_id(self) -> int:
        """Return the id of a trace."""
        place = GIVEN.get()
        return super().generate_trace_id() if place is None else place.trace
