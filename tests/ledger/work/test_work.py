"""Work on a plan: who takes what, what is handed in, what comes of it. On every ledger."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import Waiting
from accordance.domain.records import (
    ArtifactRecord,
    MessageRecord,
    Rules,
    VerdictRecord,
)
from accordance.domain.ruling import QuestionKind
from accordance.errors import (
    Conflict,
    IllegalTransition,
    NotFound,
    UnfitPlanState,
    UnfitTaskState,
)
from accordance.work.arrivals import TaskUnnamed
from accordance.work.intake import submit
from accordance.work.lease_times import LEASE_SECONDS
from accordance.work.plan_life import resume
from accordance.work.receipts import Receipt
from accordance.work.reviewing import ProductUnnamed, review
from accordance.work.taking import NoTaskReason, Taken, take_next
from accordance.work.tasks import (
    cancel,
    dead_letters,
    extend,
    release,
    requeue,
    retry,
)
from tests.ledger.project import Project, asking, encoded, failing, idle, product
from tests.messages import PLAN, Message, changed, edge, node, plan, small_plan
from tests.reviews import node_review, plan_review

GARBAGE = b"I have done it."


def wide_plan(*names: str, **more: Any) -> Message:
    """A goal over actions that do not wait for each other."""
    nodes = [node("root", "GOAL"), *(node(name, **more) for name in names)]
    return plan(nodes, [edge("root", name) for name in names])


def checked_plan(checks: int = 1) -> Message:
    """An action, its checks, and what waits for them."""
    names = [f"check{at}" for at in range(checks)]
    nodes = [
        node("root", "GOAL"),
        node("a"),
        *(node(name, "CHECK") for name in names),
        node("next"),
    ]
    edges = [edge("root", one["task_id"]) for one in nodes[1:]]
    edges += [edge("a", name, "DEPENDS_ON") for name in names]
    return plan(nodes, [*edges, *(edge(name, "next", "DEPENDS_ON") for name in names)])


# -- taking up


def test_what_is_taken_first(project: Project) -> None:
    """Returned work, then products to review, then new work; by priority, then by place."""
    message = wide_plan("a", "b", "c", "d")
    message["nodes"][3]["priority"] = 5
    project.runs(message)
    project.submit("a")
    project.submit("b")
    project.review("b", 60)
    order = []
    while isinstance(found := project.take(), Taken):
        order.append((found.task.task_id, found.kind))
    assert order == [("b", "action"), ("a", "review"), ("c", "action"), ("d", "action")]
    assert found is NoTaskReason.BUSY


def test_only_some_kinds(project: Project) -> None:
    """A reviewer asks for checks, an executor for actions."""
    project.runs(checked_plan())
    project.submit("a")
    assert project.takes(kinds=("ACTION",)) is None
    found = project.take(kinds=("CHECK",))
    assert isinstance(found, Taken)
    assert (found.task.task_id, found.kind) == ("check0", "review")
    assert found.lease.product == project.task("a").product


def test_why_there_is_nothing(project: Project) -> None:
    """No plan, in review, busy, waiting, finished: each is said."""
    assert project.take() is NoTaskReason.NO_PLAN
    with pytest.raises(NotFound):
        project.take(plan_id=PLAN)
    project.imports(small_plan())
    assert project.take() is NoTaskReason.IN_REVIEW
    project.review_plan()
    assert project.takes() == "a"
    assert project.take() is NoTaskReason.BUSY
    project.submit("a", asking("a"))
    assert project.take() is NoTaskReason.WAITING
    project.answer(text="use last year's")
    project.finish("a", "b")
    assert project.take() is NoTaskReason.FINISHED


def test_a_lease_runs_out(project: Project) -> None:
    """The task goes to the next one; after three it is a person's; nobody had it longer than they said."""
    project.runs(wide_plan("a"))
    for attempt in (1, 2, 3):
        found = project.take(holder=f"worker {attempt}", seconds=60)
        assert isinstance(found, Taken)
        assert found.task.progress.standing.counters.attempts == attempt
        project.clock.pass_by(59)
        assert project.take() is NoTaskReason.BUSY
        project.clock.pass_by(2)
    assert project.take() is NoTaskReason.WAITING
    assert project.state("a") == "BLOCKED"
    (question,) = project.questions()
    assert "MAX_ATTEMPTS_EXCEEDED" in question.text
    project.answer(text="try again")
    assert project.takes() == "a"


def test_a_lease_is_extended(project: Project) -> None:
    """By whoever still has it, and by nobody else."""
    project.runs(wide_plan("a"))
    project.take(seconds=60)
    project.clock.pass_by(50)
    extend(project.ledger, "a", attempt=1, seconds=60)
    project.clock.pass_by(50)
    assert project.take() is NoTaskReason.BUSY
    with pytest.raises(Conflict, match="attempt 2 of task a is over"):
        extend(project.ledger, "a", attempt=2)
    project.submit("a")
    with pytest.raises(Conflict):
        extend(project.ledger, "a", attempt=1)


