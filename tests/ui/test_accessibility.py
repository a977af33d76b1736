"""Every screen, by day and by night: axe-core has nothing serious to say."""

from __future__ import annotations

from typing import Literal

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.server.stage import Served
from tests.ui.accessibility import grave_issues, is_there
from tests.ui.test_people import message
from tests.ui.test_plans import PLAN

SCREENS = (
    "/runs",
    f"/plans/{PLAN}?task=a",
    f"/plans/{PLAN}?view=board",
    f"/plans/{PLAN}?view=list",
    f"/plans/{PLAN}?view=timeline",
    "/tasks/a",
    "/tasks/a?tab=messages",
    "/tasks/a?tab=events",
    "/tasks/a?tab=usage",
    "/inbox?selected=1",
    "/dead-letters",
    "/contracts/scc.submit.v1",
    "/contracts/scc.submit.v1?tab=demands",
    "/contracts/scc.submit.v1?tab=failures",
    "/research",
    "/settings",
)


@pytest.fixture
def lively(admin: httpx.Client) -> None:
    """Task a has an attempt, and asks for a document."""
    admin.post("/v1/tasks/next", json={}).raise_for_status()
    wanted = {"name": "prices", "description": "In April", "accepted_types": ["csv"]}
    wanted["suggested_path"] = "workspace/inputs/prices.csv"
    needs = message("NEEDS_INPUT", needs_input={"required_docs": [wanted]})
    admin.post("/v1/tasks/a/submit", json=needs).raise_for_status()


@pytest.mark.usefixtures("lively")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious(
    browser: Browser, served: Served, scheme: Literal["light", "dark"]
) -> None:
    if not is_there():
        pytest.skip("axe-core is not installed (make ui)")
    window = browser.new_context(
        locale="en-GB", color_scheme=scheme, reduced_motion="reduce"
    )
    page = window.new_page()
    page.goto(f"{served.url}/runs#key={served.key('admin')}")
    issues = []
    for path in SCREENS:
        expect(page.locator("h1")).to_be_visible()
        page.goto(f"{served.url}{path}")
        expect(page.locator("h1")).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        issues += [f"{path}: {issue}" for issue in grave_issues(page)]
    window.close()
    assert issues == []
