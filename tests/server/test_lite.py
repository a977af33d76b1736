"""The pages without JavaScript: read, answered and requeued with nothing but forms."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from accordance.service import tasks
from accordance.service.project import Project
from tests.ledger.project import encoded, failing
from tests.messages import PLAN, edge, node, plan
from tests.server.stage import Served
from tests.server.test_question_forms import NAMES, PRICES
from tests.service.conftest import brings
from tests.service.test_task_pages import ANNA, HOSTILE
from tests.unit.rendering.test_pages import Elements


@pytest.fixture
def project(empty: Project) -> Project:
    """A plan whose titles are hostile."""
    nodes = [node("root", "GOAL", title=HOSTILE), node("a", title=HOSTILE), node("b")]
    edges = [edge("root", "a"), edge("root", "b")]
    brings(empty, plan(nodes, edges))
    return empty


@pytest.fixture
def browser(served: Served) -> Iterator[httpx.Client]:
    """A browser that has logged in by the form."""
    with served.client() as client:
        form = {"key": served.key("operator")}
        answer = client.post("/lite/login", data=form)
        assert answer.status_code == 303, answer.text
        yield client


def read(browser: httpx.Client, path: str) -> Elements:
    """Open a page."""
    answer = browser.get(path)
    assert answer.status_code == 200, answer.text
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    read = Elements(answer.text)
    assert not {"script", "iframe", "object"} & set(read.names)
    assert "\x1b" not in answer.text
    return read


def token(browser: httpx.Client, path: str) -> str:
    """The token in the forms of a page."""
    found = re.search(r'name="csrf" value="(\w+)"', browser.get(path).text)
    assert found
    return found[1]


def test_every_page(browser: httpx.Client, project: Project) -> None:
    """Shows hostile titles as they are written."""
    tasks.take_task(project, ANNA)
    tasks.submit(project, encoded(failing("a")))
    for path in (
        "/lite/plans",
        f"/lite/plans/{PLAN}",
        "/lite/tasks/a",
        "/lite/inbox",
        "/lite/dead-letters",
    ):
        page = read(browser, path)
        assert "Plans" in page.text
    assert "<script>alert(1)</script>" in read(browser, "/lite/tasks/a").text
    assert "LLM_FAILED" in read(browser, "/lite/tasks/a").text
    style = browser.get("/lite/style.css")
    assert style.headers["content-type"].startswith("text/css")


def test_without_a_session(served: Served) -> None:
    """Every page leads to the form; a wrong key is said to be wrong."""
    with served.client() as client:
        answer = client.get("/lite/plans")
        assert (answer.status_code, answer.headers["location"]) == (303, "/lite/login")
        assert client.get("/lite/login").status_code == 200
        refused = client.post("/lite/login", data={"key": "acc_wrong"})
        assert refused.status_code == 401
        assert "the key is unknown" in refused.text
        elsewhere = client.post(
            "/lite/login",
            data={"key": served.key("viewer")},
            headers={"Sec-Fetch-Site": "cross-site"},
        )
        assert elsewhere.status_code == 403


def test_what_is_not_there(browser: httpx.Client) -> None:
    """Is a page with the way back."""
    answer = browser.get("/lite/plans/nowhere")
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "not-found" in answer.text


@pytest.fixture
def question(project: Project, browser: httpx.Client) -> str:
    """Task a asks for two documents."""
    message = {
        "schema_version": "xiaobo_action_v1",
        "task_id": "a",
        "result_type": "NEEDS_INPUT",
        "needs_input": {"required_docs": [PRICES, NAMES]},
    }
    tasks.take_task(project, ANNA)
    tasks.submit(project, encoded(message))
    found = re.search(r'href="(/lite/inbox/q-\w+)"', browser.get("/lite/inbox").text)
    assert found
    return found[1]


def test_an_answer_with_files(
    browser: httpx.Client, project: Project, question: str
) -> None:
    """A field for each document; the answer is sent once, and the task goes on."""
    csrf = token(browser, question)
    files = {
        "file:names": ("n.csv", b"n"),
        "file:prices": ("p.csv", b"p"),
    }
    answer = browser.post(question, data={"csrf": csrf, "line": ""}, files=files)
    assert answer.status_code == 303, answer.text
    assert (project.home.inputs / "names.csv").read_bytes() == b"n"
    again = browser.post(question, data={"csrf": csrf, "line": "again"})
    assert again.status_code == 409
    assert "was answered by operator" in again.text


def test_an_answer_by_a_word(browser: httpx.Client, question: str) -> None:
    """As it is written into the inbox of the command line; then it is requeued."""
    csrf = token(browser, question)
    empty = browser.post(question, data={"csrf": csrf, "line": " "})
    assert (empty.status_code, "empty" in empty.text) == (400, True)
    given_up = browser.post(question, data={"csrf": csrf, "line": "give-up"})
    assert given_up.status_code == 303, given_up.text
    assert "Requeue" in read(browser, "/lite/dead-letters").text
    done = browser.post("/lite/dead-letters/a", data={"csrf": csrf, "reason": "mended"})
    assert done.status_code == 303
    assert "Nothing was given up" in read(browser, "/lite/dead-letters").text


@pytest.mark.parametrize("csrf", ["", "0" * 64], ids=["no token", "a wrong token"])
def test_a_form_of_another_site(
    browser: httpx.Client, question: str, csrf: str
) -> None:
    """Changes nothing."""
    answer = browser.post(question, data={"csrf": csrf, "line": "give-up"})
    assert answer.status_code == 403
    assert "Answer" in read(browser, question).text


def test_a_viewer_sees_no_form(
    served: Served, browser: httpx.Client, question: str
) -> None:
    """And cannot send it either."""
    with served.client() as client:
        client.post("/lite/login", data={"key": served.key("viewer")})
        assert "textarea" not in read(client, question).names
        csrf = token(client, question)
        answer = client.post(question, data={"csrf": csrf, "line": "give-up"})
        assert answer.status_code == 403
        out = client.post("/lite/logout", data={"csrf": csrf})
        assert out.headers["location"] == "/lite/login"
        assert client.get("/lite/plans").status_code == 303


def test_a_run_as_a_file(browser: httpx.Client, project: Project) -> None:
    """Saved, never shown here; it has everything in it and asks for nothing."""
    tasks.take_task(project, ANNA)
    tasks.submit(project, encoded(failing("a")))
    answer = browser.get(f"/v1/plans/{PLAN}/export.html")
    assert answer.headers["content-disposition"].startswith("attachment")
    page = Elements(answer.text)
    assert "svg" in page.names
    assert not {"script", "link", "img", "iframe"} & set(page.names)
    addresses = [
        value
        for name, value in page.attributes
        if name in ("href", "src", "action") and value
    ]
    assert addresses
    assert all(value.startswith("#") for value in addresses)
    assert "attempt 1 by anna ended RETRY" in page.text
    assert "LLM_FAILED: it broke" in page.text
