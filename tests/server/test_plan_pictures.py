"""The picture of a plan: laid out by the server, its states apart from it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from accordance.domain.lifecycle import Event
from accordance.service.project import Project
from tests.messages import PLAN, edge, node, plan
from tests.service.conftest import brings


def a_plan_with_goals() -> Any:
    """Two goals in a goal; b waits for a, and v checks it; c and d are alternatives."""
    nodes = [
        node("root", "GOAL"),
        node("g", "GOAL"),
        node("h", "GOAL"),
        *(node(name) for name in "abcd"),
        node("v", "CHECK"),
    ]
    edges = [edge("root", "g"), edge("root", "h")]
    edges += [edge("g", part) for part in ("a", "v", "b")]
    edges += [edge("h", part) for part in "cd"]
    edges += [edge("a", "v", "DEPENDS_ON"), edge("a", "b", "DEPENDS_ON")]
    edges += [edge("h", task, "ALTERNATIVE", group_id="x") for task in "cd"]
    return plan(nodes, edges)


@pytest.fixture
def project(empty: Project) -> Project:
    """A project with that plan."""
    brings(empty, a_plan_with_goals())
    return empty


def layout(admin: httpx.Client, **query: Any) -> Any:
    """Lay the plan out."""
    answer = admin.get(f"/v1/plans/{PLAN}/layout", params=query)
    return answer.raise_for_status().json()


def shown(laid_out: Any) -> list[str]:
    """The tasks that have boxes."""
    return [laid_out["ids"][place] for place in laid_out["boxes"]["task"]]


def test_every_box_and_arrow(admin: httpx.Client) -> None:
    """Columns are of a length; parts stand in their goals; arrows name their boxes."""
    drawn = layout(admin)
    boxes, arrows = drawn["boxes"], drawn["arrows"]
    names = shown(drawn)
    assert sorted(names) == sorted(drawn["ids"])
    assert {len(column) for column in boxes.values()} == {len(names)}
    assert names[boxes["home"][names.index("a")]] == "g"
    ties = {
        (names[source], names[target]): tie
        for source, target, tie in zip(
            arrows["source"], arrows["target"], arrows["tie"], strict=True
        )
    }
    assert ties == {("a", "v"): "checks", ("a", "b"): "before"}
    assert all(len(points) >= 4 for points in arrows["points"])
    assert [[names[box] for box in group] for group in drawn["alternatives"]] == [
        ["c", "d"]
    ]


def test_folding(admin: httpx.Client) -> None:
    """A folded goal stands for its parts, and says how many it hides."""
    folded = layout(admin, fold=["g"])
    names = shown(folded)
    box = names.index("g")
    assert not {"a", "v", "b"} & set(names)
    assert folded["boxes"]["hidden"][box] == 3
    assert folded["shown_as"][folded["ids"].index("a")] == box
    shallow = layout(admin, depth=1, unfold=["h"])
    assert set(shown(shallow)) == {"root", "g", "h", "c", "d"}


@pytest.mark.parametrize("goal", ["a", "nothing"], ids=["a task", "no task"])
def test_what_cannot_be_folded(admin: httpx.Client, goal: str) -> None:
    """Is not there, as a goal."""
    answer = admin.get(f"/v1/plans/{PLAN}/layout", params={"fold": goal})
    assert answer.status_code == 404
    assert answer.json()["code"] == "not-found"


def test_states_come_by_themselves(admin: httpx.Client, project: Project) -> None:
    """The layout stays as it is, to the byte; the states are those since an event."""
    before = admin.get(f"/v1/plans/{PLAN}/layout")
    whole = admin.get(f"/v1/plans/{PLAN}/states").json()
    names = [whole["names"][state] for state in whole["states"]]
    assert whole["places"] is None
    assert names[before.json()["ids"].index("a")] == "READY"

    with project.ledger.write() as tx:
        tx.lock(PLAN)
        tx.happen("a", Event.CLAIMED)
    since = {"since": whole["event"]}
    news = admin.get(f"/v1/plans/{PLAN}/states", params=since).json()
    assert news["event"] > whole["event"]
    assert [before.json()["ids"][place] for place in news["places"]] == ["a"]
    assert [news["names"][state] for state in news["states"]] == ["IN_PROGRESS"]
    seen = {"If-None-Match": before.headers["etag"]}
    assert admin.get(f"/v1/plans/{PLAN}/layout", headers=seen).status_code == 304


def test_an_amended_plan_is_laid_out_anew(admin: httpx.Client) -> None:
    """By its revision; the states stay in the order of its ids."""
    before = layout(admin)
    document = admin.get(f"/v1/plans/{PLAN}/document").json()
    document["nodes"].insert(1, {**document["nodes"][3], "task_id": "new"})
    document["edges"].append(edge("g", "new"))
    answer = admin.post(
        f"/v1/plans/{PLAN}/amend",
        content=json.dumps(document),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 200, answer.text
    after = layout(admin)
    states = admin.get(f"/v1/plans/{PLAN}/states").json()
    assert after["revision"] == states["revision"] == before["revision"] + 1
    assert "new" in after["ids"]
    tasks = admin.get("/v1/tasks").json()["items"]
    by_id = {task["task_id"]: task["state"] for task in tasks}
    shown_states = [states["names"][state] for state in states["states"]]
    assert dict(zip(after["ids"], shown_states, strict=True)) == by_id
