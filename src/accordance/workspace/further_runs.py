"""Runs beyond those that the task asks for, which show what its tests prove."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

from accordance.domain.facts import AttemptFacts, Snapshot
from accordance.workspace.bench import Bench
from accordance.workspace.changed_python import ChangedFile
from accordance.workspace.lines_reached import lines_reached
from accordance.workspace.mutant_runs import MutantPolicy, try_mutants
from accordance.workspace.other_versions import (
    loosened_in,
    new_tests_on_old_source,
    old_tests_on_new_source,
    old_versions,
)
from accordance.workspace.reruns import RerunPolicy, rerun
from accordance.workspace.testing import TestRuns


def with_reruns(
    bench: Bench,
    facts: AttemptFacts,
    policy: RerunPolicy,
    tree: Snapshot,
    before: Snapshot,
    after: Snapshot,
) -> AttemptFacts:
    """Add what failing tests do when they are run again."""
    if not policy.times or bench.is_stopped:
        return facts
    numbers = count(1)

    def on_head(command: str, test: str) -> TestRuns:
        return bench.run([command], tree, f"again-{next(numbers)}", only=test)

    def on_base(command: str, test: str) -> TestRuns:
        name = f"base-again-{next(numbers)}"
        return bench.run_on_base([command], before, after, name, only=test)

    reruns = rerun(facts, policy, on_head, on_base)
    return replace(facts, reruns=tuple(reruns))


def with_other_versions(
    bench: Bench,
    facts: AttemptFacts,
    tree: Snapshot,
    before: Snapshot,
    after: Snapshot,
) -> AttemptFacts:
    """Add what changed test files show beside the other version of the source."""
    if bench.is_stopped:
        return facts
    new_tests = new_tests_on_old_source(bench, facts, before, after)
    facts = replace(facts, new_tests=new_tests)
    old = old_versions(bench, facts.changes, before, after)
    if old is None:
        return facts
    loosened = loosened_in(bench.workspace, facts.changes, old, after)
    return replace(
        facts,
        old_tests=old_tests_on_new_source(bench, facts, old, tree),
        loosened=tuple(loosened),
    )


def with_lines_reached(
    bench: Bench,
    facts: AttemptFacts,
    tree: Snapshot,
    changed: Mapping[str, ChangedFile],
) -> AttemptFacts:
    """Add which changed lines the tests run."""
    if bench.is_stopped:
        return facts
    reached = lines_reached(bench, facts, tree, changed)
    return replace(facts, lines_reached=reached)


def with_mutants(
    bench: Bench,
    facts: AttemptFacts,
    policy: MutantPolicy,
    tree: Snapshot,
    changed: Mapping[str, ChangedFile],
) -> AttemptFacts:
    """Add which faults in changed lines the tests notice."""
    if bench.is_stopped:
        return facts
    return replace(facts, mutants=try_mutants(bench, facts, policy, tree, changed))
