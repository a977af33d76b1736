"""Research agents in a plan: they answer under their own contract, beside ordinary actions, and go the same way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accordance.domain.research.handoffs import KnownFacts, answers_by_agent
from accordance.domain.research.workflow import Workflow, build_workflow
from accordance.domain.research.workflow_plan import plan_of
from tests.acceptance.cli import accordance
from tests.acceptance.test_run import HONEST, begin, holds, program
from tests.fake_model_server import Json, Script, serving
from tests.messages import ANSWER, Message, changed, edge, node, plan
from tests.unit.research import REGISTRY, example, handoff, request, typed

GOOD = {**ANSWER, "schema_version": "agent_answer_v1", "task_id": "theory"} | {
    "self_critique": {
        "strengths": ["clear", "measured before"],
        "weaknesses": ["narrow", "self-reports"],
        "improvement_suggestions": ["pilot"],
        "alternative_perspectives": ["the task may be what frightens"],
    }
}
NO_PROVENANCE = changed(GOOD, "provenance.sources", [])
DARING = changed(
    changed(GOOD, "vs_metadata.t_scores.1.score", 0.22),
    "vs_metadata.final_selection.t_score",
    0.22,
)
ROUTES = """
[[routes]]
kind = "action"
tags = ["research"]
executor = "EXECUTOR"
contract = "agent_answer_v1"

