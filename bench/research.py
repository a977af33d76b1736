"""Mode collapse over 100,000 answers in a SQLite ledger: seconds and megabytes, in one run.

The answers are made up: 500 questions to four agents, and a pool of eight options, with different preferences for each
agent, inconsistent spelling and questions in no order. A process stores them as `accordance research record` does; another
opens the ledger and reports on every group. Bars for the report: 5 s and 500 MB, including start-up.

    python bench/research.py [--runs N] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from accordance.domain.research.runs import (
    Group,
    StoredAnswer,
    StoredRun,
    collapse_by_group,
)
from accordance.store.answers import AnswersInLedger
from accordance.store.opening import open_ledger

RUNS = 100_000
QUESTIONS = 500
AGENTS = ("question-shaper", "theory-architect", "design-smith", "bias-auditor")
AT_ONCE = 1000
SECONDS, MEGABYTES = 5.0, 500.0
EXAMPLE = Path(__file__).parent.parent / "examples" / "research" / "answer-1.json"


def answers(count: int) -> Iterator[StoredAnswer]:
    """Answers as agents give them, each a complete message, to all questions by turns."""
    dice = random.Random(6)
    message = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    groups = [
        Group(agent, f"{question:064x}", "agent_answer_v1")
        for agent in AGENTS
        for question in range(QUESTIONS)
    ]
    for at in range(count):
        group = groups[at * 7919 % len(groups)]
        favour = 1 + AGENTS.index(group.agent_id) * 3
        names = [f"{group.request[-3:]} Option {letter}" for letter in "ABCDEFGH"]
        selected = dice.choices(names, [favour**2, favour, 2, 1, 1, 1, 1, 1])[0]
        spelled = selected.upper() if at % 7 == 0 else selected
        time_of_day = f"{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}.{at:06}Z"
        run = StoredRun(
            group, f"2026-01-{1 + at // 86400:02}T{time_of_day}", spelled, tuple(names)
        )
        yield StoredAnswer(run, {**message, "agent_id": group.agent_id, "run": at})


def store(place: str, count: int) -> dict[str, Any]:
    """Store the answers, a thousand in a transaction."""
    ledger = open_ledger(place)
    kept, left = AnswersInLedger(ledger.engine), list(answers(count))
    started = time.perf_counter()
    for at in range(0, count, AT_ONCE):
        kept.add(left[at : at + AT_ONCE])
    seconds = time.perf_counter() - started
    ledger.close()
    return {"seconds": seconds, "file_megabytes": Path(place).stat().st_size / 1e6}


def report(place: str) -> dict[str, Any]:
    """Do what `accordance research collapse` does."""
    started = time.perf_counter()
    ledger = open_ledger(place, create=False)
    reports = collapse_by_group(AnswersInLedger(ledger.engine).runs())
    ledger.close()
    return {
        "groups": len(reports),
        "collapsed": sum(report.status == "collapsed" for report in reports.values()),
        "seconds": time.perf_counter() - started,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def apart(*words: str) -> dict[str, Any]:
    """Run a part of this program in a process of its own; return its result and its seconds."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, *words], capture_output=True, check=True
    )
    return {**json.loads(done.stdout), "process_seconds": time.perf_counter() - started}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--store", metavar="LEDGER", help=argparse.SUPPRESS)
    parser.add_argument("--report", metavar="LEDGER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.store:
        print(json.dumps(store(options.store, options.runs)))
        return
    if options.report:
        print(json.dumps(report(options.report)))
        return
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder) / "ledger.db")
        stored = apart("--store", place, "--runs", str(options.runs))
        collapse = apart("--report", place)
    if options.json:
        print(
            json.dumps({"runs": options.runs, "stored": stored, "collapse": collapse})
        )
        return
    print(
        f"storing {options.runs:,} answers: {stored['seconds']:.2f} s, a ledger of {stored['file_megabytes']:.0f} MB"
    )
    print(
        f"collapse over {collapse['groups']:,} groups ({collapse['collapsed']:,} collapsed): {collapse['seconds']:.2f} s, "
        f"{collapse['process_seconds']:.2f} s with start-up, {collapse['megabytes']:.0f} MB"
    )
    held = collapse["process_seconds"] <= SECONDS and collapse["megabytes"] <= MEGABYTES
    print(
        f"at most {SECONDS:g} s and {MEGABYTES:g} MB: {'HOLDS' if held else 'DOES NOT HOLD'}"
    )


if __name__ == "__main__":
    main()
