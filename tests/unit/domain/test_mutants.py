"""Mutants: which faults an expression can have, and which of them are tried."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import accordance
from accordance.domain.facts import CommandRun, Ending
from accordance.domain.mutants import (
    PlacedMutant,
    chosen_mutants,
    is_noticed,
    mutants_of,
    mutated,
)
from accordance.domain.test_results import TestReport


@pytest.mark.parametrize(
    ("source", "faults"),
    [
        pytest.param("x = a < b", ["a < b -> a <= b"], id="a comparison"),
        pytest.param("x = a in b", ["a in b -> a not in b"], id="a membership"),
        pytest.param("x = a < b < c", ["a < b < c -> a <= b < c"], id="a chain, its first part"),
        pytest.param("x = a and b", ["a and b -> a or b"], id="and"),
        pytest.param("x = a or b", ["a or b -> a and b"], id="or"),
        pytest.param("x = not a", ["not a -> a"], id="not"),
        pytest.param("x = -a", [], id="a sign"),
        pytest.param("x = a + b", ["a + b -> a - b"], id="arithmetic"),
        pytest.param("x = a @ b", [], id="an operator without a counterpart"),
        pytest.param("x = True", ["True -> False"], id="a truth value"),
        pytest.param("x = 7", ["7 -> 8"], id="a number"),
        pytest.param("x = 'seven'", [], id="a text"),
        pytest.param("def f():\n    return a", ["a -> None"], id="what is returned"),
        pytest.param("def f():\n    return None", [], id="nothing is returned"),
        pytest.param("def f(x: Literal[1]) -> Literal[2]: ...", [], id="annotations, which Python never runs"),
        pytest.param("x = f'{a + 1}'", [], id="the inside of an f-string"),
        pytest.param("x =", [], id="no Python"),
        pytest.param("x = " + "+".join("1" * 5000), [], id="nested too deeply"),
        pytest.param(f"x = {'y' * 70} < 1", [f"{'y' * 60}... -> {'y' * 60}...", "1 -> 2"], id="a long expression is cut"),
    ],
)  # fmt: skip
def test_the_faults_of_an_expression(source: str, faults: list[str]) -> None:
    assert [mutant.change for mutant in mutants_of(source)] == faults


def test_only_the_expression_is_changed() -> None:
    """Comments, other statements and the ends of lines stay as they are."""
    source = "é = 'ä'; x = (a <\r\n  b) # why\r\ny = 1\r\n"
    (broken, *_) = mutants_of(source, lines=[1])
    assert broken.line == 1
    assert mutated(source, broken) == "é = 'ä'; x = ((a <= b)) # why\r\ny = 1\r\n"


@pytest.mark.parametrize(
    ("source", "broken"),
    [
        ("x = not(a or b)and c", "x = (a or b)and c"),
        ("x = a if a<(b)else b", "x = a if (a <= b)else b"),
        ("match x:\n    case -1: pass", "match x:\n    case -2: pass"),
    ],
)
def test_what_stands_beside_an_expression_does_not_matter(
    source: str, broken: str
) -> None:
    assert broken in {mutated(source, mutant) for mutant in mutants_of(source)}


def test_every_mutant_is_python() -> None:
    """Tried on modules of accordance itself."""
    folder = Path(accordance.__file__).parent / "domain"
    for name in ("mutants.py", "changed_code.py", "test_runs.py"):
        source = (folder / name).read_text("utf-8")
        mutants = mutants_of(source)
        assert mutants
        for mutant in mutants:
            broken = mutated(source, mutant)
            assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(source))


def test_the_lines_of_a_mutant() -> None:
    """Its own, and those of what it is part of: either may be measured as run."""
    source = "def f(a):\n    return g(\n        a,\n        1,\n    )\n"
    lines = {mutant.change: mutant.lines for mutant in mutants_of(source)}
    assert lines["1 -> 2"] == (4, 2, 2)
    assert [mutant.line for mutant in mutants_of(source, lines=[4])] == [4]

    in_a_case = "match x:\n    case 1:\n        pass\n"
    assert mutants_of(in_a_case)[0].lines == (2, 2, 1)


def test_the_choice_of_mutants() -> None:
    """The same for the same seed, and each line once before any line twice."""
    source = "x = a < b or c > d\ny = 1\nz = 2\n"
    candidates = [PlacedMutant("app.py", mutant) for mutant in mutants_of(source)]
    chosen = chosen_mutants(candidates, 3, "seed")
    assert chosen == chosen_mutants(reversed(candidates), 3, "seed")
    assert sorted(placed.mutant.line for placed in chosen) == [1, 2, 3]
    assert len(chosen_mutants(candidates, 100, "seed")) == len(candidates) == 5

    choices = {chosen_mutants(candidates, 1, str(seed)) for seed in range(20)}
    assert len(choices) > 1


@pytest.mark.parametrize(
    ("run", "noticed"),
    [
        pytest.param(CommandRun("t", 0), False, id="it passes"),
        pytest.param(CommandRun("t", 1), True, id="it fails"),
        pytest.param(CommandRun("t", 0, Ending.TIMED_OUT), True, id="it never ends"),
        pytest.param(CommandRun("t", 0, report=TestReport("pytest")), False, id="it passes with a report"),
        pytest.param(CommandRun("t", 0, report=TestReport("pytest", incomplete="broke off")), True, id="it breaks off"),
    ],
)  # fmt: skip
def test_whether_a_fault_was_noticed(run: CommandRun, noticed: bool) -> None:
    assert is_noticed(run) is noticed
