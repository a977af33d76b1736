"""What the page of a task shows beside its story: checks, messages, reviews, tests."""

from __future__ import annotations

from typing import Any

from accordance.service.views.base import View

# -- checks of attempts


class CheckedView(View):
    """What became of a check in an attempt."""

    attempt: int
    result: str  # passed, failed, not_run or unknown
    reason_code: str | None
    messages: tuple[str, ...]


class CheckRowView(View):
    """A check, attempt by attempt."""

    check: str
    question: str  # that it answers
    attempts: tuple[CheckedView, ...]


class CheckedAttemptView(View):
    """An attempt, as the head of a column."""

    attempt: int
    outcome: str | None
    reason_code: str | None
    reason: str


class MatrixView(View):
    """The checks of a task, attempt by attempt."""

    task_id: str
    attempts: tuple[CheckedAttemptView, ...]
    checks: tuple[CheckRowView, ...]


# -- messages


class MessageView(View):
    """A message as it came, and what its contract made of it."""

    message_id: str
    kind: str
    attempt: int
    at: str
    status: str  # accepted, rejected or refused
    why_refused: str | None
    outcome: str | None
    reason_code: str | None
    bytes: int
    raw: str  # its beginning
    is_cut: bool  # there is more of it: download it
    contract: str | None  # null: it was not read again
    value: dict[str, Any] | None  # normalised; null: it could not be read, or is large
    repairs: tuple[dict[str, Any], ...]
    violations: tuple[dict[str, Any], ...]
    total_violations: int
    warnings: tuple[dict[str, Any], ...]


class MessageListView(View):
    """The newest messages about a task, the newest last."""

    task_id: str
    items: tuple[MessageView, ...]
    left_out: int  # earlier messages


# -- reviews


class IssueView(View):
    """A fault that a review names."""

    problem: str
    evidence: str
    impact: str
    suggestion: str
    acceptance_criteria: str


class DimensionView(View):
    """The score in a dimension of the rubric."""

    dimension: str
    score: int
    max_score: int
    issues: tuple[IssueView, ...]


class SuggestionView(View):
    """A change that a review asks for."""

    priority: str
    change: str
    steps: tuple[str, ...]
    acceptance_criteria: str


class FullReviewView(View):
    """A review with all its scores, issues and suggestions."""

    message_id: str
    attempt: int | None  # whose product it saw
    reviewer: str | None  # the executor; null: a person
    check_task_id: str | None
    at: str
    score: int
    max_score: int
    action: str
    summary: str
    product: str  # that it saw, by its hash
    dimensions: tuple[DimensionView, ...]
    suggestions: tuple[SuggestionView, ...]


class FullReviewListView(View):
    """The reviews of a task's product, or of a plan, the newest last."""

    subject: str
    items: tuple[FullReviewView, ...]


# -- tests


class ComparedTestView(View):
    """A test before and after a change."""

    test: str
    before: str | None  # null: it was not there, or the base was not run
    after: str | None  # null: it is gone
    change: str  # fail_to_pass, pass_to_fail, added_passing ...; empty: none of them
    why: str  # the end of what a failure printed


class TestsView(View):
    """The tests of an attempt by name, those that changed first."""

    task_id: str
    attempt: int
    is_compared: bool  # with the tests of the base
    counts: dict[str, int]  # tests by what the change did to them
    total: int
    offset: int
    items: tuple[ComparedTestView, ...]


# -- changes


class ChangedFileView(View):
    """A file of a change."""

    path: str
    old_path: str | None  # of a rename
    added: int
    removed: int
    lines: int  # of its part of the patch
    is_binary: bool
    is_allowed: bool
    why: str  # the rule of the scope that decides
    never_run: tuple[int, ...] | None  # new lines no test ran; null: not traced


class ChangeView(View):
    """The files of a change."""

    task_id: str
    attempt: int
    base: str | None  # the commit it is compared with
    since_start: bool  # with the changes that it builds on
    files: tuple[ChangedFileView, ...]
    is_cut: bool  # the patch is longer: download it


class PatchLinesView(View):
    """Some lines of a file's part of a patch, column by column."""

    path: str
    total: int
    offset: int
    kinds: str  # a character for each line: @ a hunk, + - or a space, \\ a note
    old: tuple[int, ...]  # line numbers; 0: none
    new: tuple[int, ...]
    text: tuple[str, ...]
    never_run: tuple[bool, ...]
    next: int | None  # the offset behind them, if there are more
