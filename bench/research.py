"""Mode collapse over 100,000 kept answers: seconds and megabytes, in one run.

The runs are made up: 500 questions to four agents, a pool of eight options that each agent favours its own way, times in no
order of the questions. Measured is what is done with them once they are read: tally and report of every group. Bars: 5 s of
CPU time and 500 MB for the whole process.

    python bench/research.py [--runs N] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
from collections.abc import Iterator

from accordance.domain.research.runs import Group, Run, collapse_by_group

RUNS = 100_000
QUESTIONS = 500
AGENTS = ("question-shaper", "theory-architect", "design-smith", "bias-auditor")
SECONDS, MEGABYTES = 5.0, 500.0


def runs(count: int) -> Iterator[Run]:
    """Runs as a store streams them: by group, each in the order of time. Names are spelled carelessly."""
    dice = random.Random(6)
    groups = [
        Group(agent, f"{question:064x}", "agent_answer_v1")
        for agent in AGENTS
        for question in range(QUESTIONS)
    ]
    for at in range(count):
        group = groups[at * len(groups) // count]
        favour = 1 + AGENTS.index(group.agent_id) * 3
        names = [f"{group.request[-3:]} Option {letter}" for letter in "ABCDEFGH"]
        selected = dice.choices(names, [favour**2, favour, 2, 1, 1, 1, 1, 1])[0]
        spelled = selected.upper() if at % 7 == 0 else selected
        yield Run(group, f"2026-01-01T00:00:{at:011.6f}Z", spelled, tuple(names))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    made = time.process_time()
    for _ in runs(options.runs):
        pass
    started = time.process_time()
    reports = collapse_by_group(runs(options.runs))
    ended = time.process_time()
    seconds = (ended - started) - (started - made)  # without making them up
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    collapsed = sum(one.status == "collapsed" for one in reports.values())
    found = {
        "runs": options.runs,
        "groups": len(reports),
        "collapsed": collapsed,
        "seconds": seconds,
        "megabytes": megabytes,
    }
    if options.json:
        print(json.dumps(found))
        return
    print(
        f"{options.runs:,} runs, {len(reports):,} groups, {collapsed:,} collapsed: {seconds:.2f} s, {megabytes:.0f} MB"
    )
    held = seconds <= SECONDS and megabytes <= MEGABYTES
    print(f"at most {SECONDS:g} s and {MEGABYTES:g} MB: {'HOLDS' if held else 'DOES NOT HOLD'}")


if __name__ == "__main__":
    main()