def test_putting_down_counts_as_nothing(project: Project) -> None:
    """The task, or the product to review, is free at once."""
    project.runs(wide_plan("a"))
    project.takes()
    assert (
        release(project.ledger, "a", by="me").progress.standing.counters.failures == 0
    )
    assert project.takes() == "a"
    project.submit("a")
    assert project.takes() == "a"
    assert project.task("a").lease is not None
    release(project.ledger, "a", by="me")
    assert project.task("a").lease is None
    with pytest.raises(IllegalTransition):
        release(project.ledger, "a", by="me")
    assert project.takes() == "a"


def test_the_lease_of_a_review_runs_out(project: Project) -> None:
    """The product is offered again; nothing counts against it."""
    project.runs(wide_plan("a"))
    project.submit("a")
    project.takes()
    project.clock.pass_by(LEASE_SECONDS + 1)
    found = project.take()
    assert isinstance(found, Taken)
    assert (found.kind, found.task.progress.standing.counters.failures) == ("review", 0)


def test_many_workers_at_once(project: Project) -> None:
    """No task is handed out twice, no message is lost, and the plan is done."""
    names = [f"n{at}" for at in range(12)]
    project.runs(wide_plan(*names))
    taken: list[tuple[str, str]] = []

    def work() -> None:
        while isinstance(found := take_next(project.ledger, []), Taken):
            task = found.task.task_id
            taken.append((task, found.kind))
            if found.kind == "action":
                project.submit(task, attempt=1)
            else:
                project.review(task)

    with ThreadPoolExecutor(4) as workers:
        for worker in [workers.submit(work) for _ in range(4)]:
            worker.result()
    work()
    assert sorted(taken) == sorted(
        (name, kind) for name in names for kind in ("action", "review")
    )
    assert project.state("root") == "DONE"


@pytest.mark.parametrize("same", [True, False])
def test_two_messages_for_one_task_at_once(project: Project, same: bool) -> None:
    """One is taken; the same one again gets its answer, another one is refused."""
    project.runs(wide_plan("a"))
    project.takes()
    messages = [product("a", "one"), product("a", "one" if same else "two")]
    with ThreadPoolExecutor(2) as workers:
        answers = list(
            workers.map(lambda said: project.submit("a", said, attempt=1), messages)
        )
    assert sorted((one.status, one.repeated) for one in answers) == (
        [("accepted", False), ("accepted", True)]
        if same
        else [("accepted", False), ("refused", False)]
    )
    with project.ledger.read() as tx:
        assert len(tx.products("a")) == 1


# -- handing in


def test_a_product_is_kept_as_a_version_of_its_own(project: Project) -> None:
    """D18: in the ledger by its hash and as a file; the earlier ones stay as they were."""
    project.runs(wide_plan("a"))
    for version, content in enumerate(("one", "two", "one"), start=1):
        told = project.submit("a", product("a", content)).content
        assert told["artifact"]["version"] == version
        assert (project.home.root / told["artifact"]["path"]).read_text() == content
        project.review("a", 60)
    with project.ledger.read() as tx:
        versions = tx.find(ArtifactRecord, task_id="a")
        assert [one.file_name for one in versions] == [
            "report.v1.md",
            "report.v2.md",
            "report.v3.md",
        ]
        assert [tx.blob(one.sha256) for one in versions] == [b"one", b"two", b"one"]


@pytest.mark.seed("000-13")
@pytest.mark.parametrize(
    ("hint", "file"),
    [
        pytest.param(
            "offers/spring.md",
            "spring.v1.md",
            id="its file has the name that was asked for",
        ),
        pytest.param(
            "con.md", "_con.v1.md", id="a name that no disk takes is made safe"
        ),
        pytest.param("offers/", "report.v1.md", id="a folder names no file"),
    ],
)
def test_the_hint_where_a_product_is_to_lie(
    project: Project, hint: str, file: str
) -> None:
    """It lies in its task's folder, with its version."""
    said = product("a")
    said["artifact"]["path_hint"] = f"workspace/artifacts/a/{hint}"
    told = project.runs(wide_plan("a")).submit("a", said).content
    assert told["artifact"]["path"] == f"workspace/artifacts/a/{file}"
    assert (project.home.root / told["artifact"]["path"]).read_text() == "text"


@pytest.mark.seed("000-1", "001-7", "001-16")
def test_an_action_that_is_approved(project: Project) -> None:
    """Product, review, DONE, and what waited for it is ready; the approval names the version."""
    project.runs(small_plan())
    assert project.submit("a").content["state"] == "READY_TO_CHECK"
    told = project.review("a").content
    assert (told["state"], told["outcome"], told["reason_code"]) == (
        "DONE",
        "DONE",
        "APPROVE",
    )
    assert project.states() == {"root": "PENDING", "a": "DONE", "b": "READY"}
    project.finish("b")
    assert project.state("root") == "DONE"
    with project.ledger.read() as tx:
        assert all(one.approved_at for one in tx.find(ArtifactRecord, plan_id=PLAN))
        heads = {one.seq: one.hash for one in tx.entries(PLAN)}
        verdicts = tx.find(VerdictRecord, plan_id=PLAN)
        assert [(one.subject, one.outcome) for one in verdicts] == [
            ("a", "DONE"),
            ("b", "DONE"),
        ]
        assert all(heads[one.head_seq] == one.head_hash for one in verdicts)


