"""`make chaos`: many faults on SQLite and PostgreSQL, and a report. FAULTS and SEED come from the environment."""

from __future__ import annotations

import os
import random
import sys

from tests.chaos.report import Report
from tests.chaos.story import tell


def main() -> int:
    """Break things, let the plans be finished, and say what is there; return the exit code."""
    faults = int(os.environ.get("FAULTS", "500"))
    seed = int(os.environ.get("SEED", "0")) or random.randrange(1, 1_000_000)
    on_sqlite = faults // 5
    settings = (("sqlite", on_sqlite), ("postgresql", faults - on_sqlite))

    is_good = True
    for database, count in settings:
        sys.stdout.write(f"{database}: {count} faults, SEED={seed}\n")
        sys.stdout.flush()
        report: Report = tell(database, count, seed)
        sys.stdout.write(f"{report}\n")
        is_good = is_good and report.holds
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
