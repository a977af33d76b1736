"""The list of plans and the screen of a plan: looked at, acted on, live, hostile."""

from __future__ import annotations

import json
import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from accordance.service.project import Project
from tests.messages import edge, node, plan, small_plan
from tests.service.conftest import brings
from tests.ui.conftest import Opened

PLAN = small_plan()["plan"]["plan_id"]
TITLE = small_plan()["plan"]["title"]


def test_a_plan_is_opened_from_the_list_by_keyboard(dashboard: Opened) -> None:
    page = dashboard("/runs")
    expect(page.get_by_role("link", name=TITLE)).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("[data-item][data-selected=true]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()


def test_a_filter_stands_in_the_address(dashboard: Opened) -> None:
    page = dashboard("/runs?state=CANCELLED")
    expect(page.get_by_text("No matching plans")).to_be_visible()
    page.get_by_role("button", name="Show all plans").click()
    expect(page.get_by_role("link", name=TITLE)).to_be_visible()


def test_an_empty_project_says_what_to_type(
    dashboard: Opened, project: Project, admin: httpx.Client
) -> None:
    admin.post(f"/v1/plans/{PLAN}/cancel", json={}).raise_for_status()
    admin.post(f"/v1/plans/{PLAN}/archive").raise_for_status()
    page = dashboard("/runs")
    expect(page.locator("[data-empty]")).to_contain_text("accordance plan import")


def test_every_view_shows_the_same_task_selected(dashboard: Opened) -> None:
    page = dashboard(f"/plans/{PLAN}?task=b")
    panel = page.locator("[data-panel=b]")
    expect(panel).to_be_visible()
    expect(page.locator("[role=treeitem][data-task=b]")).to_have_attribute(
        "aria-selected", "true"
    )
    for key, marked in (("2", "aria-pressed"), ("3", "data-selected")):
        page.keyboard.press(key)
        expect(page.locator(f"[data-task=b][{marked}=true]")).to_be_visible()
    page.keyboard.press("4")
    expect(page.get_by_text("No task has been worked on yet")).to_be_visible()
    expect(panel).to_be_visible()


def test_the_outline_walks_and_folds_by_keyboard(dashboard: Opened) -> None:
    page = dashboard(f"/plans/{PLAN}")
    rows = page.get_by_role("treeitem")
    expect(rows).to_have_count(3)
    page.get_by_role("tree").press("Home")
    page.get_by_role("tree").press("ArrowLeft")
    expect(rows).to_have_count(1)
    page.get_by_role("tree").press("ArrowRight")
    expect(rows).to_have_count(3)


def test_what_happens_elsewhere_is_shown_at_once(
    dashboard: Opened, admin: httpx.Client
) -> None:
    page = dashboard(f"/plans/{PLAN}")
    expect(page.get_by_text("Live")).to_be_visible()
    admin.post(f"/v1/plans/{PLAN}/pause", json={}).raise_for_status()
    expect(page.locator("main [data-state=PAUSED]")).to_be_visible()


def test_a_plan_is_paused_and_resumed_from_the_palette(
    dashboard: Opened, admin: httpx.Client
) -> None:
    page = dashboard(f"/plans/{PLAN}")
    _command(page, "Pause")
    page.keyboard.type("the desk is closed")
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.locator("main [data-state=PAUSED]")).to_be_visible()
    _command(page, "Resume")
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    expect(page.locator("main [data-state=ACTIVE]")).to_be_visible()
    assert admin.get(f"/v1/plans/{PLAN}").json()["state"] == "ACTIVE"


def _command(page: Page, name: str) -> None:
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_plan_is_amended_after_a_preview(
    dashboard: Opened, admin: httpx.Client
) -> None:
    page = dashboard(f"/plans/{PLAN}")
    _command(page, "Amend")
    field = page.get_by_label("The plan as JSON")
    expect(field).to_have_value(_with(PLAN))
    document = json.loads(field.input_value())
    task = next(node for node in document["nodes"] if node["task_id"] == "b")
    before, task["title"] = task["title"], "Another title"
    field.fill(json.dumps(document))
    dialog = page.get_by_role("dialog")
    confirm = dialog.get_by_role("button", name="Amend the plan")
    expect(confirm).to_be_disabled()
    dialog.get_by_role("button", name="Preview").click()
    expect(dialog.locator(".difference")).to_contain_text("Another title")
    expect(dialog.locator(".difference")).to_contain_text(before)
    assert admin.get(f"/v1/plans/{PLAN}").json()["revision"] == 1
    confirm.click()
    expect(page.get_by_text("revision 2").first).to_be_visible()
    expect(page.locator("[role=treeitem][data-task=b]")).to_contain_text(
        "Another title"
    )


def _with(text: str) -> re.Pattern[str]:
    """Return a pattern that fits any value with a text in it."""
    return re.compile(re.escape(text))


HOSTILE = {
    "script": "<script>window.ran = true</script><img src=x onerror='window.ran=true'>",
    "right-to-left": "\u202eשלום עולם mixed with English",
    "chinese": "编写解析器并测试" * 30,
    "terminal": "\x1b[31mred\x1b[0m \x07",
}


@pytest.mark.parametrize("title", list(HOSTILE.values()), ids=list(HOSTILE))
def test_a_hostile_title_is_shown_as_text(
    dashboard: Opened, project: Project, title: str
) -> None:
    nodes = [node("h", "GOAL"), node("h-a", title=title)]
    message = plan(nodes, [edge("h", "h-a")], root="h")
    for part in (message["plan"], *nodes, *message["edges"]):
        part["plan_id"] = "hostile"
    message["plan"]["title"] = title
    brings(project, message)
    page = dashboard("/plans/hostile?task=h-a&view=board")
    expect(page.locator("[data-panel=h-a]")).to_be_visible()
    assert page.evaluate("window.ran") is None
    width = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert width <= 0


def test_a_viewer_is_offered_no_acts(dashboard: Opened) -> None:
    page = dashboard(f"/plans/{PLAN}", role="viewer")
    expect(page.get_by_role("tree")).to_be_visible()
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    expect(page.get_by_role("button", name="Run", exact=True)).to_have_count(0)


def test_a_plan_that_is_not_there_is_said_with_the_way_out(dashboard: Opened) -> None:
    page = dashboard("/runs")
    page.goto(page.url.replace("/runs", "/plans/nowhere"))
    expect(page.get_by_role("alert")).to_contain_text("nowhere")