def test_the_same_message_twice(project: Project) -> None:
    """The same answer, and nothing is doubled: product, review, refusal, and what could not be read."""
    project.runs(small_plan())
    handed_in: list[Callable[[], Receipt]] = [
        lambda: project.submit("a", GARBAGE),
        lambda: project.submit("a", attempt=2),
        lambda: project.review("a", 60),
        lambda: project.submit("b"),
    ]
    for hand_in in handed_in:
        first = hand_in()
        before = project.plan(), project.states(), project.kinds()
        again = hand_in()
        assert (again.content, again.repeated, first.repeated) == (
            first.content,
            True,
            False,
        )
        assert (project.plan(), project.states(), project.kinds()) == before
    assert (
        project.submit("a", GARBAGE, attempt=1).content["reason_code"]
        == "LLM_UNPARSEABLE"
    )


def returned(project: Project) -> str:
    """A reviewer wants another one."""
    project.submit("a")
    project.review("a", 60)
    return "TO_BE_MODIFY"


def answered(project: Project) -> str:
    """What was asked for is answered."""
    project.submit("a", asking("a"))
    project.answer(text="there is none")
    return "READY"


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        pytest.param(returned, product("a"), id="a product that was returned"),
        pytest.param(answered, asking("a"), id="a question that was answered"),
    ],
)
def test_an_unchanged_message_is_refused_once_the_task_has_moved_on(
    project: Project, moves: Callable[[Project], str], message: Message
) -> None:
    """The answer of then would say that all is well. Whoever only sends it again names its attempt and gets that answer."""
    project.runs(wide_plan("a"))
    state = moves(project)
    told = project.submit("a", message)
    assert (told.status, told.repeated, project.state("a")) == ("refused", False, state)
    assert (
        f"task a is {state}, and this is the very message of attempt 1"
        in told.content["why"]
    )
    assert "as attempt 2" in told.content["why"]
    assert project.submit("a", message).repeated
    sent_again = project.submit("a", message, attempt=1)
    assert (sent_again.status, sent_again.repeated) == ("accepted", True)
    assert project.submit("a", product("a", "another")).status == "accepted"


def test_a_message_may_be_the_same_in_another_attempt(project: Project) -> None:
    """It is a new message then, if it says for which attempt it is."""
    project.runs(wide_plan("a"))
    project.submit("a")
    project.review("a", 60)
    told = project.submit("a", attempt=2)
    assert (
        told.repeated,
        told.content["state"],
        told.content["artifact"]["version"],
    ) == (
        False,
        "READY_TO_CHECK",
        2,
    )


def test_a_refused_message_may_be_right_later(project: Project) -> None:
    """What came too early is taken when its time has come; a review is taken when it says what it saw."""
    project.imports(small_plan())
    early = project.submit("a")
    assert (early.status, early.content["why"]) == (
        "refused",
        f"plan {PLAN} is IN_REVIEW: nothing in it may begin",
    )
    project.review_plan()
    assert project.submit("a").status == "accepted"
    assert project.review("a", of="0" * 64).status == "refused"
    assert project.review("a").status == "accepted"


@pytest.mark.parametrize(
    ("attempt", "said"),
    [
        (1, "attempt 1 of task a is over; the current attempt is 2"),
        (3, "attempt 3 of task a is over"),
    ],
)
def test_a_message_for_another_attempt(
    project: Project, attempt: int, said: str
) -> None:
    """Is kept and refused."""
    project.runs(small_plan())
    project.submit("a", failing("a"))
    project.takes()
    told = project.submit("a", attempt=attempt)
    assert told.status == "refused"
    assert said in told.content["why"]
    assert project.state("a") == "IN_PROGRESS"
    with project.ledger.read() as tx:
        kept = tx.find(MessageRecord, subject="a")[-1]
        assert tx.blob(kept.sha256) == encoded(product("a"))


def test_a_message_for_a_finished_task(project: Project) -> None:
    """Is kept and refused; so is one for a goal, and an action of a check."""
    project.runs(checked_plan())
    assert (
        project.submit("root").content["why"]
        == "task root is PENDING and takes no action now"
    )
    project.submit("a")
    told = project.submit("check0").content
    assert told["why"].startswith("check0 reviews task a: hand its review in with")
    project.review("check0")
    assert (
        project.submit("a", product("a", "late")).content["why"]
        == "task a is DONE and takes no action now"
    )
    assert project.kinds().count("MESSAGE_REFUSED") == 3


@pytest.mark.seed("001-9")
def test_a_message_for_another_task(project: Project) -> None:
    """D5: an answer that carries another task's id is a broken one, and stored for nobody."""
    project.runs(small_plan())
    told = project.submit("a", product("b")).content
    assert (told["status"], told["violations"][0]["code"]) == ("rejected", "wrong_task")
    with project.ledger.read() as tx:
        assert tx.find(ArtifactRecord, plan_id=PLAN) == []


