"""Break the code on purpose and see whether a test notices: `make mutants`.

Each mutant changes one expression of one line. Only the tests that run this line are run
against it, so that two hundred mutants take minutes. Which tests those are is measured
once and kept until a source or a test changes. A mutant whose line no test runs survives.

`python -m tools.mutants [MODULE ...]` has more options.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

from coverage import CoverageData
from tools import test_times

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

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


@dataclass(frozen=True)
class Mutant:
    """One change: which node of which module, and how to say it."""

    path: Path
    lines: tuple[int, ...]  # its own, then those it is part of, up to its statement
    at: int  # the node's place in ast.walk
    change: str

    @property
    def line(self) -> int:
        """Its own line."""
        return self.lines[0]


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    annotations = set(_inside_annotations(tree))
    parents = _parents(tree)
    for at, node in enumerate(ast.walk(tree)):
        if node in annotations or not hasattr(node, "lineno"):
            continue
        change = _change_of(node)
        if change is not None:
            yield Mutant(path, tuple(_lines(node, parents)), at, change)


def _parents(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    parents = {}
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            parents[child] = node
    return parents


def _lines(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[int]:
    """Where a node begins, and what it is part of: Python may count it as run there."""
    while True:
        line = getattr(node, "lineno", None)
        if line is not None:
            yield line
        if isinstance(node, ast.stmt):
            return
        node = parents[node]


def _inside_annotations(tree: ast.Module) -> Iterator[ast.AST]:
    """What mypy looks at and Python never runs."""
    for node in ast.walk(tree):
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if annotation is not None:
            yield from ast.walk(annotation)


def _change_of(node: ast.AST) -> str | None:
    if isinstance(node, ast.Compare):
        return f"{ast.unparse(node)} -> {ast.unparse(_mutated(node))}"
    if isinstance(node, ast.BoolOp):
        return f"{ast.unparse(node)} -> {ast.unparse(_mutated(node))}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"{ast.unparse(node)} -> {ast.unparse(_mutated(node))}"
    if isinstance(node, ast.Constant) and type(node.value) in (bool, int):
        return f"{ast.unparse(node)} -> {ast.unparse(_mutated(node))}"
    return None


def _mutated(node: ast.AST) -> ast.AST:
    """The node with its one change."""
    changed = copy.deepcopy(node)
    if isinstance(changed, ast.Compare):
        first = type(changed.ops[0])
        changed.ops[0] = _COMPARISONS[first]()
    elif isinstance(changed, ast.BoolOp):
        changed.op = ast.Or() if isinstance(changed.op, ast.And) else ast.And()
    elif isinstance(changed, ast.UnaryOp):
        return changed.operand
    elif isinstance(changed, ast.Constant):
        changed.value = (
            not changed.value
            if isinstance(changed.value, bool)
            else int(str(changed.value)) + 1
        )
    return changed


def source_of(mutant: Mutant) -> str:
    """The whole module with the change in it."""
    tree = ast.parse(mutant.path.read_text(encoding="utf-8"))
    target = list(ast.walk(tree))[mutant.at]

    class Change(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return _mutated(node) if node is target else self.generic_visit(node)

    return ast.unparse(ast.fix_missing_locations(Change().visit(tree)))


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
    survived = []
    for number, (mutant, tests) in enumerate(chosen, 1):
        noticed = is_noticed(mutant, measured.worthwhile(tests))
        where = f"{mutant.path.relative_to(SOURCE / 'accordance')}:{mutant.line}"
        mark = "killed  " if noticed else "SURVIVED"
        sys.stderr.write(
            f"{number:>4}/{len(chosen)}  {mark}  {where}  {mutant.change}\n"
        )
        if not noticed:
            survived.append(f"{where}  {mutant.change}")
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
