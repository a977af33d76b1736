"""The story of a task and of a plan: attempts, reviews, sentences, files, the summary."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.fuses import Fuses
from accordance.domain.records import Rules
from accordance.errors import NoEvidence
from accordance.rendering.plan_summaries import summary_lines
from accordance.service import attempt_files, attempt_logs, tasks
from accordance.service.attempt_evidence import Bundle, failing_tests, run_logs
from accordance.service.event_stories import EventNarrator
from accordance.service.events import EventReader
from accordance.service.plan_summaries import markdown_of, summary_of
from accordance.service.plans import plan_status, show_plan
from accordance.service.project import Project
from accordance.service.task_records import show_task
from accordance.service.tasks import WorkRequest
from accordance.service.views.events import EventView
from tests.ledger.project import encoded, failing, product
from tests.messages import PLAN, small_plan
from tests.reviews import node_review
from tests.service.conftest import brings

ANNA = WorkRequest(holder="anna", any_task=True)
BEN = WorkRequest(holder="ben", any_task=True)


@pytest.fixture
def told(project: Project) -> Project:
    """Task a failed once, was returned once and asks a person; ben reviewed it."""
    tasks.take_task(project, ANNA)
    tasks.submit(project, encoded(failing("a")))
    tasks.take_task(project, ANNA)
    made = tasks.submit(project, encoded(product("a")))
    assert made.artifact is not None
    tasks.take_task(project, BEN)
    review = encoded(node_review("a", score=60))
    sha256 = made.artifact["sha256"]
    tasks.review(project, review, task_id="a", artifact=sha256, reviewer="ben")
    return project


def test_the_attempts_of_a_task(told: Project) -> None:
    """Each with who, when, what was decided and why."""
    first, second = show_task(told, "a").attempts
    assert (first.attempt, first.holder, first.outcome) == (1, "anna", "RETRY")
    assert (first.reason_code, first.reason) == ("LLM_FAILED", "LLM_FAILED: it broke")
    assert first.began_at < (first.ended_at or "")
    assert first.seconds is not None
    assert (second.outcome, second.reason_code) == (None, "ARTIFACT")
    assert second.product is not None
    assert (told.home.root / second.product).is_file()
    assert (second.evidence, second.logs, second.failing_tests) == (None, (), ())


def test_the_reviews_of_a_task(told: Project) -> None:
    """With their score and what they ask for."""
    (review,) = show_task(told, "a").reviews
    assert (review.attempt, review.score, review.action) == (2, 60, "MODIFY")
    assert (review.summary, review.asks) == ("60 of 100", ("More",))


def test_what_a_task_waits_for(told: Project) -> None:
    """The tasks that come before it; a blocked task, for the answer to its question."""
    (title,) = show_task(told, "b").waits_for
    assert title == show_task(told, "a").title
    assert show_task(told, "a").waits_for == ()
    taken = tasks.take_task(told, ANNA)
    assert isinstance(taken, tasks.Assigned)
    tasks.ask_person(told, taken.taken, "Which prices?", holder="anna")
    (question,) = show_task(told, "a").waits_for
    assert "Which prices?" in question


def test_events_in_sentences(told: Project) -> None:
    """Who did what, what was decided and why, without a hash."""
    narrator = EventNarrator(told)
    events = list(EventReader(told).news())
    title = show_task(told, "a").title
    sentences = [narrator.sentence(event) for event in events]
    assert f"{title}: attempt 1 by anna began" in sentences
    assert f"{title}: attempt 1 by anna ended RETRY, LLM_FAILED: it broke" in sentences
    assert (
        f"{title}: the review of attempt 2 ended RETRY, MODIFY: 60 of 100" in sentences
    )
    assert f"{title}: a review arrived and honours its contract" in sentences
    hashes = {event.hash for event in events}
    assert not [line for line in sentences if any(digest in line for digest in hashes)]


def test_events_of_the_ledgers_own_chain(told: Project) -> None:
    """They have no plan of their own, and are told all the same."""
    narrator = EventNarrator(told)
    events = list(EventReader(told, with_seals=True).news())
    own = [narrator.sentence(event) for event in events if event.plan_id is None]
    title = show_plan(told).title
    assert own[0] == f"{title}: the chain of its events began"
    seal = EventView(
        number=1,
        plan_id=None,
        seq=1,
        at=events[0].at,
        kind="ROWS_WRITTEN",
        task_id=None,
        payload={},
        hash="",
    )
    assert narrator.sentence(seal) == "the ledger: rows were sealed"


def test_an_event_of_a_task_that_is_gone(told: Project) -> None:
    """Is told by the id that the chain knows."""
    (event,) = list(EventReader(told, "kind:plan_imported").news())
    orphan = event.model_copy(update={"task_id": "x-1", "kind": "ENABLED"})
    assert EventNarrator(told).sentence(orphan) == "x-1: can begin"


# -- the files of an attempt


@pytest.mark.parametrize(
    ("name", "attempt", "why"),
    [
        pytest.param("b", None, "has not been tried yet", id="no attempt at all"),
        pytest.param("a", 7, "there is no attempt 7", id="no such attempt"),
        pytest.param("a", 1, "changes no repository", id="a task without a change"),
    ],
)
def test_no_evidence(told: Project, name: str, attempt: int | None, why: str) -> None:
    """A line that says why."""
    with pytest.raises(NoEvidence, match=why):
        attempt_files.attempt_patch(told, name, attempt)
    with pytest.raises(NoEvidence):
        attempt_logs.attempt_log(told, name, attempt)


def test_a_product_is_opened_where_there_is_no_evidence(told: Project) -> None:
    """By its path; a product that was removed comes back from the ledger."""
    place = attempt_files.attempt_place(told, "a")
    assert (place.kind, place.attempt) == ("product", 2)
    assert Path(place.path).is_file()
    Path(place.path).unlink()
    assert attempt_files.attempt_place(told, "a") == place
    assert Path(place.path).is_file()


def a_log(project: Project, text: bytes, name: str = "action-1-1") -> Path:
    """What an executor printed in a run."""
    folder = project.home.runs / "a" / name
    folder.mkdir(parents=True)
    (folder / "stdout.log").write_bytes(text)
    return folder


def test_the_log_of_an_attempt(told: Project) -> None:
    """Of its last run; colours of a terminal are taken off, errors come last."""
    a_log(told, b"of the run before\n")
    folder = a_log(told, b"\x1b[31mred\x1b[0m", "action-1-10")
    (folder / "stderr.log").write_bytes(b"oh\n")
    view = attempt_logs.attempt_log(told, "a", 1)
    assert (view.text, view.is_cut) == ("red\noh\n", False)
    assert view.file == ".accordance/runs/a/action-1-10/stderr.log"
    assert len(show_task(told, "a").attempts[0].logs) == 2
    assert len(attempt_logs.log_files(told, "a", 1)) == 2
    assert attempt_logs.is_running(told, "a", 1) is False


def test_a_log_of_ten_megabytes(told: Project) -> None:
    """Only its end is read."""
    a_log(told, b"x" * 1023 + b"\n" + b"0123456789abcde\n" * (10 << 16))
    tracemalloc.start()
    view = attempt_logs.attempt_log(told, "a", 1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert view.is_cut
    assert len(view.text) <= attempt_logs.LARGEST_LOG + 1
    assert peak < 8 << 20


def test_a_link_in_place_of_a_log(told: Project) -> None:
    """Leads nowhere: nothing outside the folder of the run is shown."""
    secret = told.home.root / "secret"
    secret.write_text("secret\n")
    folder = a_log(told, b"")
    (folder / "stdout.log").unlink()
    (folder / "stdout.log").symlink_to(secret)
    assert "secret" not in attempt_logs.attempt_log(told, "a", 1).text


# -- bundles


def a_bundle(folder: Path, **judgement: Any) -> Bundle:
    """Evidence with a judgement."""
    (folder / "runs").mkdir(parents=True)
    (folder / "judgement.json").write_text(json.dumps(judgement), "utf-8")
    return Bundle(folder)


def test_failing_tests(tmp_path: Path) -> None:
    """Named with the end of what they printed; a command without names by its log."""
    report = {"failed": [{"test": "t::one", "text": "a\n\nb\n"}] * 6}
    bundle = a_bundle(
        tmp_path,
        tests=[
            {"command": "ok", "passed": True},
            {"command": "pytest", "passed": False, "report": report},
            {"command": "make", "passed": False, "report": None},
        ],
    )
    (tmp_path / "runs/03.log").write_text("Error 2\n")
    views, more = failing_tests(bundle)
    assert (views[0].test, views[0].lines) == ("t::one", ("a", "b"))
    assert (len(views), more) == (5, 2)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no JSON",
        b"[]",
        b'{"tests": 1}',
        b'{"tests": [1, {"report": 2}, {"report": {"failed": [3]}}]}',
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_evidence_that_was_damaged(tmp_path: Path, content: bytes) -> None:
    """Shows nothing, and breaks nothing."""
    (tmp_path / "judgement.json").write_bytes(content)
    (tmp_path / "task.json").write_bytes(content)
    (tmp_path / "terms.json").write_bytes(content)
    bundle = Bundle(tmp_path)
    views, more = failing_tests(bundle)
    assert all(not view.lines for view in views)
    assert (more, bundle.scope(), bundle.next_action()) == (0, None, None)


def test_a_pipe_in_place_of_evidence(tmp_path: Path) -> None:
    """Is not waited for."""
    os.mkfifo(tmp_path / "patch.diff")
    assert Bundle(tmp_path).patch(10) is None


def test_runs_of_no_task(told: Project) -> None:
    """A task that nobody ran has no logs."""
    assert run_logs(told.home, "b", 1, "action") == ()


# -- the summary


def test_the_summary_of_a_plan(told: Project) -> None:
    """How far it is, what waits and for what."""
    taken = tasks.take_task(told, ANNA)
    assert isinstance(taken, tasks.Assigned)
    tasks.ask_person(told, taken.taken, "Which prices?", holder="anna")
    summary = summary_of(told, PLAN)
    assert (summary.done, summary.tasks) == (0, 3)
    (waiting,) = summary.waiting
    assert "Which prices?" in waiting.question
    assert summary.seconds is not None
    assert f"inbox answer {waiting.question_name}" in "\n".join(summary_lines(summary))
    assert waiting.question_name in markdown_of(told, PLAN[:5])


def test_a_blown_fuse_names_the_key_and_the_command(empty: Project) -> None:
    """Which one to raise, and how to go on."""
    brings(empty, small_plan(), rules=Rules(fuses=Fuses(calls_per_run=1)))
    tasks.take_task(empty, ANNA)
    tasks.submit(empty, encoded(failing("a")))
    tasks.take_task(empty, ANNA)
    lines = "\n".join(summary_lines(summary_of(empty, PLAN)))
    assert "A fuse has blown: calls_per_run: 1 of 1 messages are used up" in lines
    assert "accordance run --resume" in lines
    assert "raise calls_per_run under [fuses]" in lines


def test_imported_plans_have_the_fuses_of_the_settings(project: Project) -> None:
    """The defaults, where nothing is set; what a plan has used is shown with its state."""
    assert show_plan(project).fuses["calls_per_run"] == 5_000
    status = plan_status(project.ledger, PLAN)
    assert (status.tokens, status.cost) == (0, 0.0)
