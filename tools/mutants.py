"""Break the code on purpose and see whether a test notices: `make mutants`.

Each mutant changes an expression in a line. Only the tests that run this line are run
against it, so two hundred mutants take minutes. Which tests run which line is measured
once and cached until a source or a test changes. A mutant whose line no test runs survives.

Tests that start no process notice most mutants, and `tools/warm_mutants.py` tries
these first. Only what they do not notice is tried in an interpreter of its own, on a copy
of the sources, with the other tests too.

`python -m tools.mutants [MODULE ...]` has more options.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

from coverage import CoverageData
from tools import test_times, warm_mutants
from tools.mutation import ROOT, SOURCE, Mutant, mutants_of, source_of

from tests.measured import BY_TEST

KEPT = ROOT / ".mutants"
DEFAULT_MODULES = ("domain", "gates", "judging")
DEFAULT_TESTS = (
    "tests/unit/domain",
    "tests/unit/gates",
    "tests/unit/judging",
    "tests/unit/rendering",
    "tests/conformance",
    "tests/seeds",
    "tests/runtime/test_settings.py",
    "tests/unit/workspace/test_reporters.py",
    "tests/acceptance/test_judge.py",
    "tests/acceptance/test_workshop.py",
    "tests/hostile/test_tree.py",
)
"""Those that say what the default modules must do, the cheapest first."""
WARM_TESTS = (
    "tests/unit/contracts/",
    "tests/unit/domain/",
    "tests/unit/errors/",
    "tests/unit/gates/",
    "tests/unit/judging/",
    "tests/unit/rendering/",
    "tests/conformance/",
    "tests/seeds/",
    "tests/runtime/test_settings.py",
)
"""Those that start no process, or need none to notice a change."""
MOST_TESTS = 60
MOST_TEST_SECONDS = 20
"""Of the tests run against one mutant, the nearest to it. More rarely see more."""
ONLY_IMPORTED = ""
"""How coverage calls what runs outside of every test."""
PASSED = 0
NOTICED = (1, 2, 4, -signal.SIGXCPU)
"""How pytest ends: a test failed, or could not be collected, or is gone; or it never ends."""
SECONDS = 900
CPU_SECONDS = 20
"""A mutant that takes longer runs for ever; a busy machine makes no test compute more."""


@dataclass(frozen=True)
class Measured:
    """Which tests run which line, and how long each test takes."""

    data: CoverageData
    seconds: Mapping[str, float]

    def worthwhile(self, tests: list[str]) -> list[str]:
        """As many of the first tests as time allows, the quickest first."""
        chosen: list[str] = []
        seconds_left = float(MOST_TEST_SECONDS)
        for test in tests[:MOST_TESTS]:
            if seconds_left > 0:
                chosen.append(test)
                seconds_left -= self.seconds.get(test, 0.0)
        return sorted(chosen, key=lambda test: self.seconds.get(test, 0.0))


def tests_by_line(tests: tuple[str, ...]) -> Measured:
    """Measure which of these tests run which line.

    Kept while neither sources nor tests change.
    """
    place = KEPT / f"lines-{_fingerprint(tests)}"
    times = place.with_name(f"{place.name}.json")
    if not place.exists():
        KEPT.mkdir(exist_ok=True)
        sys.stderr.write("measuring which tests run which line ...\n")
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", *tests]
        command += ["--cov", "--cov-context=test", "--cov-report="]
        command += ["-p", "tools.test_times"]
        environment = {
            **os.environ,
            "COVERAGE_FILE": str(place),
            test_times.FILE: str(times),
            BY_TEST: "1",
        }
        subprocess.run(
            command, cwd=ROOT, env=environment, check=True, stdout=sys.stderr
        )
    data = CoverageData(str(place))
    data.read()
    return Measured(data, test_times.read_seconds(times))


def _fingerprint(tests: tuple[str, ...]) -> str:
    digest = hashlib.sha256(" ".join(tests).encode())
    for folder in (SOURCE, ROOT / "tests"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def tests_of(by_line: Mapping[int, list[str]], mutant: Mutant) -> list[str] | None:
    """The tests that run a mutant's line, nearest first; None if only an import does."""
    measured = [by_line[line] for line in mutant.lines if line in by_line]
    contexts = set(measured[0]) if measured else set()
    if contexts == {ONLY_IMPORTED}:
        return None
    names = {context.rpartition("|")[0] for context in contexts - {ONLY_IMPORTED}}
    return sorted(names, key=lambda name: (_distance(name, mutant), name))


def _distance(test: str, mutant: Mutant) -> int:
    """How far a test is from the module: its own tests see most, and pure ones are cheap."""
    file, _, _ = test.partition("::")
    package = mutant.path.relative_to(SOURCE / "accordance").parts[0]
    if file.endswith(f"/test_{mutant.path.stem}.py"):
        return 0
    if file.startswith(f"tests/unit/{package}/"):
        return 1
    folders = [folder for folder in DEFAULT_TESTS if file.startswith(folder)]
    return 2 + DEFAULT_TESTS.index(folders[0]) if folders else 2 + len(DEFAULT_TESTS)


