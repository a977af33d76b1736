"""The dashboard opens, lets people in and out, and can be used by keyboard."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.server.stage import Served
from tests.ui.conftest import Opened


def test_a_printed_address_logs_in_and_does_not_keep_the_key(dashboard: Opened) -> None:
    page = dashboard("/")
    expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    assert page.url.endswith("/runs")
    assert "key=" not in page.url


def test_without_a_session_the_page_asks_for_a_key(
    dashboard: Opened, served: Served
) -> None:
    page = dashboard("/inbox")
    page.context.clear_cookies()
    page.goto(f"{served.url}/inbox")
    page.locator("input[type=password]").fill(served.key("viewer"))
    page.get_by_role("button", name="Log in with the key").click()
    expect(page.get_by_role("heading", name="Inbox", level=1)).to_be_visible()


def test_a_wrong_key_is_refused_with_the_way_out(
    dashboard: Opened, served: Served
) -> None:
    page = dashboard("/inbox")
    page.context.clear_cookies()
    page.goto(f"{served.url}/inbox")
    page.locator("input[type=password]").fill("acc_no_key")
    page.get_by_role("button", name="Log in with the key").click()
    expect(page.get_by_role("alert")).to_contain_text("the key is unknown")


@pytest.mark.parametrize(
    ("keys", "title"),
    [
        ("g i", "Inbox"),
        ("g d", "Dead letters"),
        ("g c", "Contracts"),
        ("g s", "Settings"),
    ],
)
def test_two_keys_lead_to_a_screen(dashboard: Opened, keys: str, title: str) -> None:
    page = dashboard("/")
    for key in keys.split():
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()


def test_the_palette_leads_to_a_screen(dashboard: Opened) -> None:
    page = dashboard("/")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("contr")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Contracts", level=1)).to_be_visible()


def test_the_language_and_the_theme_are_kept(dashboard: Opened) -> None:
    page = dashboard("/")
    _choose(page, "Language", "한국어")
    expect(page.get_by_role("heading", name="실행", level=1)).to_be_visible()
    _choose(page, "테마", "어둡게")
    page.reload()
    expect(page.get_by_role("heading", name="실행", level=1)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")


def _choose(page: Page, menu: str, item: str) -> None:
    page.get_by_role("button", name=menu).click()
    page.get_by_role("menuitem", name=item).click()


def test_logging_out_leaves_the_key_as_it_is(dashboard: Opened, served: Served) -> None:
    key = served.key("viewer", name="mine")
    page = dashboard("/")
    page.goto("about:blank")
    page.goto(f"{served.url}/runs#key={key}")
    page.get_by_role("button", name="mine").click()
    page.get_by_role("menuitem", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in", level=1)).to_be_visible()
    with served.client(key) as client:
        assert client.get("/v1/me").status_code == 200


def test_files_are_kept_for_ever_and_the_page_is_not(
    dashboard: Opened, served: Served
) -> None:
    page = dashboard("/")
    script = page.locator("script[src]").get_attribute("src")
    with served.client() as client:
        asset: httpx.Response = client.get(f"{script}")
        shell = client.get("/plans/anything/at/all")
        unknown = client.get("/assets/nothing.js")
    assert "immutable" in asset.headers["cache-control"]
    assert asset.headers["content-encoding"] == "gzip"
    assert "no-cache" in shell.headers["cache-control"]
    assert "unsafe-inline" not in shell.headers["content-security-policy"]
    assert unknown.status_code == 404
