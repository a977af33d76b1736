"""What finishing a node costs in a plan, in memory: at 100, 1,000, 10,000 and 100,000 nodes, in one run.

A layered plan: every node waits for about two nodes of the previous layer. Median CPU time of finishing a node (claim,
produce, approve) over many nodes; only the ratio is meaningful. Bar: 100,000 nodes at most 1.5x of 1,000.

    python bench/progress.py [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time

from accordance import check_value
from accordance.domain.lifecycle import Event
from accordance.domain.plan import plan_graph
from accordance.domain.progress import PlanInMemory, begin

SIZES = (100, 1_000, 10_000, 100_000)
WIDTH = 50
BAR = 1.5
PLAN_ID = "bench"


def message(count: int) -> dict[str, object]:
    """A layered plan of this many nodes under a single root."""
    names = [f"task-{at:06}" for at in range(count)]
    common = {"plan_id": PLAN_ID, "owner_agent_id": "bench", "priority": 0, "tags": []}
    nodes = [
        {
            "task_id": "the-root-of-the-whole-plan",
            "node_type": "GOAL",
            "title": "all",
            **common,
        }
    ]
    nodes += [
        {"task_id": name, "node_type": "ACTION", "title": name, **common}
        for name in names
    ]
    edges = [_edge("the-root-of-the-whole-plan", name, "DECOMPOSE") for name in names]
    for at in range(WIDTH, count):
        above = at - WIDTH
        edges += [
            _edge(names[source], names[at], "DEPENDS_ON")
            for source in {above, above - above % WIDTH}
        ]
    head = {
        "plan_id": PLAN_ID,
        "title": "bench",
        "root_task_id": "the-root-of-the-whole-plan",
    }
    head |= {
        "created_at": "2026-01-01T00:00:00Z",
        "owner_agent_id": "bench",
        "constraints": None,
    }
    return {"plan": head, "nodes": nodes, "edges": edges, "requirements": []}


def _edge(source: str, target: str, kind: str) -> dict[str, object]:
    ends = {
        "edge_id": f"{kind}:{source}:{target}",
        "plan_id": PLAN_ID,
        "from_task_id": source,
        "to_task_id": target,
    }
    return {
        **ends,
        "edge_type": kind,
        "metadata": {"and_or": "AND"} if kind == "DECOMPOSE" else {},
    }


def measure(count: int) -> dict[str, float]:
    """The seconds that checking, beginning and finishing a node take."""
    raw = message(count)
    started = time.process_time()
    accepted = check_value(raw, "PLAN_GEN")
    checked = time.process_time()
    plan = begin(plan_graph(accepted.value))
    begun = time.process_time()
    gc.collect()
    gc.disable()
    finishing = [_finish_one(plan, f"task-{at:06}") for at in range(min(count, 2_000))]
    gc.enable()
    return {
        "check": checked - started,
        "begin": begun - checked,
        "finish_one": statistics.median(finishing),
    }


def _finish_one(plan: PlanInMemory, task: str) -> float:
    started = time.process_time_ns()
    for event in (Event.CLAIMED, Event.PRODUCED, Event.APPROVED):
        plan.move(task, event)
    return (time.process_time_ns() - started) / 1e9


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    by_size = {count: measure(count) for count in SIZES}
    if options.json:
        print(json.dumps(by_size))
        return
    for count, row in by_size.items():
        print(
            f"{count:>8,} nodes  check {row['check']:6.2f} s  begin {row['begin']:6.2f} s  finish a node {row['finish_one'] * 1e6:7.1f} us"
        )
    ratio = by_size[100_000]["finish_one"] / by_size[1_000]["finish_one"]
    print(
        f"\nfinishing a node at 100,000 <= {BAR}x of 1,000: {ratio:.2f}x {'HOLDS' if ratio <= BAR else 'DOES NOT HOLD'}"
    )


if __name__ == "__main__":
    main()
