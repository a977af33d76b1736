"""What a command costs to start, compared with a bare click program and with SQLAlchemy alone, in one run.

    python bench/startup.py [--rounds N] [--json]

CPU time of fresh processes (user and system), which take turns; medians. The bars of commands that need no ledger are
ratios to a bare click program: only those mean something on a busy machine. A process that checks a message has a floor:
click and pydantic, with a single model and without pydantic's plugins. A command on a ledger has another, SQLAlchemy; its
bar is seconds on a quiet core.

Compiled modules are kept for the run, whatever PYTHONDONTWRITEBYTECODE says: pip compiles what it installs. Without them
every process compiles the sources anew, which takes 40 to 100 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

EXAMPLES: Final = Path(__file__).parent.parent / "examples"

BARE: Final = """
import click

@click.group()
@click.version_option("1.0", prog_name="bare")
def app(): ...

app(["--version"])
"""
BARE_MODEL: Final = """
import os
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
import click
from pydantic import BaseModel

class Model(BaseModel):
    number: int

Model.model_validate_json('{"number": 1}')
"""
CLICK: Final = "a bare click program"


class Bar(NamedTuple):
    """At most so many times a bare click program, or so many seconds."""

    most: float
    unit: str

    def measured(self, seconds: float, bare: float) -> float:
        """A median in the unit of this bar."""
        return seconds / bare if self.unit == "x" else seconds


BARS: Final = {"accordance --version": Bar(2.0, "x"), "accordance check": Bar(3.0, "x")}
LEDGER_BAR: Final = Bar(0.4, " s")


def cases_on(home: Path, task: str) -> dict[str, list[str]]:
    """The command line of each case, by its name."""
    message = str(EXAMPLES / "messages" / "submit-done.json")
    place = ["--home", str(home)]
    words = {
        "accordance --version": ["--version"],
        "accordance --help": ["--help"],
        "accordance explain": ["explain", "cycle"],
        "accordance check": ["check", message],
        "accordance plan list": ["plan", "list", *place],
        "accordance plan show": ["plan", "show", *place],
        "accordance plan status": ["plan", "status", *place],
        "accordance task list": ["task", "list", *place],
        "accordance task show": ["task", "show", task, *place],
        "accordance inbox list": ["inbox", "list", *place],
        "accordance dlq list": ["dlq", "list", *place],
        "accordance events": ["events", *place],
    }
    commands = {name: ["-m", "accordance.cli.main", *words[name]] for name in words}
    return {
        "python -c pass": ["-c", "pass"],
        CLICK: ["-c", BARE],
        "click and a pydantic model": ["-c", BARE_MODEL],
        "import sqlalchemy": ["-c", "import sqlalchemy"],
        **commands,
    }


def bar_of(name: str) -> Bar | None:
    """The bar of a case; None for those that are only there to compare with."""
    if name in BARS:
        return BARS[name]
    needs_ledger = name.startswith("accordance ") and name.count(" ") > 1
    return LEDGER_BAR if needs_ledger or name == "accordance events" else None


def measure(rounds: int, folder: Path) -> dict[str, float]:
    """Median CPU seconds of each case, taking turns."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    home = folder / "home"
    home.mkdir()
    plan = EXAMPLES / "plan" / "plan.json"
    task = json.loads(plan.read_text(encoding="utf-8"))["nodes"][0]["task_id"]
    importing = ["plan", "import", str(plan), "--home", str(home)]
    cpu_of(["-m", "accordance.cli.main", *importing], environment)

    cases = cases_on(home, task)
    for arguments in cases.values():
        cpu_of(arguments, environment)  # compiles what the others load
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, arguments in cases.items():
            taken[name].append(cpu_of(arguments, environment))
    return {name: statistics.median(times) for name, times in taken.items()}


def cpu_of(arguments: list[str], environment: dict[str, str]) -> float:
    """The CPU seconds of a fresh process."""
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, env=environment
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):  # 3: something waits for a person
        raise subprocess.CalledProcessError(process.returncode, arguments)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="accordance-bench-") as folder:
        medians = measure(options.rounds, Path(folder))
    bare = medians[CLICK]
    if options.json:
        ratios = {
            name: {"seconds": seconds, "ratio": seconds / bare}
            for name, seconds in medians.items()
        }
        print(json.dumps(ratios))
        return
    for name, seconds in medians.items():
        print(f"{name:<28} {_figures(name, seconds, medians)}")


def _figures(name: str, seconds: float, medians: dict[str, float]) -> str:
    bare, database = medians[CLICK], medians["import sqlalchemy"]
    figures = f"{seconds * 1000:6.0f} ms  {seconds / bare:5.2f}x click  {seconds / database:5.2f}x sqlalchemy"
    bar = bar_of(name)
    if bar is None:
        return figures
    holds = bar.measured(seconds, bare) <= bar.most
    verdict = "HOLDS" if holds else "DOES NOT HOLD"
    return f"{figures}  <= {bar.most}{bar.unit} {verdict}"


if __name__ == "__main__":
    main()
