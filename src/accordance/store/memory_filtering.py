"""Filters on values in memory, with the same answers as the SQL of `filtering`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from accordance.domain.chain import ChainEntry
from accordance.domain.filters import ANSWERED, OPEN, Filter, Subject, Word
from accordance.domain.lifecycle import State
from accordance.domain.named_things import Named
from accordance.domain.plan_lifecycle import visible_state
from accordance.domain.records import PlanRecord, QuestionRecord, TaskRecord
from accordance.store.columns import storable
from accordance.store.filtering import json_text, small_letters

Tasks: TypeAlias = Mapping[str, TaskRecord]
Holds: TypeAlias = Callable[[Any, str, Tasks], bool]
"""Whether a value of a word holds for a record."""


def fits(record: Any, wanted: Filter, tasks: Tasks) -> bool:
    """Say whether a record fits a filter; `tasks` are those of the ledger, by id."""
    if wanted.subject is Subject.DEAD_LETTERS and not _is_dead(record):
        return False
    words = _MEANINGS[wanted.subject]
    return all(
        _fits_word(record, wanted, word, holds, tasks) for word, holds in words.items()
    )


def _fits_word(
    record: Any, wanted: Filter, word: Word, holds: Holds, tasks: Tasks
) -> bool:
    values = wanted.wanted(word)
    fitting = [holds(record, value, tasks) for value in values]
    is_enough = all(fitting) if word is Word.TEXT else any(fitting) or not fitting
    if not is_enough:
        return False
    unwanted = wanted.unwanted(word)
    return not any(holds(record, value, tasks) for value in unwanted)


def first_of_causes(questions: Sequence[QuestionRecord]) -> frozenset[str]:
    """The open questions that are the first of their cause in a plan, or have none."""
    firsts: dict[tuple[str, str], str] = {}
    without_cause = []
    for question in questions:
        if question.cause is None:
            without_cause.append(question.question_id)
        else:
            key = (question.plan_id, question.cause)
            firsts.setdefault(key, question.question_id)
    return frozenset((*without_cause, *firsts.values()))


def named_like(things: Iterable[Named], beginning: str) -> list[Named]:
    """Those whose id or title begins like that, the shortest title first."""
    small = small_letters(beginning)
    fitting = []
    for thing in things:
        if thing.id.startswith(beginning):
            fitting.append(thing)
        elif small_letters(thing.title).startswith(small):
            fitting.append(thing)
    return sorted(fitting, key=lambda thing: (len(thing.title), thing.id))


def _is_dead(task: TaskRecord) -> bool:
    return task.progress.state is State.DEAD_LETTER


def _field(name: str) -> Holds:
    def holds(record: Any, value: str, _: Tasks) -> bool:
        return bool(getattr(record, name) == value)

    return holds


def _since(name: str) -> Holds:
    def holds(record: Any, value: str, _: Tasks) -> bool:
        return bool(getattr(record, name) >= value)

    return holds


def _before(name: str) -> Holds:
    def holds(record: Any, value: str, _: Tasks) -> bool:
        return bool(getattr(record, name) < value)

    return holds


def _contains(*names: str) -> Holds:
    def holds(record: Any, value: str, _: Tasks) -> bool:
        texts = [getattr(record, name) for name in names]
        return _is_in(value, texts)

    return holds


def _is_in(part: str, texts: Sequence[str | None]) -> bool:
    wanted = small_letters(storable(part) or "")
    return any(wanted in small_letters(storable(text) or "") for text in texts)


def _has_state(task: TaskRecord, value: str, _: Tasks) -> bool:
    return task.progress.state.value == value


def _is_of_agent(task: TaskRecord, value: str, _: Tasks) -> bool:
    holder = task.lease.holder if task.lease else None
    return value in (task.owner_agent_id, holder)


def _has_tag(task: TaskRecord, value: str, _: Tasks) -> bool:
    return value in task.tags


def _about_task(of_task: Holds) -> Holds:
    """The record is about a task for which something holds."""

    def holds(record: Any, value: str, tasks: Tasks) -> bool:
        task = tasks.get(record.task_id or "")
        return task is not None and of_task(task, value, tasks)

    return holds


def _event_contains(entry: ChainEntry, value: str, _: Tasks) -> bool:
    return _is_in(json_text(value), [entry.kind, json.dumps(entry.payload)])


def _is_answered(question: QuestionRecord, value: str, _: Tasks) -> bool:
    state = OPEN if question.answered_at is None else ANSWERED
    return value == state


def _plan_has_state(plan: PlanRecord, value: str, tasks: Tasks) -> bool:
    root = tasks[plan.root_task_id].progress.state
    is_archived = plan.archived_at is not None
    state = visible_state(plan.state, root, is_archived=is_archived)
    return state.value == value


_TASK_WORDS: Final[Mapping[Word, Holds]] = {
    Word.STATE: _has_state,
    Word.KIND: _field("node_type"),
    Word.PLAN: _field("plan_id"),
    Word.TASK: _field("task_id"),
    Word.AGENT: _is_of_agent,
    Word.TAG: _has_tag,
    Word.SINCE: _since("updated_at"),
    Word.BEFORE: _before("updated_at"),
    Word.TEXT: _contains("title", "task_id", "last_error"),
}
_MEANINGS: Final[Mapping[Subject, Mapping[Word, Holds]]] = {
    Subject.PLANS: {
        Word.STATE: _plan_has_state,
        Word.PLAN: _field("plan_id"),
        Word.AGENT: _field("owner_agent_id"),
        Word.SINCE: _since("imported_at"),
        Word.BEFORE: _before("imported_at"),
        Word.TEXT: _contains("title", "plan_id"),
    },
    Subject.TASKS: _TASK_WORDS,
    Subject.DEAD_LETTERS: _TASK_WORDS,
    Subject.EVENTS: {
        Word.KIND: _field("kind"),
        Word.PLAN: _field("plan_id"),
        Word.TASK: _field("task_id"),
        Word.AGENT: _about_task(_is_of_agent),
        Word.TAG: _about_task(_has_tag),
        Word.SINCE: _since("at"),
        Word.BEFORE: _before("at"),
        Word.TEXT: _event_contains,
    },
    Subject.QUESTIONS: {
        Word.STATE: _is_answered,
        Word.KIND: _field("kind"),
        Word.PLAN: _field("plan_id"),
        Word.TASK: _field("task_id"),
        Word.AGENT: _about_task(_is_of_agent),
        Word.TAG: _about_task(_has_tag),
        Word.SINCE: _since("asked_at"),
        Word.BEFORE: _before("asked_at"),
        Word.TEXT: _contains("text", "question_id"),
    },
}
