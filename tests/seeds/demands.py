"""The demands of the seed documents, and which tests, code and rulings answer them.

`demands.tsv` holds one demand a line, in our words, with the line of the seed it comes from. A test says which demand it
shows by a marker, `@pytest.mark.seed("001-36")`, also among the marks of a parameter; a vector by its key `seed`. The
markers are read from the source, so that docs/seeds.md can be written without running anything.
"""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parent.parent
SOURCE = TESTS.parent / "src" / "accordance"
VECTORS = TESTS / "conformance" / "vectors"

_DEMAND_ID = re.compile(r"00[0-4]-\d+")

SEEDS = {
    "000": "Actions and reviews",
    "001": "Contracts of actions, reviews and plans",
    "002": "Research agents",
    "003": "The executor's contract",
    "004": "Task, submission and verdict",
}


@dataclass(frozen=True)
class Demand:
    """What one sentence of a seed asks for."""

    id: str  # the seed's number and a running number, "001-36"
    line: str  # in the seed
    text: str
    code: tuple[str, ...]  # "contracts/pins.py::matches", where it is carried out
    ruling: str  # the number of the decision that departs from the sentence, or ""

    @property
    def seed(self) -> str:
        """The number of its seed."""
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class Mention:
    """A test or a vector that shows a demand."""

    demand: str
    file: str  # below tests/
    name: str  # the test, or the vector's id


def all_demands() -> list[Demand]:
    """Every demand, in the order of the seeds."""
    with (Path(__file__).parent / "demands.tsv").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Demand(
            row["id"],
            row["line"],
            row["demand"],
            tuple(row["code"].split()),
            row["ruling"],
        )
        for row in rows
    ]


def all_mentions() -> list[Mention]:
    """Every test and vector that names a demand, by file."""
    return [*_marked_tests(), *_marked_vectors()]


def _marked_tests() -> Iterator[Mention]:
    for path in sorted(TESTS.rglob("test_*.py")):
        file = path.relative_to(TESTS).as_posix()
        text = path.read_text(encoding="utf-8")
        if _DEMAND_ID.search(text) is None:
            continue
        for test in _tests_in(ast.parse(text)):
            for decorator in test.decorator_list:
                for demand in _demands_named_in(decorator):
                    yield Mention(demand, file, test.name)


def _tests_in(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef
        ) and node.name.startswith("test_"):
            yield node


def _demands_named_in(decorator: ast.expr) -> Iterator[str]:
    """Every id of a demand in a decorator: in a marker of the test, or in the marks of a parameter."""
    for node in ast.walk(decorator):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and _DEMAND_ID.fullmatch(node.value)
        ):
            yield node.value


def _marked_vectors() -> Iterator[Mention]:
    for path in sorted(VECTORS.glob("*.jsonl")):
        file = path.relative_to(TESTS).as_posix()
        for line in path.read_bytes().splitlines():
            vector = json.loads(line)
            for demand in vector.get("seed", ()):
                yield Mention(demand, file, vector["id"])


def defines(code: str) -> bool:
    """Whether `module.py::name` (or `module.py` alone) stands in the source."""
    file, _, name = code.partition("::")
    path = SOURCE / file
    if not path.is_file():
        return False
    if not name:
        return True
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return name in _names_defined_in(tree)


def _names_defined_in(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Assign():
                names |= {
                    target.id for target in node.targets if isinstance(target, ast.Name)
                }
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case _:
                pass
    return names
