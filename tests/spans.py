"""Spans that a test records, and how they read: a tree of names with what matters of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from accordance.telemetry import tracing
from accordance.telemetry.exporting import new_provider


@dataclass(frozen=True)
class Recorded:
    """The spans of a block, once they are over."""

    exporter: InMemorySpanExporter

    @property
    def all(self) -> tuple[ReadableSpan, ...]:
        """Every span, in the order in which they ended."""
        return self.exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        """The spans of a name."""
        return [span for span in self.all if span.name == name]

    def tree(self) -> list[str]:
        """A line for each span, indented below its parent, in the order of their names."""
        spans = sorted(self.all, key=lambda span: (span.name, str(said_of(span))))
        known = {span.context.span_id for span in spans}
        return [
            line
            for span in spans
            if span.parent is None or span.parent.span_id not in known
            for line in self._lines(span, spans, "")
        ]

    def _lines(
        self, span: ReadableSpan, spans: list[ReadableSpan], indent: str
    ) -> Iterator[str]:
        words = [span.name, *(str(value) for value in said_of(span).values())]
        yield indent + " ".join(words)
        for below in spans:
            if below.parent and below.parent.span_id == span.context.span_id:
                yield from self._lines(below, spans, f"{indent}  ")


SHOWN = (
    "accordance.task.id",
    "accordance.kind",
    "accordance.attempt",
    "accordance.verdict",
    "accordance.accepted",
    "error.type",
)


def said_of(span: ReadableSpan) -> Mapping[str, Any]:
    """What a tree shows of a span."""
    attributes = span.attributes or {}
    return {name: attributes[name] for name in SHOWN if name in attributes}


@contextmanager
def recorded(*, contents: bool = False) -> Iterator[Recorded]:
    """Record the spans of a block."""
    exporter = InMemorySpanExporter()
    provider = new_provider("test", {})
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.turn_on(provider, contents=contents)
    try:
        yield Recorded(exporter)
    finally:
        tracing.turn_off()
        provider.shutdown()