def test_the_task_may_be_known_from_the_message(project: Project) -> None:
    """If it can be read and names one."""
    project.runs(small_plan())
    assert (
        submit(project.ledger, project.home, encoded(product("a"))).status == "accepted"
    )
    assert (
        review(
            project.ledger, encoded(node_review("a")), product=project.task("a").product
        ).status
        == "accepted"
    )
    for raw, said in (
        (GARBAGE, "cannot be read"),
        (b"{}", "names no task_id"),
        (b'{"task_id":7}', "names no"),
    ):
        with pytest.raises(TaskUnnamed, match=said):
            submit(project.ledger, project.home, raw)
    with pytest.raises(NotFound, match="no task 'zzz'"):
        submit(project.ledger, project.home, encoded(product("zzz")))


@pytest.mark.seed("000-2", "000-31", "000-32", "000-33", "000-34")
def test_what_cannot_be_read(project: Project) -> None:
    """LLM_UNPARSEABLE, FAILED, one more attempt, the raw text kept; ready again while attempts remain."""
    project.runs(wide_plan("a"))
    told = project.submit("a", GARBAGE).content
    assert (told["status"], told["state"], told["outcome"]) == (
        "rejected",
        "READY",
        "RETRY",
    )
    assert told["violations"]
    assert project.kinds("a")[-5:] == [
        "CLAIMED",
        "MESSAGE",
        "LLM_UNPARSEABLE",
        "RETRIED",
        "VERDICT",
    ]
    assert project.task("a").progress.standing.counters.parse_failures == 1
    project.takes()
    told = project.submit("a", GARBAGE).content
    assert (told["state"], told["waiting"], told["reason_code"]) == (
        "BLOCKED",
        "WAITING_EXTERNAL",
        "LLM_UNPARSEABLE",
    )
    assert "REPEATED_ERROR" in project.questions()[0].text
    with project.ledger.read() as tx:
        assert [tx.blob(one.sha256) for one in tx.find(MessageRecord, subject="a")] == [
            GARBAGE
        ] * 2


@pytest.mark.seed("000-19")
@pytest.mark.parametrize(
    ("code", "state", "waiting"),
    [
        ("LLM_TIMEOUT", "READY", None),
        ("ANYTHING", "READY", None),
        ("LLM_REFUSAL", "BLOCKED", Waiting.EXTERNAL),
        ("SKILL_FAILED", "BLOCKED", Waiting.SKILL),
        ("SKILL_BAD_INPUT", "BLOCKED", Waiting.INPUT),
    ],
)
def test_errors_by_code(
    project: Project, code: str, state: str, waiting: Waiting | None
) -> None:
    """A failed attempt, or a wait: by what the code says."""
    project.runs(wide_plan("a"))
    told = project.submit("a", failing("a", code)).content
    assert (told["state"], told["waiting"], told["reason_code"]) == (
        state,
        waiting,
        code,
    )


def test_the_same_error_after_another_chance(project: Project) -> None:
    """What was before is forgiven: it may fail once more before a person is asked again."""
    project.runs(wide_plan("a"))
    project.submit("a", failing("a"), attempt=1)
    assert project.submit("a", failing("a"), attempt=2).content["state"] == "BLOCKED"
    project.answer(text="it is up again")
    assert project.submit("a", failing("a"), attempt=3).content["state"] == "READY"
    assert project.submit("a", failing("a"), attempt=4).content["state"] == "BLOCKED"


def test_errors_that_do_not_follow_each_other(project: Project) -> None:
    """Something came between: it is not the same error twice running."""
    project.runs(wide_plan("a"))
    project.submit("a", failing("a"), attempt=1)
    project.submit("a", attempt=2)
    project.review("a", 60)
    assert project.submit("a", failing("a"), attempt=3).content["state"] == "READY"


@pytest.mark.seed("000-18")
def test_nothing_to_do_twice(project: Project) -> None:
    """D13: once is fine, twice is a loop, and a person is asked."""
    project.runs(wide_plan("a"))
    assert project.submit("a", idle("a"), attempt=1).content["state"] == "READY"
    told = project.submit("a", idle("a"), attempt=2).content
    assert (told["state"], told["reason_code"]) == ("BLOCKED", "NOOP_LOOP")
    assert project.take() is NoTaskReason.WAITING


# -- reviews


def test_three_times_returned_then_escalated(project: Project) -> None:
    """D11: after three rounds a person decides, and nothing else does."""
    project.runs(wide_plan("a"))
    for round_ in range(3):
        project.submit("a", product("a", f"text {round_}"))
        assert project.review("a", 70).content["state"] == "TO_BE_MODIFY"
    project.submit("a", product("a", "text 3"))
    told = project.review("a", 70).content
    assert (told["state"], told["reason_code"]) == (
        "BLOCKED",
        "MAX_REVIEW_ROUNDS_EXCEEDED",
    )
    assert project.submit("a", product("a", "text 4")).status == "refused"
    assert project.take() is NoTaskReason.WAITING
    project.answer(approve=True)
    assert project.states() == {"root": "DONE", "a": "DONE"}
    with project.ledger.read() as tx:
        assert [bool(one.approved_at) for one in tx.products("a")] == [
            False,
            False,
            False,
            True,
        ]


