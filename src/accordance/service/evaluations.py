"""Evaluations: an executor does each task of a set several times.

    RESULTS/EXECUTOR/TASK-DIGEST/trial-1/result.json    written last, so it counts
                                         artifacts/     the evidence of the judgement
                                         stderr.log     what a program printed

The same command goes on where it stopped. A changed task, an executor with other
settings, another prompt file or other rules of judgement have another digest: their
trials are made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Final, TypeAlias

from pydantic import TypeAdapter, ValidationError

from accordance.domain.eval_tasks import InvalidTaskSet, read_task_set
from accordance.domain.evaluation import (
    EvalReport,
    EvalTask,
    Trial,
    is_key_of,
    trial_key,
)
from accordance.domain.naming import safe_name
from accordance.domain.routing import Choice, RouteRequest
from accordance.errors import NoExecutor, NotFound
from accordance.executors.catalogue import executor_for
from accordance.executors.prompt_files import PromptFiles
from accordance.executors.protocol import Executor
from accordance.project.home import FOLDER, Home, write_file
from accordance.project.policy import JudgingPolicy, gateway_of, with_isolation
from accordance.runtime.known_solutions import SOLUTIONS, KnownSolutions
from accordance.runtime.trials import TrialNotRun, TrialRunner
from accordance.shipped import EVAL_TASKS, shipped
from accordance.work.project_routes import routing_for
from accordance.workspace.clone import discard
from accordance.workspace.git import git_directory, resolve

__all__ = [
    "EvalOptions",
    "Evaluation",
    "TaskSet",
    "TrialNotRun",
    "builtin_tasks",
    "prepare_evaluation",
    "task_set_in",
]

RESULT: Final = "result.json"
_TRIAL: Final[TypeAdapter[Trial]] = TypeAdapter(Trial)

Listener: TypeAlias = Callable[[Trial], None]
Warn: TypeAlias = Callable[[str], None]


# -- the tasks


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The tasks of a file, and the folder that it lies in."""

    tasks: tuple[EvalTask, ...]
    folder: Path

    def selected(self, only: Sequence[str], limit: int | None) -> TaskSet:
        """Return the tasks of these ids, and no more than the limit. Raises NotFound."""
        by_id = {task.id: task for task in self.tasks}
        for task_id in only:
            if task_id not in by_id:
                raise NotFound("task", task_id, by_id)
        chosen = [task for task in self.tasks if not only or task.id in only]
        return replace(self, tasks=tuple(chosen[:limit]))


def builtin_tasks() -> TaskSet:
    """Return the tasks that come with accordance."""
    return TaskSet(read_task_set(shipped(EVAL_TASKS), "tasks.toml"), Path())


def task_set_in(file: Path) -> TaskSet:
    """Read a set of tasks. Raises NotFound, InvalidTaskSet."""
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        raise NotFound("file", str(file)) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InvalidTaskSet(f"{file}: cannot be read ({reason})") from None
    return TaskSet(read_task_set(text, file.name), file.parent)


# -- an evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalOptions:
    """How an evaluation is run."""

    executor: str | None  # None: the known solutions take its place
    model: str | None = None
    trials: int = 1  # of each task
    isolation: str | None = None
    repos: Path | None = None  # the clones; by default, beside the tasks
    results: Path | None = None


@dataclass(frozen=True, slots=True)
class _Job:
    """A trial that is to be made, and its folder."""

    task: EvalTask
    repository: Path | None
    number: int
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A set of tasks, an executor, and the trials that are there already."""

    executor: str
    tasks: tuple[EvalTask, ...]
    wanted: int
    results: Path
    runner: TrialRunner
    jobs: tuple[_Job, ...]
    kept: tuple[Trial, ...]
    outdated: int  # results of other versions of the tasks, or of the executor
    stop_event: Event = field(default_factory=Event)

    @property
    def total(self) -> int:
        """How many trials there are in the end."""
        return len(self.kept) + len(self.jobs)

    def stop(self) -> None:
        """Begin no trial, and end those that run. May be called by a signal's handler."""
        self.stop_event.set()

    def run(self, at_once: int, listener: Listener, warn: Warn) -> EvalReport:
        """Make the trials that are missing, and report on all of them."""
        trials = list(self.kept)
        bound = self.runner.choice.spec.concurrency or at_once
        with ThreadPoolExecutor(max_workers=min(at_once, bound)) as pool:
            pending = {pool.submit(self._make, job): job for job in self.jobs}
            for trial in self._ended(pending, warn):
                trials.append(trial)
                listener(trial)
        return self.report(trials)

    def report(self, trials: Sequence[Trial]) -> EvalReport:
        """Return the report on some trials."""
        return EvalReport(
            executor=self.executor,
            tasks=tuple(task.id for task in self.tasks),
            trials=tuple(trials),
            wanted=self.wanted,
        )

    def _ended(
        self,
        pending: dict[Future[Trial | None], _Job],
        warn: Warn,
    ) -> Iterator[Trial]:
        """Yield trials as they end; a trial that could not be made is reported in a line."""
        for future in as_completed(pending):
            job = pending[future]
            try:
                trial = future.result()
            except TrialNotRun as error:
                if not self.stop_event.is_set():
                    warn(f"{job.task.id}, trial {job.number} was not run: {error}")
                continue
            if trial is not None:
                yield trial

    def _make(self, job: _Job) -> Trial | None:
        """Make a trial and keep it; None after a stop. Raises TrialNotRun."""
        if self.stop_event.is_set():
            return None
        if job.folder.exists():
            discard(job.folder)  # of a trial that was cut off
        job.folder.mkdir(parents=True)
        trial = self.runner.run(job.task, job.repository, job.number, job.folder)
        if trial.evidence:
            bundle = Path(trial.evidence).relative_to(self.results)
            trial = replace(trial, evidence=bundle.as_posix())
        write_file(job.folder / RESULT, _TRIAL.dump_json(trial, indent=2))
        return trial


