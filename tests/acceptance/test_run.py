"""`accordance run` and all that can go wrong with it: one clear line, or a clear event with the right code, and it goes on."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.cli import Ran, accordance
from tests.fake_model_server import Json, Script, Server, serving
from tests.limits import LIMIT
from tests.messages import ACTION, Message, changed, edge, node, plan, small_plan
from tests.reviews import node_review

AGENT = """
import json, sys

told = json.load(sys.stdin)
task = told["contract"]["task_id"]
if told["kind"] == "action":
    artifact = {"name": "text", "format": "md", "content": "It is done.", "summary": None}
    said = {"schema_version": "xiaobo_action_v1", "result_type": "ARTIFACT", "artifact": artifact}
else:
    scores = told["context"]["rubric"]["dimensions"].items()
    said = {
        "schema_version": "xiaojing_review_v1",
        "review_target": "NODE",
        "total_score": 100,
        "action_required": "APPROVE",
        "summary": "Good.",
        "breakdown": [{"dimension": name, "score": most, "max_score": most, "issues": []} for name, most in scores],
        "suggestions": [],
    }
print(json.dumps({**said, "task_id": task}))
"""
HONEST = '[executors.honest]\nkind = "command"\ncommand = ["python3", "agent.py"]\n'


def begin(home: Path, message: Message, settings: str, *options: str) -> None:
    """A project with a plan, which may begin unless the options say otherwise."""
    (home / "agent.py").write_text(AGENT)
    (home / "accordance.toml").write_text(settings)
    (home / "plan.json").write_text(json.dumps(message))
    assert (
        accordance(
            "plan", "import", "plan.json", *(options or ("--no-review",)), cwd=home
        ).code
        == 0
    )


def holds(home: Path) -> bool:
    """Whether the ledger is what it should be."""
    return accordance("verify", cwd=home).code == 0


# -- who reviews

TWO_MODELS = """
[executors.m]
kind = "llm"
model = "small"
base_url = "URL/v1"
{more}
"""


@pytest.mark.parametrize(
    ("more", "code"),
    [
        pytest.param("", 2, id="the same model does everything"),
        pytest.param(
            "tiers = { small = 2, large = 1 }\n", 0, id="the executor has another model"
        ),
    ],
)
def test_no_model_reviews_its_own_product(tmp_path: Path, more: str, code: int) -> None:
    """That is seen before anything is paid for, and the ways out are named."""

    def says(body: dict[str, Any]) -> dict[str, Any]:
        if "xiaojing_review_v1" in json.dumps(body["messages"]):
            return {"json": node_review("a")}
        return {
            "json": {
                **ACTION,
                "task_id": "a",
                "artifact": {**ACTION["artifact"], "path_hint": None},
            }
        }

    with serving(Script([{}], asked=says)) as server:
        settings = TWO_MODELS.format(more=more).replace("URL", server.url)
        begin(
            tmp_path,
            plan([node("root", "GOAL"), node("a")], [edge("root", "a")]),
            settings,
        )
        ran = accordance("run", cwd=tmp_path)
    assert ran.code == code, ran
    if code:
        assert "m (small) would review its own products" in ran.err
        assert "own_work = true under [review]" in ran.err
        assert server.requests == []
    else:
        assert [one["model"] for one in server.requests] == ["small", "large"]


# -- what is said before anything begins


@pytest.mark.parametrize(
    ("settings", "options", "code", "said"),
    [
        ("", (), 2, "no executor for this task: none is configured; add [executors.NAME] to accordance.toml"),
        (HONEST, ("--executor", "honst"), 5, "unknown executor 'honst'; did you mean honest?"),
        (HONEST, ("--executor", "llm"), 2, "(--model NAME)"),
        (
            '[executors.m]\nkind = "llm"\nmodel = "small"\n',
            ("--executor", "m", "--model", "smal"),
            5,
            "unknown model 'smal'; did you mean small?",
        ),
        (HONEST + '[[routes]]\nexecutor = "nobody"\n', (), 5, "unknown executor 'nobody'"),
        (HONEST + '[[routes]]\nexecutor = "honest"\nprompt = "none.v1"\n', (), 5, "unknown prompt 'none.v1'"),
        (HONEST + '[[routes]]\nkind = "review"\nexecutor = "honest"\n', (), 2, "no route in accordance.toml fits"),
        ('[executors.m]\nkind = "lllm"\n', (), 2, "unknown kind 'lllm'; did you mean llm?"),
        ("[executors", (), 2, "accordance.toml"),
        (HONEST, ("no-such-plan",), 5, "no plan 'no-such-plan'"),
        (HONEST, ("plan.json",), 5, "import it with `accordance plan import plan.json`"),
        ('[executors.a]\nkind = "command"\ncomand = "x"\n', (), 2, "has no key 'comand'; did you mean command"),
    ],
    ids=[
        "no executor",
        "an unknown executor",
        "a model nobody named",
        "an unknown model",
        "a route to nobody",
        "an unknown prompt",
        "no route",
        "an unknown kind",
        "no TOML",
        "another plan",
        "a file",
        "a key with a slip",
    ],
)  # fmt: skip
def test_settings_that_cannot_work(
    tmp_path: Path, settings: str, options: tuple[str, ...], code: int, said: str
) -> None:
    """One line with the way out; nothing has begun."""
    begin(tmp_path, small_plan(), HONEST)
    (tmp_path / "accordance.toml").write_text(settings)
    ran = accordance("run", *options, cwd=tmp_path)
    assert ran.code == code, ran.err
    assert all(line.startswith("fuses: ") for line in ran.out.splitlines())
    assert said in ran.err
    assert ran.err.count("\n") == 1
    (tmp_path / "accordance.toml").write_text(HONEST)
    assert (
        accordance("task", "show", "a", "--json", cwd=tmp_path).json["state"] == "READY"
    )


def test_no_ledger_and_no_plan(tmp_path: Path) -> None:
    """Each has its own line."""
    ran = accordance("run", cwd=tmp_path)
    assert (ran.code, ran.err.count("\n")) == (5, 1)
    assert "no ledger" in ran.err
    (tmp_path / "accordance.toml").write_text("")
    assert (
        accordance("plan", "create", "x", cwd=tmp_path).code == 2
    )  # makes the ledger, and no plan
    ran = accordance("run", cwd=tmp_path)
    assert (ran.code, ran.err) == (
        5,
        "accordance: there is no plan yet (`accordance plan import FILE` brings a plan)\n",
    )


def test_a_plan_in_review_waits(tmp_path: Path) -> None:
    """Nothing begins, and the exit code says that somebody has to do something."""
    begin(tmp_path, small_plan(), HONEST, "--json")
    ran = accordance("run", "--json", cwd=tmp_path)
    assert (ran.code, ran.json["rests"]) == (3, "IN_REVIEW")
    assert accordance("task", "show", "a", "--json", cwd=tmp_path).json["runs"] == []


PEOPLE = HONEST + '[executors.people]\nkind = "external"\n'
TO_PEOPLE = '[[routes]]\nkind = "action"\ntags = ["x"]\nexecutor = "people"\n'
PAIR = plan(
    [node("root", "GOAL"), node("ok"), node("x", tags=["x"])],
    [edge("root", "ok"), edge("root", "x")],
)


def test_what_is_left_for_others_ends_the_run(tmp_path: Path) -> None:
    """What can be done is done; the run says what is left, and how to get at it."""
    begin(tmp_path, PAIR, PEOPLE + TO_PEOPLE + '[[routes]]\nexecutor = "honest"\n')
    ran = accordance("run", "--json", cwd=tmp_path)
    assert (ran.code, ran.json["rests"], ran.json["states"]) == (
        3,
        "ELSEWHERE",
        {"PENDING": 1, "READY": 1, "DONE": 1},
    ), ran.err
    assert (
        "waits for an outside worker to ask for it (`accordance task next`)"
        in accordance("run", cwd=tmp_path).out
    )


def test_what_is_left_for_others_can_be_waited_for(tmp_path: Path) -> None:
    """Until somebody has done it."""
    begin(tmp_path, PAIR, PEOPLE + TO_PEOPLE + '[[routes]]\nexecutor = "honest"\n')
    assert accordance("run", cwd=tmp_path).code == 3
    lock = tmp_path / ".accordance" / "ledger.db.lock"
    lock.unlink()
    command = [sys.executable, "-m", "accordance.cli.main", "run", "--wait", "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        artifact = {**ACTION["artifact"], "path_hint": None}
        (tmp_path / "x.json").write_text(
            json.dumps({**ACTION, "task_id": "x", "artifact": artifact})
        )
        while not lock.exists():  # then it works on the ledger
            assert running.poll() is None
        assert accordance("task", "submit", "x.json", cwd=tmp_path).code == 0
        out, err = running.communicate(timeout=LIMIT)
    assert (running.returncode, json.loads(out)["rests"]) == (0, "FINISHED"), err


def test_one_task_without_a_route(tmp_path: Path) -> None:
    """The others are done, a person is asked for this one, and the report is printed; with a route it goes on."""
    only_ok = "".join(
        f'[[routes]]\n{fits}\nexecutor = "honest"\n'
        for fits in ('tags = ["ok"]', 'kind = "review"')
    )
    begin(tmp_path, changed(PAIR, "nodes.1.tags", ["ok"]), HONEST + only_ok)
    ran = accordance("run", "--json", cwd=tmp_path)
    assert (ran.code, ran.json["rests"], ran.json["states"]) == (
        3,
        "WAITING",
        {"PENDING": 1, "BLOCKED": 1, "DONE": 1},
    )
    (question,) = ran.json["questions"]
    assert question["text"].startswith(
        "DEPENDENCY_MISSING: no executor for this task: no route"
    )
    assert holds(tmp_path)
    (tmp_path / "accordance.toml").write_text(HONEST)
    assert (
        accordance(
            "inbox",
            "answer",
            question["question_id"],
            "There is one now.",
            cwd=tmp_path,
        ).code
        == 0
    )
    assert accordance("run", cwd=tmp_path).code == 0


# -- a plan that meets everything at once: each task goes to an executor that fails in its own way


@dataclass(frozen=True)
class Bad:
    """An executor that fails, and what must come of it."""

    settings: str
    code: str
    said: str
    attempts: int = (
        2  # tried again once; the same error twice is enough, unless it may pass
    )
    step: Any = None  # what the scripted model does


def model(**more: Any) -> str:
    lines = [f"{name} = {json.dumps(value)}" for name, value in more.items()]
    return "\n".join(
        ['kind = "llm"', 'model = "NAME"', 'base_url = "URL/v1"', "reasks = 0", *lines]
    )


def program(source: str, **more: Any) -> str:
    lines = [f"{name} = {json.dumps(value)}" for name, value in more.items()]
    return "\n".join(
        [
            'kind = "command"',
            f"command = {json.dumps(['python3', '-c', source])}",
            *lines,
        ]
    )


HALF = {
    "say": json.dumps({"schema_version": ACTION["schema_version"], "note": "x" * 300})
}
BADS: dict[str, Bad] = {
    "key-missing": Bad(model(key_env="NO_SUCH_KEY"), "PERMISSION_DENIED", "NO_SUCH_KEY is not set", 1),
    "key-wrong": Bad(model(), "PERMISSION_DENIED", "401", 1, {"fault": {"status": 401}}),
    "model-unknown": Bad(model(), "MODEL_UNAVAILABLE", "404", step={"fault": {"status": 404, "code": "model_not_found"}}),
    "nobody-there": Bad(model().replace("URL", "http://127.0.0.1:PORT"), "MODEL_UNAVAILABLE", "onnection error", 3),
    "rate-limited": Bad(model(), "EXECUTOR_ERROR", "429", 3, {"fault": {"status": 429}}),
    "server-error": Bad(model(), "EXECUTOR_ERROR", "500", 3, {"fault": {"status": 500}}),
    "cut": Bad(model(), "EXECUTOR_ERROR", "broke off", 3, {**HALF, "fault": {"cut": True}}),
    "endless": Bad(model(output_bytes=4000), "EXECUTOR_ERROR", "more than 4,000 bytes", step={**HALF, "fault": {"endless": "x" * 500}}),
    "garbage": Bad(model(), "EXECUTOR_ERROR", "", 3, {"fault": {"garbage": True}}),
    "hangs": Bad(model(seconds=1.5), "TIMEOUT_EXCEEDED", "longer than 1.5 s", step={**HALF, "fault": {"hang": 60}}),
    "refuses": Bad(model(), "LLM_REFUSAL", "the model refused", 1, {"refuse": "I will not."}),
    "prose": Bad(model(), "LLM_UNPARSEABLE", "text_around", step={"say": "Here you are!"}),
    "no-program": Bad('kind = "command"\ncommand = ["no-such-program"]', "DEPENDENCY_MISSING", "no-such-program", 1),
    "no-agent": Bad('kind = "codex"\nbinary = "no/such/codex"', "DEPENDENCY_MISSING", "codex", 1),
    "never-ends": Bad(program("import time\nwhile True: time.sleep(1)", seconds=1.5), "TIMEOUT_EXCEEDED", "longer than 1.5 s"),
    "floods": Bad(program("while True: print('x' * 1000)", output_bytes=4096), "EXECUTOR_ERROR", "more than 4,096 bytes"),
    "says-nothing": Bad(program("pass"), "EXECUTOR_ERROR", "without a message"),
    "crashes": Bad(program("raise SystemExit('no luck')"), "EXECUTOR_ERROR", "no luck"),
    "talks": Bad(program("print('All done!')"), "LLM_UNPARSEABLE", "text_around"),
}  # fmt: skip


@dataclass(frozen=True)
class Fallen:
    """What came of a run in which nearly everything goes wrong."""

    home: Path
    ran: Ran
    server: Server

    def task(self, name: str) -> Json:
        """A task, with its runs and events."""
        shown: Json = accordance("task", "show", name, "--json", cwd=self.home).json
        return shown


def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def asked(body: Json) -> Json:
    """What the scripted model does: its name says which. Those with tiers know better models."""
    name = str(body["model"])
    if name == "strong":
        return {
            "json": {
                **ACTION,
                "task_id": "ladder",
                "artifact": {**ACTION["artifact"], "path_hint": None},
            }
        }
    if name == "weak":
        return {"say": "I am not sure."}
    return {"say": "", **BADS[name].step}


LADDER = """
[executors.ladder]
kind = "llm"
model = "weak"
base_url = "URL/v1"
reasks = 0
tiers = { weak = 2, strong = 1 }
prices = { weak = { input = 1.0, output = 10.0 }, strong = { input = 10.0, output = 100.0 } }
"""


together = pytest.mark.xdist_group(
    "fallen"
)  # in one worker, so that the run is made once


@pytest.fixture(scope="module")
def fallen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fallen]:
    """One run of one plan: an honest task, one that climbs the ladder, and one for each bad executor."""
    home = tmp_path_factory.mktemp("fallen")
    names = ["ok", "ladder", *BADS]
    message = plan(
        [node("root", "GOAL"), *(node(name, tags=[name]) for name in names)],
        [edge("root", name) for name in names],
    )
    with serving(Script([{}], asked=asked)) as server:
        tables = [
            f"[executors.{name}]\n{bad.settings.replace('NAME', name)}\n"
            for name, bad in BADS.items()
        ]
        routes = [
            f'[[routes]]\nkind = "action"\ntags = ["{name}"]\nexecutor = "{name}"\n'
            for name in [*BADS, "ladder"]
        ]
        settings = "\n".join(
            [*tables, LADDER, HONEST, *routes, '[[routes]]\nexecutor = "honest"\n']
        )
        begin(
            home,
            message,
            settings.replace("URL", server.url).replace("PORT", str(unused_port())),
        )
        ran = accordance("run", "--json", cwd=home)
        yield Fallen(home, ran, server)


@together
def test_a_run_ends_whatever_happens_in_it(fallen: Fallen) -> None:
    """A person is asked for what failed, what could be done is done, and the ledger holds."""
    assert fallen.ran.code == 3, fallen.ran.err
    assert fallen.ran.json["rests"] == "WAITING"
    assert fallen.ran.json["states"] == {"PENDING": 1, "BLOCKED": len(BADS), "DONE": 2}
    assert holds(fallen.home)


@together
@pytest.mark.parametrize("name", BADS)
def test_every_failure_has_its_code(fallen: Fallen, name: str) -> None:
    """In the event, in the verdict and in the question; tried again where that may help."""
    bad, task = BADS[name], fallen.task(name)
    assert task["state"] == "BLOCKED"
    asked_again = [one for one in task["events"] if one["event"] == "ASKED_AGAIN"]
    assert task["attempt_count"] == bad.attempts + len(asked_again)
    verdicts = [one for one in task["events"] if one["event"] == "VERDICT"]
    assert [one["outcome"] for one in verdicts] == [
        *["RETRY"] * (bad.attempts - 1),
        "ESCALATE",
    ]
    assert {one["reason_code"] for one in verdicts} == {bad.code}
    (question,) = task["questions"]
    assert bad.code in question["text"] or bad.code == "LLM_UNPARSEABLE"
    assert bad.said in question["text"]
    assert [run["executor"] for run in task["runs"]] == [name] * bad.attempts
    if bad.code != "LLM_UNPARSEABLE":
        assert {run["ran"]["code"] for run in task["runs"]} == {bad.code}


@together
def test_a_stronger_model_is_asked_after_a_failure(fallen: Fallen) -> None:
    """Every call is counted, and every prompt can be rebuilt: the second says what was wrong with the first."""
    task = fallen.task("ladder")
    assert task["state"] == "DONE"
    runs = [run for run in task["runs"] if run["kind"] == "action"]
    assert [run["model"] for run in runs] == ["weak", "strong"]
    assert runs[1]["ran"]["cost"] == pytest.approx((100 * 10 + 20 * 100) / 1_000_000)
    first, second = (
        accordance(
            "task",
            "prompt",
            "ladder",
            "--kind",
            "action",
            "--attempt",
            at,
            cwd=fallen.home,
        ).out
        for at in ("1", "2")
    )
    assert "why your last message was not taken" not in first
    assert "why your last message was not taken" in second
    sent = next(
        one["body"] for one in fallen.server.requests if one["model"] == "strong"
    )
    told = accordance(
        "task",
        "prompt",
        "ladder",
        "--kind",
        "action",
        "--attempt",
        "2",
        "--json",
        cwd=fallen.home,
    ).json
    assert [one["content"] for one in sent["messages"]] == [
        told["system"],
        told["user"],
    ]


@together
def test_what_it_cost_is_told(fallen: Fallen) -> None:
    """For the plan and for each task that asked a model."""
    shown = accordance("plan", "show", "--json", cwd=fallen.home).json
    spent = shown["spent_by_task"]
    assert spent["ladder"]["calls"] == 2
    assert spent["ok"]["calls"] == 0
    assert (
        shown["spent"]["tokens"] == sum(one["tokens"] for one in spent.values()) > 240
    )
    assert "tokens in" in accordance("plan", "show", cwd=fallen.home).out
    story = accordance("task", "show", "ladder", "--events", cwd=fallen.home).out
    assert "Attempt 1 by ladder (weak)  " in story
    assert "ladder weak  7 bytes, about" in story
    assert "nobody" not in accordance("task", "show", "never-ends", cwd=fallen.home).out


@together
def test_a_prompt_that_was_never_sent(fallen: Fallen) -> None:
    """One line."""
    ran = accordance("task", "prompt", "ok", "--attempt", "7", cwd=fallen.home)
    assert (ran.code, ran.err) == (5, "accordance: no prompt of task 'ok 7'\n")


def test_every_call_of_a_run_can_be_rebuilt(tmp_path: Path) -> None:
    """A model that is asked again is told what it had said and what was wrong: message by message, word for word."""
    good = {
        **ACTION,
        "task_id": "a",
        "artifact": {**ACTION["artifact"], "path_hint": None},
    }
    steps: list[Json] = [
        {"json": {**good, "result_type": "NOPE", "note": "x" * 30_000}},
        {"say": "Here you are!"},
        {"say": ""},
        {"json": good},
    ]
    said = iter(steps)
    with serving(Script([{}], asked=lambda _: next(said))) as server:
        settings = f"[executors.m]\n{model(output='prompt').replace('NAME', 'm').replace('reasks = 0', 'reasks = 3')}\n"
        routes = '[[routes]]\nkind = "action"\nexecutor = "m"\n[[routes]]\nexecutor = "honest"\n'
        begin(
            tmp_path,
            plan([node("root", "GOAL"), node("a")], [edge("root", "a")]),
            HONEST + settings.replace("URL", server.url) + routes,
        )
        assert accordance("run", cwd=tmp_path).code == 0

    def prompt(call: int, *options: str) -> Ran:
        return accordance(
            "task",
            "prompt",
            "a",
            "--kind",
            "action",
            "--call",
            str(call),
            *options,
            cwd=tmp_path,
        )

    sent = [one["body"]["messages"] for one in server.requests]
    rebuilt = [prompt(call, "--json").json for call in (1, 2, 3, 4)]
    told = [
        [(one["role"], one["content"]) for one in call["messages"]] for call in rebuilt
    ]
    assert told == [[(one["role"], one["content"]) for one in call] for call in sent]
    assert [len(call) for call in told] == [
        2,
        4,
        6,
        7,
    ]  # what was not said is not repeated
    assert rebuilt[0]["calls"] == 4
    assert "[assistant]\n" in prompt(2).out
    assert (prompt(5).code, prompt(5).err) == (
        5,
        "accordance: no call 5 in this run, which made 4\n",
    )
    reviewed = accordance(
        "task", "prompt", "a", "--kind", "review", "--call", "1", cwd=tmp_path
    )
    assert reviewed.out.startswith(
        "[system]\n"
    )  # a program was told once, whatever it did then


# -- reviewers


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("print('Looks good to me')", "LLM_UNPARSEABLE"),
        ("import time\nwhile True: time.sleep(1)", "TIMEOUT_EXCEEDED"),
    ],
    ids=["prose", "never ends"],
)
def test_a_bad_reviewer_ends_with_a_person(
    tmp_path: Path, source: str, code: str
) -> None:
    """Three times, each counted; none of them is a failure of whoever made the product."""
    bad = "[executors.bad]\n" + program(source, seconds=1)
    routes = '\n[[routes]]\nkind = "review"\nexecutor = "bad"\n[[routes]]\nexecutor = "honest"\n'
    begin(
        tmp_path,
        plan([node("root", "GOAL"), node("a")], [edge("root", "a")]),
        HONEST + bad + routes,
    )
    ran = accordance("run", "--json", cwd=tmp_path)
    task = accordance("task", "show", "a", "--json", cwd=tmp_path).json
    assert (ran.code, task["state"], task["attempt_count"], task["failures"]) == (
        3,
        "BLOCKED",
        4,
        0,
    )
    assert task["review_failures"] == 3
    assert {
        one["reason_code"] for one in task["events"] if one["event"] == "VERDICT"
    } == {code}
    assert holds(tmp_path)


# -- budgets


@pytest.mark.parametrize(
    ("step", "code", "said"),
    [
        ({"say": "I am not sure."}, 1, "BUDGET_EXCEEDED: 1,"),
        ({"json": {**ACTION, "task_id": "a", "artifact": {**ACTION["artifact"], "path_hint": None}}}, 3,
         "BUDGET_EXCEEDED: tokens_per_task: 120 of 100 tokens are used up"),
    ],
    ids=["the work is given up", "a product without a review waits for a person"],
)  # fmt: skip
def test_a_task_that_has_cost_too_much(
    tmp_path: Path, step: Json, code: int, said: str
) -> None:
    """No call is made that is not paid for."""
    with serving(Script([step])) as server:
        settings = f"[review]\nown_work = true\n[fuses]\ntokens_per_task = 100\n[executors.m]\n{model()}\n"
        begin(
            tmp_path,
            small_plan(),
            settings.replace("URL", server.url).replace("NAME", "m"),
        )
        ran = accordance("run", "--json", cwd=tmp_path)
    assert (ran.code, len(server.requests)) == (code, 1)
    assert said in accordance("task", "show", "a", cwd=tmp_path).out
    assert holds(tmp_path)


def test_a_plan_that_has_used_up_its_tokens_is_held(tmp_path: Path) -> None:
    """What was asked for by then is counted, what did not suffice is handed back, and one person is asked once."""
    step = {"say": "I am not sure."}
    names = [f"t{number}" for number in range(12)]
    with serving(Script([step])) as server:
        settings = f"[review]\nown_work = true\n[fuses]\ntokens_per_run = 100\n[executors.m]\n{model()}\n"
        message = plan(
            [node("root", "GOAL"), *map(node, names)],
            [edge("root", name) for name in names],
        )
        begin(
            tmp_path, message, settings.replace("URL", server.url).replace("NAME", "m")
        )
        ran = accordance("run", "--json", cwd=tmp_path)
        most = {one["body"].get("max_completion_tokens") for one in server.requests}
    assert (ran.code, ran.json["rests"], most) == (3, "HELD", {100}), ran.err
    assert 1 <= len(server.requests) <= 4
    assert ran.json["states"] == {"PENDING": 1, "READY": 12}
    assert (
        sum(
            accordance("task", "show", name, "--json", cwd=tmp_path).json["failures"]
            for name in names
        )
        == 0
    )
    (question,) = accordance("inbox", "list", "--json", cwd=tmp_path).json["items"]
    assert question["text"].startswith("A fuse has blown: tokens_per_run: ")
    assert holds(tmp_path)


@pytest.mark.parametrize("fuse", ["cost_per_run", "cost_per_task"])
def test_a_bound_on_the_cost_needs_a_price(tmp_path: Path, fuse: str) -> None:
    """Nothing is begun whose cost nobody would know; the way out is named, and it is one."""
    good = {
        "json": {
            **ACTION,
            "task_id": "a",
            "artifact": {**ACTION["artifact"], "path_hint": None},
        }
    }
    prices = "\n[executors.m.prices.m]\ninput = 1.0\noutput = 1.0\n"
    with serving(Script([good])) as server:
        settings = f"[review]\nown_work = true\n[fuses]\n{fuse} = 0.00001\n[executors.m]\n{model()}\n"
        settings = settings.replace("URL", server.url).replace("NAME", "m")
        begin(tmp_path, small_plan(), settings)
        ran = accordance("run", "--json", cwd=tmp_path)
        task = accordance("task", "show", "a", "--json", cwd=tmp_path).json
        assert (ran.code, len(server.requests)) == (3, 0)
        assert task["questions"][0]["text"].startswith(
            "PREFLIGHT_FAILED: a fuse bounds the cost, but the price of the model"
        )
        assert "[executors.m.prices]" in task["questions"][0]["text"]
        (tmp_path / "accordance.toml").write_text(settings + prices)
        question = task["questions"][0]["question_id"]
        assert accordance("inbox", "answer", question, "go on", cwd=tmp_path).code == 0
        accordance("run", "--json", cwd=tmp_path)
        assert len(server.requests) == 1  # and then the fuse blows
    assert holds(tmp_path)


# -- somebody meddles


def test_a_plan_is_not_changed_while_it_runs(tmp_path: Path) -> None:
    """Nor does a second process run it on SQLite. Both are told, and the run goes on."""
    slow = "[executors.slow]\n" + program(
        "import time\nwhile True: time.sleep(1)", seconds=4
    )
    begin(tmp_path, small_plan(), slow)
    command = [sys.executable, "-m", "accordance.cli.main", "run", "--json"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        while not accordance("task", "show", "a", "--json", cwd=tmp_path).json["runs"]:
            assert running.poll() is None
        (tmp_path / "plan.json").write_text(
            json.dumps(changed(small_plan(), "plan.title", "Another"))
        )
        other = accordance("plan", "import", "plan.json", cwd=tmp_path)
        second = accordance("run", cwd=tmp_path)
        out, err = running.communicate(timeout=LIMIT)
    assert (other.code, second.code, running.returncode) == (6, 6, 3), (
        other.err,
        second.err,
        err,
    )
    assert "is already running and cannot be replaced" in other.err
    assert "another process runs on" in second.err
    assert json.loads(out)["title"] == "Spring catalogue"
    assert holds(tmp_path)


def test_a_node_may_say_how_long_an_attempt_takes(tmp_path: Path) -> None:
    """Whatever its executor allows; what is no time is refused with the plan."""
    slow = "[executors.slow]\n" + program(
        "import time\nwhile True: time.sleep(1)", seconds=600
    )
    message = plan(
        [node("root", "GOAL"), node("a", timeoutMs=700)], [edge("root", "a")]
    )
    begin(tmp_path, message, slow)
    assert accordance("run", "--json", cwd=tmp_path).code == 3
    task = accordance("task", "show", "a", "--json", cwd=tmp_path).json
    assert {run["ran"]["code"] for run in task["runs"]} == {"TIMEOUT_EXCEEDED"}
    assert "longer than 0.7 s" in task["questions"][0]["text"]
    (tmp_path / "bad.json").write_text(
        json.dumps(
            plan([node("root", "GOAL"), node("a", timeoutMs="1s")], [edge("root", "a")])
        )
    )
    ran = accordance("plan", "import", "bad.json", cwd=tmp_path)
    assert (ran.code, "timeoutMs" in ran.out + ran.err) == (1, True)
