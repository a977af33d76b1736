"""What an evaluation shows: tasks, trials of an agent on them, and the numbers.

A trial is resolved if the judge says DONE with the hidden tests in place. A claim is
false if the agent says DONE and the judge does not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import comb
from statistics import median
from typing import Final
from uuid import UUID, uuid5

from accordance.domain.faults import FAULTS, Fault

_TASK_IDS: Final = UUID("5c0a8d64-1c0b-4f0e-9b1c-0c6a2f3d7e41")
"""The namespace in which the ids of evaluation tasks become UUIDs."""
_NAME_LENGTH: Final = 100
_DIGEST_DIGITS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalTask:
    """A task of an evaluation: a repository at a base, a goal, and tests.

    The agent is shown the goal, the pins and the given tests. Everything else belongs
    to the judge.
    """

    id: str
    goal: str
    repo: str = ""  # a local clone; empty where `files` are the repository
    base: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    tests: tuple[str, ...] = ()  # commands that the agent is shown
    hidden_tests: tuple[str, ...] = ()  # commands that only the judge runs
    hidden_files: Mapping[str, str] = field(default_factory=dict)
    test_patch: str = ""
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    patch: str = ""  # the known solution
    role: str = "engineer"
    allowed_paths: tuple[str, ...] = ("**",)
    forbidden_paths: tuple[str, ...] = ()

    @property
    def task_id(self) -> str:
        """The id under which the task is judged."""
        return str(uuid5(_TASK_IDS, self.id))

    @property
    def title(self) -> str:
        """The first line of the goal."""
        return self.goal.strip().splitlines()[0][:_NAME_LENGTH]

    def for_agent(self) -> dict[str, object]:
        """Return the scc.task.v1 that the agent is given."""
        return self._task(self.tests)

    def for_judge(self) -> dict[str, object]:
        """Return the scc.task.v1 that the work is judged by."""
        commands = tuple(dict.fromkeys((*self.tests, *self.hidden_tests)))
        return {
            **self._task(commands),
            "fail_to_pass": list(self.fail_to_pass),
            "pass_to_pass": list(self.pass_to_pass),
        }

    def _task(self, commands: Sequence[str]) -> dict[str, object]:
        return {
            "schema_version": "scc.task.v1",
            "task_id": self.task_id,
            "goal": self.goal,
            "role": self.role,
            "pins": {
                "allowed_paths": list(self.allowed_paths),
                "forbidden_paths": list(self.forbidden_paths),
            },
            "allowedTests": list(commands),
        }


def trial_key(task: EvalTask, executor: str, settings: object) -> str:
    """Return the name under which trials of a task are kept.

    `settings` is whatever else a result depends on: the executor, its prompts and the
    rules of judgement. Any change is another name, so that results of different things
    are never counted together.
    """
    parts = {
        "task": asdict(task),
        "executor": executor,
        "settings": settings,
    }
    text = json.dumps(
        parts,
        sort_keys=True,
        ensure_ascii=False,
        default=str,
    )
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{task.id}-{digest[:_DIGEST_DIGITS]}"


def is_key_of(name: str, task_id: str) -> bool:
    """Whether a name is that of trials of a task, in whichever version."""
    stem, _, digest = name.rpartition("-")
    is_hexadecimal = set(digest) <= set("0123456789abcdef")
    is_digest = is_hexadecimal and len(digest) == _DIGEST_DIGITS
    return stem == task_id and is_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of letting an agent do a task once."""

    task: str
    number: int  # from 1
    resolved: bool
    claimed: bool  # the agent says that it is done
    reason_code: str = ""
    reason: str = ""
    seconds: float = 0.0  # of the agent's work; judging is not counted
    cost: float | None = None  # None where the price is not known
    tokens: int | None = None
    evidence: str = ""  # the bundle, relative to the folder of results

    @property
    def is_false_claim(self) -> bool:
        """Whether the agent claims what the judge does not confirm."""
        return self.claimed and not self.resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalReport:
    """The trials of an executor on a set of tasks."""

    executor: str
    tasks: tuple[str, ...]
    trials: tuple[Trial, ...]
    wanted: int  # trials of each task

    def of_task(self, task: str) -> tuple[Trial, ...]:
        """Return the trials of a task, in order."""
        trials = [trial for trial in self.trials if trial.task == task]
        return tuple(sorted(trials, key=lambda trial: trial.number))

    @property
    def missing(self) -> int:
        """How many trials are not there."""
        return len(self.tasks) * self.wanted - len(self.trials)

    @property
    def resolved(self) -> int:
        """How many trials are resolved."""
        return sum(trial.resolved for trial in self.trials)

    @property
    def resolved_rate(self) -> float:
        """The share of resolved trials; 0 where there are none."""
        if self.trials:
            return self.resolved / len(self.trials)
        return 0.0

    @property
    def false_claims(self) -> int:
        """How many trials claim what the judge does not confirm."""
        return sum(trial.is_false_claim for trial in self.trials)

    def pass_at(self, k: int) -> float | None:
        """Return the mean of every task's pass@k; None where trials are missing."""
        estimates = []
        for task in self.tasks:
            trials = self.of_task(task)
            if len(trials) < k:
                return None
            resolved = sum(trial.resolved for trial in trials)
            estimates.append(pass_at_k(len(trials), resolved, k))
        if estimates:
            return sum(estimates) / len(estimates)
        return None

    @property
    def cost(self) -> float | None:
        """What all trials cost; None where a price is not known."""
        costs = _known_costs(self.trials)
        return None if costs is None else sum(costs)

    @property
    def median_cost(self) -> float | None:
        """What a trial costs; None where a price is not known."""
        costs = _known_costs(self.trials)
        return median(costs) if costs else None

    @property
    def median_seconds(self) -> float | None:
        """How long a trial takes; None where there are none."""
        seconds = [trial.seconds for trial in self.trials]
        return median(seconds) if seconds else None


def _known_costs(trials: Sequence[Trial]) -> list[float] | None:
    """Return the costs of trials; None unless every trial has its cost."""
    costs = [trial.cost for trial in trials if trial.cost is not None]
    if trials and len(costs) == len(trials):
        return costs
    return None


def pass_at_k(trials: int, resolved: int, k: int) -> float:
    """Return the chance that at least one of k trials is resolved.

    The unbiased estimate: the share of all choices of k trials that hold a resolved
    trial.
    """
    unresolved = trials - resolved
    return 1.0 - comb(unresolved, k) / comb(trials, k)


_NOT_OF_THE_AGENT: Final = frozenset(
    (
        Fault.STOPPED,
        Fault.UNKNOWN_MODEL,
        Fault.UNAUTHORISED,
        Fault.KEY_MISSING,
        Fault.REJECTED,
        Fault.NOT_INSTALLED,
        Fault.NOT_ISOLATED,
        Fault.UNPREPARED,
        Fault.NO_EXECUTOR,
    )
)


def says_nothing(fault: Fault) -> bool:
    """Whether a fault says nothing about the agent, so that its trial does not count.

    A key that is missing, an endpoint that is down: the trial is made again.
    """
    return fault in _NOT_OF_THE_AGENT or FAULTS[fault].passes
