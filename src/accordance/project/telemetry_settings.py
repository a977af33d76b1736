"""The tables `[telemetry]` and `[logging]` of accordance.toml."""

from __future__ import annotations

from pydantic import Field

from accordance.domain.setting_tables import SettingTable
from accordance.telemetry.log_formats import LogFormat, LogLevel


class TelemetrySettings(SettingTable):
    """Traces by OpenTelemetry. Off unless there is an endpoint, here or in OTEL_*."""

    endpoint: str = Field(
        default="",
        description="The address of a collector that takes OTLP over HTTP.",
        examples=["http://127.0.0.1:4318"],
    )
    service: str = Field(
        default="",
        description="What this process is called; else OTEL_SERVICE_NAME, `accordance`.",
        examples=["accordance-worker"],
    )
    contents: bool = Field(
        default=False,
        description="Whether traces hold what agents are told and answer.",
        examples=[True],
    )


class LoggingSettings(SettingTable):
    """Logs of `serve`, `run` and `worker`, on standard error."""

    format: LogFormat = Field(
        default="auto",
        description=(
            "A JSON object a line, or plain text; `auto` is text on a terminal, else"
            " JSON."
        ),
        examples=["json"],
    )
    level: LogLevel = Field(
        default="warning",
        description="The least level that is written.",
        examples=["info"],
    )
