"""Real packages, judged without any settings: their tests must have the same results inside the judge and outside.

    python -m bench.packages [NAME ...]

For each package, pip fetches its source distribution, which becomes a git repository. Then:

- outside: `python -m pytest` in an environment made by hand, with the commands of `--explain-environment`
- inside:  the same suite, unchanged, as the judge runs it; every test must have the same outcome
- fault:   a module that raises when it is imported must be RETRY
- removed: removing the fault again must be DONE

Needs network, or whatever index pip is configured with.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from accordance import judge
from accordance.judging.judge import explain_environment
from accordance.judging.judgement import Judgement

PACKAGES = (
    "iniconfig",
    "toolz",
    "pathspec",
    "cachetools",
    "itsdangerous",
    "pluggy",
    "h11",
    "wcwidth",
    "semver",
    "blinker",
)
"""Their source distributions have tests, and short suites."""
WITH_A_V = frozenset(("iniconfig",))  # how the project writes its tags
TESTS = "python -m pytest -q -p no:cacheprovider"
FAULT = "\nraise RuntimeError('a fault')\n"
TASK_ID = "72c84e9c-0975-4c1a-b9a5-864c2725dc8a"


@dataclass
class Row:
    """The results of a package."""

    package: str
    tests: int = 0
    outside: str = ""
    inside: str = ""
    differing: int = 0
    fault: str = ""
    removed: str = ""
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        """Whether inside and outside agree, and the fault is noticed."""
        verdicts = (self.fault, self.removed)
        return self.tests > 0 and not self.differing and verdicts == ("RETRY", "DONE")

    def __str__(self) -> str:
        mark = "✓" if self.is_good else "✗"
        return (
            f"{mark} {self.package:<18}{self.tests:>7}  {self.outside:<22}"
            f"{self.inside:<22}{self.differing:>6}  {self.fault:<22}{self.removed:<22}"
            f"{self.seconds:7.1f} s"
        )


def git(root: Path, *words: str) -> str:
    """Run git in a repository."""
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    done = subprocess.run(
        ("git", *who, *words), cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def repository_of(package: str, folder: Path) -> Path:
    """Fetch a source distribution and make it a repository with a single commit."""
    words = ("download", "--quiet", "--no-binary", ":all:", "--no-deps")
    subprocess.run(
        (sys.executable, "-m", "pip", *words, "--dest", folder / "sdist", package),
        check=True,
        capture_output=True,
    )
    (archive,) = (folder / "sdist").iterdir()
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "tree", filter="data")
    (root,) = (folder / "tree").iterdir()
    with (root / ".gitignore").open("a") as rules:
        rules.write("\n__pycache__/\n*.egg-info/\n.pytest_cache/\n.hypothesis/\n")
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--message=as published")
    version = root.name.rpartition("-")[2]
    git(root, "tag", f"v{version}" if package in WITH_A_V else version)
    return root


def outcomes_outside(
    root: Path, commands: tuple[str, ...], folder: Path
) -> dict[str, str]:
    """Make the explained environment by hand, and run the suite in it."""
    environment = folder / "by-hand"
    interpreter = os.path.realpath(sys.executable)
    subprocess.run((interpreter, "-m", "venv", environment), check=True)
    variables = {
        **os.environ,
        "PATH": f"{environment}/bin:{os.environ['PATH']}",
        "CI": "true",
    }
    for command in commands:
        subprocess.run(
            command,
            shell=True,
            cwd=root,
            env=variables,
            check=True,
            capture_output=True,
        )
    report = folder / "report.xml"
    subprocess.run(
        f"{TESTS} --junit-xml={report}", shell=True, cwd=root, env=variables, check=False, capture_output=True
    )  # fmt: skip
    git(root, "clean", "-fdxq")
    return outcomes_in(report)


def outcomes_in(report: Path) -> dict[str, str]:
    """The outcome of each test in a JUnit report."""
    outcomes = {}
    for case in ET.parse(report).iter("testcase"):
        parts = {part.tag for part in case}
        outcome = "passed"
        if parts & {"failure", "error"}:
            outcome = "failed"
        elif "skipped" in parts:
            outcome = "skipped"
        outcomes[f"{case.get('classname')}::{case.get('name')}"] = outcome
    return outcomes


def counted(outcomes: Mapping[str, str]) -> str:
    """How many passed, failed and were skipped."""
    values = list(outcomes.values())
    counts = [f"{values.count(kind)} {kind}" for kind in sorted(set(values))]
    return ", ".join(counts)


def judged(root: Path, folder: Path, number: int, **more: object) -> Judgement:
    """Judge the tree as it is, against its only commit."""
    task = {
        "task_id": TASK_ID,
        "goal": "Keep the suite green.",
        "role": "executor",
        "pins": {"allowed_paths": ["**"]},
        "allowedTests": [TESTS],
        **more,
    }
    return judge(
        json.dumps(task),
        repo=root,
        base=git(root, "rev-parse", "HEAD"),
        artifacts=folder / f"kept-{number}",
    )


def source_of(root: Path, package: str) -> Path:
    """The package's first module, in one of the usual places."""
    name = package.replace("-", "_")
    for place in (root / "src" / name, root / name):
        if (place / "__init__.py").is_file():
            return place / "__init__.py"
    raise SystemExit(f"{package}: there is no module {name}")


