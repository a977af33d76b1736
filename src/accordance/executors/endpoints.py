"""Where models answer, and whether anything answers there now."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Final
from urllib.parse import SplitResult, urlsplit

from accordance.domain.executor_specs import LlmSpec
from accordance.domain.faults import Fault

_OF_PROVIDERS: Final[Mapping[str, str]] = {
    "openai": "https://api.openai.com",
    "openai-responses": "https://api.openai.com",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}
_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
_SECONDS: Final = 2.0  # a run that starts does not wait longer for an address


def endpoint_of(spec: LlmSpec) -> str:
    """Return the address that a model is asked at; none for a model in a file."""
    return spec.base_url or _OF_PROVIDERS.get(spec.provider, "")


def lacking_endpoint(fault: Fault | None, url: str) -> str:
    """Return the server that was away, where that is the fault; else nothing."""
    if fault is not Fault.UNAVAILABLE:
        return ""
    host, port = _host_and_port(url)
    return f"{host}:{port}" if host else ""


def is_reachable(address: str) -> bool:
    """Whether something accepts connections at `host:port`. Nothing is sent."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=_SECONDS):
            return True
    except (OSError, ValueError):
        return False


def _host_and_port(url: str) -> tuple[str, int]:
    try:
        parts: SplitResult = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 443)
    except ValueError:
        return "", 0
    return parts.hostname or "", port
