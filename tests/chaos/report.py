"""What is left after the faults: every effect once, or how many were lost and doubled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from accordance.audit.verifying import verify_plan
from accordance.domain.lifecycle import State
from accordance.domain.records import MessageRecord, VerdictRecord
from accordance.store.ledger import Ledger
from tests.messages import PLAN

_EFFECTS: Final = ("ACTION", "REVIEW", "DONE")
"""What each task must have exactly once: an accepted product, an accepted review, a verdict."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What happened, and whether everything holds."""

    wanted: int
    faults: Mapping[str, int]
    tasks: int
    runs: int
    cut_off: int  # runs that ended with their worker
    given_again: int  # tasks that lost too many workers, and got another chance
    lost: int
    doubled: int
    chain_breaks: tuple[str, ...]
    died: tuple[str, ...]  # workers that ended by an error
    takeovers: tuple[float, ...]  # seconds from a kill to the same run elsewhere
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether there were enough faults, and nothing is lost, doubled or broken."""
        is_whole = not (self.lost or self.doubled or self.chain_breaks or self.died)
        return is_whole and sum(self.faults.values()) >= self.wanted

    def __str__(self) -> str:
        kinds = [f"{count} {name}" for name, count in sorted(self.faults.items())]
        lines = [
            f"  faults         {sum(self.faults.values())}: {', '.join(kinds)}",
            f"  tasks          {self.tasks:,}, runs {self.runs:,}, cut off {self.cut_off:,}",
            f"  another chance {self.given_again}",
            f"  effects lost   {self.lost}",
            f"  doubled        {self.doubled}",
            f"  chain breaks   {len(self.chain_breaks)}",
            f"  take-over      {_spread(self.takeovers)}",
            f"  time           {self.seconds:.0f} s",
        ]
        lines += [f"  break          {text}" for text in self.chain_breaks[:5]]
        lines += [f"  worker died    {text[-1500:]}" for text in self.died[:3]]
        lines.append("  holds" if self.holds else "  DOES NOT HOLD")
        return "\n".join(lines)


def _spread(seconds: tuple[float, ...]) -> str:
    if not seconds:
        return "no run had to be taken over"
    return f"{len(seconds)} runs, median {median(seconds):.1f} s, longest {max(seconds):.1f} s"


class Effects(NamedTuple):
    """How often each effect is in the ledger."""

    tasks: int
    lost: int
    doubled: int


def effects_in(ledger: Ledger) -> Effects:
    """Count the effects of all tasks."""
    with ledger.read() as tx:
        tasks = [task for task in tx.tasks(PLAN) if task.is_work]
        messages = tx.find(MessageRecord, plan_id=PLAN, accepted=True)
        verdicts = tx.find(VerdictRecord, plan_id=PLAN, outcome="DONE")
    counts: Counter[tuple[str, str]] = Counter()
    counts.update((message.subject, message.kind) for message in messages)
    counts.update((verdict.subject, "DONE") for verdict in verdicts)

    lost = doubled = 0
    for task in tasks:
        lost += task.progress.state is not State.DONE
        for effect in _EFFECTS:
            count = counts[task.task_id, effect]
            lost += count < 1
            doubled += max(0, count - 1)
    return Effects(len(tasks), lost, doubled)


def chain_breaks_in(ledger: Ledger) -> tuple[str, ...]:
    """Recompute the whole plan; return what differs."""
    with ledger.read() as tx:
        result = verify_plan(tx, tx.plan(PLAN))
    return tuple(str(problem) for problem in (*result.integrity, *result.completeness))


class Runs(NamedTuple):
    """What the log of all runs says."""

    begun: int
    cut_off: int
    takeovers: tuple[float, ...]


def runs_in(log: Path, killed: Mapping[int, float]) -> Runs:
    """Read the log. `killed` says when each process was killed."""
    open_runs: dict[tuple[str, str], float] = {}
    begun = ended = 0
    for at, what, pid, run in _lines(log):
        if what == "begin":
            begun += 1
            open_runs[pid, run] = at
        else:
            ended += 1
            open_runs.pop((pid, run), None)

    awaited = {run: killed[int(pid)] for pid, run in open_runs if int(pid) in killed}
    takeovers = []
    for at, what, _, run in _lines(log):
        since = awaited.get(run)
        if what == "begin" and since is not None and at > since:
            takeovers.append(at - since)
            del awaited[run]
    return Runs(begun, begun - ended, tuple(takeovers))


def _lines(log: Path) -> Iterable[tuple[float, str, str, str]]:
    for line in log.read_text().splitlines():
        at, what, pid, run = line.split(" ", 3)
        yield float(at), what, pid, run