def test_a_review_that_needs_something(project: Project) -> None:
    """REQUEST_EXTERNAL_INPUT is honoured: the task waits, a person answers, it goes on."""
    project.runs(wide_plan("a"))
    project.submit("a")
    told = project.review("a", 80, "REQUEST_EXTERNAL_INPUT").content
    assert (told["state"], told["waiting"], told["outcome"]) == (
        "BLOCKED",
        "WAITING_EXTERNAL",
        "ESCALATE",
    )
    assert project.questions()[0].kind is QuestionKind.HELP
    project.answer(text="the price is 4.20")
    assert project.takes() == "a"


def test_a_review_of_an_older_product(project: Project) -> None:
    """Is refused: it is bound to the hash of what it saw; a long enough beginning of the hash names it."""
    project.runs(wide_plan("a"))
    project.submit("a")
    seen = project.task("a").product or ""
    project.review("a", 60)
    project.submit("a", product("a", "better"))
    told = project.review("a", of=seen)
    assert (told.status, told.content["why"].partition(":")[0]) == ("refused", "stale")
    assert project.state("a") == "READY_TO_CHECK"
    assert (
        project.review("a", of=(project.task("a").product or "")[:7]).status
        == "refused"
    )
    assert (
        project.review("a", of=(project.task("a").product or "")[:8].upper()).status
        == "accepted"
    )


def test_a_review_must_say_what_it_saw(project: Project) -> None:
    """By word, in the message, or by its lease."""
    project.runs(wide_plan("a", "b", "c"))
    for task in "abc":
        project.submit(task)
    with pytest.raises(ProductUnnamed, match="must say which product it saw"):
        review(project.ledger, encoded(node_review("a")))
    with pytest.raises(ProductUnnamed):
        review(project.ledger, GARBAGE, task_id="a")
    with pytest.raises(ProductUnnamed):
        review(project.ledger, encoded({**node_review("a"), "artifact_sha256": 7}))
    said = {**node_review("a"), "artifact_sha256": project.task("a").product}
    assert review(project.ledger, encoded(said)).status == "accepted"
    assert project.takes() == "b"
    assert review(project.ledger, encoded(node_review("b"))).status == "accepted"
    assert project.states()["b"] == "DONE"


def test_a_review_that_breaks_the_rubric(project: Project) -> None:
    """LLM_UNPARSEABLE, FAILED, one more attempt; the product waits for another review, and its maker is not blamed."""
    project.runs(wide_plan("a"))
    project.submit("a")
    message = changed(node_review("a"), "breakdown.0.dimension", "Beauty")
    told = project.review_raw("a", message).content
    assert (told["status"], told["state"], told["reason_code"]) == (
        "rejected",
        "READY_TO_CHECK",
        "LLM_UNPARSEABLE",
    )
    assert {one["code"] for one in told["violations"]} == {"rubric_dimension"}
    assert project.kinds("a")[-4:] == [
        "MESSAGE",
        "LLM_UNPARSEABLE",
        "REVIEW_RETRIED",
        "VERDICT",
    ]
    counters = project.task("a").progress.standing.counters
    assert (
        counters.review_failures,
        counters.parse_failures,
        counters.attempt_count,
    ) == (1, 0, 2)


def test_a_reviewer_that_sends_garbage(project: Project) -> None:
    """Three times, the same or not: then a person decides. The product is left alone, its attempts too."""
    project.runs(wide_plan("a"))
    project.submit("a")
    for state in ("READY_TO_CHECK", "READY_TO_CHECK", "BLOCKED"):
        found = project.take()
        assert isinstance(found, Taken)
        told = project.review_raw("a", GARBAGE)
        assert (told.repeated, told.content["state"]) == (False, state)
        assert project.review_raw("a", GARBAGE).repeated
    counters = project.task("a").progress.standing.counters
    assert (counters.review_failures, counters.failures, counters.attempts) == (3, 0, 1)
    assert "could not be read" in project.questions()[0].text


def test_a_review_for_what_has_no_product(project: Project) -> None:
    """Is refused: not begun, a goal, done."""
    project.runs(small_plan())
    for task in ("a", "root"):
        assert (
            "has nothing to review now"
            in project.review_raw(task, node_review(task)).content["why"]
        )
    project.finish("a")
    seen = project.task("a").product
    assert (
        project.review_raw(
            "a", {**node_review("a"), "summary": "again"}, of=seen
        ).status
        == "refused"
    )


# -- checks


