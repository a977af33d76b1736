"""A plan from its approval to its end, by keyboard alone: a real run of programs on a real repository."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from accordance.service.project import open_project
from tests.acceptance.coding import FIRST, CodingProject, coding_node, coding_plan
from tests.messages import node
from tests.server.stage import Served, serving
from tests.service.conftest import brings
from tests.ui.browser import LIMIT

TITLE = "Spring catalogue"
AGENT = """
asked = {"prices": "The price list", "letter": "To whom it goes"}
if "change" in told:
    app.write_text(RIGHT)
    change(told, "last() returns the last item.")
elif told["attempt"] == 1:
    task = told["task"]["task_id"]
    wanted = {"name": task, "description": asked[task], "accepted_types": ["csv"],
              "suggested_path": f"workspace/inputs/{task}.csv"}
    say({"schema_version": "xiaobo_action_v1", "task_id": task,
         "result_type": "NEEDS_INPUT", "needs_input": {"required_docs": [wanted]}})
else:
    from desk import product
    product(told, "text", "# Done", "Done.")
"""
_MOST_TABS = 80
_TRIES = 3
_SHORT = LIMIT / 5


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A served project with a plan that waits for its approval."""
    actions = [node("prices", title="Take the prices over"), node("letter")]
    plan = coding_plan(coding_node(), *actions)
    coding = CodingProject(tmp_path / "project", plan=plan)
    coding.build()
    coding.agent(AGENT)
    with open_project(coding.home, create=True) as project:
        brings(project, coding.plan, waived_by=None)
        with serving(project) as served:
            yield served


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """The page of a person who is logged in."""
    window = browser.new_context(
        locale="en-GB", viewport={"width": 1360, "height": 860}
    )
    window.set_default_timeout(LIMIT)
    page = window.new_page()
    page.goto(f"{served.url}/#key={served.key('admin')}")
    expect(page.get_by_role("link", name=TITLE)).to_be_visible()
    yield page
    window.close()


def test_a_plan_from_its_approval_to_its_end(page: Page, tmp_path: Path) -> None:
    opens_the_plan(page)
    approves(page)
    amends(page)
    runs(page)
    reads_the_diff(page)
    hands_in(page, tmp_path)
    gives_up(page)
    requeues(page)
    opens_the_plan(page)
    runs(page)
    expect(page.locator("main [data-state=FINISHED]")).to_be_visible()
    for title in ("Mend last()", "Take the prices over", "Write to the shops"):
        expect(page.get_by_role("treeitem", name=f"{title}, Done")).to_be_visible()
    chooses_language_and_theme(page)


def opens_the_plan(page: Page) -> None:
    goes_to(page, "r", "Runs")
    expect(page.locator("[data-item]")).to_be_visible()
    press(page, "j")
    expect(page.locator("[data-item][data-selected=true]")).to_be_visible()
    press(page, "Enter")
    expect(page.get_by_role("heading", name=TITLE, level=1)).to_be_visible()


def approves(page: Page) -> None:
    """The page learns of it at once: no reload."""
    expect(page.locator("main [data-state=IN_REVIEW]")).to_be_visible()
    command(page, "Approve")
    press_button(page, "Approve")
    expect(page.locator("main [data-state=ACTIVE]")).to_be_visible()


def amends(page: Page) -> None:
    """What would change is shown first."""
    command(page, "Amend")
    field = page.get_by_label("The plan as JSON")
    expect(field).not_to_have_value("")
    document = json.loads(field.input_value())
    task = next(each for each in document["nodes"] if each["task_id"] == "letter")
    task["title"] = "Write to the shops"
    tab_to(page, lambda: field.evaluate("it => it === document.activeElement"))
    press(page, "Control+a")
    page.keyboard.insert_text(json.dumps(document))
    press_button(page, "Preview")
    difference = page.get_by_role("dialog").locator(".difference")
    expect(difference).to_contain_text("Write to the shops")
    press_button(page, "Amend the plan")
    expect(page.get_by_text("revision 2").first).to_be_visible()


def runs(page: Page) -> None:
    """The server carries the plan out until it rests; the outline turns green meanwhile."""
    press_button(page, "Run")
    expect(page.get_by_role("treeitem", name="Mend last(), Done")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)


def reads_the_diff(page: Page) -> None:
    tree = page.get_by_role("tree")
    tab_to(page, lambda: tree.evaluate("it => it === document.activeElement"))
    selects(page, FIRST)
    expect(page.locator(f"[data-panel='{FIRST}']")).to_be_visible()
    press_button(page, "Diff")
    expect(page.locator(".patch-line[data-kind='+']")).to_contain_text("items[-1]")


