"""A plan enters the ledger."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from accordance import Accepted, check
from accordance.cli.main import run
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import Event
from accordance.domain.plan_lifecycle import PlanEvent, PlanState
from accordance.domain.records import RequirementRecord, Rules
from accordance.domain.ruling import QuestionKind
from accordance.errors import Conflict, NotFound
from accordance.work.importing import Source, UnfitPlan, import_plan
from accordance.work.taking import NoTaskReason, Taken
from tests.ledger.project import Project
from tests.messages import PLAN, changed, edge, node, plan, requirement, small_plan
from tests.reviews import plan_review

OTHER = "9a4f6f64-7a0b-4a53-8a6e-2f0b6d1c0002"


@pytest.mark.seed("001-27")
def test_a_plan_at_its_beginning(project: Project) -> None:
    """All of it is there, nothing may begin before its review."""
    found = project.imports(small_plan())
    assert found.is_new
    assert (found.plan.state, found.plan.nodes, found.plan.revision) == (
        PlanState.IN_REVIEW,
        3,
        1,
    )
    assert project.states() == {"root": "PENDING", "a": "READY", "b": "PENDING"}
    assert project.take() is NoTaskReason.IN_REVIEW
    assert project.kinds() == ["PLAN_IMPORTED", "ASKED_A_PERSON"]


def test_the_same_plan_again_changes_nothing(project: Project) -> None:
    """Also while it runs."""
    project.runs(small_plan())
    project.takes()
    before = project.plan()
    again = project.imports(small_plan())
    assert not again.is_new
    assert project.plan() == before


def test_the_same_plan_again_without_a_review(project: Project) -> None:
    """The review is not wanted after all: the plan may begin, and asks for nothing."""
    project.imports(small_plan())
    again = project.imports(small_plan(), waived_by="test")
    assert (again.is_new, again.plan.state) == (False, PlanState.ACTIVE)
    assert project.questions() == []


def test_a_plan_that_nothing_has_begun_in_is_replaced(project: Project) -> None:
    """A new revision: its own tasks, questions and inputs; the count of rounds goes on."""
    confirm = requirement("a", kind="CONFIRMATION", name="go?")
    project.imports(
        plan(
            [node("root", "GOAL"), node("a")],
            [edge("root", "a")],
            requirements=[confirm],
        )
    )
    assert len(project.questions(QuestionKind.CONFIRMATION)) == 1
    assert project.review_plan(plan_review(60)).content["state"] == "RETURNED"
    assert project.take() is NoTaskReason.RETURNED
    found = project.imports(small_plan())
    assert (found.plan.revision, found.plan.rounds, found.plan.state) == (
        2,
        1,
        PlanState.IN_REVIEW,
    )
    assert project.questions(QuestionKind.CONFIRMATION) == []
    assert set(project.states()) == {"root", "a", "b"}
    with project.ledger.read() as tx:
        assert tx.find(RequirementRecord, plan_id=PLAN) == []


def test_a_revision_may_bring_other_rules(project: Project) -> None:
    """What was decided under the earlier ones stays right."""
    project.imports(small_plan(), Rules(fuses=Fuses(review_rounds=3)))
    assert project.review_plan(plan_review(60)).content["outcome"] == "RETRY"
    project.imports(
        changed(small_plan(), "plan.title", "Better"),
        Rules(fuses=Fuses(review_rounds=1)),
    )
    assert project.review_plan(plan_review(61)).content["outcome"] == "ESCALATE"
    assert project.holds()


def test_a_plan_that_runs_is_not_replaced(project: Project) -> None:
    """It would lose what was done."""
    project.runs(small_plan())
    with pytest.raises(Conflict, match="already running"):
        project.imports(changed(small_plan(), "plan.title", "Another"))
    assert project.plan().title == "Spring catalogue"


@pytest.mark.parametrize("shared", ["root", "a"])
def test_no_two_plans_share_a_task(project: Project, shared: str) -> None:
    """A task's id says which task is meant; nothing of the second plan stays behind."""
    project.runs(small_plan())
    names = {"root": "r2", "a": "a2"} | {shared: shared}
    nodes = [node(names["root"], "GOAL"), node(names["a"])]
    other = plan(nodes, [edge(names["root"], names["a"])], root=names["root"])
    other["plan"]["plan_id"] = OTHER
    for part in (*other["nodes"], *other["edges"]):
        part["plan_id"] = OTHER
    with pytest.raises(Conflict):
        project.imports(other)
    with project.ledger.read() as tx:
        assert [one.plan_id for one in tx.plans()] == [PLAN]
        with pytest.raises(NotFound, match="no plan"):
            tx.plan(OTHER)


def test_the_oldest_plan_that_has_work_comes_first(project: Project) -> None:
    """Others follow when it has none."""
    project.runs(small_plan())
    other = plan([node("r2", "GOAL"), node("a2")], [edge("r2", "a2")], root="r2")
    other["plan"]["plan_id"] = OTHER
    for part in (*other["nodes"], *other["edges"]):
        part["plan_id"] = OTHER
    project.imports(other, waived_by="test")
    assert [project.takes(), project.takes(), project.takes()] == ["a", "a2", None]
    assert project.take(plan_id=OTHER) is NoTaskReason.BUSY


