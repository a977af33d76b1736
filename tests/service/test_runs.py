"""Carrying a plan out without a face: wired from the settings, heard attempt by attempt."""

from __future__ import annotations

import pytest

from accordance.errors import Conflict, NoExecutor
from accordance.service import runs
from accordance.service.project import Project
from accordance.service.prompts import NoSuchCall, task_prompt
from accordance.service.runs import (
    NotShared,
    RunOptions,
    WorkerOptions,
    prepare_run,
    prepare_worker,
)
from accordance.service.views.runs import AttemptView
from tests.acceptance.test_run import AGENT, HONEST

OWN_WORK = "[review]\nown_work = true\n"


def settle(project: Project, settings: str) -> None:
    """Give a project settings and an honest agent."""
    (project.home.root / "agent.py").write_text(AGENT)
    (project.home.root / "accordance.toml").write_text(settings)


def quiet(_: str) -> None:
    """Nobody is warned."""


def test_a_run_to_its_end(project: Project) -> None:
    """Each attempt is heard of; the end says where the plan stands, what came of it, and why it rests."""
    settle(project, HONEST + OWN_WORK)
    heard: list[AttemptView] = []
    with prepare_run(project, None, RunOptions(), quiet) as prepared:
        end = prepared.begin(heard.append).until_it_rests()
    assert [(attempt.task_id, attempt.kind) for attempt in heard] == [
        ("a", "action"),
        ("a", "review"),
        ("b", "action"),
        ("b", "review"),
    ]
    assert {attempt.answer.status for attempt in heard} == {"accepted"}
    assert (end.is_finished, end.view.rests, end.view.root) == (
        True,
        "FINISHED",
        "DONE",
    )
    assert [made.title for made in end.view.deliverables] == ["Task a", "Task b"]
    assert all(verdict.is_done for verdict in end.view.verdicts)
    told = task_prompt(project, "a", kind="action")
    assert (told.task_id, told.executor, "messages" in told.to_json()) == (
        "a",
        "honest",
        False,
    )
    with pytest.raises(
        NoSuchCall, match="no call 2 in this run, which made none that is known"
    ):
        task_prompt(project, "a", call=2)


def test_nobody_to_do_it(project: Project) -> None:
    """Is said before anything begins."""
    with (
        prepare_run(project, None, RunOptions(), quiet) as prepared,
        pytest.raises(NoExecutor, match="none is configured"),
    ):
        prepared.begin(lambda _: None).until_it_rests()


def test_two_runs_on_one_file(project: Project) -> None:
    """A SQLite ledger has one runner."""
    settle(project, HONEST)
    other = prepare_run(project, None, RunOptions(), quiet)
    with (
        prepare_run(project, None, RunOptions(), quiet),
        pytest.raises(Conflict),
        other,
    ):
        pass


def test_a_worker_needs_a_shared_ledger(project: Project) -> None:
    """And is told so without a word about commands."""
    with pytest.raises(
        NotShared,
        match=r"^workers share a PostgreSQL ledger; a SQLite ledger has one process$",
    ):
        prepare_worker(
            project,
            WorkerOptions(),
            listener=lambda _: None,
            warn=quiet,
        )
    assert runs.DEAD_AFTER_SECONDS > 0
