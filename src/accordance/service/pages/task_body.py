"""A task on a page: its attempts, checks, reviews and change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from accordance.domain.patch_lines import files_in
from accordance.errors import BlobError, NoEvidence
from accordance.rendering.durations import duration_text
from accordance.rendering.pages import parts
from accordance.rendering.pages.markup import Content, Markup, isolated
from accordance.service.attempt_files import attempt_patch
from accordance.service.project import Project
from accordance.service.task_matrix import task_matrix
from accordance.service.task_records import show_task
from accordance.service.task_reviews import task_reviews
from accordance.service.views.stories import AttemptStoryView
from accordance.service.views.task_pages import FullReviewView
from accordance.service.views.tasks import TaskDetailView

MOST_LINES: Final = 2_000
"""Lines of a change on a page."""
_MOST_SHOWN: Final = 20
_MARKS: Final = {
    "passed": "✓",
    "failed": "✗",
    "not_run": "·",
    "unknown": "?",
}


def task_body(project: Project, task_id: str) -> list[Markup]:
    """Return what a page shows of a task."""
    task = show_task(project, task_id)
    return [
        _facts(task),
        *_attempts(task),
        *_checks(project, task_id),
        *_reviews(project, task_id),
        *_change(project, task),
    ]


def _facts(task: TaskDetailView) -> Markup:
    return parts.facts(
        [
            ("State", parts.state(task.state)),
            ("Waits for", ", ".join(task.waits_for)),
            ("Kind", task.node_type.lower()),
            ("Goal", task.goal_statement),
            ("Why", task.rationale),
            ("Owner", task.owner_agent_id),
            ("Attempts", str(task.attempt_count)),
            ("Last error", task.last_error),
            ("Id", task.task_id),
        ]
    )


def _attempts(task: TaskDetailView) -> Iterator[Markup]:
    if not task.attempts:
        return
    yield parts.heading("Attempts")
    left_out = len(task.attempts) - _MOST_SHOWN
    if left_out > 0:
        yield parts.paragraph(f"{left_out} earlier attempts are left out.")
    heads = ("Attempt", "By", "Began", "Took", "Outcome", "Why")
    yield parts.table(heads, map(_attempt_row, task.attempts[-_MOST_SHOWN:]))


def _attempt_row(story: AttemptStoryView) -> list[Content]:
    took = "" if story.seconds is None else duration_text(story.seconds)
    outcome = " ".join(filter(None, (story.outcome, story.reason_code)))
    return [
        str(story.attempt),
        isolated(story.executor or story.holder or ""),
        story.began_at[:19].replace("T", " "),
        took,
        outcome,
        isolated(story.reason),
    ]


def _checks(project: Project, task_id: str) -> Iterator[Markup]:
    matrix = task_matrix(project, task_id)
    if not matrix.attempts:
        return
    yield parts.heading("Checks")
    shown = matrix.attempts[-_MOST_SHOWN:]
    heads = ["Check", *(f"Attempt {column.attempt}" for column in shown)]
    rows: list[list[Content]] = []
    for row in matrix.checks:
        cells: list[Content] = [row.question]
        for cell in row.attempts[-_MOST_SHOWN:]:
            mark = _MARKS[cell.result]
            result = cell.result.replace("_", " ")
            content: list[Content] = [f"{mark} {result}"]
            if cell.messages:
                content.append(parts.bullets(map(isolated, cell.messages)))
            cells.append(content)
        rows.append(cells)
    yield parts.table(heads, rows)


def _reviews(project: Project, task_id: str) -> Iterator[Markup]:
    reviews = task_reviews(project, task_id).items
    if reviews:
        yield parts.heading("Reviews")
    for review in reviews[-_MOST_SHOWN:]:
        title = f"{review.action}, {review.score} of {review.max_score}"
        yield parts.heading(title, 3)
        yield parts.paragraph(isolated(review.summary))
        yield _scores(review)
        yield from _asked_for(review)


def _scores(review: FullReviewView) -> Markup:
    rows = [
        [
            isolated(dimension.dimension),
            f"{dimension.score} of {dimension.max_score}",
            parts.bullets(
                f"{issue.problem} Evidence: {issue.evidence}"
                f" Mended when: {issue.acceptance_criteria}"
                for issue in dimension.issues
            )
            if dimension.issues
            else None,
        ]
        for dimension in review.dimensions
    ]
    return parts.table(("Dimension", "Score", "Issues"), rows)


def _asked_for(review: FullReviewView) -> Iterator[Markup]:
    if review.suggestions:
        yield parts.bullets(
            f"{asked.priority}: {asked.change} Done when: {asked.acceptance_criteria}"
            for asked in review.suggestions
        )


def _change(project: Project, task: TaskDetailView) -> Iterator[Markup]:
    """Yield the change of the last attempt, if it made a change that can be shown."""
    if not any(story.evidence for story in task.attempts):
        return
    try:
        change = attempt_patch(project, task.task_id)
    except (NoEvidence, BlobError) as error:
        yield parts.heading("Change")
        yield parts.paragraph(str(error))
        return
    yield parts.heading("Change")
    outside = [path for path in change.paths if not path.is_allowed]
    if outside:
        yield parts.paragraph("Outside of what the task may touch:")
        yield parts.bullets(f"{path.path} ({path.why})" for path in outside)
    yield parts.patch(files_in(change.patch), MOST_LINES)
