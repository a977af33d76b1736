"""`accordance plan create` against a scripted model: written, checked, reviewed, written again; or not at all."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.cli import Ran, accordance
from tests.fake_model_server import Json, Script, Server, serving
from tests.messages import Message, edge, node, plan
from tests.reviews import plan_review

GOAL = "Open the bakery in spring"


def a_plan(plan_id: str, tasks: tuple[str, ...] = ("flour", "bread")) -> Message:
    """A plan for the goal, under the name that was asked for."""
    written = plan(
        [node("open", "GOAL"), *map(node, tasks)],
        [edge("open", task) for task in tasks],
        "open",
    )
    named: Message = renamed(written, plan_id)
    return named


def renamed(message: Any, plan_id: str) -> Any:
    """Everything under another plan's name."""
    if isinstance(message, dict):
        return {
            key: plan_id if key == "plan_id" else renamed(value, plan_id)
            for key, value in message.items()
        }
    return (
        [renamed(one, plan_id) for one in message]
        if isinstance(message, list)
        else message
    )


@contextmanager
def a_model(
    home: Path,
    planner: list[Callable[[str], Json]],
    reviewer: list[Callable[[str], Json]],
) -> Iterator[Server]:
    """A model that plans and reviews, one thing after the other, the last again and again; the project asks it."""
    left = {"plan": list(planner), "review": list(reviewer)}

    def asked(body: Json) -> Json:
        told = json.dumps(body)
        said = left["review" if "Title: Review a plan" in told else "plan"]
        step = said.pop(0) if len(said) > 1 else said[0]
        named = "task_id" if "Title: Review a plan" in told else "plan_id"
        return step(told.partition(f"{named} '")[2].partition("'")[0])

    with serving(Script([{}], asked=asked)) as server:
        settings = f"""
            [executors.model]
            kind = "llm"
            model = "fake-model"
            base_url = "{server.url}/v1"
            reasks = 0
            prices = {{ fake-model = {{ input = 10.0, output = 20.0 }} }}
        """
        (home / "accordance.toml").write_text(settings)
        yield server


def events(home: Path) -> list[Json]:
    """What happened, in order."""
    return [
        event
        for line in accordance("events", "--json", cwd=home).out.splitlines()
        if (event := json.loads(line))["plan_id"]
    ]


def create(home: Path, *options: str) -> Ran:
    return accordance("plan", "create", GOAL, *options, cwd=home)


def write(*tasks: str) -> Callable[[str], Json]:
    """The planner writes a plan."""
    return lambda plan_id: {"json": a_plan(plan_id, tasks or ("flour", "bread"))}


def score(points: int, action: str | None = None) -> Callable[[str], Json]:
    """The reviewer gives so many points."""
    return lambda plan_id: {"json": plan_review(points, action, plan_id)}


def say(text: str) -> Callable[[str], Json]:
    """Somebody says something else."""
    return lambda _: {"say": text}


