"""A question as a form, and an answer of several documents."""

from __future__ import annotations

import httpx
import pytest

from accordance.service import tasks
from accordance.service.project import Project
from tests.ledger.project import encoded
from tests.service.test_task_pages import ANNA, HOSTILE

PRICES = {
    "name": "prices",
    "description": HOSTILE,
    "accepted_types": ["csv"],
    "suggested_path": "workspace/inputs/prices.csv",
}
NAMES = {
    "name": "names",
    "description": "who bakes",
    "accepted_types": ["csv"],
    "suggested_path": "workspace/inputs/names.csv",
}


@pytest.fixture
def question(project: Project, admin: httpx.Client) -> str:
    """Task a asks for two documents of the same type."""
    message = {
        "schema_version": "xiaobo_action_v1",
        "task_id": "a",
        "result_type": "NEEDS_INPUT",
        "needs_input": {"required_docs": [PRICES, NAMES]},
    }
    tasks.take_task(project, ANNA)
    tasks.submit(project, encoded(message))
    asked: str = admin.get("/v1/inbox").json()["items"][0]["question_id"]
    return asked


def test_a_form(admin: httpx.Client, question: str) -> None:
    """Its fields come from the documents, its choices say what they lead to."""
    form = admin.get(f"/v1/inbox/{question}/form").json()
    first, second = form["documents"]
    assert (first["name"], first["help"]) == ("prices", HOSTILE)
    assert (second["accepted_types"], second["has_file"]) == (["csv"], False)
    assert form["takes_files"]
    assert form["largest_upload"] > 0
    assert all(choice["leads_to"] for choice in form["choices"])


ORDERS = {
    "named": (["names", "prices"], {"names.csv": b"n", "prices.csv": b"p"}),
    "by their types alone": (["", ""], {"prices.csv": b"n", "names.csv": b"p"}),
    "one of them named": (["", "prices"], {"names.csv": b"n", "prices.csv": b"p"}),
}


@pytest.mark.parametrize(("named", "kept"), ORDERS.values(), ids=ORDERS)
def test_an_answer_of_two_documents(
    admin: httpx.Client,
    project: Project,
    question: str,
    named: list[str],
    kept: dict[str, bytes],
) -> None:
    """Each goes where it was asked for; none takes the place of the other."""
    files = [("files", ("x.csv", b"n")), ("files", ("y.csv", b"p"))]
    answer = admin.post(
        f"/v1/inbox/{question}/upload", files=files, data={"documents": named}
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["state"] == "READY"
    for name, content in kept.items():
        assert (project.home.inputs / name).read_bytes() == content


FAULTS = {
    "another document": ({"documents": ["wages", ""]}, ("x.csv", "y.csv"), 400),
    "too few names": ({"documents": ["prices"]}, ("x.csv", "y.csv"), 422),
    "another type": ({"documents": ["prices", "names"]}, ("x.pdf", "y.csv"), 400),
    "three of a name": ({}, ("x.csv", "x.csv", "x.csv", "x.csv"), 400),
}


@pytest.mark.parametrize(("data", "names", "status"), FAULTS.values(), ids=FAULTS)
def test_what_is_refused(
    admin: httpx.Client,
    project: Project,
    question: str,
    data: dict[str, list[str]],
    names: tuple[str, ...],
    status: int,
) -> None:
    """Whole: nothing is kept, and the question stays open."""
    files = [("files", (name, b"%PDF-1")) for name in names]
    answer = admin.post(f"/v1/inbox/{question}/upload", files=files, data=data)
    assert answer.status_code == status, answer.text
    assert list(project.home.inputs.rglob("*.csv")) == []
    assert admin.get(f"/v1/inbox/{question}").json()["answered_at"] is None
