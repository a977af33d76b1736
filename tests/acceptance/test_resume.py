"""`accordance run --resume` after kill -9: what a model was paid for is not paid for again."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.acceptance.cli import accordance
from tests.executors.assignments import BAD_ACTION
from tests.fake_model_server import Json, Script, Server, serving
from tests.limits import LIMIT
from tests.messages import ACTION, edge, node, plan
from tests.reviews import node_review

SETTINGS = '[executors.model]\nkind = "llm"\nmodel = "m"\nbase_url = "URL/v1"\nprices = { m = { input = 1.0, output = 1.0 } }\n[review]\nown_work = true\n'
NAMES = ("a", "b", "c")
CHAIN = plan(
    [node("root", "GOAL"), *(node(name) for name in NAMES)],
    [
        *(edge("root", name) for name in NAMES),
        edge("a", "b", "DEPENDS_ON"),
        edge("b", "c", "DEPENDS_ON"),
    ],
)


class Model:
    """Good at `a` and `c`; for `b` it says something bad first, and hangs when it is asked again until it is `awake`."""

    def __init__(self) -> None:
        self.is_awake = False

    def answer(self, body: Json) -> Json:
        told = json.dumps(body["messages"][:2])
        name = next(name for name in NAMES if f"task_id '{name}'" in told)
        if "xiaojing_review" in told:
            return {"json": node_review(name, 95)}
        good = {
            "json": {
                **ACTION,
                "task_id": name,
                "artifact": {**ACTION["artifact"], "path_hint": None},
            }
        }
        if name != "b":
            return good
        if len(body["messages"]) == 2:
            return {"json": {**BAD_ACTION, "task_id": name}}
        return good if self.is_awake else {**good, "fault": {"hang": 600}}


def question(body: Json) -> str:
    return hashlib.sha256(json.dumps(body["messages"]).encode()).hexdigest()


def hung_up(server: Server) -> bool:
    """Whether the model was asked about `b` again, and lets us wait."""
    return any(len(one["body"]["messages"]) > 2 for one in server.requests)


def test_a_run_that_was_killed_goes_on_and_pays_for_nothing_twice(
    tmp_path: Path,
) -> None:
    """Only the call that was cut off is made again, even within one attempt; every token is counted once."""
    model = Model()
    with serving(Script([{}], asked=model.answer)) as server:
        (tmp_path / "accordance.toml").write_text(SETTINGS.replace("URL", server.url))
        (tmp_path / "plan.json").write_text(json.dumps(CHAIN))
        assert (
            accordance("plan", "import", "plan.json", "--no-review", cwd=tmp_path).code
            == 0
        )
        command = [sys.executable, "-m", "accordance.cli.main", "run", "--json"]
        run = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + LIMIT
        while not hung_up(server) and time.monotonic() < until:
            time.sleep(0.02)
        run.kill()
        run.wait()
        model.is_awake = True
        ran = accordance("run", "--resume", "--json", cwd=tmp_path)
        asked = Counter(question(one["body"]) for one in server.requests)
        cut_off = [
            question(one["body"])
            for one in server.requests
            if len(one["body"]["messages"]) > 2
        ]
    assert (ran.code, ran.json["rests"]) == (0, "FINISHED"), ran.err
    assert {one: times for one, times in asked.items() if times > 1} == {cut_off[0]: 2}
    assert (
        len(asked) == 7
    )  # three tasks, three reviews, and the one that was asked for again
    shown = accordance("task", "show", "b", "--json", cwd=tmp_path).json
    assert (shown["attempt_count"], shown["failures"]) == (
        2,
        0,
    )  # one run, and an answer that was mended in it
    spent = accordance("plan", "show", "--json", cwd=tmp_path).json["spent"]
    assert (spent["calls"], spent["tokens"]) == (7, 7 * 120)
    assert accordance("verify", cwd=tmp_path).code == 0
