"""What this machine can do for a project: looked up once, when a worker starts."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from accordance._version import __version__
from accordance.domain.capabilities import Capabilities
from accordance.domain.executor_specs import AgentSpec, CommandSpec, Spec
from accordance.domain.faults import Fault
from accordance.domain.routing import Routing
from accordance.executors.catalogue import executor_for
from accordance.workspace.errors import IsolationUnavailable
from accordance.workspace.probing import level_for, probe

_MEGABYTE = 1 << 20
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True, slots=True)
class Lacking:
    """Why an executor cannot start on this machine."""

    fault: Fault
    text: str


def lacking_executors(routing: Routing, root: Path) -> dict[str, Lacking]:
    """Return the executors that cannot start here, each with the reason."""
    lacking = {}
    for name, spec in routing.executors.items():
        reason = _why_not(spec, root)
        if reason is not None:
            lacking[name] = Lacking(reason.fault, f"{name}: {reason.text}")
    return lacking


def _why_not(spec: Spec, root: Path) -> Lacking | None:
    executor = executor_for(spec, root)
    if executor is None:
        return None  # an outside worker does it
    outcome = executor.why_not_start()
    if outcome is not None and outcome.fault is not None:
        return Lacking(outcome.fault, outcome.text)
    if isinstance(spec, AgentSpec | CommandSpec):
        try:
            level_for(spec.isolation)
        except IsolationUnavailable as error:
            return Lacking(Fault.NOT_ISOLATED, str(error))
    return None


def capabilities_here(
    labels: frozenset[str], concurrency: int | None, lacking: dict[str, Lacking]
) -> Capabilities:
    """Return what a worker on this machine says of itself."""
    best = probe().best
    return Capabilities(
        release=__version__,
        host=socket.gethostname(),
        pid=os.getpid(),
        labels=tuple(sorted(labels)),
        isolation=best.value if best else "none",
        memory_mb=_memory_mb(),
        concurrency=concurrency,
        lacking={name: reason.text for name, reason in lacking.items()},
    )


def _memory_mb() -> int:
    """Return the memory of this machine, or what its container may use of it."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = int(_CGROUP_LIMIT.read_text())
    except (OSError, ValueError):  # there is none, or it is `max`
        limit = total
    return min(total, limit) // _MEGABYTE
