"""A browser, and the dashboard of a served project in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from accordance.service.project import Project
from tests.server.conftest import admin, empty, project, served
from tests.server.stage import Served
from tests.ui.browser import LIMIT, open_browser, why_not

__all__ = ["admin", "empty", "project", "served"]
Opened = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a worker."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    expect.set_options(timeout=LIMIT)  # a busy machine is no fault of the page
    with open_browser() as browser:
        yield browser


@pytest.fixture
def window(browser: Browser) -> Iterator[BrowserContext]:
    """A window without cookies, in English."""
    window = browser.new_context(
        locale="en-GB", viewport={"width": 1360, "height": 860}
    )
    window.set_default_timeout(LIMIT)
    yield window
    window.close()


@pytest.fixture
def dashboard(
    window: BrowserContext, served: Served, project: Project
) -> Iterator[Opened]:
    """Open an address of the dashboard with a key of a role.

    What the browser's console complains of fails the test: a refused style, a fault.
    """
    complaints: list[str] = []

    def complain(message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            complaints.append(message.text)

    def opened(path: str = "/", role: str = "admin") -> Page:
        page = window.new_page()
        page.on("console", complain)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{served.url}{path}#key={served.key(role)}")
        page.wait_for_selector("h1")
        return page

    yield opened
    assert complaints == []
