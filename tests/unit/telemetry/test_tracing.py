"""Places of spans, when traces are wanted, and the names that stand for OpenTelemetry's."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from accordance.telemetry import names, tracing
from accordance.telemetry.exporting import TelemetryMissing, exported, is_wanted
from accordance.telemetry.tracing import SpanPlace
from tests.spans import recorded

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_a_place_follows_from_names() -> None:
    """The same names are the same place on every machine; a task is in its run's trace."""
    run, task = SpanPlace.of("P"), SpanPlace.of("P", "a")
    assert run == SpanPlace.of("P")
    assert run.trace == task.trace
    assert len({run.span, task.span, SpanPlace.of("P", "b").span}) == 3
    assert SpanPlace.of("Q").trace != run.trace


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (TRACEPARENT, True),
        (TRACEPARENT.upper(), True),
        ("", False),
        ("01-" + TRACEPARENT[3:], False),
        (TRACEPARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0" * 32), False),
        (TRACEPARENT + "-more", False),
        ("00-x", False),
    ],
)
def test_a_traceparent(text: str, is_one: bool) -> None:
    """Is read whole or not at all, and written as it was."""
    place = SpanPlace.read(text)
    assert (place is not None) is is_one
    assert place is None or str(place) == TRACEPARENT


@pytest.mark.parametrize(
    ("endpoint", "environment", "wanted"),
    [
        ("", {}, False),
        ("http://c:4318", {}, True),
        ("", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, True),
        ("", {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/v1/traces"}, True),
        ("", {"OTEL_TRACES_EXPORTER": "console"}, True),
        ("", {"OTEL_TRACES_EXPORTER": "none"}, False),
        ("http://c:4318", {"OTEL_SDK_DISABLED": "true"}, False),
        ("", {"OTEL_SERVICE_NAME": "x"}, False),
    ],
)
def test_when_traces_are_sent(
    endpoint: str, environment: dict[str, str], wanted: bool
) -> None:
    """Only where the settings or the environment name a place for them."""
    assert is_wanted(endpoint, environment) is wanted


def test_without_the_extra(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What the settings ask for is refused in a line; the environment only warned of."""
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.trace", None)
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    with exported("", "", contents=False, environment=environment):
        assert not tracing.is_on()
    assert "accordance[otel]" in caplog.text
    with (
        pytest.raises(TelemetryMissing, match=r"accordance\[otel\]"),
        exported("http://127.0.0.1:9", "", contents=False, environment={}),
    ):
        pytest.fail("it was let through")


def test_an_error_is_recorded_without_its_text() -> None:
    """Its type is enough: a text may hold anything."""
    with recorded() as spans, pytest.raises(ValueError, match="Bob"), tracing.span("x"):
        raise ValueError("Bob's password")
    (span,) = spans.all
    assert dict(span.attributes or {}) == {"error.type": "ValueError"}
    assert not span.events
    assert "Bob" not in span.to_json()


def test_off_means_nothing() -> None:
    """A span that is not recorded takes whatever is said of it."""
    with tracing.span("x", {"a": 1}) as span:
        span.set({"b": 2})
        span.tell("c", {})
        span.fail("d")
        span.rename("e")
    tracing.record("x", {}, SpanPlace.of("P"), began="2026-01-01T00:00:00Z")
    assert tracing.current() is None
    assert tracing.environment() == {}


def test_names_of_the_genai_conventions() -> None:
    """Those of the version that SCHEMA_URL records, as their own package has them."""
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

    known = {
        value
        for name, value in vars(gen_ai_attributes).items()
        if name.startswith("GEN_AI_") and isinstance(value, str)
    }
    used = {
        *names.of_agent("codex", "codex", "m"),
        *names.of_spending(1, 2, 3, 0.1),
        *names.of_question("s", "u"),
        *names.of_reply("r"),
    }
    gen_ai = {name for name in used if name.startswith("gen_ai.")}
    assert len(gen_ai) >= 9
    assert gen_ai <= known
    assert re.fullmatch(
        r"https://opentelemetry\.io/schemas/1\.\d+\.0", names.SCHEMA_URL
    )


def test_genai_names_stand_in_one_module() -> None:
    """So that a change of theirs is a change of one file."""
    sources = Path(names.__file__).parents[1].rglob("*.py")
    using = {path.name for path in sources if "gen_ai." in path.read_text()}
    assert using == {"names.py"}


def test_contents_are_messages() -> None:
    """In the shape of the conventions."""
    (message,) = json.loads(str(names.of_reply("done")["gen_ai.output.messages"]))
    assert message == {
        "role": "assistant",
        "parts": [{"type": "text", "content": "done"}],
    }