def test_a_plan_that_is_approved_at_once(tmp_path: Path) -> None:
    """Imported, reviewed, ACTIVE; every word is kept and verifies."""
    with a_model(tmp_path, [write()], [score(95)]) as server:
        ran = create(tmp_path, "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["state"], ran.json["revision"], ran.json["written"]) == (
        "ACTIVE",
        1,
        1,
    )
    assert ran.json["spent"]["calls"] == len(server.requests) == 2
    assert ran.json["spent"]["cost"] == pytest.approx(
        2 * (100 * 10 + 20 * 20) / 1_000_000
    )
    assert (
        json.loads((tmp_path / "tasks/plan.json").read_text())["plan"]["plan_id"]
        == ran.json["plan_id"]
    )
    assert GOAL in json.dumps(server.requests[0]["body"])
    kinds = [one["kind"] for one in events(tmp_path)]
    assert kinds[:7] == [
        "PLAN_IMPORTED",
        "PROMPTED",
        "RAN",
        "PLAN_WRITTEN",
        "ASKED_A_PERSON",
        "PROMPTED",
        "RAN",
    ]
    assert kinds[7:] == ["MESSAGE", "PLAN_APPROVED", "VERDICT"]
    assert accordance("verify", cwd=tmp_path).code == 0
    shown = accordance("plan", "show", "--json", cwd=tmp_path).json
    assert shown["spent"]["tokens"] == 240
    assert shown["spent_by_task"][""]["tokens"] == 240
    for kind, one in zip(("plan", "plan_review"), server.requests, strict=True):
        told = accordance(
            "plan", "prompt", "--kind", kind, "--call", "1", "--json", cwd=tmp_path
        ).json
        assert [(m["role"], m["content"]) for m in told["messages"]] == [
            (m["role"], m["content"]) for m in one["body"]["messages"]
        ]
    assert (
        GOAL
        in accordance(
            "plan", "prompt", ran.json["plan_id"][:9], "--kind", "plan", cwd=tmp_path
        ).out
    )
    missing = accordance("plan", "prompt", "--attempt", "9", cwd=tmp_path)
    assert (missing.code, missing.err.count("\n")) == (5, 1)


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (say("Here is the plan!"), "text_around"),
        (lambda _: {"json": a_plan("another-plan")}, "wrong_task"),
        (lambda name: {"json": {**a_plan(name), "nodes": []}}, "$.nodes"),
    ],
    ids=["prose", "another name", "no nodes"],
)
def test_a_message_that_is_no_plan_is_mended(
    tmp_path: Path, bad: Callable[[str], Json], told: str
) -> None:
    """The next one is asked for with what was wrong."""
    with a_model(tmp_path, [bad, write()], [score(95)]) as server:
        ran = create(tmp_path, "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["state"], ran.json["written"]) == ("ACTIVE", 2)
    assert told in json.dumps(server.requests[1]["body"])
    written = [
        one["payload"] for one in events(tmp_path) if one["kind"] == "PLAN_WRITTEN"
    ]
    assert [one["accepted"] for one in written] == [False, True]


def test_tasks_of_another_plan_are_not_taken_over(tmp_path: Path) -> None:
    """Ids are unique in a ledger: the second plan is asked for others."""
    with a_model(tmp_path, [write()], [score(95)]):
        assert create(tmp_path).code == 0
    with a_model(tmp_path, [write(), write("sour", "dough")], [score(95)]):
        ran = create(tmp_path, "--json")
    assert ran.code == 1, "the goal has the same id in both"
    assert "duplicate_id" in ran.json["faults"][0]


def test_a_returned_plan_is_written_again(tmp_path: Path) -> None:
    """With the suggestions of the review and the plan it is about."""
    with a_model(
        tmp_path, [write(), write("flour", "bread", "till")], [score(60), score(95)]
    ) as server:
        ran = create(tmp_path, "--json")
    assert (ran.code, ran.json["state"], ran.json["revision"], ran.json["nodes"]) == (
        0,
        "ACTIVE",
        2,
        4,
    )
    assert [one["action_required"] for one in ran.json["reviews"]] == [
        "MODIFY",
        "APPROVE",
    ]
    again = json.dumps(server.requests[2]["body"])
    assert "There is more" in again
    assert "tasks/plan.json" in again
    assert accordance("verify", cwd=tmp_path).code == 0


def test_the_same_plan_again_is_no_answer_to_a_review(tmp_path: Path) -> None:
    """It is told, and asked for again."""
    with a_model(
        tmp_path, [write(), write(), write("till")], [score(60), score(95)]
    ) as server:
        ran = create(tmp_path, "--json")
    assert (ran.code, ran.json["written"], ran.json["revision"]) == (0, 3, 2)
    assert "word for word" in json.dumps(server.requests[3]["body"])


def different() -> list[Callable[[str], Json]]:
    return [write(f"task-{at}") for at in range(9)]


@pytest.mark.parametrize(
    ("reviews", "rounds", "code", "state", "said"),
    [
        ([score(60)], "1", 1, "RETURNED", "the rounds are used up"),
        ([score(60)], "3", 3, "HELD", "a person is asked"),
        ([score(70, "REQUEST_EXTERNAL_INPUT")], "3", 3, "HELD", "a person is asked"),
        ([say("Looks good to me")], "3", 3, "HELD", "a person is asked"),
    ],
    ids=[
        "rounds used up",
        "the fuse",
        "something from outside",
        "reviews nobody can read",
    ],
)
def test_a_plan_that_is_never_approved(
    tmp_path: Path,
    reviews: list[Callable[[str], Json]],
    rounds: str,
    code: int,
    state: str,
    said: str,
) -> None:
    """It may not begin; the exit code and one line say why."""
    with a_model(tmp_path, different(), reviews):
        ran = create(tmp_path, "--rounds", rounds)
    assert ran.code == code
    assert said in ran.err.splitlines()[-1]
    assert state in ran.out
    assert accordance("verify", cwd=tmp_path).code == 0


def test_a_planner_that_never_writes_a_plan(tmp_path: Path) -> None:
    """Nothing is imported."""
    with a_model(
        tmp_path, [say("I would rather talk about it.")], [score(95)]
    ) as server:
        ran = create(tmp_path)
    assert ran.code == 1
    assert "no plan: " in ran.err
    assert len(server.requests) == 3
    assert accordance("plan", "list", "--json", cwd=tmp_path).json["items"] == []


def test_a_dry_run_keeps_nothing(tmp_path: Path) -> None:
    """The plan is printed."""
    with a_model(tmp_path, [write()], [score(95)]):
        ran = create(tmp_path, "--dry-run")
    assert ran.code == 0
    assert json.loads(ran.out)["plan"]["title"] == "Spring catalogue"
    assert not (tmp_path / "tasks").exists()
    assert not (tmp_path / ".accordance/ledger.db").exists()


def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@pytest.mark.parametrize(
    ("settings", "code", "said"),
    [
        ("", 2, "no executor for this task: none is configured"),
        (
            '[executors.far]\nkind = "external"',
            2,
            "far is an outside worker and cannot be asked",
        ),
        (
            '[executors.m]\nkind = "llm"\nmodel = "m"\nkey_env = "NO_SUCH_KEY"',
            4,
            "PERMISSION_DENIED: the environment variable NO_SUCH_KEY is not set",
        ),
        (
            '[executors.m]\nkind = "llm"\nmodel = "m"\nbase_url = "http://127.0.0.1:PORT/v1"',
            1,
            "no plan: MODEL_UNAVAILABLE",
        ),
    ],
    ids=["no executor", "somebody elsewhere", "no key", "endpoint down"],
)
def test_nobody_who_could_write_it(
    tmp_path: Path, settings: str, code: int, said: str
) -> None:
    """One line, and the way out."""
    (tmp_path / "accordance.toml").write_text(
        settings.replace("PORT", str(unused_port()))
    )
    ran = create(tmp_path)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err.splitlines()[-1]


def test_a_reviewer_who_is_not_there(tmp_path: Path) -> None:
    """The plan is imported and waits for its review; the line says why."""
    down = {"say": "", "fault": {"status": 503}}
    with a_model(tmp_path, [write()], [lambda _: down]):
        ran = create(tmp_path)
    assert ran.code == 3
    assert (
        "waits for its review (accordance plan approve): MODEL_UNAVAILABLE" in ran.err
    )
    assert (
        accordance("plan", "list", "--json", cwd=tmp_path).json["items"][0]["state"]
        == "IN_REVIEW"
    )


def test_what_is_going_on_meanwhile(tmp_path: Path) -> None:
    """Each step is a line on standard error: asked, rejected, asked again, checked, reviewed; with --json it is quiet."""
    with a_model(tmp_path, [say("I would rather talk."), write()], [score(95)]):
        ran = create(tmp_path)
        quiet = create(tmp_path, "--json")
    steps = [line.partition(" s  ")[2].partition(",")[0] for line in ran.err.splitlines()]  # fmt: skip
    assert [step.partition(":")[0] for step in steps] == [
        "asking model (fake-model) for a plan",
        "checking the answer",
        "no plan yet",
        "asking model (fake-model) for a plan",
        "checking the answer",
        "the plan is good",
        "asking model (fake-model) for a review",
        "reviewed",
    ]
    assert steps[-1] == "reviewed: ACTIVE"
    assert quiet.err == ""