def outcomes_inside(judgement: Judgement) -> dict[str, str]:
    """The outcome of each test in the judge's own run."""
    (run,) = judgement.facts.runs
    if run.report is None:
        return {}
    outcomes = {}
    for result in run.report.results:
        outcome = "failed" if result.failed else str(result.outcome)
        outcomes[result.test] = outcome.replace("xfailed", "skipped")
    return outcomes


def row_of(package: str, folder: Path) -> Row:
    """Fetch a package, and see whether the judge is right about it."""
    began = time.monotonic()
    row = Row(package)
    root = repository_of(package, folder)
    explained = explain_environment(
        json.dumps({"task_id": TASK_ID, "goal": "g", "role": "executor", "pins": {"allowed_paths": ["**"]}, "allowedTests": [TESTS]}),
        repo=root,
    )  # fmt: skip
    commands = tuple(
        command for step in explained.plan.steps for command in step.commands
    )
    outside = outcomes_outside(root, commands, folder)

    unchanged = judged(root, folder, 1, allow_no_change=True)
    inside = outcomes_inside(unchanged)
    row.tests, row.outside, row.inside = len(outside), counted(outside), counted(inside)
    row.differing = differing(outside, inside)

    source = source_of(root, package)
    text = source.read_text("utf-8")
    source.write_text(text + FAULT, "utf-8")
    row.fault = str(judged(root, folder, 2).verdict.outcome)

    git(root, "commit", "--quiet", "--all", "--message=a fault")
    source.write_text(text, "utf-8")
    mended = judged(root, folder, 3)
    row.removed = str(mended.verdict.reason_code or mended.verdict.outcome)
    row.seconds = time.monotonic() - began
    return row


def differing(outside: Mapping[str, str], inside: Mapping[str, str]) -> int:
    """How many outcomes differ; names are shortened first, because each side spells them differently."""
    before = sorted((_short(name), outcome) for name, outcome in outside.items())
    after = sorted((_short(name), outcome) for name, outcome in inside.items())
    return len(set(before) ^ set(after)) + abs(len(before) - len(after))


def _short(name: str) -> str:
    """The name of a test without its file and class."""
    head, mark, parameters = name.partition("[")
    return head.rpartition("::")[2] + mark + parameters


@contextmanager
def own_cache(folder: Path) -> Iterator[None]:
    """An empty cache, so that nothing of an earlier run is used."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    try:
        yield
    finally:
        os.environ.pop("XDG_CACHE_HOME")
        if before is not None:
            os.environ["XDG_CACHE_HOME"] = before


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    options = parser.parse_args()
    print(
        f"  {'package':<18}{'tests':>7}  {'outside':<22}{'inside':<22}{'differ':>6}"
        f"  {'with a fault':<22}{'without it':<22}"
    )
    is_good = True
    for package in options.packages:
        with tempfile.TemporaryDirectory(prefix="accordance-packages-") as name:
            folder = Path(name)
            with own_cache(folder / "cache"):
                row = row_of(package, folder)
        print(row, flush=True)
        is_good = is_good and row.is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