def prepare_evaluation(home: Home, tasks: TaskSet, options: EvalOptions) -> Evaluation:
    """Check everything before the first trial, and read the results that are there.

    Raises NotFound, UnknownBase, InvalidRouting, UnknownName, UnknownPrompt and
    InvalidSettings.
    """
    stop = Event()
    choice, executor = _executor(home, tasks, options)
    runner = TrialRunner(
        root=home.root,
        choice=choice,
        executor=executor,
        gateway=_gateway(home, options.isolation),
        stop=stop,
    )
    repos = options.repos or tasks.folder
    results = (options.results or home.root / FOLDER / "eval").resolve()

    kept: list[Trial] = []
    jobs: list[_Job] = []
    outdated = 0
    shelf = results / safe_name(choice.executor)
    settings = _settings_of(home, runner)
    for named in tasks.tasks:
        task, repository = _located(named, repos)
        key = trial_key(task, choice.executor, settings)
        outdated += _count_outdated(shelf, task.id, key)
        for number in range(1, options.trials + 1):
            folder = shelf / key / f"trial-{number}"
            trial = _kept_trial(folder)
            if trial is None:
                jobs.append(_Job(task, repository, number, folder))
            else:
                kept.append(trial)
    return Evaluation(
        executor=choice.executor,
        tasks=tasks.tasks,
        wanted=options.trials,
        results=results,
        runner=runner,
        jobs=tuple(jobs),
        kept=tuple(kept),
        outdated=outdated,
        stop_event=stop,
    )


def _executor(
    home: Home,
    tasks: TaskSet,
    options: EvalOptions,
) -> tuple[Choice, Executor]:
    """Return who does the tasks. Raises NoExecutor, UnknownName, InvalidRouting."""
    if options.executor is None:
        patches = {task.task_id: task.patch for task in tasks.tasks}
        return SOLUTIONS, KnownSolutions(patches)

    routing = routing_for(home, options.executor, options.model)
    request = RouteRequest(kind="action", tags=frozenset(("code",)))
    choice = routing.choose(request)
    executor = executor_for(choice.spec, home.root)
    if executor is None:
        raise NoExecutor(
            f"{choice.executor} works elsewhere; an evaluation needs an executor that"
            " accordance can run"
        )
    return choice, executor


def _gateway(home: Home, isolation: str | None) -> JudgingPolicy:
    gateway = gateway_of(home.settings(), home.root)
    return gateway if isolation is None else with_isolation(gateway, isolation)


def _settings_of(home: Home, runner: TrialRunner) -> object:
    """Return what a result depends on besides its task.

    That is the executor with its model and its prompts, and the rules it is judged by.
    Raises UnknownPrompt.
    """
    choice = runner.choice
    prompts = PromptFiles(home.root)
    rules = home.settings().model_dump(mode="json", include={"judge", "roles"})
    return {
        "spec": choice.spec.model_dump(mode="json"),
        "model": choice.model,
        "context_bytes": choice.context_bytes,
        "prompts": {name: prompts.part(name).text for name in runner.prompt_names},
        "rules": rules,
        "isolation": runner.gateway.isolation,
    }


def _located(task: EvalTask, repos: Path) -> tuple[EvalTask, Path | None]:
    """Return a task with its commit, and its local clone unless it is made of files.

    `owner/name` lies in that folder, or in `owner__name`. A branch that has moved makes
    another task. Raises NotFound, UnknownBase.
    """
    if not task.repo:
        return task, None
    for name in (task.repo, task.repo.replace("/", "__")):
        repository = (repos / name).resolve()  # git runs in folders of its own
        if git_directory(repository) is not None:
            commit = resolve(repository, task.base)
            return replace(task, base=commit), repository
    raise NotFound("repository", str(repos / task.repo))


def _kept_trial(folder: Path) -> Trial | None:
    """Return the trial that was made in a folder, if its result can be read."""
    try:
        return _TRIAL.validate_json((folder / RESULT).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def _count_outdated(shelf: Path, task_id: str, key: str) -> int:
    """Count the results of a task under other keys."""
    count = 0
    for folder in shelf.glob(f"{task_id}-*"):
        if folder.name != key and is_key_of(folder.name, task_id):
            count += len(list(folder.glob(f"*/{RESULT}")))
    return count
