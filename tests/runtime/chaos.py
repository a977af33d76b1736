"""Many kills, on both databases: what `make chaos` runs. KILLS and SEED are taken from the environment.

python -m tests.runtime.chaos
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile

SETTINGS = (
    ("the only process, on SQLite", "ledger.db", 1, 12),
    ("one of three, on PostgreSQL", "restart", 3, 30),
)


def main() -> int:
    """Kill, finish, and look at what is there; the exit code."""
    kills = int(os.environ.get("KILLS", "100"))
    seed = int(os.environ.get("SEED", "0")) or random.randrange(1, 1_000_000)
    failed = 0
    for name, place, workers, tasks in SETTINGS:
        with tempfile.TemporaryDirectory() as folder:
            where = place if place == "restart" else os.path.join(folder, place)  # noqa: PTH118
            words = (where, folder, kills, workers, seed, kills * tasks)
            command = [
                sys.executable,
                "-m",
                "tests.runtime.killed_workers",
                *map(str, words),
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout) if not done.returncode else {}
        is_good = found.get("killed", 0) >= kills
        failed += not is_good
        told = found or done.stderr[-2000:]
        sys.stdout.write(
            f"{name}, SEED={seed}: {'holds' if is_good else 'DOES NOT HOLD'}  {told}\n"
        )
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