def test_a_check_reviews_its_action(project: Project) -> None:
    """It begins when there is a product, returns it, and approves it; both are done together."""
    project.runs(checked_plan())
    project.submit("a")
    assert project.states() == {
        "root": "PENDING",
        "a": "READY_TO_CHECK",
        "check0": "READY",
        "next": "PENDING",
    }
    assert project.takes() == "check0"
    told = project.review("check0", 60).content
    assert (told["state"], told["check"], told["check_state"]) == (
        "TO_BE_MODIFY",
        "check0",
        "PENDING",
    )
    project.submit("a", product("a", "better"))
    told = project.review("a").content
    assert (told["state"], told["check_state"]) == ("DONE", "DONE")
    assert project.state("next") == "READY"


def test_a_product_with_two_checks_needs_both(project: Project) -> None:
    """Each says its own word, even in the same words; without a name nobody knows which one speaks."""
    project.runs(checked_plan(2))
    project.submit("a")
    told = project.review("a")
    assert (told.status, told.content["why"]) == (
        "refused",
        "several checks review task a: name the check: check0, check1",
    )
    told = project.review("check0")
    assert (
        told.content["state"],
        told.content["check_state"],
        told.content["outcome"],
    ) == (
        "READY_TO_CHECK",
        "DONE",
        None,
    )
    assert project.review("check0").repeated
    told = project.review("check1")
    assert (told.content["state"], told.content["check_state"]) == ("DONE", "DONE")
    assert project.state("next") == "READY"


def test_a_check_that_sends_garbage(project: Project) -> None:
    """D14: the check has failed, by its own count, and is in a state a check can be in; the product waits."""
    project.runs(checked_plan())
    project.submit("a")
    told = project.review_raw("check0", GARBAGE).content
    assert (told["state"], told["check_state"], told["reason_code"]) == (
        "READY_TO_CHECK",
        "READY",
        "LLM_UNPARSEABLE",
    )
    assert project.review_raw("check0", GARBAGE).repeated
    project.takes()
    assert project.review_raw("check0", GARBAGE).content["check_state"] == "BLOCKED"
    assert project.task("a").progress.standing.counters.attempts == 1
    assert (
        project.review("a").content["why"]
        == "no check of task a waits for a review now"
    )
    project.answer(text="another model reviews now")
    assert project.review("check0").content["state"] == "DONE"


def test_a_person_approves_what_a_check_refuses(project: Project) -> None:
    """The check has nothing left to decide; what waited for it goes on."""
    project.runs(checked_plan())
    project.submit("a")
    project.review("check0", 60, "REQUEST_EXTERNAL_INPUT")
    project.answer(approve=True)
    assert project.states() == {
        "root": "PENDING",
        "a": "DONE",
        "check0": "ABANDONED",
        "next": "READY",
    }
    project.finish("next")
    assert project.state("root") == "DONE"


def test_a_check_inside_an_or_goal(project: Project) -> None:
    """The product is approved, which finishes the goal and drops the check that spoke; nothing breaks."""
    nodes = [node("root", "GOAL"), node("a"), node("check", "CHECK")]
    edges = [edge("root", "a", and_or="OR"), edge("root", "check", and_or="OR")]
    project.runs(plan(nodes, [*edges, edge("a", "check", "DEPENDS_ON")]))
    project.submit("a")
    assert project.review("check").content["state"] == "DONE"
    assert project.states() == {"root": "DONE", "a": "DONE", "check": "ABANDONED"}


def test_the_lease_of_a_check_runs_out(project: Project) -> None:
    """It is free again; what it was to review is untouched."""
    project.runs(checked_plan())
    project.submit("a")
    project.takes(seconds=60)
    project.clock.pass_by(61)
    assert project.takes() == "check0"
    assert project.state("a") == "READY_TO_CHECK"


# -- alternatives, dead letters, cancelling


def alternatives() -> Message:
    """Two ways to print; binding waits for the first."""
    nodes = [
        node("root", "GOAL"),
        node("offset", priority=2),
        node("copier"),
        node("bind"),
    ]
    edges = [edge("root", one["task_id"]) for one in nodes[1:]]
    edges += [
        edge("root", task, "ALTERNATIVE", group_id="print")
        for task in ("offset", "copier")
    ]
    return plan(nodes, [*edges, edge("offset", "bind", "DEPENDS_ON")])


def test_the_next_alternative(project: Project) -> None:
    """Taken by itself when the first one fails for good; whoever waits goes on with it."""
    project.runs(alternatives())
    assert project.states() == {
        "root": "PENDING",
        "offset": "READY",
        "copier": "ABANDONED",
        "bind": "PENDING",
    }
    project.submit("offset", failing("offset"), attempt=1)
    told = project.submit("offset", failing("offset"), attempt=2).content
    assert (told["state"], told["outcome"]) == ("DEAD_LETTER", "REJECT")
    assert project.questions() == []
    project.finish("copier", "bind")
    assert project.states() == {
        "root": "DONE",
        "offset": "DEAD_LETTER",
        "copier": "DONE",
        "bind": "DONE",
    }


