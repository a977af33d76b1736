"""A run as a single HTML file: it opens from disk, and needs nothing beside itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from accordance.domain.filters import Term, Word
from accordance.domain.naming import safe_name
from accordance.rendering.durations import duration_text
from accordance.rendering.pages import parts
from accordance.rendering.pages.markup import Content, Markup, isolated, tag
from accordance.rendering.pages.page import page
from accordance.rendering.picture import draw_svg
from accordance.service.downloads import Download
from accordance.service.drawings import draw_plan
from accordance.service.event_stories import EventNarrator
from accordance.service.events import EventReader
from accordance.service.pages.task_body import task_body
from accordance.service.plan_summaries import summary_of
from accordance.service.project import Project, plan_id_of
from accordance.service.views.events import EventView

MOST_TASKS: Final = 500
"""Tasks that are described in full; the others are in the list of all."""
MOST_LISTED: Final = 20_000
MOST_EVENTS: Final = 2_000


def plan_page(project: Project, name: str | None) -> Download:
    """Return a run as a page in a file. Raises NotFound or NoPlan."""
    plan_id = plan_id_of(project, name)
    title = _title(project, plan_id)
    body = [
        *_summary(project, plan_id),
        *_picture(project, plan_id),
        *_tasks(project, plan_id),
        *_events(project, plan_id),
    ]
    text = page(title, body)
    file_name = f"{safe_name(plan_id)}.html"
    return Download(file_name, text.encode("utf-8", "replace"), "text/html")


def _title(project: Project, plan_id: str) -> str:
    with project.ledger.read() as tx:
        return tx.plan(plan_id).title


def _summary(project: Project, plan_id: str) -> Iterator[Markup]:
    summary = summary_of(project, plan_id)
    counts = []
    for state, count in summary.states:
        words = state.replace("_", " ").lower()
        counts.append(f"{count} {words}")
    done = f"{summary.done} of {summary.tasks} done"
    took = None
    if summary.seconds is not None:
        took = duration_text(summary.seconds)
    yield parts.facts(
        [
            ("State", parts.state(summary.state)),
            ("Tasks", f"{done} ({', '.join(counts)})"),
            ("Took", took),
            ("Tokens", f"{summary.tokens:,}" if summary.tokens else None),
            ("Cost", f"{summary.cost:.4f}" if summary.cost else None),
            ("Branch", summary.branch),
            ("Id", plan_id),
        ]
    )
    if summary.waiting:
        yield parts.heading("Waits for a person")
        yield parts.bullets(
            f"{task.title}: {task.question}" for task in summary.waiting
        )
    if summary.given_up:
        yield parts.heading("Given up")
        yield parts.bullets(f"{task.title}: {task.why}" for task in summary.given_up)


def _picture(project: Project, plan_id: str) -> Iterator[Markup]:
    drawing = draw_plan(project, plan_id)
    labels = {node.task_id: node.title for node in drawing.plan.nodes}
    picture = draw_svg(drawing.graph, labels, drawing.states)
    yield parts.heading("The plan")
    yield tag("div", Markup(picture), class_="scrolls", tabindex="0")


def _tasks(project: Project, plan_id: str) -> Iterator[Markup]:
    with project.ledger.read() as tx:
        tasks = list(islice(tx.tasks(plan_id), MOST_LISTED))
    attempted = [
        task
        for task in tasks
        if task.is_work and task.progress.standing.counters.attempts
    ]
    described = attempted[:MOST_TASKS]
    places = {task.task_id: f"task-{place}" for place, task in enumerate(described)}
    yield parts.heading("Tasks")
    rows: list[list[Content]] = []
    for task in tasks:
        place = places.get(task.task_id)
        name = isolated(task.title)
        rows.append(
            [
                parts.link(f"#{place}", name) if place else name,
                parts.state(task.progress.state),
                str(task.progress.standing.counters.attempts),
            ]
        )
    yield parts.table(("Task", "State", "Attempts"), rows)
    for task in described:
        content = task_body(project, task.task_id)
        name = tag("h2", isolated(task.title), id=places[task.task_id])
        yield tag("section", name, content)


def _events(project: Project, plan_id: str) -> Iterator[Markup]:
    narrator = EventNarrator(project)
    reader = EventReader(project, str(Term(Word.PLAN, plan_id)))
    events = list(islice(reader.news(), MOST_EVENTS + 1))
    rows = [_event_row(narrator, event) for event in events[:MOST_EVENTS]]
    cut = (
        parts.paragraph(f"Only the first {MOST_EVENTS} events are told.")
        if len(events) > MOST_EVENTS
        else None
    )
    yield parts.heading("Events")
    yield parts.details(f"{len(rows)} events", parts.table(("When", "What"), rows), cut)


def _event_row(narrator: EventNarrator, event: EventView) -> list[Content]:
    moment = event.at[:19].replace("T", " ")
    return [moment, isolated(narrator.sentence(event))]
