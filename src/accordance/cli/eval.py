"""`accordance eval`: how well an agent does, on a set of tasks with hidden tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit, print_error
from accordance.cli.ledger_commands import isolation_option, json_option, print_json
from accordance.cli.showing import print_line, tell_document
from accordance.cli.stopping import stoppable
from accordance.cli.writing import write_output

if TYPE_CHECKING:
    from accordance.domain.evaluation import EvalReport
    from accordance.service.evaluations import Evaluation, TaskSet

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command(name="eval")
@click.argument("tasks", required=False, metavar="[TASKS]", type=click.Path(path_type=Path))  # fmt: skip
@click.option("--builtin", is_flag=True, help="The five small tasks that come with accordance.")  # fmt: skip
@click.option("--executor", metavar="NAME", help="The executor of accordance.toml that does the tasks.")  # fmt: skip
@click.option("--solutions", is_flag=True, help="Instead of an executor: apply each task's known solution, to see that the set can be resolved here.")  # fmt: skip
@click.option("--model", metavar="NAME", help="Its model.")
@click.option("-k", "--trials", default=1, show_default=True, type=click.IntRange(1), help="How often each task is done.")  # fmt: skip
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Only the first N tasks.")  # fmt: skip
@click.option("--only", multiple=True, metavar="ID", help="Only this task. May be repeated.")  # fmt: skip
@click.option("--repos", metavar="DIR", type=_FOLDER, help="Where the clones are: DIR/owner/name or DIR/owner__name. Nothing is fetched.  [default: the folder of TASKS]")  # fmt: skip
@click.option("--results", metavar="DIR", type=_FOLDER, help="Where each trial is kept.  [default: .accordance/eval]")  # fmt: skip
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1), help="How many trials are made at once.")  # fmt: skip
@click.option("--min-resolved", metavar="RATE", type=click.FloatRange(0, 1), help="Exit with 1 if fewer trials are resolved, such as 0.8.")  # fmt: skip
@click.option("--html", metavar="FILE", type=click.Path(), help="Write the report as an HTML page.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what would be done.")
@isolation_option
@click.option("--home", type=_FOLDER, help="The project folder.  [default: the nearest folder upwards with .accordance or accordance.toml]")  # fmt: skip
@json_option
def command(
    tasks: Path | None,
    builtin: bool,
    executor: str | None,
    solutions: bool,
    model: str | None,
    trials: int,
    limit: int | None,
    only: tuple[str, ...],
    repos: Path | None,
    results: Path | None,
    jobs: int,
    min_resolved: float | None,
    html: str | None,
    dry_run: bool,
    isolation: str | None,
    home: Path | None,
    as_json: bool,
) -> int:
    """Let an agent do the tasks of a set, and report how many it resolves.

    TASKS is a file of tasks: JSON, JSON lines or TOML, in our fields or SWE-bench's.
    The agent never sees hidden tests or the known solution. Each trial is kept when it
    ends, and the same command goes on where it stopped.

    Exit code 0: every trial was run; 1: some were not, or too few are resolved
    (--min-resolved); 130 or 143: stopped.
    """
    from accordance.project.home import find_home
    from accordance.service.evaluations import EvalOptions, prepare_evaluation

    if solutions == (executor is not None):
        raise click.UsageError("name the agent with --executor, or --solutions")
    chosen = _task_set(tasks, builtin=builtin).selected(only, limit)
    options = EvalOptions(
        executor=executor,
        model=model,
        trials=trials,
        isolation=isolation,
        repos=repos,
        results=results,
    )
    evaluation = prepare_evaluation(find_home(home), chosen, options)
    _tell_outdated(evaluation)
    if dry_run:
        _tell_plan(evaluation)
        return Exit.OK

    with stoppable(evaluation.stop) as stopped:
        report = _run(evaluation, jobs, is_silent=as_json)
    _show(report, html, as_json=as_json)
    if stopped.by is not None:
        return stopped.exit_code
    is_enough = min_resolved is None or report.resolved_rate >= min_resolved
    return Exit.OK if is_enough and not report.missing else Exit.REJECTED


def _task_set(file: Path | None, *, builtin: bool) -> TaskSet:
    from accordance.service.evaluations import builtin_tasks, task_set_in

    if builtin == (file is not None):
        raise click.UsageError("name a file of tasks, or --builtin")
    return builtin_tasks() if file is None else task_set_in(file)


def _run(evaluation: Evaluation, jobs: int, *, is_silent: bool) -> EvalReport:
    """Make the trials that are missing; a line for each that ends."""
    from accordance.domain.evaluation import Trial
    from accordance.rendering.eval_reports import trial_line

    def tell(trial: Trial) -> None:
        if not is_silent:
            print_line(trial_line(trial, evaluation.wanted))

    if evaluation.kept and not is_silent:
        print_line(f"from earlier runs: {len(evaluation.kept)} of {evaluation.total}")
    return evaluation.run(jobs, tell, print_error)


def _tell_outdated(evaluation: Evaluation) -> None:
    if evaluation.outdated:
        print_error(
            f"results that do not count: {evaluation.outdated};"
            " their task or the executor's settings have changed since"
        )


def _tell_plan(evaluation: Evaluation) -> None:
    for job in evaluation.jobs:
        place = job.repository or "built from its files"
        print_line(f"{job.task.id}  trial {job.number} of {evaluation.wanted}  {place}")
    print_line(
        f"trials to run with {evaluation.executor}: {len(evaluation.jobs)} of"
        f" {evaluation.total}; the results of the others are in {evaluation.results}"
    )


def _show(report: EvalReport, html: str | None, *, as_json: bool) -> None:
    from accordance.rendering import eval_reports

    if html is not None:
        write_output(html, eval_reports.as_page(report).encode())
    if as_json:
        print_json(eval_reports.as_json(report))
    else:
        tell_document("\n" + eval_reports.as_text(report))
