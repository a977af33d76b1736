"""Tasks, without any face: who has them, what they are told, what comes of what they hand in."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.access import RIGHTS, Identity, Role
from accordance.domain.lifecycle import State
from accordance.errors import Conflict, LedgerBusy, NotAllowed, NotFound
from accordance.project.home import Home
from accordance.service import plans, tasks
from accordance.service.project import Project
from accordance.service.task_records import show_task, standing_of
from accordance.service.tasks import Assigned, WorkRequest
from accordance.service.unsent_messages import rescued
from accordance.service.views.tasks import NothingView
from accordance.store.sql import SqlLedger
from accordance.work.taking import NoTaskReason
from tests.acceptance.test_run import HONEST
from tests.ledger.project import encoded, failing, product
from tests.messages import PLAN, small_plan
from tests.reviews import node_review
from tests.service.conftest import brings

ANNA = WorkRequest(holder="anna", any_task=True)
BEN = WorkRequest(holder="ben", any_task=True)


def taken_by(project: Project, request: WorkRequest) -> Assigned:
    """What somebody is given who asks."""
    handed = tasks.take_task(project, request)
    assert isinstance(handed, Assigned), handed
    return handed


def refused(project: Project, request: WorkRequest) -> NothingView:
    """Why somebody is given nothing."""
    handed = tasks.take_task(project, request)
    assert isinstance(handed, NothingView), handed
    return handed


# -- taking up


def test_an_assignment(project: Project) -> None:
    """All that is needed: task, plan, contract and lease; the keys of a change are absent where none is made."""
    view = taken_by(project, ANNA).view
    assert (view.kind, view.task.task_id, view.plan.plan_id) == ("action", "a", PLAN)
    assert (view.attempt, view.lease.holder) == (1, "anna")
    told = view.to_json()
    assert told["contract"]["schema"]["required"][:2] == ["schema_version", "task_id"]
    assert not {"change", "workspace", "tests", "evidence", "research"} & set(told)


@pytest.mark.parametrize(
    ("waived_by", "why", "waits"),
    [
        pytest.param(None, "IN_REVIEW", True, id="the plan waits for its review"),
        pytest.param("test", "BUSY", False, id="somebody else is at it"),
    ],
)
def test_nothing_to_take_up(
    empty: Project, waived_by: str | None, why: str, waits: bool
) -> None:
    """The reason is named, and whether a person has to move."""
    brings(empty, small_plan(), waived_by)
    if waived_by:
        taken_by(empty, ANNA)
    nothing = refused(empty, BEN)
    assert (nothing.why, nothing.waits_for_person) == (why, waits)
    assert nothing.to_json() == {"task": None, "why": why, "text": nothing.text}


@pytest.mark.parametrize("reason", NoTaskReason)
def test_reasons_name_no_command(reason: NoTaskReason) -> None:
    """Whoever asks over MCP or HTTP has none; the command line adds its own."""
    assert "accordance " not in reason.value.replace("accordance's", "")
    assert "--" not in reason.value


def test_no_plan_at_all(empty: Project) -> None:
    """Is a reason, too."""
    assert refused(empty, ANNA).why == "NO_PLAN"


@pytest.mark.parametrize(("any_task", "is_given"), [(False, False), (True, True)])
def test_what_the_routes_give_to_an_executor(
    project: Project, any_task: bool, is_given: bool
) -> None:
    """Only whoever asks for any task is given it."""
    (project.home.root / "accordance.toml").write_text(HONEST)
    request = WorkRequest(holder="anna", any_task=any_task)
    assert bool(tasks.peek(project, request)) is is_given
    assert isinstance(tasks.take_task(project, request), Assigned) is is_given


def test_looking_takes_nothing_up(project: Project) -> None:
    """What is next stays next."""
    assert [task.task_id for task in tasks.peek(project, ANNA)] == ["a"]
    assert taken_by(project, ANNA).view.task.task_id == "a"


def test_somebody_who_comes_back(project: Project) -> None:
    """Under a name of their own they are given what they had and do not know of; under a shared one they are not."""
    first = taken_by(project, ANNA)
    again = taken_by(project, WorkRequest(holder="anna", any_task=True, known={}))
    assert (again.view.task.task_id, again.view.attempt) == ("a", 1)
    assert again.view.lease.until > first.view.lease.until
    knows = WorkRequest(holder="anna", any_task=True, known={"a": 1})
    assert refused(project, knows).why == "BUSY"
    assert refused(project, ANNA).why == "BUSY"
    assert [taken.task.task_id for taken in tasks.held_tasks(project, "anna")] == ["a"]


# -- handing in


def test_from_a_message_to_done(project: Project) -> None:
    """A product, its review, the verdicts on it."""
    taken_by(project, ANNA)
    answer = tasks.submit(project, encoded(product("a")), attempt=1)
    assert (answer.status, answer.state) == ("accepted", "READY_TO_CHECK")
    assert answer.artifact is not None
    review = taken_by(project, BEN)
    assert review.view.kind == "review"
    judged = tasks.review(
        project,
        encoded(node_review("a")),
        artifact=review.taken.lease.product,
        reviewer="ben",
    )
    assert (judged.outcome, judged.state) == ("DONE", "DONE")
    standing = standing_of(project, "a")
    assert [(verdict.attempt, verdict.outcome) for verdict in standing.verdicts] == [
        (1, "DONE")
    ]
    shown = show_task(project, "a")
    assert [made.approved_at is not None for made in shown.artifacts] == [True]
    assert [(review.score, review.action) for review in shown.reviews] == [
        (95, "APPROVE")
    ]
    assert shown.events[-1].event in {
        event["event"] for event in shown.to_json()["events"]
    }


def test_a_message_takes_a_single_transaction(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its task is looked up, the worker admitted and the message ruled on in it."""
    begun: list[str] = []
    for way in ("read", "write"):
        begin = getattr(SqlLedger, way)

        def counted(ledger: SqlLedger, way: str = way, begin: Any = begin) -> Any:
            begun.append(way)
            return begin(ledger)

        monkeypatch.setattr(SqlLedger, way, counted)
    worker = Identity(name="anna", role=Role.AGENT, rights=RIGHTS[Role.AGENT])
    raw = encoded(product("a"))
    answer = tasks.submit(project, raw, task_id="a", worker=worker)
    assert answer.status == "accepted"
    assert begun == ["write"]


