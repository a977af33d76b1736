"""Where spans go: to a collector by OTLP, as the settings or the environment say.

The environment is that of OpenTelemetry: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME,
OTEL_TRACES_EXPORTER (otlp, console, none), OTEL_SDK_DISABLED and so on.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from accordance.errors import AccordanceError, Category
from accordance.telemetry import tracing

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

log: Final = logging.getLogger("accordance.telemetry")
_SERVICE: Final = "accordance"
_ENDPOINTS: Final = (
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
)
_SECONDS: Final = 5  # for a collector to take a batch in


class TelemetryMissing(AccordanceError):
    """The settings ask for traces, and what sends them is not installed."""

    code = "telemetry-missing"
    category = Category.UNAVAILABLE


@contextmanager
def exported(
    endpoint: str,
    service: str,
    *,
    contents: bool,
    environment: Mapping[str, str],
) -> Iterator[None]:
    """Send spans as long as the block runs, if the settings or the environment say so.

    Raises TelemetryMissing if the settings do, and the extra `otel` is not installed.
    """
    if tracing.is_on() or not is_wanted(endpoint, environment):
        yield
        return
    try:
        provider = _provider(endpoint, service, environment)
    except ImportError:
        _tell_what_is_missing(endpoint)
        yield
        return

    tracing.turn_on(provider, contents=contents)
    try:
        yield
    finally:
        tracing.turn_off()
        provider.shutdown()


def is_wanted(endpoint: str, environment: Mapping[str, str]) -> bool:
    """Whether spans are to be sent anywhere."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporter = environment.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if exporter == "none":
        return False
    if endpoint or exporter:
        return True
    return any(map(environment.get, _ENDPOINTS))


def _tell_what_is_missing(endpoint: str) -> None:
    """Refuse what the settings ask for; the environment may mean another program."""
    what = "traces need the extra `otel`, which is not installed"
    way_out = "install it with `pip install 'accordance[otel]'`"
    if endpoint:
        raise TelemetryMissing(what, way_out=way_out)
    log.warning("%s; %s", what, way_out)


def new_provider(service: str, environment: Mapping[str, str]) -> TracerProvider:
    """Return a provider that takes the ids it is given. It sends nothing yet."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    from accordance.telemetry.given_ids import GivenIds

    name = service or environment.get("OTEL_SERVICE_NAME") or _SERVICE
    resource = Resource.create({"service.name": name})
    return TracerProvider(resource=resource, id_generator=GivenIds())


def _provider(
    endpoint: str,
    service: str,
    environment: Mapping[str, str],
) -> TracerProvider:
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    exporter = _exporter(endpoint, environment)
    provider = new_provider(service, environment)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _exporter(endpoint: str, environment: Mapping[str, str]) -> SpanExporter:
    wanted = environment.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if wanted == "console" and not endpoint:
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr)

    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    if not endpoint:
        return OTLPSpanExporter(timeout=_SECONDS)  # the environment says where
    traces = f"{endpoint.rstrip('/')}/v1/traces"
    return OTLPSpanExporter(endpoint=traces, timeout=_SECONDS)
