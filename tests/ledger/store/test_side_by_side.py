"""Random plans, random messages, legal and illegal, on two ledgers at once: the same answers, and everything verifies."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordance.domain.lifecycle import State
from accordance.domain.records import ArtifactRecord, ReviewRecord, VerdictRecord
from accordance.errors import AccordanceError
from accordance.project.home import Home
from accordance.store.ledger import Ledger
from accordance.store.memory import MemoryLedger
from accordance.store.opening import open_ledger
from accordance.work.inbox import answer
from accordance.work.person_answers import PersonAnswer
from accordance.work.receipts import Receipt
from accordance.work.taking import Taken
from accordance.work.tasks import cancel, release, requeue, retry
from tests.ledger.project import Clock, Project, asking, failing, idle, product
from tests.messages import PLAN, Message, requirement
from tests.plans import random_plan
from tests.reviews import plan_review

ACTIONS: Final[tuple[Callable[[str], object], ...]] = (
    product,
    product,
    product,
    failing,
    idle,
    lambda task: failing(task, "LLM_REFUSAL"),
    lambda task: asking(task, "sheet", "xlsx"),
    lambda task: product(f"not {task}"),
    lambda _: b"no JSON",
)
Doing = Callable[[Project], object]


def anything(dice: random.Random, tasks: list[str]) -> Doing:
    """Something somebody does: the same on every project."""
    task, number = dice.choice(tasks), dice.randrange(10_000)
    match dice.randrange(20):
        case 0 | 1 | 2:
            message = dice.choice(ACTIONS)(task)
            attempt = dice.choice((None, None, 1, 2))
            return lambda project: project.submit(task, message, attempt=attempt)
        case 3 | 4 | 5:
            score = dice.choice((95, 95, 60))
            return lambda project: project.review(task, score)
        case 6:
            return lambda project: project.review_raw(task, b"no review")
        case 7 | 8 | 14 | 15 | 16 | 17:
            message = dice.choice(ACTIONS)
            return lambda project: work_on(project, message)
        case 9:
            return lambda project: put(project, number)
        case 10 | 18 | 19:
            said = dice.choice(
                (
                    {"text": "go on"},
                    {"text": "go on"},
                    {"approve": True},
                    {"yes": True},
                    {"give_up": True},
                )
            )
            return lambda project: answer_something(project, number, said)
        case 11 if task != "root" and number % 3 == 0:
            return lambda project: cancel(
                project.ledger, task, by="test", excuse=bool(number % 2), cascade=True
            )
        case 12:
            act = dice.choice((retry, requeue, release))
            return lambda project: act(project.ledger, task, by="test").progress
        case _:
            return lambda project: project.clock.pass_by(number // 5)


def work_on(project: Project, message: Callable[[str], object]) -> object:
    """Take up what is next, and hand something in."""
    taken = project.take()
    if not isinstance(taken, Taken):
        return taken
    if taken.kind == "review":
        return project.review(taken.task.task_id)
    return project.submit(taken.task.task_id, message(taken.task.task_id))


def put(project: Project, number: int) -> None:
    file = project.home.inputs / "sheet" / f"{number % 3}.xlsx"
    if number % 4:
        project.put(f"sheet/{number % 3}.xlsx", f"{number % 2}")
    else:
        file.unlink(missing_ok=True)


def answer_something(project: Project, number: int, said: dict[str, Any]) -> object:
    open_ones = project.questions()
    if not open_ones:
        return None
    question = open_ones[number % len(open_ones)]
    if "options" in question.details:
        said = {"choose": question.details["options"][0]}  # type: ignore[index]
    return answer(
        project.ledger,
        project.home,
        question.question_id,
        PersonAnswer(by="test", **said),
    ).answer


def tried(doing: Doing, project: Project) -> object:
    """What came of it, or how it was refused; never anything but an error of ours."""
    try:
        found = doing(project)
    except AccordanceError as error:
        return type(error).__name__
    return found.to_json() if isinstance(found, Receipt) else found


def a_plan(dice: random.Random) -> Message:
    message = random_plan(dice)
    work = [one["task_id"] for one in message["nodes"] if one["node_type"] != "GOAL"]
    if work and dice.random() < 0.4:
        kind = dice.choice(("FILE", "CONFIRMATION", "SKILL_OUTPUT"))
        message["requirements"] = [
            requirement(dice.choice(work), kind=kind, allowed_types=[])
        ]
    return message


def done_is_deserved(project: Project) -> None:
    """No DONE without an approved artifact, or a verdict that lets it pass."""
    with project.ledger.read() as tx:
        for task in tx.tasks(PLAN, State.DONE):
            if not task.is_work:
                continue
            if task.checks is not None:
                reviews = tx.find(ReviewRecord, check_task_id=task.task_id)
                assert reviews[-1].action_required == "APPROVE"
                continue
            approved = [
                one
                for one in tx.find(ArtifactRecord, task_id=task.task_id)
                if one.approved_at
            ]
            assert [one.sha256 for one in approved] == [task.product]
            verdicts = tx.find(VerdictRecord, subject=task.task_id)
            vouched = "VOUCHED" in {one.kind for one in tx.entries_of(task.task_id)}
            assert vouched or verdicts[-1].outcome == "DONE"


def on(folder: Path, kind: str) -> Project:
    clock, home = Clock(), folder / kind
    home.mkdir()
    ledger: Ledger = (
        MemoryLedger(clock)
        if kind == "memory"
        else open_ledger(home / "ledger.db", clock=clock)
    )
    return Project(ledger, Home(home), clock)


@pytest.mark.unmeasured
@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_the_same_answers(seed: int) -> None:
    """Whatever happens, both say the same, stand in the same place, and verify."""
    dice = random.Random(seed)
    message = a_plan(dice)
    tasks = [one["task_id"] for one in message["nodes"]]
    with tempfile.TemporaryDirectory() as folder:
        projects = [on(Path(folder), kind) for kind in ("memory", "sqlite")]
        for project in projects:
            project.imports(message)
            project.review_plan(plan_review())
        for _ in range(40):
            doing = anything(dice, tasks)
            one, other = (tried(doing, project) for project in projects)
            assert one == other
        memory, sqlite = projects
        assert memory.states() == sqlite.states()
        assert memory.kinds() == sqlite.kinds()
        assert memory.plan() == sqlite.plan()
        assert [memory.task(task) for task in tasks] == [
            sqlite.task(task) for task in tasks
        ]
        for project in projects:
            project.holds()
            done_is_deserved(project)
            project.ledger.close()
