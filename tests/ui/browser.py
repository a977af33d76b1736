"""The browser of the tests: the chromium of this machine, driven by playwright."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator

from playwright.sync_api import Browser, sync_playwright

from accordance.server.dashboard import BUNDLE

LIMIT = 30_000.0
"""Milliseconds after which what does not appear fails a test."""


def program() -> str | None:
    """Return the chromium of this machine."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def why_not() -> str | None:
    """Return why the dashboard cannot be tested here."""
    if program() is None:
        return "chromium is not installed (make browser)"
    if not (BUNDLE / "index.html").is_file():
        return "the dashboard is not built (make ui)"
    return None


@contextlib.contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program(),
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        try:
            yield browser
        finally:
            browser.close()
