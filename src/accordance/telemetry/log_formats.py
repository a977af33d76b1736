"""How logs may be written: words of settings, which must cost nothing to import."""

from __future__ import annotations

from typing import Literal, TypeAlias

LogFormat: TypeAlias = Literal["auto", "json", "text"]
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]
