"""An assignment for tests of executors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from accordance.api import registry
from accordance.contracts.context import Context
from accordance.domain.executor_specs import Spec, spec_of
from accordance.domain.prompting import Part, Prompt
from accordance.executors.catalogue import executor_for
from accordance.executors.protocol import Assignment, Executor, RunLimits
from tests.limits import LIMIT
from tests.messages import ACTION, TASK

PROMPT = Prompt(
    (Part("system", "shared.v1", "You do one task."), Part("user", "task", "Write it."))
)
BAD_ACTION = {**ACTION, "result_type": "NOPE"}


def an_assignment(folder: Path, **more: Any) -> Assignment:
    """The task of `tests.messages`, in a new folder."""
    return Assignment(
        document={"task": {"task_id": TASK, "title": "Write it"}},
        contract=registry.get("xiaobo_action_v1"),
        context=Context(task_id=TASK),
        prompt=PROMPT,
        folder=folder / "run",
        **more,
    )


def an_executor(root: Path, **said: Any) -> Executor:
    """The executor of a spec."""
    executor = executor_for(a_spec(**said), root)
    assert executor is not None
    return executor


def a_spec(**said: Any) -> Spec:
    """A spec as accordance.toml would say it."""
    return spec_of("tested", said)


@contextmanager
def stopped_when(ready: Callable[[], bool]) -> Iterator[RunLimits]:
    """Limits whose wish to stop is set as soon as something is so."""
    limits, over = RunLimits(seconds=LIMIT), threading.Event()

    def watch() -> None:
        while not over.wait(0.01):
            if ready():
                limits.stop.set()
                return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield limits
    finally:
        over.set()
        thread.join()