def test_the_last_alternative_asks_a_person(project: Project) -> None:
    """And when it is given up the goal says so; a dead one may be taken up again."""
    project.runs(alternatives())
    for task in ("offset", "copier"):
        project.submit(task, failing(task), attempt=1)
        project.submit(task, failing(task), attempt=2)
    assert project.state("copier") == "BLOCKED"
    project.answer(give_up=True)
    assert (project.state("copier"), project.state("root")) == (
        "DEAD_LETTER",
        "BLOCKED",
    )
    assert project.questions()[0].kind is QuestionKind.GOAL
    with project.ledger.read() as tx:
        assert [one.task_id for one in dead_letters(tx, tx.plans())] == [
            "offset",
            "copier",
        ]
    requeue(project.ledger, "offset", by="me")
    assert (project.state("offset"), project.state("root"), project.questions()) == (
        "READY",
        "PENDING",
        [],
    )
    project.finish("offset", "bind")
    assert project.state("root") == "DONE"


def test_a_goal_is_given_up(project: Project) -> None:
    """A person says so: the plan is over."""
    project.runs(wide_plan("a", "b"))
    project.submit("a", failing("a", "LLM_REFUSAL"))
    project.answer(give_up=True)
    project.answer(give_up=True)
    assert project.states() == {"root": "DEAD_LETTER", "a": "DEAD_LETTER", "b": "READY"}
    assert project.take() is NoTaskReason.FINISHED


def test_a_dead_letter_is_dropped(project: Project) -> None:
    """Its goal goes on without it."""
    project.runs(wide_plan("a", "b"))
    project.submit("a", failing("a", "LLM_REFUSAL"))
    project.answer(give_up=True)
    cancel(project.ledger, "a", by="me")
    assert project.states() == {"root": "PENDING", "a": "ABANDONED", "b": "READY"}
    project.finish("b")
    assert project.state("root") == "DONE"


def test_cancelling_asks_what_becomes_of_what_waits(project: Project) -> None:
    """Nothing is left waiting for ever."""
    project.runs(small_plan())
    with pytest.raises(
        Conflict, match=r"1 tasks wait for a \(b\); cancel them too, or let them go on"
    ):
        cancel(project.ledger, "a", by="me")
    assert project.states() == {"root": "PENDING", "a": "READY", "b": "PENDING"}


@pytest.mark.parametrize(
    ("excuse", "along", "states"),
    [
        (True, (), {"root": "PENDING", "a": "ABANDONED", "b": "READY", "c": "READY"}),
        (
            False,
            ("b",),
            {"root": "PENDING", "a": "ABANDONED", "b": "ABANDONED", "c": "READY"},
        ),
    ],
)
def test_cancelling(
    project: Project, excuse: bool, along: tuple[str, ...], states: dict[str, str]
) -> None:
    """With an excuse whoever waits goes on; in a cascade they go too."""
    project.runs(
        plan(
            [node("root", "GOAL"), node("a"), node("b"), node("c")],
            [
                edge("root", "a"),
                edge("root", "b"),
                edge("root", "c"),
                edge("a", "b", "DEPENDS_ON"),
            ],
        )
    )
    assert (
        cancel(project.ledger, "a", by="me", excuse=excuse, cascade=not excuse) == along
    )
    assert project.states() == states
    with pytest.raises(UnfitTaskState, match="is ABANDONED: nothing is left to cancel"):
        cancel(project.ledger, "a", by="me")


def test_cancelling_the_root(project: Project) -> None:
    """Ends the plan."""
    project.runs(small_plan())
    cancel(project.ledger, "root", by="me")
    assert project.states() == {"root": "ABANDONED", "a": "ABANDONED", "b": "ABANDONED"}
    assert project.take() is NoTaskReason.CANCELLED


def test_another_chance(project: Project) -> None:
    """A person may retry what is blocked; what was asked about it is settled; a dead letter needs requeueing."""
    project.runs(wide_plan("a"))
    project.submit("a", failing("a", "LLM_REFUSAL"))
    assert retry(project.ledger, "a", by="me").progress.state == "READY"
    assert project.questions() == []
    with pytest.raises(UnfitTaskState, match="is READY: a failed or blocked task"):
        retry(project.ledger, "a", by="me")
    with pytest.raises(UnfitTaskState, match="is READY: only a dead letter can be"):
        requeue(project.ledger, "a", by="me")


# -- plan reviews and fuses


def test_a_plan_is_returned_and_replaced(project: Project) -> None:
    """MODIFY: nothing may begin, nothing else may be reviewed, until a better one is imported and approved."""
    project.imports(small_plan())
    told = project.review_plan(plan_review(60)).content
    assert (told["state"], told["outcome"]) == ("RETURNED", "RETRY")
    assert project.review_plan(plan_review(60)).repeated
    assert "there is nothing to review" in project.review_plan().content["why"]
    assert project.submit("a").status == "refused"
    project.imports(changed(small_plan(), "plan.title", "Better"))
    assert project.review_plan().content["state"] == "ACTIVE"
    assert project.review_plan().repeated
    project.finish("a", "b")
    assert project.state("root") == "DONE"


