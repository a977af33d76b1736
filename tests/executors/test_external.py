"""Agents elsewhere: a small loop in a shell, and one that speaks MCP. They ask for work; nobody runs them."""

from __future__ import annotations

import getpass
import io
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from accordance.cli.main import run
from accordance.errors import Conflict, NotFound
from accordance.executors.catalogue import executor_for
from accordance.executors.tool_server import make_server, serve
from accordance.mcp.arguments import BadArguments
from accordance.mcp.serving import desk_for
from accordance.mcp.tools import Desk
from accordance.project.home import Home
from accordance.service.project import Project
from accordance.store.opening import open_ledger
from accordance.work.arrivals import MessageTooLarge
from accordance.work.tasks import release
from tests.acceptance.cli import accordance, path_with_accordance
from tests.executors.assignments import a_spec
from tests.limits import LIMIT
from tests.messages import ACTION, PLAN, edge, node, plan
from tests.reviews import node_review

TOOLS = [
    "next_task",
    "check",
    "submit",
    "get_verdict",
    "read_evidence",
    "ask_human",
    "progress",
    "release",
]
MESSAGE = {
    **ACTION,
    "artifact": {"name": "text", "format": "md", "content": "made elsewhere"},
}
LOOP = """
set -eu
while accordance task next --json --worker elsewhere --lease 60 > task.json
do
  accordance task extend $(python3 ask.py task task_id) --attempt $(python3 ask.py attempt) > extended.txt
  python3 answer.py | $(python3 ask.py hand_in)
done
"""
ASK = """
import json, sys
found = json.load(open("task.json"))
for key in sys.argv[1:]:
    found = found[key]
print(*found) if isinstance(found, list) else print(found)
"""
ANSWER = f"""
import json
task = json.load(open("task.json"))
said = {json.dumps(MESSAGE)} if task["kind"] == "action" else json.loads({json.dumps(json.dumps(node_review("")))})
print(json.dumps({{**said, "task_id": task["contract"]["task_id"]}}))
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A project with a plan of two actions, one after the other, one of them reviewed."""
    nodes = [node("root", "GOAL"), node("first"), node("second"), node("look", "CHECK")]
    edges = [
        edge("root", "first"),
        edge("root", "second"),
        edge("root", "look"),
        edge("first", "second", "DEPENDS_ON"),
        edge("second", "look", "DEPENDS_ON"),
    ]
    (tmp_path / ".accordance").mkdir()
    (tmp_path / "plan.json").write_text(json.dumps(plan(nodes, edges)))
    file = str(tmp_path / "plan.json")
    assert run(["plan", "import", file, "--no-review", "--home", str(tmp_path)]) == 0
    return tmp_path


def allow_own_work(home: Path) -> None:
    """Let workers review what they made themselves, as the settings of somebody who works alone do."""
    (home / "accordance.toml").write_text("[review]\nown_work = true\n")


def states(home: Path) -> dict[str, str]:
    """Where every task stands."""
    return {
        name: accordance("task", "show", name, "--json", cwd=home).json["state"]
        for name in ("first", "second", "look")
    }


