"""A ledger in which everything has happened: something lies in every table, and in every column that may be empty."""

from __future__ import annotations

import json

from sqlalchemy import Engine

from accordance import Accepted, check_value
from accordance.domain.prompting import Part, Prompt
from accordance.domain.spending import Spending
from accordance.executors.prompt_building import BuiltPrompt
from accordance.executors.protocol import Observation, RunOutcome
from accordance.store.answers import AnswersInLedger
from accordance.store.api_keys import KeyRecord, KeysInLedger
from accordance.work import plan_life
from accordance.work.amending import amend_plan
from accordance.work.amendment_checks import AmendmentRequest
from accordance.work.plan_deleting import delete
from accordance.work.reviewing import review_plan
from accordance.work.run_log import KeptAnswers, RunKey, keep_prompt, keep_report
from tests.ledger.audit.test_verifying import eventful
from tests.ledger.project import Project, asking, encoded, failing
from tests.ledger.work.test_answers import kept
from tests.messages import PLAN, Message, edge, node, plan, requirement
from tests.reviews import plan_review

OTHER = "0b1d6a1e-51a5-4f0e-9d3e-8a3f64c00002"
ARCHIVED = "0b1d6a1e-51a5-4f0e-9d3e-8a3f64c00003"
DELETED = "0b1d6a1e-51a5-4f0e-9d3e-8a3f64c00004"


def everything(project: Project, engine: Engine) -> None:
    """Two plans, runs with what they were told and said, answers of research agents, work that somebody has right now."""
    AnswersInLedger(engine).add([kept("a", "r", 1), kept("b", "r", 2, "B")])
    _keys_of_the_server(KeysInLedger(engine))
    eventful(project)
    _a_run(project)
    _a_returned_plan(project)
    _an_amended_plan(project)
    _plans_that_are_over(project)
    project.put("sheet/prices.xlsx", "newer prices")
    passing = project.put("sheet/passing.xlsx", "soon removed")
    project.files()
    passing.unlink()
    project.files()
    large = project.ledger.put(b"a large blob " * 30_000)
    with project.ledger.write() as tx:
        tx.keep(b"x" * (1 << 21))  # a blob in pieces, which belongs to no plan
        tx.keep_blob(large)


def _keys_of_the_server(keys: KeysInLedger) -> None:
    """A key that was revoked, and a key that holds for ever."""
    keys.add(_key("revoked", expires_at="2027-01-01T00:00:00.000000Z"))
    keys.add(_key("unbound"))
    keys.revoke("revoked", by="test")


def _key(key_id: str, expires_at: str | None = None) -> KeyRecord:
    return KeyRecord(
        key_id=key_id,
        name="ci",
        kind="key",
        role="agent",
        rights=("check", "work"),
        tasks=("a",),
        contracts=("xiaobo_action_v1",),
        sha256="0" * 64,
        made_by="test",
        made_at="2026-03-01T00:00:00.000000Z",
        expires_at=expires_at,
    )


def _a_run(project: Project) -> None:
    run = RunKey(plan_id=PLAN, task_id="b", kind="action", attempt=3)
    prompt = Prompt(
        (Part("system", "shared.v1", "Rules."), Part("user", "task", "Write it."))
    )
    with project.ledger.write() as tx:
        keep_prompt(tx, run, BuiltPrompt(prompt, ()), executor="model", model="big")
    KeptAnswers(project.ledger, run).keep("asked", {"text": "an answer"})
    spent = Spending(read=7, cost=0.5, calls=1)
    produced = RunOutcome(
        raw=b"{}", spending=spent, seen=(Observation("a word", {"on": "the way"}),)
    )
    with project.ledger.write() as tx:
        keep_report(tx, run, produced.to_json())


def _a_returned_plan(project: Project) -> None:
    """It is written anew, runs, and stands: a task in work, one that waits, one in the dead letters."""
    project.imports(_other_plan(title="First try"))
    review_plan(project.ledger, encoded(plan_review(60, plan=OTHER)), OTHER)
    project.imports(_other_plan(), waived_by="test")
    project.submit("p", failing("p", "LLM_REFUSAL"))
    project.answer(give_up=True)
    project.submit("q", asking("q", "list"))
    assert project.takes(holder="somebody", plan_id=OTHER) == "s"


def _an_amended_plan(project: Project) -> None:
    """A task, an edge and a need more, and other fuses; then it is paused."""
    message = _other_plan()
    task = {**message["nodes"][1], "task_id": "t"}
    part = {**message["edges"][0], "edge_id": "new", "to_task_id": "t"}
    need = {**message["requirements"][0], "requirement_id": "r10", "task_id": "t"}
    amended = {
        **message,
        "nodes": [*message["nodes"], task],
        "edges": [*message["edges"], part],
        "requirements": [*message["requirements"], need],
    }
    result = check_value(amended, "PLAN_GEN")
    assert isinstance(result, Accepted), result
    request = AmendmentRequest(plan=result.value, base=2, fuses={"attempts": 5})
    amend_plan(project.ledger, OTHER, request, by="test")
    plan_life.pause(project.ledger, OTHER, by="test")


def _plans_that_are_over(project: Project) -> None:
    """One in the archive, and one that was deleted."""
    for plan_id in (ARCHIVED, DELETED):
        text = json.dumps(plan([node(plan_id, "GOAL")], [], plan_id))
        project.imports(json.loads(text.replace(PLAN, plan_id)))
        plan_life.cancel(project.ledger, plan_id, by="test")
    plan_life.archive(project.ledger, ARCHIVED, by="test")
    delete(project.ledger, project.home, DELETED, by="test", removes_evidence=True)


def _other_plan(title: str = "Second try") -> Message:
    nodes = [
        node("goal", "GOAL", goal_statement="All of it", rationale="It is needed"),
        *(node(name, tags=["x"]) for name in "pqs"),
    ]
    edges = [edge("goal", name) for name in "pqs"]
    asked = [requirement("s", requirement_id="r9", required=False)]
    message = json.dumps(plan(nodes, edges, "goal", requirements=asked)).replace(
        PLAN, OTHER
    )
    head = {**json.loads(message)["plan"], "title": title, "constraints": {"budget": 3}}
    return {**json.loads(message), "plan": head}
