"""What a plan has come to, in a page: done, waiting, given up, cost, where it lies."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTask:
    """Something that waits for a person."""

    title: str
    question: str
    question_name: str  # as a person names it: its number, or its id
    fuse: str | None = None  # the fuse that has blown, where that is why


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUpTask:
    """A task in the dead letters."""

    title: str
    task_id: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An approved product, and where it lies in the project."""

    title: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSummary:
    """What a plan has come to."""

    plan_id: str
    title: str
    state: str
    root: str  # the state of the root task
    done: int
    tasks: int  # without those that are not needed
    states: tuple[tuple[str, int], ...]
    finished: tuple[str, ...] = ()  # the titles of tasks that are done
    waiting: tuple[WaitingTask, ...] = ()
    given_up: tuple[GivenUpTask, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    branch: str | None = None
    repository: str | None = None
    evidence: tuple[str, ...] = ()  # folders of bundles
    tokens: int = 0
    calls: int = 0
    cost: float | None = None
    is_estimated: bool = False
    seconds: float | None = None  # from the first attempt to the last event
    rests: str = ""  # why the run ended, in words
