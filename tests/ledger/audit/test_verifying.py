"""Recomputing the ledger: what holds, and what shows when somebody reached below it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from accordance.domain.plan_lifecycle import PlanEvent
from accordance.work.run_log import LEFT_ALONE
from tests.ledger.project import Project, asking, failing, product
from tests.messages import PLAN, changed, edge, node, plan, requirement
from tests.reviews import node_review, plan_review
from tests.unit.research import example

TASK_A = "task_id = 'a'"


def eventful(project: Project) -> None:
    """A plan in which a bit of everything has happened."""
    nodes = [
        node("root", "GOAL"),
        *(node(name) for name in "abcd"),
        node("check", "CHECK"),
    ]
    edges = [edge("root", one["task_id"]) for one in nodes[1:]]
    edges += [edge("a", "b", "DEPENDS_ON"), edge("c", "check", "DEPENDS_ON")]
    edges += [edge("root", task, "ALTERNATIVE", group_id="g") for task in "bd"]
    project.imports(plan(nodes, edges, requirements=[requirement("c", name="sheet")]))
    project.review_plan(b"no review")
    project.review_plan(plan_review())
    project.put("sheet/prices.xlsx")
    project.take(kinds=("CHECK",))
    project.submit("a", b"no action")
    project.submit("a", product("a"))
    project.review("a", 60)
    project.submit("a", product("a", "better"))
    project.review("a")
    project.submit("c", asking("c", "list"))
    project.answer(text="there is none")
    project.submit("c", product("c"))
    project.review_raw("check", {**node_review("c"), "total_score": 7})
    project.review("check")
    project.submit("b", failing("b"), attempt=1)
    project.submit("b", failing("b"), attempt=2)
    project.submit("b", product("b", "late"))
    project.finish("d")
    assert project.state("root") == "DONE"


def test_an_eventful_plan_holds(project: Project) -> None:
    """On every ledger: the chain, the states from the events, the verdicts from the raw messages."""
    eventful(project)
    found = project.verify()
    assert found.holds
    assert (found.messages, found.verdicts) == (16, 11)
    assert found.events > len(
        project.kinds()
    )  # the seals of what each transaction wrote
    assert found.blobs > found.messages


TAMPERING = {
    "a changed event": ("UPDATE task_events SET payload = '{}' WHERE kind = 'LLM_UNPARSEABLE' AND task_id IS NULL", "integrity", "(LLM_UNPARSEABLE) is not what was written"),
    "a changed move": ("UPDATE task_events SET payload = '{\"from\": \"READY\", \"to\": \"DONE\"}' WHERE kind = 'CLAIMED'", "integrity", "but ('a', <Event.CLAIMED"),
    "an impossible move": ("UPDATE task_events SET kind = 'VOUCHED' WHERE kind = 'PRODUCED'", "integrity", "VOUCHED could not happen to task a"),
    "a move without its cause": ("UPDATE task_events SET payload = '{\"because\": 1}' WHERE kind = 'CLAIMED'", "integrity", "CLAIMED has no cause"),
    "an event with another time": ("UPDATE task_events SET at = 'x' WHERE seq = 4", "integrity", "event 4"),
    "a deleted event": ("DELETE FROM task_events WHERE seq = 3", "completeness", "events 3 to 3 are missing"),
    "a deleted consequence": ("DELETE FROM task_events WHERE kind = 'COMPLETED'", "completeness", "are missing"),
    "a deleted first event": ("DELETE FROM task_events WHERE seq = 1", "completeness", "the event that imported the plan is missing"),
    "a deleted last event": ("DELETE FROM task_events WHERE seq = (SELECT max(seq) FROM task_events)", "completeness", "are missing"),
    "an added event": ("INSERT INTO task_events (plan_id, seq, kind, task_id, at, payload, hash, number) SELECT plan_id, seq + 1, kind, task_id, at, payload, hash, number + 1 FROM task_events ORDER BY seq DESC LIMIT 1", "integrity", "the chain does not end where the plan says"),
    "an event without its number": ("UPDATE task_events SET number = NULL WHERE seq = 2", "integrity", "event 2 (ASKED_A_PERSON) has no number"),
    "another head": ("UPDATE plans SET head_hash = '0'", "integrity", "the chain does not end where the plan says"),
    "other rules": ("UPDATE plans SET rules = replace(rules, '\"attempts\": 3', '\"attempts\": 4')", "integrity", "the plan's rules are not those it was imported with"),
    "no events": ("DELETE FROM task_events", "completeness", "the event that imported the plan is missing"),
    "a changed blob": ("UPDATE blobs SET content = x'78'", "integrity", "is not what was kept"),
    "a missing message": ("DELETE FROM blobs WHERE sha256 IN (SELECT sha256 FROM messages)", "completeness", "is missing"),
    "a missing artifact": ("DELETE FROM blobs WHERE sha256 IN (SELECT sha256 FROM artifacts)", "completeness", "the artifact report.v1.md"),
    "a missing review": ("DELETE FROM blobs WHERE sha256 IN (SELECT document FROM reviews)", "completeness", "the review"),
    "a missing plan": ("DELETE FROM blobs WHERE sha256 IN (SELECT document FROM plans)", "completeness", "the plan's document"),
    "a changed state": (f"UPDATE task_nodes SET state = 'READY' WHERE {TASK_A}", "integrity", "task a is READY, its events lead to DONE"),
    "a changed count": (f"UPDATE task_nodes SET attempts = 0 WHERE {TASK_A}", "integrity", "task a is DONE, its events lead to DONE (or other counts)"),
    "a deleted task": ("DELETE FROM task_nodes WHERE task_id = 'root'", "completeness", "1 tasks are missing"),
    "an added task": ("INSERT INTO task_nodes SELECT * FROM (SELECT * FROM task_nodes WHERE task_id = 'd')", "integrity", "its events lead to unknown"),
    "a deleted verdict": ("DELETE FROM verdicts WHERE rowid = (SELECT max(rowid) FROM verdicts)", "completeness", "the verdict of d:REVIEW"),
    "a changed verdict": ("UPDATE verdicts SET outcome = 'DONE' WHERE outcome = 'RETRY'", "integrity", "the verdict was DONE, it is RETRY when judged again"),
    "other words in a verdict": ("UPDATE verdicts SET messages = '[]'", "integrity", "when judged again"),
    "a verdict with another head": ("UPDATE verdicts SET head_hash = '0'", "integrity", "names a head that is not in the chain"),
    "an added verdict": ("INSERT INTO verdicts SELECT message_id, plan_id, subject, 'DONE', 'X', '[]', 1, 'x', at FROM messages WHERE kind = 'ACTION' AND message_id NOT IN (SELECT message_id FROM verdicts) LIMIT 1", "integrity", "has a verdict that does not follow"),
    "a verdict and its case": ("UPDATE verdicts SET reason_code = 'X'", "integrity", "is not what its event says"),
    "a deleted message": ("DELETE FROM messages", "completeness", "message a:ACTION:1"),
    "a message nobody announced": ("UPDATE task_events SET payload = '{}' WHERE kind = 'MESSAGE'", "completeness", "the event of message"),
    "a verdict nobody announced": ("UPDATE task_events SET payload = '{}' WHERE kind = 'VERDICT'", "completeness", "the event of the verdict"),
    "a message that was not accepted": ("UPDATE messages SET accepted = 0 WHERE accepted = 1", "integrity", "was rejected, is accepted when checked again"),
    "a message that was": ("UPDATE messages SET accepted = 1 WHERE accepted = 0", "integrity", "was accepted, is rejected when checked again"),
    "what it was judged by": ("UPDATE messages SET \"case\" = '{}'", "integrity", "what it was judged by cannot be read"),
    "a message that is called refused": ("UPDATE messages SET \"case\" = '{\"refused\": \"late\"}'", "integrity", "what it was judged by cannot be read"),
    "what a count was": ("UPDATE messages SET \"case\" = replace(\"case\", '\"review_rounds\": 0', '\"review_rounds\": 9')", "integrity", "when judged again"),
}  # fmt: skip


@pytest.mark.parametrize("what", TAMPERING)
def test_tampering_shows(on_sqlite: Project, tmp_path: Path, what: str) -> None:
    """By raw SQL, one thing at a time: it is reported, under what fits."""
    statement, where, said = TAMPERING[what]
    eventful(on_sqlite)
    assert on_sqlite.verify().holds
    if what == "an added task":
        statement = _copied_task(tmp_path)
    changed = _below(tmp_path, statement)
    assert changed
    found = on_sqlite.verify()
    assert not found.holds
    assert any(said in one for one in getattr(found, where)), (
        found.integrity,
        found.completeness,
    )


HELD = "WHERE kind = 'CLAIMED' AND task_id = 'a'"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM blobs WHERE CAST(content AS TEXT) LIKE '%accordance.agents.v1%'", "the registry of research agents"),
        ("UPDATE blobs SET content = x'78' WHERE CAST(content AS TEXT) LIKE '%accordance.agents.v1%'", "what it was judged by cannot be read"),
        (f"UPDATE task_events SET payload = json_remove(payload, '$.held_to') {HELD}", "was accepted, is rejected"),
        (f"UPDATE task_events SET payload = json_set(payload, '$.held_to', 7) {HELD}", "what it was judged by cannot be read"),
        ("UPDATE task_nodes SET title = 'An IRB for it' WHERE task_id = 'a'", "was accepted, is rejected"),
    ],
    ids=["no registry", "another registry", "another contract", "no contract", "another question"],
)  # fmt: skip
def test_what_an_answer_was_held_to_is_kept(
    on_sqlite: Project, tmp_path: Path, statement: str, said: str
) -> None:
    """Routes and registry may change; what the chain names may not."""
    settings = on_sqlite.home.root / "accordance.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(
        '[executors.x]\nkind = "external"\n[[routes]]\nexecutor = "x"\ncontract = "answer"\n'
    )
    asked = plan(
        [node("root", "GOAL"), node("a", owner_agent_id="ta"), node("b")],
        [edge("root", "a"), edge("root", "b")],
    )
    on_sqlite.runs(asked)
    low = changed(example("answer-1"), "task_id", ...)
    assert on_sqlite.submit("a", low).status == "accepted"
    settings.write_text("")
    assert on_sqlite.submit("b").status == "accepted"
    assert on_sqlite.verify().holds
    assert _below(tmp_path, statement)
    found = on_sqlite.verify()
    assert any(said in one for one in (*found.integrity, *found.completeness)), found


def _below(folder: Path, statement: str) -> int:
    connection = sqlite3.connect(folder / "ledger.db")
    with connection:
        changed = connection.execute(statement).rowcount
    connection.close()
    return changed


def _copied_task(folder: Path) -> str:
    connection = sqlite3.connect(folder / "ledger.db")
    columns = [row[1] for row in connection.execute("PRAGMA table_info(task_nodes)")]
    connection.close()
    values = ", ".join("'copy'" if name == "task_id" else name for name in columns)
    return f"INSERT INTO task_nodes SELECT {values} FROM task_nodes WHERE task_id = 'd'"


def test_a_plan_that_is_no_plan(on_sqlite: Project, tmp_path: Path) -> None:
    """A document that was exchanged together with its name shows as well."""
    eventful(on_sqlite)
    with on_sqlite.ledger.write() as tx:
        other = tx.keep(b"{}")
    payload = json.dumps({"document": other, "revision": 1})
    _below(
        tmp_path,
        f"UPDATE task_events SET payload = '{payload}' WHERE kind = '{PlanEvent.IMPORTED}'",
    )
    found = on_sqlite.verify()
    assert f"the plan's document {other[:12]} is not a plan" in found.integrity
    assert "event 1: the rules of the plan cannot be read" in found.integrity


@pytest.mark.parametrize(
    ("task", "attempt"),
    [("a", 1), ("b", 1), ("c", 2), ("none", 1)],
    ids=["done", "new", "another", "none"],
)
def test_an_attempt_that_was_left_alone_was_in_work(
    on_sqlite: Project, task: str, attempt: int
) -> None:
    """Somebody had begun it, and it had not ended."""
    nodes = [node("root", "GOAL"), *(node(name) for name in "abc")]
    on_sqlite.runs(plan(nodes, [edge("root", name) for name in "abc"]))
    on_sqlite.finish("a")
    on_sqlite.submit("c")
    with on_sqlite.ledger.write() as tx:
        tx.record(PLAN, LEFT_ALONE, "c", {"attempt": 1, "version": "0", "here": "1"})
    assert on_sqlite.verify().holds
    with on_sqlite.ledger.write() as tx:
        tx.record(
            PLAN, LEFT_ALONE, task, {"attempt": attempt, "version": "0", "here": "1"}
        )
    assert any(
        f"attempt {attempt} of task {task} was not in work" in one
        for one in on_sqlite.verify().integrity
    )


def test_a_flood_of_findings_is_bounded(on_sqlite: Project, tmp_path: Path) -> None:
    """The first hundred of a kind are enough."""
    names = [f"n{at}" for at in range(120)]
    nodes = [node("root", "GOAL"), *(node(name) for name in names)]
    on_sqlite.runs(plan(nodes, [edge("root", name) for name in names]))
    _below(tmp_path, "UPDATE task_nodes SET attempts = 9")
    assert len(on_sqlite.verify().integrity) == 100
