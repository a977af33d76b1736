"""Break the code on purpose and see whether a test notices: `make mutants`.

Each mutant changes one expression of one line. Only the tests that run this line are run
against it, so that two hundred mutants take minutes. Which tests those are is measured
once and kept until a source or a test changes. A mutant whose line no test runs survives.

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
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

from coverage import CoverageData
from tools import test_times

from accordance.domain.mutants import Mutant, mutants_of, mutated
from tests.acceptance.standby import BY_TEST

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
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
class ModuleMutant:
    """A mutant, and the module that it is in."""

    path: Path
    mutant: Mutant

    @property
    def place(self) -> str:
        """Where it is, as it is reported."""
        return f"{self.path.relative_to(SOURCE / 'accordance')}:{self.mutant.line}"

    @property
    def source(self) -> str:
        """The whole module with the change in it."""
        return mutated(self.path.read_text(encoding="utf-8"), self.mutant)


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
    return Measured(data, json.loads(times.read_text(encoding="utf-8")))


def _fingerprint(tests: tuple[str, ...]) -> str:
    digest = hashlib.sha256(" ".join(tests).encode())
    for folder in (SOURCE, ROOT / "tests"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def tests_of(
    by_line: Mapping[int, list[str]], broken: ModuleMutant
) -> list[str] | None:
    """The tests that run a mutant's line, nearest first; None if only an import does."""
    lines = broken.mutant.lines
    measured = [by_line[line] for line in lines if line in by_line]
    contexts = set(measured[0]) if measured else set()
    if contexts == {ONLY_IMPORTED}:
        return None
    names = {context.rpartition("|")[0] for context in contexts - {ONLY_IMPORTED}}
    return sorted(names, key=lambda name: (_distance(name, broken.path), name))


def _distance(test: str, module: Path) -> int:
    """How far a test is from the module: its own tests see most, and pure ones are cheap."""
    file, _, _ = test.partition("::")
    package = module.relative_to(SOURCE / "accordance").parts[0]
    if file.endswith(f"/test_{module.stem}.py"):
        return 0
    if file.startswith(f"tests/unit/{package}/"):
        return 1
    folders = [folder for folder in DEFAULT_TESTS if file.startswith(folder)]
    return 2 + DEFAULT_TESTS.index(folders[0]) if folders else 2 + len(DEFAULT_TESTS)


def is_noticed(mutant: ModuleMutant, tests: list[str]) -> bool:
    """Run the tests against a copy of the sources that has the change."""
    if not tests:
        return False
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        broken = Path(folder, "src")
        shutil.copytree(SOURCE, broken)  # with what is compiled already
        module = broken / mutant.path.relative_to(SOURCE)
        module.write_text(mutant.source, encoding="utf-8")
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
                f"{mutant.place}: pytest ended with {done.returncode}\n"
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
    survived = []
    for number, (mutant, tests) in enumerate(chosen, 1):
        noticed = is_noticed(mutant, measured.worthwhile(tests))
        where, change = mutant.place, mutant.mutant.change
        mark = "killed  " if noticed else "SURVIVED"
        sys.stderr.write(f"{number:>4}/{len(chosen)}  {mark}  {where}  {change}\n")
        if not noticed:
            survived.append(f"{where}  {change}")
    killed = len(chosen) - len(survived)
    figures = {"mutants": len(chosen), "killed": killed, "survived": survived}
    if options.as_json:
        sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    else:
        share = 100 * killed / max(1, len(chosen))
        sys.stdout.write(f"{killed} of {len(chosen)} mutants killed ({share:.0f} %)\n")
        for mutant_text in survived:
            sys.stdout.write(f"survived: {mutant_text}\n")


def _chosen(
    modules: list[str], data: CoverageData, count: int, seed: int
) -> list[tuple[ModuleMutant, list[str]]]:
    """A random choice; of what runs only on import it is not known which tests use it."""
    candidates = []
    for name in modules:
        place = SOURCE / "accordance" / name
        paths = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        for path in paths:
            by_line = data.contexts_by_lineno(str(path))
            source = path.read_text(encoding="utf-8")
            for mutant in mutants_of(source):
                broken = ModuleMutant(path, mutant)
                tests = tests_of(by_line, broken)
                if tests is not None:
                    candidates.append((broken, tests))
    dice = random.Random(seed)
    return dice.sample(candidates, min(count, len(candidates)))


if __name__ == "__main__":
    main(sys.argv[1:])
