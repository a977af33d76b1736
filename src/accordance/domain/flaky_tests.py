"""Tests that fail and pass without a change: flaky, as opposed to broken.

A failing test is run again, alone. What the reruns showed is a fact; whether a flaky
test may be excused, the settings say.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from accordance.contracts.pins import Pins
from accordance.domain.facts import AttemptFacts, TestReruns
from accordance.domain.test_results import TestOutcome, file_of

MOST_RERUN: Final = 10
"""Failing tests of a command that are run again: where more fail, something is broken."""


def may_be_flaky(test: str, patterns: Iterable[str]) -> bool:
    """Whether the settings let a test be flaky, by its id or by its file."""
    named = tuple(patterns)
    return test in named or file_of(test) in Pins.of(named)


def flaky_tests(facts: AttemptFacts) -> tuple[TestReruns, ...]:
    """The tests that failed, and passed when they were run again."""
    return tuple(
        reruns for reruns in facts.reruns if TestOutcome.PASSED in reruns.outcomes
    )


def flaky_at_base(facts: AttemptFacts) -> frozenset[str]:
    """Tests that fail without the change only now and then: they tell nothing."""
    return frozenset(flaky.test for flaky in flaky_tests(facts) if flaky.on_base)


def excused_as_flaky(facts: AttemptFacts) -> frozenset[str]:
    """Tests that failed after the change and are flaky, as they may be."""
    excused = set()
    for flaky in flaky_tests(facts):
        if flaky.permitted and not flaky.on_base:
            excused.add(flaky.test)
    return frozenset(excused)
