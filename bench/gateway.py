"""What the gateway costs: a snapshot of 100,000 files and the scope check, compared with `git status`.

Then a complete judgement of a small repository, including the bundle, compared with its tests alone:
at most 1 s + 10 % more, once the results of the base are cached. On a busy machine, only the
CPU time is meaningful here.

The files of the tree have about 12 kB, like source files. Medians of several runs; only ratios are meaningful.

    python bench/gateway.py [--files 100000] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from accordance import Pins, judge
from accordance.domain.facts import IsolationLevel
from accordance.workspace.attempt_setting import AttemptSetting
from accordance.workspace.clone import clone
from accordance.workspace.collecting import base_snapshot, collect
from accordance.workspace.difference import difference
from accordance.workspace.evidence import EvidenceRequest
from accordance.workspace.git import resolve
from accordance.workspace.isolation import CommandLimits, Room
from accordance.workspace.probing import probe
from accordance.workspace.running import run
from accordance.workspace.snapshot import take_snapshot

FILES, PER_FOLDER, BYTES = 100_000, 100, 12_000
ROUNDS = 3
PATTERNS = [f"packages/module-{number}/**/src/*" for number in range(50)]


def make_tree(root: Path, count: int) -> None:
    """This many files in folders of a hundred."""
    text = (
        "x = 1  # a line of code as long as many others are\n" * (BYTES // 50)
    ).encode()
    for number in range(count):
        folder = (
            root
            / f"package-{number // (PER_FOLDER * 20)}"
            / f"module-{number // PER_FOLDER}"
        )
        if number % PER_FOLDER == 0:
            folder.mkdir(parents=True)
        (folder / f"file_{number}.py").write_bytes(b"%d\n" % number + text)


def git(root: Path, *command: str) -> None:
    """Run git as a user would."""
    settings = (
        "-c",
        "user.name=bench",
        "-c",
        "user.email=bench@localhost",
        "-c",
        "gc.auto=0",
    )
    subprocess.run(
        ("git", *settings, *command), cwd=root, check=True, capture_output=True
    )


def timed(action: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The median of several runs, in seconds."""
    took = []
    for _ in range(rounds):
        gc.collect()
        began = time.perf_counter()
        action()
        took.append(time.perf_counter() - began)
    return statistics.median(took)


