"""axe-core on a page: what people with a screen reader, or weak eyes, would stumble over."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page

_AXE: Final = (
    Path(__file__).resolve().parents[2] / "ui/node_modules/axe-core/axe.min.js"
)
_GRAVE: Final = frozenset({"serious", "critical"})
_RUN: Final = "axe.run(document, {resultTypes: ['violations']})"


def is_there() -> bool:
    """Whether axe-core is installed with the dashboard's packages."""
    return _AXE.is_file()


@cache
def _source() -> str:
    return _AXE.read_text("utf-8")


def grave_issues(page: Page) -> list[str]:
    """Return the serious issues of what a page shows: rule, element, what is wrong."""
    page.evaluate(_source())
    result: dict[str, Any] = page.evaluate(_RUN)
    return [
        f"{issue['id']}: {part['html'][:200]} ({part['failureSummary']})"
        for issue in result["violations"]
        if issue["impact"] in _GRAVE
        for part in issue["nodes"]
    ]