[[routes]]
executor = "honest"
"""


def settings(url: str = "", **more: object) -> str:
    """An honest program, and a model for research."""
    model = {"kind": "llm", "model": "m", "base_url": f"{url}/v1", "reasks": 0, **more}
    lines = [f"{name} = {json.dumps(value)}" for name, value in model.items()]
    return (
        HONEST
        + "\n".join(["[executors.model]", *lines])
        + ROUTES.replace("EXECUTOR", "model")
    )


def studied(owner: str = "theory-architect") -> Message:
    """A question for a research agent, an ordinary task that builds on its answer, and a check of the answer."""
    theory = node(
        "theory",
        owner_agent_id=owner,
        tags=["research"],
        goal_statement="Which theory fits?",
    )
    nodes = [node("root", "GOAL"), theory, node("text"), node("look", "CHECK")]
    ends = [edge("root", one) for one in ("theory", "text", "look")]
    return plan(
        nodes,
        [
            *ends,
            edge("theory", "text", "DEPENDS_ON"),
            edge("theory", "look", "DEPENDS_ON"),
        ],
    )


def task(home: Path, name: str) -> Json:
    """A task as it is shown."""
    shown: Json = accordance("task", "show", name, "--json", cwd=home).json
    return shown


def test_a_research_agent_answers_under_its_contract(tmp_path: Path) -> None:
    """A bad answer is tried again with what is wrong, a good one is the product, reviewed and built on; routes may change."""
    told: list[str] = []

    def asked(body: Json) -> Json:
        told.append("\n".join(str(one["content"]) for one in body["messages"]))
        return {"json": NO_PROVENANCE if len(told) == 1 else GOOD}

    with serving(Script([{}], asked=asked)) as server:
        begin(tmp_path, studied(), settings(server.url))
        ran = accordance("run", "--json", cwd=tmp_path)
    assert ran.code == 0, ran.err
    theory = task(tmp_path, "theory")
    verdicts = [
        (one["outcome"], one["reason_code"])
        for one in theory["events"]
        if one["event"] == "VERDICT"
    ]
    assert verdicts == [("RETRY", "LLM_UNPARSEABLE"), ("DONE", "APPROVE")]
    (made,) = theory["artifacts"]
    assert json.loads((tmp_path / made["file"]).read_text()) == GOOD
    assert made["file"].endswith("answer.v1.json")
    first, second = told
    assert "You are the research agent theory-architect" in first
    assert "'agent_answer_v1' and task_id 'theory'" in first
    assert (
        "T-score below 0.3 is only accepted" in first
    )  # the floor of the topic, from the words of the task
    assert "why your last message was not taken" not in first
    assert "thin_provenance" in second
    recipe = accordance(
        "task", "prompt", "theory", "--kind", "action", "--json", cwd=tmp_path
    ).json["recipe"]
    assert [part["name"] for part in recipe["parts"]][:2] == [
        "shared.v1",
        "researcher.v1",
    ]
    text = accordance("task", "prompt", "text", "--kind", "action", cwd=tmp_path).out
    assert "xiaobo_action_v1" in text
    assert "Control-Value Theory" in text  # the answer is what it builds on
    (tmp_path / "accordance.toml").write_text(HONEST)
    assert holds(tmp_path)


def test_a_selection_below_its_floor_waits_for_a_person(tmp_path: Path) -> None:
    """Nothing else is wrong with it: whoever may, takes it as it is."""
    with serving(Script([{"json": DARING}])) as server:
        begin(tmp_path, studied(), settings(server.url))
        assert accordance("run", cwd=tmp_path).code == 3
    theory = task(tmp_path, "theory")
    assert (theory["state"], theory["failures"], theory["parse_failures"]) == (
        "BLOCKED",
        0,
        0,
    )
    (question,) = theory["questions"]
    assert "at least 0.3 (theory-architect, topic theory)" in question["text"]
    assert holds(tmp_path)
    assert (
        accordance(
            "inbox", "answer", question["question_id"], "--approve", cwd=tmp_path
        ).code
        == 0
    )
    assert task(tmp_path, "theory")["state"] == "DONE"
    assert accordance("run", cwd=tmp_path).code == 0
    assert holds(tmp_path)


def test_somebody_elsewhere_answers(tmp_path: Path) -> None:
    """The assignment names the contract and how to answer; what the attempt was told holds, whatever the routes say by then."""
    routes = ROUTES.replace("EXECUTOR", "people")
    begin(
        tmp_path, studied(), HONEST + '[executors.people]\nkind = "external"\n' + routes
    )
    taken = accordance("task", "next", "--json", cwd=tmp_path).json
    assert taken["contract"]["schema_version"] == "agent_answer_v1"
    assert "vs_metadata" in json.dumps(taken["contract"]["schema"])
    assert taken["research"]["agent_id"] == "theory-architect"
    (tmp_path / "accordance.toml").write_text(HONEST)
    bad = accordance(
        *taken["hand_in"][1:],
        "--json",
        stdin=json.dumps(NO_PROVENANCE).encode(),
        cwd=tmp_path,
    )
    assert (bad.code, bad.json["outcome"]) == (1, "RETRY")
    (tmp_path / "accordance.toml").write_text(
        HONEST + '[executors.people]\nkind = "external"\n' + routes
    )
    good = accordance(
        "task", "submit", "-", "--json", stdin=json.dumps(GOOD).encode(), cwd=tmp_path
    )
    assert (good.code, good.json["state"]) == (0, "READY_TO_CHECK"), good.json
    (tmp_path / "accordance.toml").write_text(HONEST)
    assert accordance("run", cwd=tmp_path).code == 0
    assert holds(tmp_path)


def test_an_executor_named_on_the_command_line_keeps_to_the_contract(
    tmp_path: Path,
) -> None:
    """Who does the work does not change what it is."""
    with serving(Script([{"json": GOOD}])) as server:
        begin(
            tmp_path,
            plan(
                [node("root", "GOAL"), *studied()["nodes"][1:2]],
                [edge("root", "theory")],
            ),
            settings(server.url) + "\n[review]\nown_work = true\n",
        )
        accordance("run", "--executor", "model", cwd=tmp_path)
    assert [one["version"] for one in task(tmp_path, "theory")["artifacts"]] == [1]


def test_a_task_of_nobody_the_registry_knows(tmp_path: Path) -> None:
    """Any agent may answer it, on its own level; a project may have agents of its own."""
    own = 'schema_version = "accordance.agents.v1"\n[[agents]]\nid = "owl"\ntitle = {ko = "o", en = "Owl"}\n'
    own += 'about = {ko = "o", en = "Looks."}\ntask_types = ["theory"]\nstages = ["planning"]\nlevel = "Light"\n'
    (tmp_path / "agents.toml").write_text(own + 'phases = [1, 4]\ntier = "LOW"\n')
    answer = {**GOOD, "agent_id": "owl", "vs_level": "Light"}
    with serving(Script([{"json": answer}])) as server:
        begin(
            tmp_path,
            studied(owner="worker"),
            settings(server.url) + '[research]\nagents = "agents.toml"\n',
        )
        assert accordance("run", cwd=tmp_path).code == 0
    assert (
        "- owl: Light, Looks."
        in accordance(
            "task",
            "prompt",
            "theory",
            "--attempt",
            "1",
            "--kind",
            "action",
            cwd=tmp_path,
        ).out
    )
    (tmp_path / "agents.toml").unlink()
    assert holds(tmp_path)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ('[[routes]]\nexecutor = "honest"\ncontract = "xiaojing_review_v1"\n', "contract 'xiaojing_review_v1': xiaobo_action_v1 or agent_answer_v1"),
        ('[[routes]]\nkind = "review"\nexecutor = "honest"\ncontract = "agent_answer_v1"\n', "for actions; reviews, plans"),
        ('[[routes]]\nexecutor = "honest"\ncontract = "answer"\n[research]\nagents = "none.toml"\n', "[research] agents: none.toml"),
        ('[[routes]]\nexecutor = "honest"\ncontract = "answer"\n[research]\nagents = "plan.json"\n', "the agents file is not valid TOML"),
        ('[[routes]]\nexecutor = "honest"\ncontract = "answer"\n[research]\nagent = "x"\n', "[research] has no key 'agent'; did you mean agents?"),
    ],
    ids=["another contract", "for a review", "no such file", "no registry", "an unknown key"],
)  # fmt: skip
def test_settings_that_cannot_hold(tmp_path: Path, said: str, line: str) -> None:
    """One line, before anything begins."""
    begin(tmp_path, studied(), HONEST)
    (tmp_path / "accordance.toml").write_text(HONEST + said)
    for command in (("run",), ("task", "next")):
        ran = accordance(*command, cwd=tmp_path)
        assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
        assert line in ran.err
    (tmp_path / "accordance.toml").write_text(HONEST)
    assert task(tmp_path, "theory")["state"] == "READY"


PEOPLE = '[executors.people]\nkind = "external"\n'


def handed_over(**asked: object) -> Message:
    """The plan of the example's handoffs: two agents have answered, the design-smith is to go on."""
    answers = answers_by_agent(
        [example("answer-question"), example("answer-1")], REGISTRY
    )
    handoffs = [
        handoff("question-shaper", "theory-architect"),
        typed(example("handoff-2"), "handoff"),
    ]
    workflow = build_workflow(request(**asked), handoffs, KnownFacts(REGISTRY, answers))
    assert isinstance(workflow, Workflow)
    return dict(plan_of(workflow, REGISTRY, "2026-03-04T10:00:00Z"))


