"""The `llm` executor: asks a model for the message, and again with its faults.

All of that is a single run. The faults are those of the contract and, where the work is
judged while it runs (edits of a repository), of the work. Every call is counted: by its
reported tokens, or by an estimate where the stream was cut off.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any, Final

from accordance.domain.executor_specs import LlmSpec
from accordance.domain.faults import Fault
from accordance.executors.endpoints import endpoint_of, lacking_endpoint
from accordance.executors.llm.model_conversation import ModelConversation
from accordance.executors.llm.models import CannotBegin, key_for, open_model
from accordance.executors.protocol import Assignment, RunLimits, RunOutcome
from accordance.executors.redaction import withhold

_POLL_SECONDS: Final = 0.05  # between looks at the stop event
_CANCEL_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class LlmExecutor:
    """Asks the model of its spec."""

    spec: LlmSpec

    def why_not_start(self) -> RunOutcome | None:
        """Return how a run would end for want of a key."""
        try:
            key_for(self.spec)
        except CannotBegin as error:
            return _without_key(error)
        return None

    def run(self, assignment: Assignment, limits: RunLimits) -> RunOutcome:
        """Ask until the message is good, the re-asks are used up, or a call fails."""
        name = assignment.model or self.spec.model
        try:
            key = key_for(self.spec)
            model = open_model(self.spec, name, key)
        except CannotBegin as error:
            return _without_key(error)

        started = time.monotonic()
        conversation = ModelConversation(self.spec, assignment, limits, name, key)
        produced = asyncio.run(_bounded(conversation.hold(model), limits))
        seconds = time.monotonic() - started

        produced = replace(
            produced,
            spending=conversation.spent,
            seen=tuple(conversation.seen),
            duration_ms=round(seconds * 1000),
            lacks=lacking_endpoint(produced.fault, endpoint_of(self.spec)),
        )
        return withhold(produced, key)


def _without_key(error: CannotBegin) -> RunOutcome:
    return RunOutcome(
        fault=error.fault,
        text=str(error),
        lacks=error.lacks,
    )


async def _bounded(
    work: Coroutine[Any, Any, RunOutcome], limits: RunLimits
) -> RunOutcome:
    """Do the work until it is done, its time is up, or `stop` is set."""
    # A client whose stream was cut off may complain while it is torn down: ignore it.
    asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
    task = asyncio.ensure_future(work)
    deadline = time.monotonic() + limits.seconds

    while True:
        left = max(0.0, deadline - time.monotonic())
        await asyncio.wait({task}, timeout=min(_POLL_SECONDS, left))
        if task.done():
            return task.result()

        if limits.stop.is_set() or time.monotonic() >= deadline:
            task.cancel()
            await asyncio.wait({task}, timeout=_CANCEL_SECONDS)
            break

    if limits.stop.is_set():
        return RunOutcome(fault=Fault.STOPPED, text="it was stopped")
    text = f"it took longer than {limits.seconds:g} s"
    return RunOutcome(fault=Fault.TIMED_OUT, text=text)
