"""Workers that are killed again and again. Run as a process of its own: it forks them, so it must have one thread.

python -m tests.runtime.killed_workers PLACE|restart FOLDER KILLS WORKERS SEED TASKS

PLACE is a SQLite file or a PostgreSQL URL; `restart` brings a PostgreSQL server of its own, which is restarted now and then.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

from accordance.domain.lifecycle import State
from accordance.domain.records import MessageRecord, VerdictRecord
from accordance.errors import LedgerError
from accordance.executors.protocol import RunOutcome
from accordance.runtime.ports import LOCAL, TaskAttempt
from accordance.runtime.workers import worker_name
from accordance.work.taking import NoTaskReason
from accordance.work.tasks import retry
from tests.messages import PLAN
from tests.postgresql import OwnServer
from tests.runtime.stage import Stage, lanes, said, stage

BEAT, DEAD = 0.3, 2.0
RESTART_EVERY = 20
LOG = "ran.log"
HURRY = "hurry"  # enough were killed


def work(place: str, folder: Path, seed: int, *, shared: bool) -> NoTaskReason | None:
    """Work until nothing is left to do."""
    dice = random.Random(seed)
    log = (folder / LOG).open("ab", buffering=0)

    def run(one: TaskAttempt, stop: threading.Event) -> RunOutcome:
        name = f"{os.getpid()} {one.task_id} {one.kind} {one.number}"
        log.write(f"begin {name}\n".encode())
        if not (folder / HURRY).exists():  # so that there is work left to be killed at
            stop.wait(dice.uniform(0, 2.0 if shared else 0.05))
        log.write(f"end {name}\n".encode())
        return said(one, f"{one.task_id} {dice.random()}")

    runner = stage(place, folder).runner(
        run,
        worker_id=worker_name() if shared else LOCAL,
        beat_seconds=BEAT,
        dead_after=DEAD,
        plan_id=PLAN,
    )
    return runner.until_it_rests()


def fork(place: str, folder: Path, seed: int, *, shared: bool) -> int:
    """A worker in a process of its own."""
    pid = os.fork()
    if not pid:
        try:
            while True:
                try:
                    work(place, folder, seed, shared=shared)
                    break
                except LedgerError:  # it began while the database was away: whoever looks after it begins it again
                    time.sleep(BEAT)
        except BaseException:  # noqa: BLE001
            (folder / f"died-{os.getpid()}").write_text(traceback.format_exc())
        finally:
            os._exit(0)
    return pid


def begun(folder: Path) -> str:
    """What workers have begun and ended."""
    log = folder / LOG
    return log.read_text() if log.exists() else ""


def ended(pid: int) -> bool:
    return os.waitpid(pid, os.WNOHANG)[0] == pid


def kill(pid: int) -> bool:
    """Kill it; whether it still lived."""
    os.kill(pid, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


class Workers:
    """So many workers, of which one after the other is killed."""

    def __init__(self, place: str, folder: Path, count: int, seed: int) -> None:
        self.place, self.folder, self.seed = place, folder, seed
        self.dice = random.Random(seed)
        self.shared = count > 1
        self.pids = [self._start() for _ in range(count)]
        self.killed = 0

    def _start(self) -> int:
        self.seed += 1
        return fork(self.place, self.folder, self.seed, shared=self.shared)

    def lose_one(self) -> bool:
        """Kill one that works, at a random point, and begin another; whether there was one to kill."""
        while not (at_work := self._at_work()):
            time.sleep(0.02)
            self.pids = [pid for pid in self.pids if not ended(pid)]
            if not self.pids:
                return False
        at = self.dice.choice(at_work)
        pid = self.pids[at]
        time.sleep(self.dice.uniform(0, 0.4))
        if ended(pid):
            self.pids.remove(pid)
            return bool(self.pids)
        self.killed += kill(pid)
        self.pids[at] = self._start()
        return True

    def _at_work(self) -> list[int]:
        """Those that have begun something."""
        log = begun(self.folder)
        return [at for at, pid in enumerate(self.pids) if f"begin {pid} " in log]

    def freeze_one(self) -> None:
        """Let one sleep until the others take it for dead, and wake it again: what it had is not its own any more."""
        pid = self.dice.choice(self.pids)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(DEAD + 5 * BEAT)
        os.kill(pid, signal.SIGCONT)

    def await_end(self) -> None:
        """Until the last of them has ended by itself."""
        for pid in self.pids:
            os.waitpid(pid, 0)


def finish(place: str, folder: Path, seed: int) -> None:
    """Let one worker finish what is left; a task that lost too many workers gets another chance."""
    for again in range(20):
        pid = fork(place, folder, seed + 1000 + again, shared=not place.endswith(".db"))
        os.waitpid(pid, 0)
        on = stage(place, folder)
        blocked = [
            name for name, state in on.states().items() if state == State.BLOCKED
        ]
        for name in blocked:
            if on.task(name).is_work:
                retry(on.ledger, name, by="test")
        is_done = on.task("root").progress.state is State.DONE
        on.ledger.close()
        if is_done:
            return
    raise AssertionError("the plan does not come to its end")


def held(on: Stage) -> dict[str, int]:
    """Everything holds: one accepted product and one approval for each task, nothing doubled, nothing lost."""
    assert on.holds()
    with on.ledger.read() as tx:
        tasks = [task for task in tx.tasks(PLAN) if task.is_work]
        accepted = Counter(
            (one.subject, one.kind)
            for one in tx.find(MessageRecord, plan_id=PLAN, accepted=True)
        )
        done = Counter(
            one.subject for one in tx.find(VerdictRecord, plan_id=PLAN, outcome="DONE")
        )
    for task in tasks:
        assert task.progress.state is State.DONE, task
        assert accepted[task.task_id, "ACTION"] == 1, task.task_id
        assert accepted[task.task_id, "REVIEW"] == 1, task.task_id
        assert done[task.task_id] == 1, task.task_id
    assert not [died.read_text() for died in on.home.root.glob("died-*")]
    lines = begun(on.home.root).splitlines()
    runs = [line.split(" ", 2)[2] for line in lines if line.startswith("begin")]
    ends = sum(line.startswith("end") for line in lines)
    return {
        "tasks": len(tasks),
        "runs": len(runs),
        "cut_off": len(runs) - ends,
        "again": len(runs) - len(set(runs)),
    }


def main(words: list[str]) -> None:
    """Kill so many, then let the rest be finished, and look at what is there."""
    place, folder = words[0], Path(words[1])
    kills, workers, seed, tasks = (int(word) for word in words[2:6])
    server = OwnServer() if place == "restart" else None
    if server is not None:
        place = server.start()
    restarts = 0
    wide = 4 * workers  # a worker that has slots left takes up what there is
    stage(place, folder).brings(lanes(tasks, wide)).ledger.close()
    crew = Workers(place, folder, workers, seed)
    frozen = 0
    while crew.killed < kills and crew.lose_one():
        if workers > 1 and crew.killed % RESTART_EVERY == 1:
            crew.freeze_one()
            frozen += 1
        if server is not None and crew.killed % RESTART_EVERY == 0:
            server.stop()
            server.start()
            restarts += 1
    if server is not None:  # under load, at least once
        server.stop()
        server.start()
        restarts += 1
    (folder / HURRY).touch()
    crew.await_end()
    finish(place, folder, seed)
    on = stage(place, folder)
    sys.stdout.write(
        json.dumps(
            {"killed": crew.killed, "frozen": frozen, "restarts": restarts, **held(on)}
        )
    )
    on.ledger.close()
    if server is not None:
        server.remove()


if __name__ == "__main__":
    main(sys.argv[1:])
