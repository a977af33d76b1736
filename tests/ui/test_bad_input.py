"""What is too much, and what goes wrong: the page stays usable and says what happened."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from accordance.service.project import Project, open_project
from tests.acceptance.coding import FIRST, CodingProject
from tests.messages import edge, node, plan
from tests.server.stage import Served, running
from tests.service.conftest import brings
from tests.ui.browser import LIMIT
from tests.ui.conftest import Opened
from tests.ui.test_people import message
from tests.ui.test_plans import PLAN

MANY = 20_000
LINES = 50_000
ROWS_IN_VIEW = 200
"""More rows than this in the page at once would not scroll well."""


@pytest.mark.parametrize(
    ("view", "row"),
    [("graph", "[role=treeitem]"), ("list", "[data-task]"), ("board", "[data-task]")],
)
def test_a_plan_of_very_many_tasks(
    dashboard: Opened, project: Project, view: str, row: str
) -> None:
    """Only what is in view exists; the last task is reached by searching."""
    names = [f"m{number}" for number in range(MANY)]
    nodes = [node("many", "GOAL"), *map(node, names)]
    large = plan(nodes, [edge("many", name) for name in names], root="many")
    for part in (large["plan"], *nodes, *large["edges"]):
        part["plan_id"] = "many"
    brings(project, large)
    page = dashboard(f"/plans/many?view={view}")
    expect(page.locator(row).first).to_be_visible()
    assert page.locator(row).count() < ROWS_IN_VIEW
    page.goto(page.url.split("?")[0] + f"?view=list&q=m{MANY - 1}")
    expect(page.locator(f"[data-task=m{MANY - 1}]")).to_be_visible()


def test_a_message_of_ten_megabytes(dashboard: Opened, admin: httpx.Client) -> None:
    """Is shown as far as it is read; the page answers at once."""
    admin.post("/v1/tasks/next", json={}).raise_for_status()
    text = "rye 4.20 <b>bold</b>\n" * 480_000
    artifact = {"name": "prices", "format": "md", "content": text}
    product = message("ARTIFACT", artifact=artifact)
    admin.post("/v1/tasks/a/submit", json=product).raise_for_status()
    page = dashboard("/tasks/a?tab=messages")
    raw = page.get_by_role("region", name="As it came")
    expect(raw).to_contain_text("ARTIFACT")
    assert page.locator("main *").count() < 3_000
    assert page.locator("main b:text-is('bold')").count() == 0
    page.get_by_role("tab", name="Events").click()
    expect(page.locator(".event-list")).to_be_visible()


def test_a_key_that_is_revoked_while_the_page_is_open(
    dashboard: Opened, served: Served, admin: httpx.Client
) -> None:
    """The way in is shown at the same address; behind it the person is where they were."""
    page = dashboard("/inbox", role="operator")
    for key in admin.get("/v1/keys").json()["items"]:
        if key["name"] == "operator":
            admin.post(f"/v1/keys/{key['key_id']}/revoke").raise_for_status()
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page.get_by_role("heading", name="Log in", level=1)).to_be_visible()
    page.locator("input[type=password]").fill(served.key("viewer"))
    page.get_by_role("button", name="Log in with the key").click()
    expect(page.get_by_role("heading", name="Contracts", level=1)).to_be_visible()


def test_a_server_that_goes_away_and_comes_back(
    browser: Browser, project: Project
) -> None:
    """A line says so; what was typed stays; then the page goes on by itself."""
    window = browser.new_context(locale="en-GB")
    window.set_default_timeout(LIMIT)
    page = window.new_page()
    with running(project) as (served, _):
        page.goto(f"{served.url}/plans/{PLAN}#key={served.key('admin')}")
        expect(page.get_by_text("Live")).to_be_visible()
        port = int(served.url.rsplit(":", 1)[1])
        page.get_by_role("textbox", name="Search tasks").fill("Task b")
    away = page.locator(".away")
    expect(away).to_be_visible()
    with running(project, port=port):
        expect(away).to_have_count(0, timeout=LIMIT)
        expect(page.get_by_text("Live")).to_be_visible()
        field = page.get_by_role("textbox", name="Search tasks")
        expect(field).to_have_value("Task b")
        expect(page.get_by_role("treeitem").first).to_be_visible()
        window.close()


def test_a_diff_of_very_many_lines(browser: Browser, tmp_path: Path) -> None:
    """Only the lines in view are read; the last can be reached."""
    coding = CodingProject(tmp_path / "project")
    coding.build()
    coding.agent(
        "app.write_text(RIGHT)\n"
        f"lines = (f'LINE_{{number}} = 1' for number in range({LINES}))\n"
        "Path('src/large.py').write_text('\\n'.join(lines) + '\\n')\n"
        "change(told, 'last() returns the last item.')\n"
    )
    assert coding.imports().code == 0
    coding.runs()
    window = browser.new_context(locale="en-GB")
    page = window.new_page()
    with open_project(coding.home) as project, running(project) as (served, _):
        page.goto(f"{served.url}/runs#key={served.key('admin')}")
        expect(page.locator("h1")).to_be_visible()
        page.goto(f"{served.url}/tasks/{FIRST}?tab=diff&path=src/large.py")
        lines = page.locator(".patch-line")
        expect(lines.filter(has_text="LINE_0 ")).to_be_visible()
        assert lines.count() < ROWS_IN_VIEW
        page.locator(".code-box").press("Control+End")
        expect(lines.filter(has_text=f"LINE_{LINES - 1} ")).to_be_visible()
        window.close()