def test_a_plan_that_is_returned_too_often(project: Project) -> None:
    """A fourth MODIFY asks a person, who may take it as it is."""
    for round_ in range(4):
        project.imports(changed(small_plan(), "plan.title", f"Try {round_}"))
        told = project.review_plan(plan_review(60)).content
    assert (told["state"], told["reason_code"]) == (
        "HELD",
        "MAX_REVIEW_ROUNDS_EXCEEDED",
    )
    assert project.take() is NoTaskReason.HELD
    with pytest.raises(UnfitPlanState, match="held by its review"):
        resume(project.ledger, PLAN, by="me")
    project.answer(approve=True)
    assert project.takes() == "a"


def test_a_plan_review_that_needs_something(project: Project) -> None:
    """A person answers, and the plan is reviewed again: also with the very same words."""
    project.imports(small_plan())
    for _ in range(2):
        told = project.review_plan(plan_review(80, "REQUEST_EXTERNAL_INPUT"))
        assert (told.content["state"], told.repeated) == ("HELD", False)
        assert project.questions()[0].kind is QuestionKind.PLAN
        project.answer(text="the budget is 5000")
    assert project.review_plan().content["state"] == "ACTIVE"


def test_a_plan_is_given_up(project: Project) -> None:
    """A person says so."""
    project.imports(small_plan())
    project.review_plan(plan_review(80, "REQUEST_EXTERNAL_INPUT"))
    project.answer(give_up=True)
    assert project.states() == {"root": "ABANDONED", "a": "ABANDONED", "b": "ABANDONED"}
    assert project.take() is NoTaskReason.CANCELLED


def test_plan_reviews_that_cannot_be_read(project: Project) -> None:
    """Three of them, and a person decides; the plan itself is not blamed."""
    project.imports(small_plan())
    states = [project.review_plan(GARBAGE).content["state"] for _ in range(3)]
    assert states == ["IN_REVIEW", "IN_REVIEW", "HELD"]
    assert project.kinds().count("LLM_UNPARSEABLE") == 3
    plan_record = project.plan()
    assert (plan_record.review_failures, plan_record.rounds) == (3, 0)
    project.answer(text="the reviewer is up again")
    assert project.review_plan().content["state"] == "ACTIVE"


def test_a_review_of_another_plan(project: Project) -> None:
    """Does not count for this one."""
    project.imports(small_plan())
    told = project.review_plan(
        plan_review(plan="9a4f6f64-7a0b-4a53-8a6e-2f0b6d1c0009")
    ).content
    assert (told["status"], told["violations"][0]["code"]) == ("rejected", "wrong_task")


def test_the_fuse_for_calls(project: Project) -> None:
    """The plan stops before the next task, and goes on when a person says so. Reviews of the plan do not count."""
    project.imports(wide_plan("a", "b"), Rules(fuses=Fuses(calls_per_run=2)))
    project.review_plan(GARBAGE)
    project.review_plan(GARBAGE)
    project.review_plan()
    project.submit("a")
    project.submit("b", failing("b"))
    assert project.take() is NoTaskReason.HELD
    assert (
        project.review("a").content["why"]
        == f"plan {PLAN} is HELD: nothing in it moves"
    )
    (question,) = project.questions()
    assert "calls_per_run: 2 of 2 messages are used up" in question.text
    assert project.submit("b").status == "refused"
    with pytest.raises(Conflict, match="already running"):
        project.imports(small_plan())
    project.answer(text="go on")
    project.finish("b")
    assert project.review("a").content["state"] == "DONE"


def test_the_fuse_for_time(project: Project) -> None:
    """From the first attempt on; resuming settles the question and begins a new run."""
    project.imports(wide_plan("a", "b"), Rules(fuses=Fuses(run_seconds=60)))
    project.clock.pass_by(600)
    project.review_plan()
    assert project.takes() == "a"
    project.clock.pass_by(59)
    assert project.takes() == "b"
    project.clock.pass_by(2)
    assert project.take() is NoTaskReason.HELD
    assert resume(project.ledger, PLAN, by="me").state == "ACTIVE"
    assert project.questions() == []
    assert project.take() is NoTaskReason.BUSY
    with pytest.raises(UnfitPlanState, match="there is nothing to resume"):
        resume(project.ledger, PLAN, by="me")


def test_what_waits_for_something_given_up(project: Project) -> None:
    """Is not called busy, nor waiting for a person who was never asked; work of other kinds is said to be there."""
    edges = [edge("root", task, and_or="OR") for task in ("a", "g")]
    edges += [edge("g", "b"), edge("a", "b", "DEPENDS_ON")]
    nodes = [node("root", "GOAL"), node("a"), node("g", "GOAL"), node("b")]
    project.runs(plan(nodes, edges))
    assert project.take(kinds=("CHECK",)) is NoTaskReason.OTHERS
    project.submit("a", failing("a", "LLM_REFUSAL"))
    project.answer(give_up=True)
    assert project.states() == {
        "root": "PENDING",
        "a": "DEAD_LETTER",
        "g": "PENDING",
        "b": "PENDING",
    }
    assert project.take() is NoTaskReason.STUCK
    cancel(project.ledger, "a", by="me", excuse=True)
    assert project.takes() == "b"