@pytest.mark.parametrize(
    ("role", "error"), [(Role.AGENT, NotFound), (Role.OPERATOR, NotAllowed)]
)
def test_a_worker_who_is_bound_to_other_tasks(
    project: Project, role: Role, error: type[Exception]
) -> None:
    """Hands in nothing, and nothing of it is kept."""
    bound = Identity(name="anna", role=role, rights=RIGHTS[role], tasks=("b",))
    with pytest.raises(error):
        tasks.submit(project, encoded(product("a")), task_id="a", worker=bound)
    assert show_task(project, "a").state == "READY"
    with project.ledger.read() as tx:
        assert tx.blob_size(sha256(encoded(product("a"))).hexdigest()) is None


def test_the_reviewer_is_whoever_has_the_review(project: Project) -> None:
    """Nobody reviews their own product, named or not."""
    taken_by(project, ANNA)
    made = tasks.submit(project, encoded(product("a")))
    assert made.artifact is not None
    raw = encoded(node_review("a"))
    answer = tasks.review(
        project, raw, task_id="a", artifact=made.artifact["sha256"], reviewer="anna"
    )
    assert answer.status == "refused"


def test_the_same_message_again(project: Project) -> None:
    """Gets the same answer."""
    first = tasks.submit(project, encoded(product("a")))
    again = tasks.submit(project, encoded(product("a")))
    assert again.to_json() == {**first.to_json(), "repeated": True}


def test_asking_a_person(project: Project) -> None:
    """The task waits, and whoever asks after it hears the question."""
    taken = taken_by(project, ANNA).taken
    answer = tasks.ask_person(project, taken, "Which currency?", holder="anna")
    assert (answer.outcome, answer.state) == ("ESCALATE", "BLOCKED")
    assert standing_of(project, "a").questions == ("INPUT_MISSING: Which currency?",)


def test_a_message_that_cannot_be_stored(tmp_path: Path) -> None:
    """Is kept beside the ledger; the error stays what it is, and says where."""
    home, raw = Home(tmp_path), b'{"task_id": "a"}'
    with (
        pytest.raises(LedgerBusy, match="somebody else writes; the message is kept in"),
        rescued(home, raw),
    ):
        raise LedgerBusy("somebody else writes")
    (kept,) = home.unsent.iterdir()
    assert json.loads(kept.read_bytes()) == {"task_id": "a"}


# -- deciding


def test_keeping_and_putting_down(project: Project) -> None:
    """Only in the attempt that is going on, and only by whoever has it, if they say who they are."""
    taken_by(project, ANNA)
    assert tasks.extend(project, "a", attempt=1, holder="anna").holder == "anna"
    with pytest.raises(Conflict):
        tasks.extend(project, "a", attempt=2)
    with pytest.raises(Conflict):
        tasks.release(project, "a", by="ben", holder="ben")
    assert tasks.release(project, "a", by="anna", holder="anna").state == "READY"


def test_another_chance(project: Project) -> None:
    """For a task that failed too often."""
    for _ in range(2):
        taken_by(project, ANNA)
        tasks.submit(project, encoded(failing("a")))
    assert plans.plan_status(project.ledger, PLAN).states[State.BLOCKED] == 1
    assert tasks.retry(project, "a", by="anna").state == "READY"


@pytest.mark.parametrize(
    ("how", "along"),
    [
        pytest.param({"excuse": True}, (), id="excuse"),
        pytest.param({"cascade": True}, ("b",), id="cascade"),
    ],
)
def test_cancelling(
    project: Project, how: dict[str, Any], along: tuple[str, ...]
) -> None:
    """Somebody says what becomes of what waits for it."""
    with pytest.raises(Conflict, match="1 tasks wait for a"):
        tasks.cancel(project, "a", by="anna")
    cancelled = tasks.cancel(project, "a", by="anna", **how)
    assert (cancelled.state, cancelled.along) == ("ABANDONED", along)


def test_a_task_nobody_knows(project: Project) -> None:
    """Is not found, whatever is asked of it."""
    for ask in (show_task, standing_of):
        with pytest.raises(NotFound):
            ask(project, "nobody")
