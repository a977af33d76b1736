"""What a person decides on the page: answers with files, dead letters, keys, by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import Opened

HOSTILE = "<img src=x onerror=alert(1)> \x1b[31m \u202eabc " + "n" * 300
PRICES = {
    "name": "prices",
    "description": HOSTILE,
    "accepted_types": ["csv"],
    "suggested_path": "workspace/inputs/prices.csv",
}


def message(kind: str, **more: Any) -> dict[str, Any]:
    """Return a message about task a."""
    return {
        "schema_version": "xiaobo_action_v1",
        "task_id": "a",
        "result_type": kind,
        **more,
    }


@pytest.fixture
def asked(admin: httpx.Client) -> str:
    """A question for a document, by its number."""
    admin.post("/v1/tasks/next", json={}).raise_for_status()
    needs = message("NEEDS_INPUT", needs_input={"required_docs": [PRICES]})
    admin.post("/v1/tasks/a/submit", json=needs).raise_for_status()
    question = admin.get("/v1/inbox").json()["items"][0]
    return str(question["number"])


@pytest.fixture
def dead(admin: httpx.Client) -> None:
    """Task a is a dead letter."""
    admin.post("/v1/tasks/next", json={}).raise_for_status()
    asks = {"attempt": 1, "question": HOSTILE}
    admin.post("/v1/tasks/a/ask", json=asks).raise_for_status()
    question = admin.get("/v1/inbox").json()["items"][0]["question_id"]
    answer = {"give_up": True}
    admin.post(f"/v1/inbox/{question}/answer", json=answer).raise_for_status()


def test_a_document_is_handed_in(
    dashboard: Opened, admin: httpx.Client, asked: str, tmp_path: Path
) -> None:
    """A file of another type is refused before it is sent."""
    wrong = tmp_path / "prices.pdf"
    wrong.write_bytes(b"%PDF")
    right = tmp_path / "prices.csv"
    right.write_text("a;1\n")

    page = dashboard(f"/inbox?selected={asked}")
    page.locator("[data-choice=file]").click()
    field = page.locator("input[type=file]")
    field.set_input_files(wrong)
    expect(page.get_by_role("alert")).to_contain_text(
        "prices.pdf has the wrong type. Allowed: csv."
    )
    page.get_by_role("button", name="Remove: prices.pdf").click()
    field.set_input_files(right)
    page.get_by_role("button", name="Answer", exact=True).click()

    expect(
        page.get_by_role("heading", name="No question waits for you")
    ).to_be_visible()
    assert admin.get("/v1/tasks/a").json()["state"] == "READY"


def test_a_question_is_given_up_by_keyboard(
    dashboard: Opened, admin: httpx.Client, asked: str
) -> None:
    """Giving up is asked twice."""
    page = dashboard("/inbox")
    expect(page.locator("[data-item]")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("[data-answer]")).to_be_visible()
    expect(page).to_have_url(f"{page.url.split('?')[0]}?selected={asked}")
    page.keyboard.press("Enter")
    expect(page.locator("[data-choice]").first).to_be_focused()
    page.keyboard.press("ArrowUp")  # from the first choice to the last
    expect(page.locator("[data-choice=give-up]")).to_be_checked()
    page.keyboard.press("Enter")
    button = page.locator("[data-answer] button[type=submit]")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("This cannot be undone from here")).to_be_visible()
    assert admin.get("/v1/tasks/a").json()["state"] == "BLOCKED"
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Answered")).to_be_visible()
    assert admin.get("/v1/tasks/a").json()["state"] == "DEAD_LETTER"


def test_the_second_answer_to_a_question(
    dashboard: Opened, admin: httpx.Client, asked: str
) -> None:
    """Is refused with the reason: somebody else was faster."""
    page = dashboard(f"/inbox?selected={asked}")
    page.locator("[data-choice=text]").click()
    page.get_by_label("What the next attempt reads").fill("there are no prices")
    page.route("**/v1/events/stream", lambda route: route.abort())
    admin.post(f"/v1/inbox/{asked}/answer", json={"give_up": True}).raise_for_status()
    submit = page.get_by_role("button", name="Answer", exact=True)
    if submit.is_visible():  # unless the page has learnt of it already
        submit.click()
    expect(page.get_by_text("This question has been answered")).to_be_visible()


def test_a_viewer_looks_and_does_not_answer(dashboard: Opened, asked: str) -> None:
    page = dashboard(f"/inbox?selected={asked}", role="viewer")
    expect(page.get_by_text("Your key may look, not answer.")).to_be_visible()
    expect(page.locator("[data-answer]")).to_have_count(0)


@pytest.mark.usefixtures("dead")
def test_dead_letters_are_requeued_after_a_preview(
    dashboard: Opened, admin: httpx.Client
) -> None:
    page = dashboard("/dead-letters")
    expect(page.locator("[data-item]")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("[data-selected=true]")).to_be_visible()
    page.keyboard.press("r")
    dialog = page.get_by_role("dialog")
    confirm = dialog.get_by_role("button", name="Requeue 1")
    expect(confirm).to_be_disabled()
    dialog.get_by_role("textbox", name="Why now?").fill("the prices have come")
    confirm.click()
    expect(page.get_by_role("heading", name="No dead letters")).to_be_visible()
    assert admin.get("/v1/tasks/a").json()["state"] == "READY"


@pytest.mark.usefixtures("dead")
def test_a_dead_letter_is_dropped(dashboard: Opened, admin: httpx.Client) -> None:
    page = dashboard("/dead-letters")
    page.get_by_role("button", name="Drop:").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Tasks that wait for it may begin without it").check()
    dialog.get_by_role("textbox", name="Why").fill("not needed")
    dialog.get_by_role("button", name="Drop", exact=True).click()
    expect(page.get_by_role("heading", name="No dead letters")).to_be_visible()
    assert admin.get("/v1/tasks/a").json()["state"] == "ABANDONED"


def test_a_wrong_filter_says_what_is_right(dashboard: Opened) -> None:
    page = dashboard("/dead-letters")
    page.keyboard.press("/")
    field = page.get_by_role("searchbox")
    expect(field).to_be_focused()
    field.fill("colour:red")
    expect(page.get_by_role("alert")).to_contain_text("colour")


def test_a_key_is_made_shown_once_and_revoked(
    dashboard: Opened, admin: httpx.Client
) -> None:
    page = dashboard("/settings")
    page.get_by_role("button", name="Make a key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Name").fill("night shift")
    dialog.get_by_role("button", name="Make", exact=True).click()
    key = dialog.locator("[data-once]").inner_text()
    assert key.startswith("acc_")
    dialog.get_by_role("button", name="Close").last.click()
    expect(page.get_by_text(key)).to_have_count(0)

    revoke = page.get_by_role("button", name="Revoke: night shift")
    revoke.click()
    revoke.click()
    expect(page.get_by_text("revoked")).to_be_visible()
    listed = {each["name"]: each for each in admin.get("/v1/keys").json()["items"]}
    assert listed["night shift"]["revoked_at"]


def test_a_message_is_checked(dashboard: Opened) -> None:
    """By the real checker: every violation with its path."""
    page = dashboard("/contracts/xiaobo_action_v1")
    field = page.get_by_role("textbox", name="The message")
    field.fill('{"task_id": 1}')
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("[data-accepted=false]")).to_be_visible()
    expect(page.get_by_text("$.result_type")).to_be_visible()
    field.fill(
        '{"schema_version": "xiaobo_action_v1", "task_id": "a", "result_type": "NOOP"}'
    )
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("[data-accepted=true]")).to_be_visible()


def test_a_task_shows_its_checks_and_messages(
    dashboard: Opened, asked: str, admin: httpx.Client
) -> None:
    """And what others wrote is text: nothing of it runs."""
    page = dashboard("/tasks/a")
    expect(page.locator("[data-result=passed]").first).to_be_visible()
    page.get_by_role("tab", name="Messages").click()
    expect(page.get_by_role("region", name="As it came")).to_contain_text("NEEDS_INPUT")
    page.get_by_role("link", name="Answer").click()
    expect(page.locator("[data-answer]")).to_be_visible()
    expect(page.get_by_text("<img src=x").first).to_be_visible()
    assert page.locator("img").count() == 0
    assert asked == str(admin.get("/v1/inbox").json()["items"][0]["number"])


def test_a_page_of_another_size(dashboard: Opened, asked: str) -> None:
    """On a phone the question lies over the list, and nothing is wider than the page."""
    page = dashboard("/inbox")
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{page.url.split('?')[0]}?selected={asked}")
    expect(page.locator("[data-answer]")).to_be_visible()
    assert _overflow(page) <= 0


def _overflow(page: Page) -> int:
    width: int = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return width
