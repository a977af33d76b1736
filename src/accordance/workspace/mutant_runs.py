"""Running the tests against mutants of the changed lines.

Each mutant is a copy of the judged tree with a small fault in a changed line. The
commands that pass without it must fail with it; where they pass, nothing checks what
was changed there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from accordance.domain.facts import AttemptFacts, CommandRun, Snapshot
from accordance.domain.mutants import (
    PlacedMutant,
    chosen_mutants,
    is_noticed,
    mutants_of,
    mutated,
)
from accordance.domain.mutation_check import MutationCheck, TriedMutant
from accordance.workspace.bench import Bench
from accordance.workspace.changed_python import ChangedFile
from accordance.workspace.laid_in import LaidIn, with_folders
from accordance.workspace.names import name_of
from accordance.workspace.snapshot import take_snapshot

_UNDECODABLE: Final = "\ufffd"
_LEAST_SECONDS: Final = 10.0
_TIMES_LONGER: Final = 3  # than without the fault: then it never ends


@dataclass(frozen=True, slots=True)
class MutantPolicy:
    """How many mutants are tried, and after how many seconds that ends."""

    most: int = 0
    seconds: float = 300


def try_mutants(
    bench: Bench,
    facts: AttemptFacts,
    policy: MutantPolicy,
    tree: Snapshot,
    changed: Mapping[str, ChangedFile],
) -> MutationCheck | None:
    """Return which mutants survive; None where no test passes, or nothing can break.

    The choice depends on the change alone, so that it can be repeated.
    """
    passing = [run for run in facts.runs if run.passed]
    candidates = list(_candidates(changed))
    if not passing or not candidates:
        return None
    seed = _seed(changed)
    chosen = chosen_mutants(candidates, policy.most, seed)

    tried = []
    give_up_at = time.monotonic() + policy.seconds
    for number, placed in enumerate(chosen, 1):
        if bench.is_stopped or time.monotonic() > give_up_at:
            break
        text = mutated(changed[placed.file].text, placed.mutant)
        broken = _laid_in(bench, f"mutant-{number}", placed.file, text, tree)
        noticed = _is_noticed(bench, passing, tree, broken, f"mutant-{number}")
        mutant = placed.mutant
        result = TriedMutant(
            placed.file, mutant.line, mutant.change, survived=not noticed
        )
        tried.append(result)
    return MutationCheck(tuple(tried), len(chosen))


def _candidates(changed: Mapping[str, ChangedFile]) -> Iterator[PlacedMutant]:
    """Every mutant of a changed line, of files that can be written as they were."""
    for file, content in changed.items():
        if _UNDECODABLE in content.text:
            continue
        for mutant in mutants_of(content.text, content.statements):
            yield PlacedMutant(file, mutant)


def _seed(changed: Mapping[str, ChangedFile]) -> str:
    """What the choice depends on: every changed line."""
    lines = []
    for file, content in sorted(changed.items()):
        numbered = content.text.splitlines()
        for line in sorted(content.statements):
            text = numbered[line - 1]
            lines.append(f"{file}:{line}:{text}")
    return "\n".join(lines)


def _laid_in(bench: Bench, name: str, file: str, text: str, tree: Snapshot) -> LaidIn:
    """Write the file with its fault to a folder of ours."""
    folder = bench.scratch / f"{name}-file"
    place = folder / name_of(file)
    place.parent.mkdir(parents=True)
    place.write_bytes(text.encode())
    place.chmod(tree.entries[file].carried_mode & 0o777)
    entry = take_snapshot(folder).entries[file]
    return LaidIn(folder, with_folders({file: entry}))


def _is_noticed(
    bench: Bench,
    passing: Sequence[CommandRun],
    tree: Snapshot,
    broken: LaidIn,
    name: str,
) -> bool:
    """Run the commands until the fault is noticed."""
    laid_in = (*bench.laid_in, broken)
    for number, run in enumerate(passing, 1):
        seconds = run.duration_ms / 1000 * _TIMES_LONGER + _LEAST_SECONDS
        copy = f"{name}-{number}"
        timed = bench.within(seconds)
        done = timed.run([run.command], tree, copy, laid_in=laid_in)
        if any(is_noticed(result) for result in done.runs):
            return True
    return False
