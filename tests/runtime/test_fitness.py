"""A worker serves what can be done on its machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from accordance.domain.executor_specs import AgentSpec, CommandSpec, LlmSpec
from accordance.domain.faults import Fault
from accordance.domain.routing import Route, Routing
from accordance.errors import NotServedHere
from accordance.project.home import Home
from accordance.runtime.attempt_runner import ProjectAttempts, queue_name
from accordance.runtime.fitness import Lacking, capabilities_here, lacking_executors
from accordance.store.clock import now
from accordance.store.memory import MemoryLedger
from tests.messages import edge, node, plan
from tests.runtime.stage import Stage

HERE = CommandSpec(kind="command", command=["true"])
ROUTING = Routing(
    {
        "here": HERE,
        "gone": CommandSpec(kind="command", command=["no-such-program-anywhere"]),
        "keyless": LlmSpec(kind="llm", model="gpt-5", key_env="NO_SUCH_KEY_ANYWHERE"),
        "agent": AgentSpec(kind="codex", binary="/no/such/codex"),
    },
    (Route(tags=["gpu"], executor="here", labels=["gpu"]), Route(executor="here")),
)


def test_what_cannot_start_on_this_machine(tmp_path: Path) -> None:
    """A program, a key or an agent is missing; each says which."""
    lacking = lacking_executors(ROUTING, tmp_path)
    assert set(lacking) == {"gone", "keyless", "agent"}
    assert lacking["keyless"].fault is Fault.KEY_MISSING
    assert "NO_SUCH_KEY_ANYWHERE" in lacking["keyless"].text
    assert lacking["gone"].fault is Fault.NOT_INSTALLED


def test_what_a_worker_says_of_itself() -> None:
    """Where it runs, how it isolates, how much memory there is."""
    reason = Lacking(Fault.NOT_INSTALLED, "gone: no such program")
    can = capabilities_here(frozenset({"gpu"}), 8, {"gone": reason})
    assert (can.labels, can.concurrency) == (("gpu",), 8)
    assert can.lacking == {"gone": "gone: no such program"}
    assert can.isolation in {"bwrap", "landlock", "rlimit", "none"}
    assert can.memory_mb is not None
    assert can.memory_mb > 0


@pytest.mark.parametrize(
    ("labels", "queues"),
    [
        pytest.param(set(), {"here"}, id="without labels"),
        pytest.param({"gpu"}, {"here", "here@gpu"}, id="with one"),
    ],
)
def test_the_queues_that_a_worker_serves(
    tmp_path: Path, labels: set[str], queues: set[str]
) -> None:
    """Those whose labels it has, of executors that can start there."""
    lacking = lacking_executors(ROUTING, tmp_path)
    attempts = ProjectAttempts(
        MemoryLedger(now), Home(tmp_path), ROUTING, None, frozenset(labels), lacking
    )
    assert set(attempts.queues()) == queues


def test_a_task_for_another_machine(on: Stage) -> None:
    """It says which label is lacking, and the queue in which others look for it."""
    nodes = [node("root", "GOAL"), {**node("a"), "tags": ["gpu"]}, node("b")]
    on.brings(plan(nodes, [edge("root", "a"), edge("root", "b")]))
    attempts = ProjectAttempts(on.ledger, on.home, ROUTING)
    assert attempts.queue_of(on.task("b"), None) == "here"
    with pytest.raises(NotServedHere, match="the label gpu") as refused:
        attempts.queue_of(on.task("a"), None)
    assert refused.value.queue == queue_name("here", None, ["gpu"]) == "here@gpu"
