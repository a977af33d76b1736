"""What `accordance task show` prints: the story of a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from accordance.cli.labelled import labelled, labelled_lines
from accordance.cli.prompts import run_line
from accordance.cli.showing import print_line
from accordance.cli.spent import spent_text
from accordance.cli.task_output import print_indented, requirement_lines
from accordance.domain.findings import with_code
from accordance.domain.vocabulary import STATES, WAITING
from accordance.rendering.durations import duration_text

if TYPE_CHECKING:
    from accordance.service.views.questions import QuestionView
    from accordance.service.views.stories import AttemptStoryView
    from accordance.service.views.tasks import ReviewView, TaskDetailView

_MOST_AWAITED: Final = 5
_SHORT_HASH: Final = 12
_NO_VALUE: Final[tuple[object, ...]] = (None, "", [])


def print_story(task: TaskDetailView, *, events: bool, hashes: bool) -> None:
    """Print the state of a task and what happened to it."""
    print_line(f"{task.title}  ({task.node_type} of {task.plan_title})")
    print_indented(_state_lines(task))
    print_indented(requirement_lines(task, task.constraints))
    for attempt in task.attempts:
        _print_attempt(attempt)
    for review in task.reviews:
        _print_review(review)
    for question in task.questions:
        _print_question(question)
    if task.artifacts:
        print_line("Products")
        print_indented(_product_lines(task, hashes=hashes))
    if events:
        print_line("Runs")
        print_indented(map(run_line, task.runs))
        print_line("Events")
        print_indented(_event_lines(task))


def _state_lines(task: TaskDetailView) -> Iterator[str]:
    """Where a task stands, what it waits for, and what it is for."""
    meaning = STATES[task.state]
    if task.waiting:
        meaning = WAITING[task.waiting]
    yield labelled(task.state, meaning)
    yield from _awaited_lines(task)

    held_by = None
    if task.lease:
        held_by = f"{task.lease.holder} until {_time(task.lease.until)}"
    rows = (
        ("held by", held_by),
        ("clone", task.workspace),
        ("task", task.task_id),
        ("goal", task.goal_statement),
    )
    yield from labelled_lines(rows)


def _awaited_lines(task: TaskDetailView) -> Iterator[str]:
    for awaited in task.waits_for[:_MOST_AWAITED]:
        yield labelled("waits for", awaited)
    further = len(task.waits_for) - _MOST_AWAITED
    if further > 0:
        yield labelled("", f"and {further} more")


def _time(at: str) -> str:
    return f"{at[:10]} {at[11:19]}"


# -- attempts


def _print_attempt(attempt: AttemptStoryView) -> None:
    print_line(_attempt_head(attempt))
    print_indented(_attempt_lines(attempt))


def _attempt_head(attempt: AttemptStoryView) -> str:
    """Who made an attempt, when, for how long, at what cost."""
    head = f"Attempt {attempt.attempt}"
    who = attempt.executor or attempt.holder
    if who:
        head += f" by {who}"
    if attempt.model:
        head += f" ({attempt.model})"

    facts = [_time(attempt.began_at)]
    if attempt.seconds is not None:
        facts.append(duration_text(attempt.seconds))
    spent = attempt.spent
    if spent is not None and spent.calls:
        facts.append(spent_text(spent))
    when_and_cost = ", ".join(facts)
    return f"{head}  {when_and_cost}"


def _attempt_lines(attempt: AttemptStoryView) -> Iterator[str]:
    yield _verdict(attempt)
    further_messages = attempt.messages[1:]
    for message in further_messages:
        yield labelled("", message)
    yield from _failing_test_lines(attempt)

    has_next_action = attempt.next_action != "none"
    logs = [("log", log) for log in attempt.logs]
    rows = (
        ("next", attempt.next_action if has_next_action else None),
        ("product", attempt.product),
        *logs,
        ("evidence", _evidence(attempt)),
    )
    yield from labelled_lines(rows)


def _failing_test_lines(attempt: AttemptStoryView) -> Iterator[str]:
    for test in attempt.failing_tests:
        yield labelled("failing", test.test)
        for line in test.lines:
            yield labelled("", f"| {line}")
    if attempt.more_failing_tests:
        yield labelled("", f"and {attempt.more_failing_tests} more failing tests")


def _evidence(attempt: AttemptStoryView) -> str | None:
    if attempt.evidence and not attempt.is_evidence_there:
        return f"{attempt.evidence}  (not there any more)"
    return attempt.evidence


def _verdict(attempt: AttemptStoryView) -> str:
    """What was decided about an attempt, and why."""
    if attempt.ended_at is None:
        return "nothing was handed in"
    outcome = attempt.outcome or "handed in"
    reason = attempt.reason_code or ""
    if attempt.reason:
        reason = with_code(reason, attempt.reason)
    return f"{outcome}, {reason}" if reason else outcome


# -- reviews, questions, products, events


def _print_review(review: ReviewView) -> None:
    head = "Review"
    if review.attempt is not None:
        head += f" of attempt {review.attempt}"
    if review.reviewer:
        head += f" by {review.reviewer}"
    print_line(f"{head}  {_time(review.at)}")
    print_line(f"  {review.action}, score {review.score}: {review.summary}")
    for change in review.asks:
        print_line(f"  asks for  {change}")


def _print_question(question: QuestionView) -> None:
    mark = question.question_id
    if question.number is not None:
        mark = f"#{question.number}"
    asked_at = _time(question.asked_at)
    print_line(f"Question {mark}  {asked_at}")
    print_line(f"  {question.text}")
    if question.is_open:
        print_line(f"  answer with  accordance inbox answer {question.name}")
        return
    answered_at = _time(question.answered_at or "")
    answer = question.answer or {}
    words = ", ".join(f"{name} {value}" for name, value in answer.items())
    print_line(f"  answered {answered_at}  {words}")


def _product_lines(task: TaskDetailView, *, hashes: bool) -> Iterator[str]:
    for product in task.artifacts:
        mark = "approved" if product.approved_at else "not approved"
        digest = f"  {product.sha256}" if hashes else ""
        yield f"{product.file}  {mark}{digest}"


def _event_lines(task: TaskDetailView) -> Iterator[str]:
    """The events as they are in the chain, with their details."""
    for event in task.events:
        parts = [_time(event.at), event.event]
        details = dict(event.model_extra or {})
        if "from" in details:
            before = details.pop("from")
            after = details.pop("to")
            parts.append(f"{before} -> {after}")
        for name, value in details.items():
            if value not in _NO_VALUE:
                parts.append(f"{name}={_short(value)}")
        yield "  ".join(parts)


def _short(value: object) -> str:
    """A value in a line; a hash by its beginning."""
    text = str(value)
    is_hash = len(text) == 64 and text.isalnum()  # noqa: PLR2004 - SHA-256 in hex
    return text[:_SHORT_HASH] if is_hash else text