def selects(page: Page, task: str) -> None:
    """Go down the outline to a task; each key has to show before the next is pressed."""
    selected = page.locator("[role=treeitem][aria-selected=true]")
    press(page, "Home")
    expect(page.get_by_role("treeitem").first).to_have_attribute(
        "aria-selected", "true"
    )
    while (here := selected.get_attribute("data-task")) != task:
        press(page, "ArrowDown")
        expect(selected).not_to_have_attribute("data-task", str(here))


def hands_in(page: Page, folder: Path) -> None:
    """The document that a task asked for."""
    prices = folder / "prices.csv"
    prices.write_text("rye;4.20\n")
    chooses_answer(page, "Take the prices over", "file")
    with page.expect_file_chooser() as chooser:
        press_button(page, "Drop files here, or choose them")
    chooser.value.set_files(prices)
    press_button(page, "Answer")
    expect(page.locator("[data-item]")).to_have_count(1)


def gives_up(page: Page) -> None:
    """Asked twice: it cannot be undone from here."""
    chooses_answer(page, "Write to the shops", "give-up")
    press_button(page, "Give up")
    expect(page.get_by_text("This cannot be undone from here")).to_be_visible()
    press_button(page, "Give up")
    expect(page.locator("[data-item]")).to_contain_text("a part of it is in the dead")


def chooses_answer(page: Page, task: str, word: str) -> None:
    goes_to(page, "i", "Inbox")
    expect(page.locator("[data-item]").first).to_be_visible()
    selected = page.locator("[data-item] [data-selected=true]")
    rows = page.locator("[data-item]").count()
    for position in range(rows):
        press(page, "j")
        row = page.locator("[data-item]").nth(position)
        expect(row.locator("[data-selected=true]")).to_be_visible()
        if task in selected.inner_text():
            break
    detail = page.get_by_role("complementary").get_by_role("heading", name=task)
    expect(detail).to_be_visible()
    expect(page.locator("[data-choice]").first).to_be_visible()

    press(page, "Enter")
    expect(page.locator("[data-choice]").first).to_be_focused()
    focused = page.locator("[data-choice]:focus")
    chosen = page.locator(f"[data-choice={word}][aria-checked=true]")
    for _ in range(page.locator("[data-choice]").count()):
        if chosen.count():
            break
        before = focused.get_attribute("data-choice")
        press(page, "ArrowDown")
        expect(focused).not_to_have_attribute("data-choice", str(before))
        expect(focused).to_have_attribute("aria-checked", "true")
    expect(chosen).to_be_visible()


def requeues(page: Page) -> None:
    """After a preview, with the reason."""
    goes_to(page, "d", "Dead letters")
    expect(page.locator("[data-item]")).to_be_visible()
    press(page, "j")
    expect(page.locator("[data-selected=true]")).to_be_visible()
    press(page, "r")
    reason = page.get_by_role("dialog").get_by_role("textbox", name="Why now?")
    expect(reason).to_be_focused()
    page.keyboard.type("the addresses have come")
    press_button(page, "Requeue 1")
    expect(page.get_by_role("heading", name="No dead letters")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def chooses_language_and_theme(page: Page) -> None:
    press_button(page, "Language")
    press(page, "End", "Enter")
    press_button(page, "테마")
    press(page, "Home", "ArrowDown", "Enter")
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")


def goes_to(page: Page, key: str, name: str) -> None:
    """Go to a screen by two keys; the second counts only for a moment after the first.

    A busy machine may let that moment pass, so a person would try again.
    """
    heading = page.get_by_role("heading", name=name, level=1)
    for _ in range(_TRIES):
        press(page, "g", key)
        with contextlib.suppress(AssertionError):
            expect(heading).to_be_visible(timeout=_SHORT)
            return
    expect(heading).to_be_visible()


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def command(page: Page, name: str) -> None:
    """Give a command of the palette, which opens a dialogue."""
    press(page, "Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type(name)
    press(page, "Enter")
    expect(page.get_by_role("dialog")).to_be_visible()


def press_button(page: Page, name: str) -> None:
    """Walk to a button or link with the tab key, and press it."""
    name_of = "it => it.getAttribute('aria-label') || it.textContent.trim()"
    wanted = "button, a, [role=button]"

    def is_focused() -> bool:
        focused = page.locator(":focus").first
        if not focused.count() or not focused.evaluate(
            f"it => it.matches({wanted!r}) && !it.disabled"
        ):
            return False
        return bool(focused.evaluate(name_of) == name)

    tab_to(page, is_focused)
    press(page, "Enter")


def tab_to(page: Page, is_there: Callable[[], bool]) -> None:
    for _ in range(_MOST_TABS):
        if is_there():
            return
        press(page, "Tab")
    raise AssertionError("the tab key does not lead there")