def test_names_of_all_kinds(project: Project) -> None:
    """NUL, marks, other scripts, the whole of Unicode: kept as well as the database can, and it verifies."""
    odd = "\0 \u202e 目录 🥖 'quoted\" \\ \u2028 e\u0301 \uffff \x7f"
    nodes = [
        node("root", "GOAL", title=odd),
        node("task '%_\\ ü 🥖", title=odd, tags=[odd, ""], rationale=odd),
    ]
    need = requirement("root", name=odd, kind="CONFIRMATION")
    project.runs(plan(nodes, [edge("root", "task '%_\\ ü 🥖")], requirements=[need]))
    kept = project.task("root").title
    assert kept.replace("\u2400", "\0") == odd
    found = project.take()
    assert isinstance(found, Taken)
    assert found.task.tags == (odd, "")
    project.finish("task '%_\\ ü 🥖")
    assert project.state("root") == "DONE"


def test_ids_that_cannot_be_kept(project: Project) -> None:
    """A NUL in a title is one thing, in a name it is refused; so is asking for such a name."""
    for message in (
        plan([node("root", "GOAL"), node("a\0b")], [edge("root", "a\0b")]),
        {**small_plan(), "requirements": [requirement("a", requirement_id="r\0")]},
    ):
        with pytest.raises(UnfitPlan, match="contains a NUL character"):
            project.imports(message)
    project.runs(
        plan([node("root", "GOAL"), node("a\u2400b")], [edge("root", "a\u2400b")])
    )
    with project.ledger.read() as tx, pytest.raises(NotFound):
        tx.task("a\0b")


def test_what_does_not_exist(project: Project) -> None:
    """Is said by name, with what looks like it."""
    project.runs(small_plan())
    with project.ledger.read() as tx:
        with pytest.raises(NotFound, match="no task 'c'"):
            tx.task("c")
        with pytest.raises(NotFound, match="no task 'rootx'; did you mean root"):
            tx.task("rootx")
        with pytest.raises(NotFound, match="no blob"):
            tx.blob("0" * 64)
        with pytest.raises(NotFound, match="did you mean 9a4f6f64"):
            tx.plan(OTHER)


@pytest.mark.large
def test_a_long_chain(project: Project) -> None:
    """D7, D21: five thousand in a row are imported, and one DONE touches its neighbours."""
    names = [f"n{at}" for at in range(5000)]
    edges = [edge("root", name) for name in names]
    edges += [edge(one, other, "DEPENDS_ON") for one, other in pairwise(names)]
    project.runs(plan([node("root", "GOAL"), *(node(name) for name in names)], edges))
    assert project.takes() == "n0"
    project.finish("n0")
    assert project.kinds("n1") == [Event.ENABLED]
    assert project.takes() == "n1"


def test_leaving_by_an_exception_leaves_nothing_behind(project: Project) -> None:
    """Blobs, events, states, questions: all or nothing."""
    project.runs(small_plan())
    before = project.plan(), project.states(), project.kinds()
    with suppress(RuntimeError), project.ledger.write() as tx:
        tx.lock(PLAN)
        sha256 = tx.keep(b"never")
        tx.happen("a", Event.CLAIMED)
        tx.happen("a", Event.ERRED)
        tx.save_plan(PLAN, calls=7)
        raise RuntimeError
    assert (project.plan(), project.states(), project.kinds()) == before
    with project.ledger.read() as tx, pytest.raises(NotFound):
        tx.blob(sha256)


def test_what_a_plan_was_read_from_is_kept(project: Project) -> None:
    """The bytes as they came, what was repaired in them, what is worth knowing; a name in the import's event for each."""
    message = {**small_plan(), "note": "for you"}
    message["tasks"] = message.pop("nodes")
    raw = json.dumps(message, indent=3).encode()
    result = check(raw, "PLAN_GEN")
    assert isinstance(result, Accepted)
    source = Source(raw, result.repairs, result.warnings)
    import_plan(project.ledger, result.value, Rules(), source=source)
    with project.ledger.read() as tx:
        (said,) = (
            entry.payload
            for entry in tx.entries(PLAN)
            if entry.kind == PlanEvent.IMPORTED
        )
        assert tx.blob(str(said["raw"])) == raw
        reading = json.loads(tx.blob(str(said["reading"])))
    assert reading["repairs"] == [one.to_json() for one in result.repairs] != []
    assert reading["warnings"] == [one.to_json() for one in result.warnings] != []
    assert (said["repairs"], said["warnings"]) == (
        len(result.repairs),
        len(result.warnings),
    )


def test_the_constraints_of_a_plan_are_kept(project: Project) -> None:
    """As the plan says them."""
    constraints = {"budget": 3, "deadline": None, "words": ["a", "b"]}
    message = small_plan()
    message["plan"]["constraints"] = constraints
    assert project.imports(message).plan.constraints == constraints
    assert project.plan().constraints == constraints


def test_an_import_shows_what_was_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what is worth knowing: the first few for people, all of it as JSON; a dry run does as well."""
    monkeypatch.chdir(tmp_path)
    message = {**small_plan(), "note": "for you"}
    for task in message["nodes"]:
        task["id"], task["kind"] = task.pop("task_id"), task.pop("node_type")
        task["name"], task["agent"] = task.pop("title"), task.pop("owner_agent_id")
    (tmp_path / "plan.json").write_text(json.dumps(message))
    for options in (["--dry-run"], []):
        assert run(["plan", "import", "plan.json", *options]) == 0
        shown = capsys.readouterr().out.splitlines()
        repaired = [line for line in shown if line.startswith("  repaired: ")]
        assert (len(repaired), "more (--json shows all)" in repaired[-1]) == (
            11,
            True,
        ), shown
        assert any(line.startswith("  warning: $.note") for line in shown), shown
    assert run(["plan", "import", "plan.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["repairs"]) > 10
    assert [one["path"] for one in told["warnings"]] == ["$.note"]