def is_noticed(mutant: Mutant, tests: list[str]) -> bool:
    """Run the tests against a copy of the sources that has the change."""
    if not tests:
        return False
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        broken = Path(folder, "src")
        shutil.copytree(SOURCE, broken)  # with what is compiled already
        module = broken / mutant.path.relative_to(SOURCE)
        module.write_text(source_of(mutant), encoding="utf-8")
        Path(cache_from_source(module)).unlink(missing_ok=True)

        command = ["sh", "-c", f'ulimit -S -t {CPU_SECONDS}; exec "$@"', "sh"]
        command += [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
        ]
        command += tests
        environment = {
            **os.environ,
            "PYTHONPATH": str(broken),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS": "unshrunk",
        }
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                timeout=SECONDS,
                check=False,
                capture_output=True,
            )
        except subprocess.TimeoutExpired:
            return True
        if done.returncode not in (PASSED, *NOTICED):
            raise SystemExit(
                f"{mutant.path}:{mutant.line}: pytest ended with {done.returncode}\n"
                f"{done.stdout.decode()}"
            )
        return done.returncode in NOTICED


def main(words: list[str]) -> None:
    """Report of every mutant whether it was killed; then the share and the survivors."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutants", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "modules", nargs="*", default=DEFAULT_MODULES, help="below src/accordance"
    )
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", nargs="+", default=DEFAULT_TESTS)
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args(words)
    measured = tests_by_line(tuple(options.tests))
    chosen = _chosen(options.modules, measured.data, options.count, options.seed)
    survivors = [_described(mutant) for mutant in survivors_of(chosen, measured)]
    killed = len(chosen) - len(survivors)
    if options.as_json:
        figures = {"mutants": len(chosen), "killed": killed, "survived": survivors}
        sys.stdout.write(json.dumps(figures, indent=2) + "\n")
        return
    share = 100 * killed / max(1, len(chosen))
    sys.stdout.write(f"{killed} of {len(chosen)} mutants killed ({share:.0f} %)\n")
    for survivor in survivors:
        sys.stdout.write(f"survived: {survivor}\n")


def survivors_of(
    chosen: list[tuple[Mutant, list[str]]], measured: Measured
) -> list[Mutant]:
    """The mutants that no test notices, in their order."""
    unnoticed = _unnoticed_when_warm(chosen, measured)

    def try_again(number: int) -> Mutant | None:
        mutant, tests = chosen[number]
        noticed = is_noticed(mutant, measured.worthwhile(tests))
        _tell(mutant, "killed" if noticed else "SURVIVED")
        return None if noticed else mutant

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tried = pool.map(try_again, unnoticed)
        return [mutant for mutant in tried if mutant is not None]


def _unnoticed_when_warm(
    chosen: list[tuple[Mutant, list[str]]], measured: Measured
) -> list[int]:
    """The numbers of the mutants that the tests without processes do not notice."""
    trials = []
    for number, (mutant, tests) in enumerate(chosen):
        warm = [test for test in tests if test.startswith(WARM_TESTS)]
        worthwhile = tuple(measured.worthwhile(warm))
        trials.append(warm_mutants.Trial(number, mutant, worthwhile, CPU_SECONDS))
    files = {test.partition("::")[0] for trial in trials for test in trial.tests}
    noticed = _noticed_when_warm(trials, sorted(files)) if files else set()
    for number in sorted(noticed):
        _tell(chosen[number][0], "killed")
    return [number for number in range(len(chosen)) if number not in noticed]


def _noticed_when_warm(
    trials: list[warm_mutants.Trial], test_files: list[str]
) -> set[int]:
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        given = Path(folder, "trials")
        given.write_text(json.dumps([trial.as_json() for trial in trials]))
        results = Path(folder, "results")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.warm_mutants"]
        environment = {
            **os.environ,
            warm_mutants.TRIALS: str(given),
            warm_mutants.RESULTS: str(results),
            "HYPOTHESIS": "unshrunk",
        }
        subprocess.run(
            [*command, *test_files],
            cwd=ROOT,
            env=environment,
            check=True,
            stdout=sys.stderr,
        )
        lines = results.read_text(encoding="utf-8").splitlines()
    parsed = [json.loads(line) for line in lines]
    return {result["number"] for result in parsed if result["is_noticed"]}


def _tell(mutant: Mutant, outcome: str) -> None:
    sys.stderr.write(f"{outcome:<8}  {_described(mutant)}\n")


def _described(mutant: Mutant) -> str:
    place = mutant.path.relative_to(SOURCE / "accordance")
    return f"{place}:{mutant.line}  {mutant.change}"


def _chosen(
    modules: list[str], data: CoverageData, count: int, seed: int
) -> list[tuple[Mutant, list[str]]]:
    """A random choice; of what runs only on import it is not known which tests use it."""
    candidates = []
    for name in modules:
        place = SOURCE / "accordance" / name
        paths = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        for path in paths:
            by_line = data.contexts_by_lineno(str(path))
            for mutant in mutants_of(path):
                tests = tests_of(by_line, mutant)
                if tests is not None:
                    candidates.append((mutant, tests))
    dice = random.Random(seed)
    return dice.sample(candidates, min(count, len(candidates)))


if __name__ == "__main__":
    main(sys.argv[1:])