@pytest.mark.parametrize(
    "is_answer",
    [True, False],
    ids=["an answer is wanted", "an ordinary product is wanted"],
)
def test_who_goes_on_after_a_handoff_knows_what_came_before(
    tmp_path: Path, is_answer: bool
) -> None:
    """Decisions, constraints, domain, stage and dial in the goal, the sender's answer beside it, the dial's floor in the method."""
    routes = (
        ROUTES.replace("EXECUTOR", "people")
        if is_answer
        else '[[routes]]\nexecutor = "people"\n'
    )
    begin(
        tmp_path,
        handed_over(user_preferences={"vs_novelty_dial": 0.1, "language": "en"}),
        HONEST + PEOPLE + routes,
    )
    taken = accordance("task", "next", "--json", cwd=tmp_path).json
    assert taken["task"]["owner_agent_id"] == "design-smith"
    for words in (
        "Decided already:\n- 통제감을 매개변수로 둔다",
        "- 한 학기 안에 끝낸다",  # which the second handoff forgot
        "Research domain: 교육심리학, stage: planning",
        "Novelty dial: 0.1",
    ):
        assert words in taken["task"]["goal_statement"]
    assert taken["context"]["handed_over"] == {"theory-architect": example("answer-1")}
    if not is_answer:
        assert "research" not in taken
        return
    method = taken["research"]["instructions"]
    assert "Novelty dial 0.1 (conservative)" in method
    assert "T-score below 0.5 is only accepted" in method
    assert "You have 600 seconds." in method
    daring = {
        **GOOD,
        "agent_id": "design-smith",
        "task_id": taken["task"]["task_id"],
    }  # T-score 0.45
    ran = accordance(
        *taken["hand_in"][1:], "--json", stdin=json.dumps(daring).encode(), cwd=tmp_path
    )
    assert (ran.code, ran.json["state"]) == (3, "BLOCKED"), ran.out
    assert holds(tmp_path)