def computed(action: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The median CPU time of several runs, including children."""
    took = []
    for _ in range(rounds):
        before = sum(os.times()[:4])
        action()
        took.append(sum(os.times()[:4]) - before)
    return statistics.median(took)


def of_trees(count: int) -> dict[str, float]:
    """Snapshots, their difference, the scope check, and git for comparison."""
    with tempfile.TemporaryDirectory(prefix="accordance-bench-") as folder:
        root = Path(folder) / "tree"
        make_tree(root, count)
        git(root, "init", "--quiet")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message=bench")
        before = take_snapshot(root)
        (root / "package-0/module-0/file_0.py").write_text("changed\n", "utf-8")
        after = take_snapshot(root)
        pins = Pins.of(PATTERNS, ["**/secrets/**"])
        paths = [path for path in after.entries if path.endswith(".py")]
        return {
            "snapshot": timed(lambda: take_snapshot(root)),
            "difference": timed(lambda: difference(before, after)),
            "scope of every path": timed(lambda: [pins.rule(path) for path in paths]),
            "git status": timed(lambda: git(root, "status", "--porcelain")),
            "git status, index gone": timed(lambda: _without_index(root)),
        }


def _without_index(root: Path) -> None:
    """Make git read every file, as a snapshot does."""
    (root / ".git/index").unlink()
    git(root, "reset", "--quiet")
    git(root, "status", "--porcelain")


def of_attempts() -> dict[str, float]:
    """A small repository: collecting all facts, its test alone, and a bare command at each level."""
    command = "python -c 'import time; time.sleep(0.2)'"
    with tempfile.TemporaryDirectory(prefix="accordance-bench-") as folder:
        root = Path(folder) / "small"
        make_tree(root, 200)
        git(root, "init", "--quiet")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message=bench")
        seconds = {
            "the test alone": timed(
                lambda: subprocess.run(command, shell=True, check=True), 5
            )
        }
        number = iter(range(1_000))

        def attempt() -> None:
            place = Path(folder) / f"attempt-{next(number)}"
            workspace = clone(root, place)
            before = base_snapshot(workspace)
            (workspace.work / "package-0/module-0/file_0.py").write_text(
                "changed\n", "utf-8"
            )
            request = EvidenceRequest.usually("bench", (command,))
            collect(
                workspace,
                before,
                place / "scratch",
                request,
                AttemptSetting(limits=CommandLimits(seconds=60)),
            )

        seconds["clone, snapshots, patch, evidence, test"] = timed(attempt, 5)
        for level in (probed.level for probed in probe().levels if probed.works):
            seconds[f"true, isolated by {level}"] = timed(
                lambda level=level: _bare(Path(folder), level, next(number)), 5
            )  # type: ignore[misc]
        seconds["true, bare"] = timed(
            lambda: subprocess.run("true", shell=True, check=True), 5
        )
        return seconds


SUITE = """import unittest
class Suite(unittest.TestCase):
    def test_all(self):
        import module, time
        time.sleep(0.5)
        self.assertEqual(module.last([1, 2]), 2)
if __name__ == "__main__":
    unittest.main()
"""


def of_judging() -> dict[str, float]:
    """A small repository with a small suite: the tests alone, and a complete judgement."""
    command = "python -B -m unittest -q tests/test_suite.py"
    with tempfile.TemporaryDirectory(prefix="accordance-bench-") as folder:
        root = Path(folder) / "repository"
        make_tree(root, 200)
        (root / "tests").mkdir()
        (root / "tests/test_suite.py").write_text(SUITE, "utf-8")
        (root / "module.py").write_text(
            "def last(items):\n    return items[0]\n", "utf-8"
        )
        git(root, "init", "--quiet")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message=bench")
        (root / "module.py").write_text(
            "def last(items):\n    return items[-1]\n", "utf-8"
        )
        task = {
            "task_id": "72c84e9c-0975-4c1a-b9a5-864c2725dc8a",
            "goal": "Return the last item.",
            "role": "engineer",
            "pins": {"allowed_paths": ["module.py"]},
            "allowedTests": [command],
        }
        number = iter(range(1, 1_000))
        base = resolve(root, "HEAD")

        def whole() -> None:
            judgement = judge(
                task,
                repo=root,
                base=base,
                attempt=next(number),
                artifacts=Path(folder) / "kept",
            )
            if not judgement:
                raise SystemExit(judgement.verdict.reason)

        def alone() -> None:
            words = [sys.executable, *command.split()[1:]]
            subprocess.run(words, cwd=root, check=True, capture_output=True)

        probe()  # once per process, and not part of a judgement
        whole()  # also runs the tests on the base, and caches the results
        bare, judged = timed(alone, 5), timed(whole, 5)
        bare_work, judged_work = computed(alone, 5), computed(whole, 5)
        return {
            "the tests alone": bare,
            "a whole judgement": judged,
            "overhead": judged - bare,
            "the tests alone, CPU": bare_work,
            "a whole judgement, CPU": judged_work,
            "overhead, CPU": judged_work - bare_work,
        }


def _bare(folder: Path, level: IsolationLevel, number: int) -> None:
    room = Room(folder / f"room-{number}")
    room.prepare(level)
    run("true", room, folder / f"log-{number}", level=level)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    trees, attempts, judging = of_trees(options.files), of_attempts(), of_judging()
    if options.json:
        print(
            json.dumps(
                {
                    "files": options.files,
                    "cores": os.cpu_count(),
                    "trees": trees,
                    "attempts": attempts,
                    "judging": judging,
                }
            )
        )
        return
    print(f"{options.files:,} files of {BYTES:,} bytes")
    for name, took in trees.items():
        print(f"  {name:<42}{took:8.3f} s")
    print("a repository of 200 files, a test of 0.2 s")
    for name, took in attempts.items():
        print(f"  {name:<42}{took:8.3f} s")
    print("a repository of 200 files, a suite of 0.5 s")
    for name, took in judging.items():
        print(f"  {name:<42}{took:8.3f} s")


if __name__ == "__main__":
    main()
