"""Evaluations: what is begun, kept, gone on with and left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from accordance.domain.evaluation import EvalTask, Trial
from accordance.errors import NotFound
from accordance.project.home import Home
from accordance.runtime.trials import TrialNotRun, TrialRunner
from accordance.service.evaluations import (
    EvalOptions,
    Evaluation,
    TaskSet,
    builtin_tasks,
    prepare_evaluation,
)

OPTIONS = EvalOptions(executor=None, trials=2)
TASKS = builtin_tasks().selected((), 2)
FIRST, SECOND = (task.id for task in TASKS.tasks)


class Scripted:
    """Makes trials without an agent: each does what a function says."""

    def __init__(self, runner: TrialRunner, do: Callable[[str, int], bool]) -> None:
        self.choice = runner.choice
        self.do = do
        self.made: list[tuple[str, int]] = []

    def run(self, task: EvalTask, _: Any, number: int, folder: Path) -> Trial:
        """A trial."""
        assert not list(folder.iterdir())
        self.made.append((task.id, number))
        (folder / "log").touch()
        resolved = self.do(task.id, number)
        return Trial(task=task.id, number=number, resolved=resolved, claimed=True)


def prepared(
    folder: Path, do: Callable[[str, int], bool] = lambda *_: True
) -> tuple[Evaluation, Scripted]:
    """An evaluation with scripted trials."""
    evaluation = prepare_evaluation(Home(folder), TASKS, OPTIONS)
    scripted = Scripted(evaluation.runner, do)
    runner = cast("TrialRunner", scripted)
    return replace(evaluation, runner=runner), scripted


def ignore(_: object) -> None:
    """Nobody listens."""


def test_trials_are_kept(tmp_path: Path) -> None:
    """The second time there is nothing to do, and the report is the same."""
    evaluation, scripted = prepared(tmp_path)
    report = evaluation.run(1, ignore, ignore)
    assert scripted.made == [(FIRST, 1), (FIRST, 2), (SECOND, 1), (SECOND, 2)]

    again, idle = prepared(tmp_path)
    assert again.run(1, ignore, ignore).resolved == report.resolved == 4
    assert idle.made == []


def test_a_trial_that_cannot_be_made(tmp_path: Path) -> None:
    """It is told, the others are made, and it is made the next time."""

    def fail(task: str, number: int) -> bool:
        if (task, number) == (FIRST, 2):
            raise TrialNotRun("no key")
        return True

    warnings: list[str] = []
    evaluation, _ = prepared(tmp_path, fail)
    report = evaluation.run(2, ignore, warnings.append)
    assert (len(report.trials), report.missing) == (3, 1)
    assert warnings == [f"{FIRST}, trial 2 was not run: no key"]

    again, scripted = prepared(tmp_path)
    assert again.run(1, ignore, ignore).missing == 0
    assert scripted.made == [(FIRST, 2)]


def test_stopping(tmp_path: Path) -> None:
    """What has ended counts; what runs is not kept, and nothing else begins."""

    def stop(task: str, number: int) -> bool:
        if (task, number) == (FIRST, 2):
            evaluation.stop()
            raise TrialNotRun("it was stopped")
        return True

    warnings: list[str] = []
    evaluation, scripted = prepared(tmp_path, stop)
    report = evaluation.run(1, ignore, warnings.append)
    assert scripted.made == [(FIRST, 1), (FIRST, 2)]
    assert (len(report.trials), warnings) == (1, [])


def test_a_result_that_was_cut_off(tmp_path: Path) -> None:
    """Half a file is no result: the trial is made again in an empty folder."""
    evaluation, _ = prepared(tmp_path)
    evaluation.run(1, ignore, ignore)
    result = evaluation.jobs[0].folder / "result.json"
    result.write_bytes(result.read_bytes()[:20])

    again, scripted = prepared(tmp_path)
    again.run(1, ignore, ignore)
    assert scripted.made == [(FIRST, 1)]


def test_the_choice_of_tasks() -> None:
    """By id and by number; an unknown id is an error."""
    tasks = builtin_tasks()
    assert len(tasks.tasks) == 5
    assert [task.id for task in tasks.selected((SECOND,), None).tasks] == [SECOND]
    assert len(tasks.selected((), 3).tasks) == 3
    with pytest.raises(NotFound):
        tasks.selected(("median",), None)


@pytest.mark.parametrize("name", ["owner/name", "owner__name"])
def test_a_clone_that_is_not_there(tmp_path: Path, name: str) -> None:
    """A folder without git is none."""
    (tmp_path / name).mkdir(parents=True)
    task = replace(TASKS.tasks[0], files={}, repo="owner/name", base="main")
    with pytest.raises(NotFound):
        prepare_evaluation(Home(tmp_path), TaskSet((task,), tmp_path), OPTIONS)


CHANGES = {
    "another text of the shared prompt": ("prompts/shared.v1.md", "Be brief.\n"),
    "another text of the coder's prompt": ("prompts/coder.v1.md", "Write code.\n"),
    "another rule of judgement": ("accordance.toml", "[judge]\nrerun_failed = 2\n"),
    "another role": ("accordance.toml", "[roles.engineer]\nmax_attempts = 1\n"),
}


@pytest.mark.parametrize(("name", "text"), CHANGES.values(), ids=CHANGES)
def test_what_makes_trials_anew(tmp_path: Path, name: str, text: str) -> None:
    """A result depends on the prompts and on the rules it was judged by."""
    evaluation, _ = prepared(tmp_path)
    evaluation.run(1, ignore, ignore)
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")

    again, scripted = prepared(tmp_path)
    assert (again.kept, again.outdated) == ((), 4)
    again.run(1, ignore, ignore)
    assert len(scripted.made) == 4

    file.unlink()
    before, idle = prepared(tmp_path)
    before.run(1, ignore, ignore)
    assert (len(before.kept), idle.made) == (4, [])


def test_a_prompt_that_nothing_here_uses_changes_no_result(tmp_path: Path) -> None:
    """Neither does a setting that no trial depends on."""
    evaluation, _ = prepared(tmp_path)
    evaluation.run(1, ignore, ignore)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/reviewer.v1.md").write_text("Be strict.\n", "utf-8")

    again, _ = prepared(tmp_path)
    assert (len(again.kept), again.outdated) == (4, 0)
