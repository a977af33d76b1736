"""Settings and what they come to, from tables as a test writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from accordance.domain.routing import Routing, routing_of
from accordance.project.settings import read_settings


def routing_from(tables: Mapping[str, Any], prompts: Iterable[str] = ()) -> Routing:
    """Who does what, as these tables of accordance.toml say."""
    settings = read_settings(tables)
    return routing_of(settings.executors, settings.routes, prompts=prompts)