def test_a_loop_in_a_shell_does_the_work(home: Path) -> None:
    """next, extend, submit, with a lease; until there is nothing left for it."""
    allow_own_work(home)
    env = {**os.environ, "PATH": path_with_accordance()}
    (home / "ask.py").write_text(ASK)
    (home / "answer.py").write_text(ANSWER)
    done = subprocess.run(
        ["sh", "-c", LOOP],
        cwd=home,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert states(home) == {"first": "DONE", "second": "DONE", "look": "DONE"}


def test_nobody_here_runs_what_is_external(tmp_path: Path) -> None:
    """There is no executor for it: it waits until somebody asks."""
    assert executor_for(a_spec(kind="external"), tmp_path) is None


def test_an_agent_takes_tasks_over_mcp(home: Path) -> None:
    """next_task, progress, a bad message, a good one, a review; and what is not so is said, not raised."""
    allow_own_work(home)
    server = StdioServerParameters(
        command=sys.executable,
        args=[
            "-m",
            "accordance.cli.main",
            "mcp",
            "--plan",
            plan([], [])["plan"]["plan_id"],
        ],
        cwd=home,
        env=dict(os.environ),
    )
    asked: list[tuple[str, dict[str, Any]]] = [
        ("progress", {}),
        ("next_task", {}),
        ("progress", {}),
        ("submit", {"message": {**MESSAGE, "task_id": "first", "result_type": "NOPE"}}),
        ("next_task", {}),
        ("submit", {"message": {**MESSAGE, "task_id": "first"}}),
        ("next_task", {}),
        ("submit", {"message": node_review("first")}),
        ("next_task", {}),
        ("submit", {"message": json.dumps({**MESSAGE, "task_id": "second"})}),
        ("next_task", {}),
        ("submit", {"message": node_review("second")}),
        ("next_task", {}),
        ("nothing", {}),
    ]
    told: list[CallToolResult] = []

    async def talk() -> None:
        async with Client(server, read_timeout_seconds=LIMIT) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
            for name, arguments in asked:
                told.append(await client.call_tool(name, arguments))

    anyio.run(talk)
    said = [one.structured_content for one in told]
    assert "you have no such task" in said[0]["error"]
    assert said[1]["task"]["task_id"] == "first"
    assert said[2]["task_id"] == "first"
    assert (said[3]["status"], said[3]["outcome"]) == ("rejected", "RETRY")
    assert [said[at]["kind"] for at in (4, 6, 8, 10)] == [
        "action",
        "review",
        "action",
        "review",
    ]
    assert [said[at]["status"] for at in (5, 7, 9, 11)] == ["accepted"] * 4
    assert said[12] == {"task": None, "why": "FINISHED", "text": "the plan is finished"}
    assert "unknown tool 'nothing'" in said[13]["error"]
    assert [one.is_error for one in told] == [True, *[False] * 12, True]
    assert states(home) == {"first": "DONE", "second": "DONE", "look": "DONE"}


def test_the_tools_can_be_listed(home: Path) -> None:
    """Without serving. The message of a change may lie in its clone, so nobody has to say it."""
    told = accordance("mcp", "--json", cwd=home)
    assert [tool["name"] for tool in told.json] == TOOLS
    takes = {tool["name"]: tool["takes"] for tool in told.json}
    assert {
        name: one["required"] for name, one in takes.items() if "required" in one
    } == {"check": ["message"], "ask_human": ["question"]}


def test_without_the_extra_one_line_says_which(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on an installation without it."""
    capsys.readouterr()  # of the plan that was brought
    # another test may have loaded what imports it
    monkeypatch.delitem(sys.modules, "accordance.mcp.serving", raising=False)
    monkeypatch.setitem(sys.modules, "anyio", None)
    assert run(["mcp", "--json", "--home", str(home)]) == 2
    told = capsys.readouterr().err
    assert "this needs the extra mcp: pip install 'accordance[mcp,runtime]'" in told
    assert told.count("\n") == 1


# -- the tools, called directly


@dataclass(frozen=True)
class Agent:
    """One agent, at a desk of its own."""

    desk: Desk

    def __call__(self, tool: str, **arguments: Any) -> Any:
        """Call a tool, by its name."""
        return next(one for one in self.desk.offers() if one.name == tool).call(
            arguments
        )


def agent(
    home: Path, holder: str, plan_id: str | None = None, *, resumes: bool = False
) -> Agent:
    """An agent that comes to a project."""
    ledger = open_ledger(home / ".accordance/ledger.db")
    project = Project(Home(home), ledger)
    return Agent(desk_for(project, holder=holder, plan_id=plan_id, resumes=resumes))


def message(task: str, content: str) -> dict[str, Any]:
    """A product."""
    return {
        **MESSAGE,
        "task_id": task,
        "artifact": {**MESSAGE["artifact"], "content": content},
    }


def test_whoever_has_lost_a_task_is_refused(home: Path) -> None:
    """What they say counts neither as their attempt nor as that of whoever has it now."""
    one, two = agent(home, "one"), agent(home, "two")
    assert one("next_task")["attempt"] == 1
    release(one.desk.project.ledger, "first", by="the lease ran out")
    late = one("submit", message=message("first", "stale"))
    assert (late["status"], late["why"]) == (
        "refused",
        "attempt 1 of task first is over; the current attempt is 2",
    )
    assert two("next_task")["attempt"] == 2
    for said in ({}, {"attempt": 2}):  # nor by naming somebody else's attempt
        late = one("submit", message=message("first", "stale"), **said)
        assert late["status"] == "refused"
    assert late["why"] == "task first is not with one now; two has it"
    for tool in ("progress", "release"):
        with pytest.raises(Conflict, match="attempt 1 of task first is over"):
            one(tool)
    good = two("submit", message=message("first", "good"))
    assert (good["status"], good["repeated"]) == ("accepted", False)
    assert two("submit", message=message("first", "good"))["repeated"]
    shown = accordance("task", "show", "first", "--json", cwd=home).json
    assert (shown["state"], len(shown["artifacts"])) == ("READY_TO_CHECK", 1)


def test_what_is_no_change_takes_a_message(home: Path) -> None:
    """An action and a review without one are nobody's failure."""
    maker, reviewer = agent(home, "maker"), agent(home, "reviewer")
    maker("next_task")
    with pytest.raises(Conflict, match="so it takes a message"):
        maker("submit")
    maker("submit", message=message("first", "text"))
    reviewer("next_task")
    with pytest.raises(Conflict, match="a review takes a message"):
        reviewer("submit")


def test_a_review_by_whoever_has_lost_it_is_refused(home: Path) -> None:
    """Of a product without a check, and of one that has one."""
    maker, one, two = agent(home, "maker"), agent(home, "one"), agent(home, "two")
    for task, reviewed in (("first", "first"), ("look", "second")):
        maker("next_task")
        maker("submit", message=message(reviewed, "text"))
        assert one("next_task")["task"]["task_id"] == task
        release(one.desk.project.ledger, task, by="the lease ran out")
        assert two("next_task")["task"]["task_id"] == task
        late = one("submit", message=node_review(reviewed))
        assert late["status"] == "refused"
        good = two("submit", message=json.dumps(node_review(reviewed)))
        assert (good.get("outcome"), good.get("why")) == ("DONE", None)
    assert states(home) == {"first": "DONE", "second": "DONE", "look": "DONE"}


def test_an_agent_that_comes_back_is_known_by_its_name(home: Path) -> None:
    """Its desk is new, the task is still its own."""
    assert agent(home, "one")("next_task")["task"]["task_id"] == "first"
    again = agent(home, "one")("submit", message=message("first", "text"), attempt=1)
    assert (again["status"], again["attempt"]) == ("accepted", 1)


def test_an_agent_is_not_given_its_own_product_to_review(home: Path) -> None:
    """Whether the product has a check or not. Another one is, and then the work goes on."""
    maker, other = agent(home, "maker"), agent(home, "other")
    for made in ("first", "second"):
        assert maker("next_task")["task"]["task_id"] == made
        maker("submit", message=message(made, "text"))
        nothing = maker("next_task")
        assert (nothing["task"], nothing["why"]) == (None, "OWN_WORK")
        assert "own_work = true under [review]" in nothing["text"]
        assert other("next_task")["kind"] == "review"
        assert other("submit", message=node_review(made))["outcome"] == "DONE"
    assert states(home) == {"first": "DONE", "second": "DONE", "look": "DONE"}


@pytest.mark.parametrize(
    "made", ["first", "second"], ids=["without a check", "with a check"]
)
def test_a_review_of_ones_own_product_is_refused(home: Path, made: str) -> None:
    """However the review was come by: here it was taken up while the settings allowed it. Somebody else may speak."""
    maker = agent(home, "maker")
    if made == "second":
        maker("next_task")
        maker("submit", message=message("first", "text"))
        other = agent(home, "other")
        other("next_task")
        other("submit", message=node_review("first"))
    maker("next_task")
    maker("submit", message=message(made, "text"))
    allow_own_work(home)
    review = maker("next_task")
    assert review["kind"] == "review"
    (home / "accordance.toml").write_text("")
    refused = maker("submit", message=node_review(made))
    assert (refused["status"], refused["task_id"]) == ("refused", made)
    assert refused["why"].startswith(
        f"maker made this product of task {made} and cannot review it"
    )
    allow_own_work(home)
    assert maker("submit", message=node_review(made))["outcome"] == "DONE"


@pytest.mark.parametrize(
    ("options", "settings", "code"),
    [
        pytest.param((), "", 6, id="the same worker"),
        pytest.param(("--worker", "maker"), "", 6, id="the same worker, named"),
        pytest.param(("--worker", "other"), "", 0, id="another worker"),
        pytest.param((), "[review]\nown_work = true\n", 0, id="the settings allow it"),
        pytest.param(
            (), "[review]\nown_work = 1\n", 2, id="settings that cannot be read"
        ),
        pytest.param((), "[review]\nownwork = true\n", 2, id="settings with a slip"),
    ],
)
def test_a_worker_at_the_command_line_cannot_review_its_own_product(
    home: Path,
    options: tuple[str, ...],
    settings: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their name is the user's unless they say another."""
    monkeypatch.setenv("LOGNAME", "maker")
    maker = agent(home, "maker")
    maker("next_task")
    maker("submit", message=message("first", "text"))
    seen = accordance("task", "show", "first", "--json", cwd=home).json["artifact"]
    (home / "accordance.toml").write_text(settings)
    said = json.dumps(node_review("first")).encode()
    told = accordance(
        "task", "review", "-", "--artifact", seen, *options, stdin=said, cwd=home
    )
    assert told.code == code
    if code == 2:
        assert "[review]" in told.err
        assert "own_work" in told.err


def test_what_nobody_took_up_is_nobodys_own_work(home: Path) -> None:
    """A person who hands in what others made may review it: nothing says that it is theirs."""
    said = json.dumps(message("first", "text")).encode()
    assert accordance("task", "submit", "-", stdin=said, cwd=home).code == 0
    seen = accordance("task", "show", "first", "--json", cwd=home).json["artifact"]
    review = json.dumps(node_review("first")).encode()
    assert (
        accordance(
            "task", "review", "-", "--artifact", seen, stdin=review, cwd=home
        ).code
        == 0
    )


def test_an_agent_that_comes_back_under_a_name_of_its_own_gets_its_task_back(
    home: Path,
) -> None:
    """The same attempt, kept for another while; nothing has failed."""
    first = agent(home, "one", resumes=True)("next_task")
    back = agent(home, "one", resumes=True)
    again = back("next_task")
    assert (again["task"]["task_id"], again["attempt"]) == (
        first["task"]["task_id"],
        first["attempt"],
    )
    assert again["lease"]["until"] >= first["lease"]["until"]
    assert (
        back("next_task")["why"] == "BUSY"
    )  # it has been given everything that was its own
    assert agent(home, "two", resumes=True)("next_task")["why"] == "BUSY"
    assert back("submit", message=message("first", "text"))["status"] == "accepted"


def test_an_agent_that_comes_back_can_put_its_task_down(home: Path) -> None:
    """At once, without asking for it first."""
    agent(home, "one", resumes=True)("next_task")
    assert agent(home, "one", resumes=True)("release") == {
        "task_id": "first",
        "state": "READY",
    }


def test_agents_that_share_a_name_do_not_get_each_others_tasks(home: Path) -> None:
    """They are told which tasks are with that name; naming one puts it down."""
    agent(home, "user")("next_task")
    other = agent(home, "user")
    told = other("next_task")
    assert (told["why"], told["yours"]) == ("BUSY", ["first"])
    with pytest.raises(Conflict, match="take one up with next_task"):
        other("release")
    assert other("release", task_id="first")["state"] == "READY"


@pytest.mark.parametrize("kind", ["action", "review"])
def test_a_message_that_is_too_large_is_not_kept(home: Path, kind: str) -> None:
    """It is answered, counts as no attempt, and the task is still there to be handed in."""
    one = agent(home, "one")
    one("next_task")
    if kind == "review":
        one("submit", message=message("first", "text"))
        one = agent(home, "two")
        one("next_task")
    ledger = home / ".accordance/ledger.db"
    good = message("first", "text") if kind == "action" else node_review("first")
    with pytest.raises(
        MessageTooLarge, match="larger than 16 MiB; nothing of it was stored"
    ):
        one("submit", message={**good, "more": "x" * (17 << 20)})
    assert (
        sum(file.stat().st_size for file in ledger.parent.rglob("*") if file.is_file())
        < 4 << 20
    )
    assert one("submit", message=good)["status"] == "accepted"


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        pytest.param('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": "\\ud800"}}', 7, id="a lone surrogate"),
        pytest.param('{"jsonrpc": "2.0", "id": 7, "method"', None, id="JSON that breaks off"),
        pytest.param("hello", None, id="no JSON"),
        pytest.param("[" * 100_000, None, id="deeper than anybody reads"),
        pytest.param('{"id": "a", "hello": 1}', "a", id="no JSON-RPC"),
        pytest.param('{"id": true}', None, id="an id that is none"),
        pytest.param("[]", None, id="no object"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_read_is_answered(line: str, request_id: object) -> None:
    """With an error of JSON-RPC, to the request it comes from if that can be told; the next line is served."""
    ping = '{"jsonrpc": "2.0", "id": "next", "method": "ping"}'
    answered = threading.Event()

    class Patient(io.StringIO):
        """Ends only when the ping has been answered: the server drops what it has not begun."""

        def readline(self, *size: Any) -> str:  # type: ignore[override]  # typeshed takes it for bytes
            line = super().readline(*size)
            if not line:
                assert answered.wait(LIMIT)
            return line

    class Spoken(io.StringIO):
        def write(self, text: str) -> int:
            if '"next"' in text:
                answered.set()
            return super().write(text)

    spoken = Spoken()

    async def talk() -> None:
        heard, said = (
            anyio.wrap_file(Patient(f"{line}\n{ping}\n")),
            anyio.wrap_file(spoken),
        )
        await serve(make_server([], "nothing"), heard, said)

    anyio.run(talk)
    answers = [json.loads(one) for one in spoken.getvalue().splitlines()]
    assert [one["id"] for one in answers] == [request_id, "next"]
    assert answers[0]["error"]["code"] == -32700
    assert "one JSON-RPC 2.0 message per line" in answers[0]["error"]["message"]


def test_an_agent_with_two_tasks(home: Path) -> None:
    """Each message goes to the task it names, whichever was taken up last."""
    other = plan(
        [node("root", "GOAL"), node("a"), node("b")],
        [edge("root", "a"), edge("root", "b")],
    )
    written = json.dumps(other).replace(PLAN, "another").replace('"root"', '"top"')
    (home / "plan.json").write_text(written)
    assert accordance("plan", "import", "plan.json", "--no-review", cwd=home).code == 0
    one = agent(home, "one", plan_id="another")
    assert [one("next_task")["task"]["task_id"] for _ in "ab"] == ["a", "b"]
    assert one("submit", message=message("a", "text"))["task_id"] == "a"
    assert one("submit", message=message("b", "text"), task_id="b")["task_id"] == "b"
    assert (
        one("submit", message=message("first", "text"))["why"]
        == "task first is not with one now"
    )


def test_a_verdict_can_be_asked_for_again(home: Path) -> None:
    """Of the task one has, or of any; and where it stands."""
    one = agent(home, "one")
    with pytest.raises(Conflict, match="which task"):
        one("get_verdict")
    one("next_task")
    assert one("get_verdict")["verdicts"] == []
    one("submit", message={**message("first", "text"), "result_type": "NOPE"})
    told = one("get_verdict")
    assert [
        (found["attempt"], found["outcome"], found["reason_code"])
        for found in told["verdicts"]
    ] == [(1, "RETRY", "LLM_UNPARSEABLE")]
    assert (told["state"], told["attempt"]) == ("READY", 1)
    assert one("get_verdict", task_id="look")["task_id"] == "second"  # what it reviews
    with pytest.raises(NotFound):
        one("get_verdict", task_id="nothing")


def test_a_person_is_asked(home: Path) -> None:
    """The task waits for the answer, which is told to whoever does it next; all of it can be recomputed."""
    one = agent(home, "one")
    with pytest.raises(Conflict, match="took up with next_task"):
        one("ask_human", question="Which currency?")
    one("next_task")
    with pytest.raises(BadArguments, match="needs a question"):
        one("ask_human", question=" ")
    asked = one("ask_human", question="Which currency?")
    assert (asked["state"], asked["waiting"], asked["outcome"]) == (
        "BLOCKED",
        "WAITING_INPUT",
        "ESCALATE",
    )
    assert one("get_verdict")["questions"] == ["INPUT_MISSING: Which currency?"]
    assert one("next_task")["why"] == "WAITING"
    (question,) = accordance("inbox", "list", "--json", cwd=home).json["items"]
    assert (
        accordance("inbox", "answer", question["question_id"], "Euro.", cwd=home).code
        == 0
    )
    told = one("next_task")
    assert told["context"]["answers"] == [
        {
            "question": "INPUT_MISSING: Which currency?",
            "answer": {"by": getpass.getuser(), "text": "Euro."},
        }
    ]
    assert accordance("task", "show", "first", "--json", cwd=home).json["failures"] == 0
    one("submit", message=message("first", "text"))
    two = agent(home, "two")
    two("next_task")
    with pytest.raises(Conflict, match="REQUEST_EXTERNAL_INPUT"):
        two("ask_human", question="Is it good?")
    assert accordance("verify", cwd=home).code == 0


def test_a_task_is_put_down(home: Path) -> None:
    """Somebody else may have it; nothing has failed."""
    one, two = agent(home, "one"), agent(home, "two")
    one("next_task")
    assert one("release") == {"task_id": "first", "state": "READY"}
    with pytest.raises(Conflict, match="take one up with next_task"):
        one("release")
    assert two("next_task")["task"]["task_id"] == "first"


# -- routes

ROUTES = """
[executors.program]
kind = "command"
command = "true"
[executors.people]
kind = "external"
[[routes]]
role = "people"
executor = "people"
[[routes]]
node_type = "ACTION"
kind = "action"
executor = "program"
"""


@pytest.mark.parametrize(
    ("settings", "options", "expected"),
    [
        ("", (), ["first", "second"]),
        (ROUTES, (), ["second"]),
        (ROUTES, ("--any",), ["first", "second"]),
        (
            ROUTES.replace('"command"\ncommand = "true"', '"external"'),
            (),
            ["first", "second"],
        ),
        (
            ROUTES.replace('node_type = "ACTION"', 'node_type = "GOAL"'),
            (),
            ["first", "second"],
        ),
    ],
    ids=[
        "no executors",
        "a program has the first",
        "but anything will do",
        "both elsewhere",
        "no route",
    ],
)
def test_what_is_handed_out(
    tmp_path: Path, settings: str, options: tuple[str, ...], expected: list[str]
) -> None:
    """What is routed to somebody elsewhere, or to nobody; everything, where that is wanted or nobody is configured."""
    nodes = [
        node("root", "GOAL"),
        node("first"),
        node("second", owner_agent_id="people"),
    ]
    edges = [edge("root", "first"), edge("root", "second")]
    (tmp_path / "accordance.toml").write_text(settings)
    (tmp_path / "plan.json").write_text(json.dumps(plan(nodes, edges)))
    assert (
        accordance("plan", "import", "plan.json", "--no-review", cwd=tmp_path).code == 0
    )
    assert [
        one["task_id"]
        for one in accordance(
            "task", "next", "--peek", "--json", *options, cwd=tmp_path
        ).json
    ] == expected[:1]
    for name in expected:
        told = accordance("task", "next", "--json", *options, cwd=tmp_path).json
        assert told["task"]["task_id"] == name
    left = accordance("task", "next", "--json", *options, cwd=tmp_path)
    why = "BUSY" if len(expected) == 2 else "OTHERS"
    assert (left.code, left.json["why"]) == (5, why)
