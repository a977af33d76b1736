"""How long a command takes to start: `accordance --version` compared with a bare click program, in one run.

Median wall time of many runs, taking turns; on a busy machine only the ratio is meaningful. Bar: at most 2x.

    python bench/startup.py [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

BARE = """
import click

@click.group()
@click.version_option("1.0", prog_name="bare")
def app(): ...

app(["--version"])
"""
CASES = {
    "python -c pass": ["-c", "pass"],
    "a bare click program": ["-c", BARE],
    "accordance --version": ["-m", "accordance.cli.main", "--version"],
    "accordance --help": ["-m", "accordance.cli.main", "--help"],
    "accordance explain cycle": ["-m", "accordance.cli.main", "explain", "cycle"],
    "accordance check FILE": [
        "-m",
        "accordance.cli.main",
        "check",
        "examples/messages/submit-done.json",
    ],
}
BAR = 2.0


def measure(rounds: int) -> dict[str, float]:
    """Median seconds of each case, taking turns."""
    taken: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(rounds):
        for name, arguments in CASES.items():
            started = time.perf_counter()
            subprocess.run(
                [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL
            )
            taken[name].append(time.perf_counter() - started)
    return {name: statistics.median(times) for name, times in taken.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    medians = measure(options.rounds)
    bare = medians["a bare click program"]
    if options.json:
        print(
            json.dumps(
                {
                    name: {"seconds": seconds, "ratio": seconds / bare}
                    for name, seconds in medians.items()
                }
            )
        )
        return
    for name, seconds in medians.items():
        print(
            f"{name:<28} {seconds * 1000:7.1f} ms  {seconds / bare:5.2f}x a bare click program"
        )
    ratio = medians["accordance --version"] / bare
    print(
        f"\naccordance --version <= {BAR}x a bare click program: {ratio:.2f}x {'HOLDS' if ratio <= BAR else 'DOES NOT HOLD'}"
    )


if __name__ == "__main__":
    main()
