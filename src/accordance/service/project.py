"""An open project: its folder, its ledger, and its plans and tasks by name."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.filters import Subject
from accordance.domain.named_things import Named, meant_by
from accordance.domain.records import PlanRecord, QuestionRecord, TaskRecord
from accordance.errors import AllArchived, AmbiguousName, NoPlan, NotFound
from accordance.project.home import Home, find_home
from accordance.store.ledger import Ledger, Transaction
from accordance.store.opening import open_ledger

__all__ = [
    "Ledger",
    "Project",
    "asking_as",
    "exact_task",
    "find_exact_task",
    "find_home",
    "find_plan",
    "find_plan_id",
    "find_question",
    "find_task",
    "ledger_place",
    "open_project",
    "plan_id_of",
    "task_id_of",
]

_MOST_CANDIDATES: Final = 500  # things among which a name is looked for
_ALIKE: Final = 2  # letters that a name and a name near to it have in common
_MOST_DIGITS: Final = 9  # of a number


@dataclass(frozen=True, slots=True)
class Project:
    """A project folder and its ledger, open."""

    home: Home
    ledger: Ledger
    place: str | Path = ""
    """Where the ledger lies: a file, or the address of a database."""


@contextmanager
def open_project(
    folder: Path | None = None,
    ledger: str | None = None,
    *,
    create: bool = False,
) -> Iterator[Project]:
    """Open the project around a folder, and close it after the block.

    Its ledger is its own, unless another is named.
    """
    home = find_home(folder)
    place = ledger_place(home, ledger)
    opened = open_ledger(place, create=create, blobs=home.blobs())
    try:
        yield Project(home, opened, place)
    finally:
        opened.close()


def ledger_place(home: Home, ledger: str | None = None) -> str | Path:
    """Return where the ledger of a project lies.

    The caller decides, else the settings; else it lies in the project folder.
    """
    named = ledger or home.settings().ledger
    if named is None:
        return home.ledger
    is_address = "://" in named
    return named if is_address else home.root / named


def asking_as(name: str | None) -> str:
    """Who asks: the name that was given, else the name of the user."""
    if name:
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


def find_plan(tx: Transaction, name: str | None) -> PlanRecord:
    """Return a plan by its id, its title, or the beginning of them.

    Without a name it is the newest plan. Raises NotFound, AmbiguousName or NoPlan.
    """
    if name is None:
        return _newest_plan(tx)
    try:
        return tx.plan(name)
    except NotFound:
        return tx.plan(_meant(tx, Subject.PLANS, name))


def _meant(tx: Transaction, subject: Subject, name: str) -> str:
    """The id of what a name means. Raises NotFound or AmbiguousName."""
    kind = str(subject).removesuffix("s")
    meant = meant_by(name, tx.named_like(subject, name, _MOST_CANDIDATES))
    if len(meant) > 1:
        raise AmbiguousName(kind, name, meant)
    if meant:
        return meant[0].id
    similar = tx.named_like(subject, name[:_ALIKE], _MOST_CANDIDATES)
    known = [*(thing.id for thing in similar), *(thing.title for thing in similar)]
    raise NotFound(kind, name, known)


def _newest_plan(tx: Transaction) -> PlanRecord:
    """The newest plan that is not archived. Raises NoPlan or AllArchived."""
    plans = tx.plans()
    for plan in plans:
        if plan.archived_at is None:
            return plan
    raise AllArchived if plans else NoPlan


def plan_id_of(project: Project, name: str | None) -> str:
    """The id of the plan that is meant. Raises as `find_plan` does."""
    with project.ledger.read() as tx:
        return find_plan(tx, name).plan_id


def find_plan_id(tx: Transaction, name: str) -> str:
    """The id of the plan that is meant; also of a plan whose row cannot be read."""
    known = tx.plan_ids()
    if name in known:
        return name
    return _meant(tx, Subject.PLANS, name)


def find_task(tx: Transaction, name: str) -> TaskRecord:
    """Return a task by its id, its title, or the beginning of them.

    Raises NotFound or AmbiguousName.
    """
    try:
        return tx.task(name)
    except NotFound:
        return tx.task(_meant(tx, Subject.TASKS, name))


def task_id_of(project: Project, name: str) -> str:
    """The id of the task that is meant. Raises as `find_task` does."""
    with project.ledger.read() as tx:
        return find_task(tx, name).task_id


def exact_task(project: Project, task_id: str) -> TaskRecord:
    """Return a task by its whole id. Raises NotFound, which names no other task."""
    with project.ledger.read() as tx:
        return find_exact_task(tx, task_id)


def find_exact_task(tx: Transaction, task_id: str) -> TaskRecord:
    """Return a task by its whole id. Raises NotFound, which names no other task."""
    try:
        return tx.task(task_id)
    except NotFound:
        raise NotFound("task", task_id) from None


def find_question(tx: Transaction, name: str) -> QuestionRecord:
    """Return a question by its number, its id, or the title of the task that asks.

    Also by the beginning of them. Raises NotFound or AmbiguousName.
    """
    number = name.removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS:
        questions = tx.find(QuestionRecord, number=int(number))
    else:
        questions = tx.find(QuestionRecord, question_id=name)
    if questions:
        return questions[0]
    return _question_meant(tx, name)


def _question_meant(tx: Transaction, name: str) -> QuestionRecord:
    things = tx.named_like(Subject.QUESTIONS, name, _MOST_CANDIDATES)
    by_id = [thing for thing in things if thing.id.startswith(name)]
    meant = meant_by(name, by_id)
    if not meant:
        meant = _questions_of_task(tx, name)
    if len(meant) > 1:
        raise AmbiguousName("question", name, meant)
    if not meant:
        known = [
            thing.id
            for thing in tx.named_like(Subject.QUESTIONS, "q-", _MOST_CANDIDATES)
        ]
        raise NotFound("question", name, known)
    return tx.find(QuestionRecord, question_id=meant[0].id)[0]


def _questions_of_task(tx: Transaction, name: str) -> tuple[Named, ...]:
    """The open questions of the task that a name means, if it means any."""
    try:
        task = find_task(tx, name)
    except NotFound:
        return ()
    questions = tx.open_questions(task_id=task.task_id)
    return tuple(Named(asked.question_id, asked.text) for asked in questions)