def test_a_handoff_without_a_condition_is_a_persons_decision(tmp_path: Path) -> None:
    """Nobody gets the task before somebody has said yes."""
    unsaid = changed(example("handoff-2"), "condition", ...)
    known = KnownFacts(
        REGISTRY,
        answers_by_agent([example("answer-question"), example("answer-1")], REGISTRY),
    )
    workflow = build_workflow(
        request(), [handoff("qs", "ta"), typed(unsaid, "handoff")], known
    )
    assert isinstance(workflow, Workflow)
    message = dict(plan_of(workflow, REGISTRY, "2026-03-04T10:00:00Z"))
    begin(tmp_path, message, HONEST + PEOPLE + '[[routes]]\nexecutor = "people"\n')
    (question,) = accordance("inbox", "list", "--json", cwd=tmp_path).json["items"]
    assert question["kind"] == "CONFIRMATION"
    assert accordance("task", "next", "--json", cwd=tmp_path).code == 3
    assert (
        accordance(
            "inbox", "answer", question["question_id"], "--yes", cwd=tmp_path
        ).code
        == 0
    )
    assert (
        accordance("task", "next", "--json", cwd=tmp_path).json["task"][
            "owner_agent_id"
        ]
        == "design-smith"
    )


@pytest.mark.seed("002-8", "002-9")
def test_budgets_of_a_request_bind_the_run(tmp_path: Path) -> None:
    """The time is the run's limit; a context that cannot hold what must be told is refused with both sizes."""
    slow = "[executors.slow]\n" + program(
        "import time\nwhile True: time.sleep(1)", seconds=600
    )
    for name, constraints in (
        ("time", {"time_budget": 1}),
        ("context", {"context_budget": 50}),
    ):
        home = tmp_path / name
        home.mkdir()
        begin(home, handed_over(constraints=constraints), slow)
        assert accordance("run", "--json", cwd=home).code == 3
    (late,) = accordance("inbox", "list", "--json", cwd=tmp_path / "time").json["items"]
    assert "longer than 1 s" in late["text"]
    context = tmp_path / "context"
    (large,) = accordance("inbox", "list", "--json", cwd=context).json["items"]
    assert "bytes, but only 200 are allowed" in large["text"]


def test_briefs_that_cannot_be_read_are_refused_with_the_plan(tmp_path: Path) -> None:
    """At their place in the plan."""
    message = handed_over()
    (brief,) = message["plan"]["constraints"]["research"]["tasks"].values()
    brief["request"]["constraints"]["time_budget"] = "soon"
    (tmp_path / "plan.json").write_text(json.dumps(message))
    ran = accordance("plan", "import", "plan.json", "--no-review", cwd=tmp_path)
    assert ran.code == 1
    assert "$.plan.constraints.research.tasks" in ran.out + ran.err
