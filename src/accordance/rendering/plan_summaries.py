"""The summary of a plan: lines for a terminal, and Markdown for a job's page.

Everything from plans and agents is escaped where it could mean something: in Markdown
here, on a terminal by the face that prints the lines.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final

from accordance.domain.plan_summary import GivenUpTask, PlanSummary, WaitingTask
from accordance.rendering.amounts import counted, spending_text
from accordance.rendering.documents import (
    Block,
    Bullets,
    Facts,
    Heading,
    Paragraph,
    Table,
    as_markdown,
)
from accordance.rendering.durations import duration_text
from accordance.rendering.fuse_text import blown_fuse_text

_MOST_ROWS: Final = 20
"""Rows of each list; the rest is counted."""


def headline(summary: PlanSummary) -> str:
    """Return how far a plan is, in a sentence."""
    progress = f"{summary.done} of {counted(summary.tasks, 'task')} done"
    return f"{summary.title}: {progress}"


def cost_facts(summary: PlanSummary) -> Iterator[tuple[str, str]]:
    """Yield how long a plan has taken and what it has cost, as far as it is known."""
    if summary.seconds is not None:
        yield "time", duration_text(summary.seconds)
    if summary.calls:
        spent = spending_text(
            tokens=summary.tokens,
            calls=summary.calls,
            cost=summary.cost,
            is_estimated=summary.is_estimated,
        )
        yield "used", spent


def answer_command(waiting: WaitingTask, program: str) -> str:
    """Return the command by which a person lets something go on."""
    if waiting.fuse is not None:
        return blown_fuse_text(waiting.fuse, program)
    return f"{program} inbox answer {waiting.question_name}"


def requeue_command(given_up: GivenUpTask, program: str) -> str:
    """Return the command by which a person takes a task back."""
    return f"{program} dlq requeue {shlex.quote(given_up.task_id)}"


# -- lines


def summary_lines(summary: PlanSummary, program: str = "accordance") -> Iterator[str]:
    """Yield the summary as lines of text."""
    costs = [text for _, text in cost_facts(summary)]
    yield ", ".join([headline(summary), *costs])
    if summary.waiting:
        yield ""
        yield "Waits for you"
        for waiting in summary.waiting[:_MOST_ROWS]:
            yield f"  {waiting.title}: {waiting.question}"
            yield f"    {answer_command(waiting, program)}"
        yield from _further(len(summary.waiting))
    if summary.given_up:
        yield ""
        yield "Given up"
        for given_up in summary.given_up[:_MOST_ROWS]:
            yield f"  {given_up.title}: {given_up.why}"
            yield f"    {requeue_command(given_up, program)}"
        yield from _further(len(summary.given_up))
    yield from _delivery_lines(summary)


def _delivery_lines(summary: PlanSummary) -> Iterator[str]:
    if summary.deliveries or summary.branch:
        yield ""
        yield "Deliverables"
    shown = summary.deliveries[:_MOST_ROWS]
    width = max((len(delivery.title) for delivery in shown), default=0)
    for delivery in shown:
        yield f"  {delivery.title:<{width}}  {delivery.path}"
    yield from _further(len(summary.deliveries))
    if summary.branch:
        place = f"the branch {summary.branch} of {summary.repository}"
        yield f"  the changes are commits on {place}"


def _further(count: int) -> Iterator[str]:
    if count > _MOST_ROWS:
        yield f"  and {count - _MOST_ROWS} more"


# -- Markdown


def summary_markdown(summary: PlanSummary) -> str:
    """Return the summary as Markdown."""
    return as_markdown(list(_blocks(summary)))


def _blocks(summary: PlanSummary) -> Iterator[Block]:
    yield Heading(2, headline(summary))
    states = ", ".join(f"{count} {state}" for state, count in summary.states)
    facts = [("plan", f"{summary.plan_id}, {summary.state}"), ("tasks", states)]
    facts += cost_facts(summary)
    if summary.rests:
        facts.append(("now", summary.rests))
    yield Facts(facts)
    yield from _waiting_blocks(summary)
    yield from _given_up_blocks(summary)
    yield from _done_blocks(summary)


def _waiting_blocks(summary: PlanSummary) -> Iterator[Block]:
    if not summary.waiting:
        return
    yield Heading(3, "Waits for a person")
    rows = [
        (waiting.title, waiting.question, answer_command(waiting, "accordance"))
        for waiting in summary.waiting[:_MOST_ROWS]
    ]
    yield Table(("task", "question", "command"), rows)
    yield from _more(len(summary.waiting))


def _given_up_blocks(summary: PlanSummary) -> Iterator[Block]:
    if not summary.given_up:
        return
    yield Heading(3, "Given up")
    rows = [
        (given_up.title, given_up.why, requeue_command(given_up, "accordance"))
        for given_up in summary.given_up[:_MOST_ROWS]
    ]
    yield Table(("task", "why", "command"), rows)
    yield from _more(len(summary.given_up))


def _done_blocks(summary: PlanSummary) -> Iterator[Block]:
    if summary.finished:
        yield Bullets("Done", summary.finished[:_MOST_ROWS])
        yield from _more(len(summary.finished))
    if summary.deliveries:
        yield Heading(3, "Deliverables")
        rows = [
            (delivery.title, delivery.path)
            for delivery in summary.deliveries[:_MOST_ROWS]
        ]
        yield Table(("task", "file"), rows)
        yield from _more(len(summary.deliveries))
    if summary.branch:
        place = f"the branch {summary.branch} of {summary.repository}"
        yield Paragraph(f"The changes are commits on {place}.")
    if summary.evidence:
        yield Bullets("Evidence", summary.evidence[:_MOST_ROWS])
        yield from _more(len(summary.evidence))


def _more(count: int) -> Iterator[Block]:
    if count > _MOST_ROWS:
        yield Paragraph(f"and {count - _MOST_ROWS} more")
