"""A writer that is killed again and again. Run as a process of its own: it forks the writers, so it must have one thread.

python -m tests.ledger.killed_writer LEDGER FOLDER KILLS SEED
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from accordance import check_value
from accordance.audit.verifying import verify_plan
from accordance.domain.lifecycle import State
from accordance.domain.records import Rules
from accordance.domain.verdict import Outcome
from accordance.project.home import Home
from accordance.store.ledger import Ledger
from accordance.store.opening import open_ledger
from accordance.work.importing import import_plan
from accordance.work.intake import submit
from accordance.work.reviewing import review
from accordance.work.taking import NoTaskReason, Taken, take_next
from accordance.work.tasks import retry
from tests.messages import ACTION, PLAN, Message, edge, node, plan
from tests.reviews import node_review

NODES = 60
VERIFY_EVERY = 25


def large_plan() -> Message:
    """A goal over layers of actions, each waiting for two of the layer before."""
    names = [f"n{at}" for at in range(NODES)]
    edges = [edge("root", name) for name in names]
    edges += [
        edge(names[at - back], names[at], "DEPENDS_ON")
        for at in range(6, NODES)
        for back in (5, 6)
    ]
    return plan([node("root", "GOAL"), *(node(name) for name in names)], edges)


def message(taken: Taken, dice: random.Random) -> bytes:
    """Mostly a product, now and then something that cannot be read."""
    if dice.random() < 0.1:
        return b"no JSON, " + str(dice.random()).encode()
    content = {
        "name": "text",
        "format": "md",
        "content": f"{taken.task.task_id} {dice.random()}",
    }
    return json.dumps(
        {**ACTION, "task_id": taken.task.task_id, "artifact": content}
    ).encode()


def work(ledger: Ledger, home: Home, dice: random.Random) -> bool:
    """Do one thing. False when there is nothing left to do."""
    taken = take_next(ledger, [], holder=str(os.getpid()), seconds=1)
    if taken is NoTaskReason.WAITING:
        for task in blocked(ledger):
            retry(ledger, task, by="test")
        return True
    if isinstance(taken, NoTaskReason):
        return taken is not NoTaskReason.FINISHED
    if taken.kind == "action":
        answer = submit(ledger, home, message(taken, dice), task_id=taken.task.task_id)
        assert answer.content["outcome"] in (None, Outcome.RETRY, Outcome.ESCALATE)
    else:
        score = dice.choice([95, 95, 95, 60])
        review(ledger, json.dumps(node_review(taken.task.task_id, score)).encode())
    return True


def blocked(ledger: Ledger) -> list[str]:
    with ledger.read() as tx:
        return [task.task_id for task in tx.tasks(PLAN, State.BLOCKED) if task.is_work]


def child(place: str, home: Home, seed: int) -> None:
    """Write until killed."""
    ledger, dice = open_ledger(place), random.Random(seed)
    while work(ledger, home, dice):
        pass
    os._exit(0)


def verified(ledger: Ledger) -> State:
    """The ledger holds. The root's state."""
    with ledger.read() as tx:
        found = verify_plan(tx, tx.plan(PLAN))
        assert found.holds, (found.integrity, found.completeness)
        return tx.progress("root").state


def main(place: str, folder: str, kills: int, seed: int) -> None:
    """Kill so many writers, look at the ledger now and then, then let one finish the work."""
    dice, home = random.Random(seed), Home(Path(folder))
    result = check_value(large_plan(), "PLAN_GEN")
    ledger = open_ledger(place)
    import_plan(ledger, result.value, Rules(), waived_by="test")  # type: ignore[union-attr]
    ledger.close()
    done = 0
    for at in range(kills):
        pid = os.fork()
        if not pid:
            child(place, home, seed + at)
        time.sleep(dice.uniform(0.004, 0.06))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        done += os.WIFSIGNALED(status)
        if at % VERIFY_EVERY == 0:
            ledger = open_ledger(place)
            verified(ledger)
            ledger.close()
    ledger = open_ledger(place)
    before = verified(ledger)
    while work(ledger, home, dice):
        if taken_count(ledger):
            time.sleep(0.05)
    assert verified(ledger) is State.DONE
    sys.stdout.write(json.dumps({"killed": done, "before": before}))


def taken_count(ledger: Ledger) -> int:
    """How many tasks somebody who is gone still holds: their leases run out within a second."""
    with ledger.read() as tx:
        return tx.count_states(PLAN).get(State.IN_PROGRESS, 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
