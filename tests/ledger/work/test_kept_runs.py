"""What is kept of runs: prompts that can be rebuilt, reports, what they cost and when that is too much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accordance.domain.context_pack import Trim
from accordance.domain.faults import Fault
from accordance.domain.fuses import Fuses
from accordance.domain.prompting import Part, Prompt
from accordance.domain.records import Rules
from accordance.domain.spending import Spending
from accordance.domain.usage import Budget
from accordance.errors import NotFound
from accordance.executors.prompt_building import BuiltPrompt
from accordance.executors.protocol import Observation, RunOutcome
from accordance.runtime.budgets import budget_left
from accordance.work.assignment import assignment
from accordance.work.faults import fail_in, hand_back_in
from accordance.work.plan_life import resume
from accordance.work.rebuilding import ModelCall, calls_in, messages_of
from accordance.work.run_log import (
    KeptAnswers,
    RunKey,
    keep_prompt,
    keep_report,
    rebuilt,
    run_of,
    runs_in,
    spent_by_task,
)
from accordance.work.taking import NoTaskReason, Taken
from accordance.work.tasks import requeue
from tests.ledger.audit.test_verifying import _below
from tests.ledger.project import Project
from tests.messages import PLAN, small_plan

PROMPT = Prompt(
    (Part("system", "shared.v1", "Rules."), Part("user", "task", "Write it, naïvely."))
)
TOLD = BuiltPrompt(PROMPT, (Trim("goals", 900, 0),))


def told(
    project: Project,
    task: str = "a",
    attempt: int = 1,
    kind: str = "action",
    told: BuiltPrompt = TOLD,
) -> None:
    """An executor is told something."""
    run = RunKey(plan_id=PLAN, task_id=task, kind=kind, attempt=attempt)
    with project.ledger.write() as tx:
        keep_prompt(tx, run, told, executor="model", model="big")


def ran(
    project: Project,
    task: str = "a",
    attempt: int = 1,
    kind: str = "action",
    **seen: Any,
) -> None:
    """And says something."""
    produced = RunOutcome(**({"raw": b"{}"} | seen))
    run = RunKey(plan_id=PLAN, task_id=task, kind=kind, attempt=attempt)
    with project.ledger.write() as tx:
        keep_report(tx, run, produced.to_json())


def spending(tokens: int, cost: float | None = None) -> Spending:
    return Spending(read=tokens, cost=cost, calls=1)


def test_a_prompt_is_rebuilt_word_for_word(project: Project) -> None:
    """For ever: by its parts, not by the files it was made from."""
    project.runs(small_plan())
    told(project)
    with project.ledger.read() as tx:
        run = run_of(tx, "a")
        assert rebuilt(tx, run.recipe or "") == PROMPT
    assert (run.kind, run.attempt, run.executor, run.model) == (
        "action",
        1,
        "model",
        "big",
    )
    assert run.trims == ("goals: left out",)
    assert run.report is None


def test_runs_are_told_apart(project: Project) -> None:
    """By attempt and by kind; one that was cut off is still there; one that got no prompt as well."""
    project.runs(small_plan())
    told(project, told=BuiltPrompt(Prompt((Part("user", "task", "First."),))))
    told(project)  # the first was cut off
    ran(
        project, spending=spending(5), seen=(Observation("model_call", {"said": "{}"}),)
    )
    told(project, kind="review")
    ran(project, kind="review")
    ran(project, attempt=2, raw=None, fault=Fault.TOO_LONG, text="too much to tell")
    with project.ledger.read() as tx:
        runs = runs_in(tx.entries_of("a"))
        assert [(run.kind, run.attempt, run.report is None) for run in runs] == [
            ("action", 1, True),
            ("action", 1, False),
            ("review", 1, False),
            ("action", 2, False),
        ]
        assert runs[1].report is not None
        assert b'"said": "{}"' in tx.blob(runs[1].report["report"])
        assert runs[2].report is not None
        assert "report" not in runs[2].report
        assert run_of(tx, "a").kind == "review"
        assert run_of(tx, "a", attempt=1, kind="action").recipe == runs[1].recipe
        with pytest.raises(NotFound, match="no prompt of task 'a 2'"):
            run_of(tx, "a", attempt=2)
        with pytest.raises(NotFound, match="no prompt of task 'b review'"):
            run_of(tx, "b", kind="review")
    assert [run.to_json()["ran"] is None for run in runs] == [True, False, False, False]


def test_the_calls_of_a_run_that_was_cut_off(project: Project) -> None:
    """Its answers were kept on the way; the run that goes on from there has them too, one with another prompt has not."""
    project.runs(small_plan())
    answers = KeptAnswers(
        project.ledger, RunKey(plan_id=PLAN, task_id="a", kind="action", attempt=1)
    )
    told(project)
    answers.keep("1", {"told": None, "text": "x" * 30_000})
    told(project)
    answers.keep("2", {"told": "Wrong.", "text": ""})
    told(project, told=BuiltPrompt(Prompt((Part("user", "task", "Other."),))))
    with project.ledger.read() as tx:
        _, second, third = runs_in(tx.entries_of("a"))
        calls = calls_in(tx, second)
        assert calls_in(tx, third) == []
    assert calls == [ModelCall(None, "x" * 20_000), ModelCall("Wrong.", "")]
    assert messages_of(PROMPT, calls, 1) == [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Write it, naïvely."},
    ]
    assert messages_of(PROMPT, calls, 2)[2:] == [
        {"role": "assistant", "content": "x" * 20_000},
        {"role": "user", "content": "Wrong."},
    ]


def test_a_conversation_that_began_anew() -> None:
    """A server that does not take the schema is asked from the beginning: what was said before is not told again."""
    calls = [
        ModelCall(None, "a"),
        ModelCall("Wrong.", "b"),
        ModelCall(None, "c"),
        ModelCall("Still wrong.", "d"),
    ]
    told = [
        [one["content"] for one in messages_of(PROMPT, calls, at)[2:]]
        for at in (1, 2, 3, 4)
    ]
    assert told == [[], ["a", "Wrong."], [], ["c", "Still wrong."]]


def _errors_told(project: Project) -> list[str]:
    """What whoever takes the task up next is told about the last attempts."""
    taken = project.take()
    assert isinstance(taken, Taken)
    with project.ledger.read() as tx:
        found: list[str] = assignment(tx, project.home, taken)["context"]["last_errors"]
    return found


def test_the_next_attempt_is_told_why_the_last_run_brought_nothing(
    project: Project,
) -> None:
    """In words, with what the last message that came was rejected for; a refused one says nothing."""
    project.runs(small_plan(), Rules(fuses=Fuses(attempts=9, same_error=9)))
    assert _errors_told(project) == []
    rejected = project.submit("a", b"{}", attempt=1).content["messages"]
    assert _errors_told(project) == rejected
    seen = RunOutcome(fault=Fault.TIMED_OUT, text="it took longer than 5 s").to_json()
    with project.ledger.write() as tx:
        fail_in(tx, "a", 2, seen)
    project.submit("a", b"late", attempt=1)
    assert _errors_told(project) == [
        *rejected,
        "No message came: The run took longer than allowed (it took longer than 5 s). Do less, and answer in time.",
    ]
    with project.ledger.write() as tx:
        fail_in(tx, "a", 3, RunOutcome(fault=Fault.SERVER_ERROR, text="500").to_json())
    assert _errors_told(project)[len(rejected) :] == [
        "No message came: The endpoint failed (500)."
    ]
    project.submit("a", attempt=4)
    project.review("a", 60)
    assert _errors_told(project) == []


def test_a_reviewers_fault_is_not_the_authors(project: Project) -> None:
    """Who made the product is told what its review says, and nothing else."""
    project.runs(small_plan())
    project.submit("a")
    assert isinstance(project.take(), Taken)
    with project.ledger.write() as tx:
        fail_in(tx, "a", 1, RunOutcome(fault=Fault.SILENT, text="nothing").to_json())
    project.review("a", 60)
    assert _errors_told(project) == []


def test_what_runs_cost_is_summed(project: Project) -> None:
    """For each task and for the plan; money where somebody knows it."""
    project.runs(small_plan())
    ran(project, "a", spending=spending(100, 0.5))
    ran(project, "a", attempt=2, spending=spending(10))
    ran(project, "b", spending=Spending(read=1, written=2, calls=1, estimated=True))
    ran(project, "b", attempt=2)  # a program, which costs nothing
    with project.ledger.read() as tx:
        spent = spent_by_task(tx, PLAN)
    assert spent["a"] == Spending(read=110, cost=0.5, calls=2)
    assert spent["b"].estimated
    assert (project.plan().tokens, project.plan().cost) == (113, 0.5)


@pytest.mark.parametrize(
    ("fuses", "reason"),
    [
        (Fuses(tokens_per_run=100), "tokens_per_run: 120 of 100 tokens are used up"),
        (Fuses(cost_per_run=0.25), "cost_per_run: 0.50 of 0.25 are used up"),
    ],
    ids=["tokens", "money"],
)
def test_a_run_that_has_cost_too_much_is_held(
    project: Project, fuses: Fuses, reason: str
) -> None:
    """A person lets it go on, and it is counted anew."""
    project.runs(small_plan(), Rules(fuses=fuses))
    project.submit("a")
    ran(project, spending=spending(120, 0.5))
    assert project.take() is NoTaskReason.HELD
    assert project.questions()[0].text == f"A fuse has blown: {reason}"
    resume(project.ledger, PLAN, by="test")
    assert project.takes() == "a"
    assert (project.plan().tokens, project.plan().cost) == (0, 0.0)


@pytest.mark.parametrize(
    ("fuses", "spent", "left"),
    [
        (Fuses(), spending(10**9, 10**9), Budget()),
        (Fuses(tokens_per_task=100), spending(40), Budget(tokens=60)),
        (Fuses(cost_per_task=2.0), spending(40, 0.5), Budget(cost=1.5)),
        (Fuses(cost_per_task=2.0), Spending(), Budget(cost=2.0)),
        (
            Fuses(cost_per_task=2.0),
            spending(40),
            "cost_per_task: the price of 1 of its calls is unknown; set `prices` in accordance.toml",
        ),
        (
            Fuses(cost_per_task=2.0, unpriced="run"),
            spending(40),
            Budget(cost=2.0),
        ),
        (Fuses(tokens_per_run=100), spending(40, 0.5), Budget(tokens=60)),
        (
            Fuses(tokens_per_run=100, tokens_per_task=90),
            spending(40),
            Budget(tokens=50),
        ),
        (
            Fuses(cost_per_run=1.0, cost_per_task=9.0),
            spending(40, 0.75),
            Budget(cost=0.25),
        ),
        (
            Fuses(tokens_per_task=100),
            spending(100),
            "tokens_per_task: 100 of 100 tokens are used up",
        ),
        (
            Fuses(cost_per_task=2.0),
            spending(40, 2.5),
            "cost_per_task: 2.50 of 2.00 are used up",
        ),
    ],
)
def test_what_a_task_may_still_cost(
    project: Project, fuses: Fuses, spent: Spending, left: Budget | str
) -> None:
    """What its runs have cost is taken off, and what all of its plan have; the less counts."""
    project.runs(small_plan(), Rules(fuses=fuses))
    ran(project, spending=spent)
    with project.ledger.read() as tx:
        assert budget_left(tx, "a", fuses) == left


def test_a_person_gives_a_task_a_new_budget(project: Project) -> None:
    """With another chance come other tokens."""
    project.runs(small_plan())
    assert project.takes() == "a"
    with project.ledger.write() as tx:
        report = RunOutcome(
            fault=Fault.OVER_BUDGET, text="used up", spending=spending(120)
        ).to_json()
        keep_report(
            tx, RunKey(plan_id=PLAN, task_id="a", kind="action", attempt=1), report
        )
        assert fail_in(tx, "a", 1, report).content["reason_code"] == "BUDGET_EXCEEDED"
    assert project.state("a") == "DEAD_LETTER"
    fuses = Fuses(tokens_per_task=100)
    with project.ledger.read() as tx:
        assert isinstance(budget_left(tx, "a", fuses), str)
    requeue(project.ledger, "a", by="test")
    with project.ledger.read() as tx:
        assert budget_left(tx, "a", fuses) == Budget(tokens=100)


def report(fault: Fault = Fault.CRASHED, text: str = "it broke") -> dict[str, Any]:
    return RunOutcome(fault=fault, text=text).to_json()


def test_a_reviewer_that_breaks_down_costs_the_product_nothing(
    project: Project,
) -> None:
    """It is taken up again, also after the same words; in the end a person is asked."""
    project.runs(small_plan())
    project.submit("a")
    for outcome in ("RETRY", "RETRY", "ESCALATE"):
        assert project.takes() == "a"
        with project.ledger.write() as tx:
            answer = fail_in(tx, "a", 1, report())
        assert answer.content["outcome"] == outcome
        assert project.task("a").lease is None
    assert project.state("a") == "BLOCKED"
    assert (
        "3 reviews failed; the last: EXECUTOR_ERROR: it broke"
        in project.questions()[0].text
    )


def test_the_fault_of_an_earlier_reviewer_changes_nothing(project: Project) -> None:
    """The product has been given to another, whose lease ends at another time."""
    project.runs(small_plan())
    project.submit("a")
    assert project.takes() == "a"
    lease = project.task("a").lease
    assert lease is not None

    with project.ledger.write() as tx:
        of_another = fail_in(tx, "a", 1, report(), lease="2026-01-01T00:00:00Z")
        hand_back_in(tx, "a", 1, lease="2026-01-01T00:00:00Z")
    assert of_another.status == "refused"
    assert project.task("a").lease == lease

    with project.ledger.write() as tx:
        of_this = fail_in(tx, "a", 1, report(), lease=lease.until)
    assert of_this.content["outcome"] == "RETRY"
    assert project.task("a").lease is None


def test_a_fault_that_comes_too_late_changes_nothing(project: Project) -> None:
    """The attempt is over, or nobody has the review in hand."""
    project.runs(small_plan())
    project.submit("a")
    with project.ledger.write() as tx:
        assert fail_in(tx, "a", 1, report()).status == "refused"
        assert fail_in(tx, "b", 7, report()).status == "refused"
    assert project.states() == {
        "root": "PENDING",
        "a": "READY_TO_CHECK",
        "b": "PENDING",
    }


def test_what_was_stopped_is_handed_back(project: Project) -> None:
    """Work and reviews; nothing counts as a failure."""
    project.runs(small_plan())
    assert project.takes() == "a"
    with project.ledger.write() as tx:
        hand_back_in(tx, "a", 1)
    assert (
        project.state("a"),
        project.task("a").progress.standing.counters.failures,
    ) == ("READY", 0)
    project.submit("a")
    assert project.takes() == "a"
    with project.ledger.write() as tx:
        hand_back_in(tx, "a", 2)
        hand_back_in(tx, "b", 1)
    assert (project.state("a"), project.task("a").lease) == ("READY_TO_CHECK", None)


@pytest.mark.parametrize(
    ("statement", "where", "said"),
    [
        (f"DELETE FROM blobs WHERE sha256 = '{PROMPT.parts[1].sha256}'", "completeness", "the part task of a prompt"),
        ("DELETE FROM blobs WHERE instr(content, CAST('\"parts\"' AS BLOB))", "completeness", "the recipe of a prompt"),
        ("DELETE FROM blobs WHERE instr(content, CAST('model_call' AS BLOB))", "completeness", "the report of a run"),
        (f"UPDATE task_events SET payload = json_set(payload, '$.recipe', '{PROMPT.parts[0].sha256}') WHERE kind = 'PROMPTED'", "integrity", "the recipe of a prompt cannot be read"),
    ],
    ids=["a part", "a recipe", "a report", "another recipe"],
)  # fmt: skip
def test_what_is_no_longer_kept_shows(
    on_sqlite: Project, tmp_path: Path, statement: str, where: str, said: str
) -> None:
    """`accordance verify` looks at every part of every prompt, and at every report."""
    on_sqlite.runs(small_plan())
    told(on_sqlite)
    told(on_sqlite, "b")
    ran(on_sqlite, seen=(Observation("model_call", {}),))
    assert on_sqlite.verify().holds
    assert _below(tmp_path, statement)
    assert any(said in one for one in getattr(on_sqlite.verify(), where))
