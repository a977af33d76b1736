"""The mutants of a module, and how to turn a running process into one of them."""

from __future__ import annotations

import gc
import importlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

from accordance.domain import mutants

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"

_Place = tuple[str, str, int]
"""A file, a function in it and the line where it begins."""


@dataclass(frozen=True)
class Mutant:
    """A mutant of a module of accordance."""

    path: Path
    lines: tuple[int, ...]  # its own, then those it is part of, up to its statement
    at: int  # its place among the mutants of the module
    change: str

    @property
    def line(self) -> int:
        """Its own line."""
        return self.lines[0]


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    text = path.read_text(encoding="utf-8")
    for at, fault in enumerate(mutants.mutants_of(text)):
        yield Mutant(path, fault.lines, at, fault.change)


def source_of(mutant: Mutant) -> str:
    """The whole module with the change in it."""
    text = mutant.path.read_text(encoding="utf-8")
    return mutants.mutated(text, mutants.mutants_of(text)[mutant.at])


def put_into_this_process(mutant: Mutant) -> None:
    """Give the functions of an imported module the code of the mutant.

    What the module computed when it was imported stays as it was.
    """
    module = mutant.path.relative_to(SOURCE).with_suffix("")
    importlib.import_module(".".join(module.parts).removesuffix(".__init__"))
    code = compile(source_of(mutant), str(mutant.path), "exec", dont_inherit=True)
    functions = list(_functions_in(code))
    times_seen = Counter(place for place, _ in functions)
    changed = {place: code for place, code in functions if times_seen[place] == 1}
    for function in gc.get_objects():
        if isinstance(function, FunctionType):
            place = _place_of(function.__code__)
            function.__code__ = changed.get(place, function.__code__)


def _functions_in(code: CodeType) -> Iterator[tuple[_Place, CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield _place_of(constant), constant
            yield from _functions_in(constant)


def _place_of(code: CodeType) -> _Place:
    return code.co_filename, code.co_qualname, code.co_firstlineno
