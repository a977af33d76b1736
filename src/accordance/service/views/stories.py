"""What happened to a task, attempt by attempt, and the files that show it."""

from __future__ import annotations

from accordance.service.views.base import View
from accordance.service.views.spending import SpendingView


class FailingTestView(View):
    """A test that failed in an attempt, and the end of what it printed."""

    test: str
    lines: tuple[str, ...]


class AttemptStoryView(View):
    """An attempt at a task: who, when, what it cost, what was decided and why.

    Paths are relative to the project folder.
    """

    attempt: int
    holder: str | None  # who took the task up
    executor: str | None
    model: str | None
    began_at: str
    ended_at: str | None  # None: it is still being worked on, or was put down
    seconds: float | None
    spent: SpendingView | None
    outcome: str | None  # None: undecided, or handed on to its review
    reason_code: str | None
    reason: str  # in a sentence; empty where nothing was decided
    messages: tuple[str, ...]
    next_action: str | None
    failing_tests: tuple[FailingTestView, ...]
    more_failing_tests: int
    logs: tuple[str, ...]
    evidence: str | None  # the folder of its bundle
    is_evidence_there: bool
    product: str | None  # the file that it delivered


class ChangedPathView(View):
    """A path of a change, and whether the task may touch it."""

    path: str
    is_allowed: bool
    why: str  # the rule that decides


class AttemptPatchView(View):
    """The change that an attempt made."""

    task_id: str
    attempt: int
    base: str | None  # the commit it is compared with
    paths: tuple[ChangedPathView, ...]
    patch: str
    is_cut: bool  # the patch is longer
    evidence: str | None


class AttemptLogView(View):
    """The end of what a program printed."""

    task_id: str
    attempt: int
    file: str | None  # in the project folder; None: it is a part of the evidence
    about: str  # the executor, or the test
    text: str
    is_cut: bool  # there is more before it


class AttemptPlaceView(View):
    """Where what an attempt left behind lies."""

    task_id: str
    attempt: int
    path: str
    kind: str  # evidence or product
