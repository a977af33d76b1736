"""Where a node of a plan stands, and which signals its neighbours get from it.

Every node carries small counters (prerequisites that are missing, parts that are open,
done or dead), so that a move costs what its neighbours cost, whatever the plan's size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from accordance.domain.lifecycle import AT_THE_BEGINNING, Event, State, TaskStanding
from accordance.domain.plan import NodeLinks


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProgress:
    """The standing of a node, and the counts that decide when it may move."""

    standing: TaskStanding = AT_THE_BEGINNING
    active: bool = True
    """It is neither passed over as a candidate, nor below such a candidate."""
    excused: bool = False  # no longer waited for: another candidate did its job
    waits_on: int = 0  # prerequisites that are missing
    closed_gates: int = 0  # parents whose own prerequisites are missing
    missing_inputs: int = 0  # required inputs that have no answer yet
    open_parts: int = 0
    done_parts: int = 0
    dead_parts: int = 0

    @property
    def state(self) -> State:
        """The state of the standing."""
        return self.standing.state


class NodeMove(NamedTuple):
    """A node that moved: by which event, from where, to where.

    `event` is None where only counts changed.
    """

    task_id: str
    event: Event | None
    before: NodeProgress
    after: NodeProgress


class Neighbourhood(Protocol):
    """What a move needs to see: a node's neighbours and its progress."""

    def node(self, task: str) -> NodeLinks:
        """Return the node with its neighbours."""
        ...

    def progress(self, task: str) -> NodeProgress:
        """Return where the node stands."""
        ...


class Signals(NamedTuple):
    """What the neighbours of a node can see of it."""

    satisfies: bool  # its dependents may go ahead
    to_check: bool  # its product can be reviewed
    is_open: bool
    is_done: bool
    is_dead: bool
    gate_is_open: bool  # it holds none of its parts back; an inactive goal never does

    @property
    def as_a_part(self) -> tuple[bool, bool, bool]:
        """What its parents count."""
        return (self.is_open, self.is_done, self.is_dead)


def signals_of(node: NodeLinks, progress: NodeProgress) -> Signals:
    """Return the signals of a node at this point."""
    state = progress.state
    active = progress.active

    done = state is State.DONE
    dead = active and state is State.DEAD_LETTER
    satisfies = done or progress.excused
    waits = bool(progress.waits_on or progress.closed_gates)
    holds_parts_back = active and waits

    return Signals(
        satisfies=satisfies,
        to_check=satisfies or state is State.READY_TO_CHECK,
        is_open=active and not done and not dead,
        is_done=active and done,
        is_dead=dead,
        gate_is_open=not node.is_work and not holds_parts_back,
    )
