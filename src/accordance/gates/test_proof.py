"""Whether the tests of a change prove it, as far as the policy asks for proof.

The same rule is a finding or a notice, as the policy has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from accordance.domain.case import Case
from accordance.domain.facts import WITH_TEST_POLICY
from accordance.domain.findings import Finding, Gate
from accordance.domain.test_policy import Consequence
from accordance.domain.test_proof import (
    NO_TEST_TELLS,
    surviving_mutants,
    tests_do_not_tell,
    unreached_lines,
)


def proof_findings(case: Case) -> Iterator[Finding]:
    """Yield what the policy refuses."""
    if case.facts.version < WITH_TEST_POLICY:
        return
    for weakness in _weaknesses(case):
        if weakness.consequence is Consequence.REFUSE:
            yield Finding(Gate.TESTS, weakness.code, weakness.text)


def proof_notices(case: Case) -> Iterator[str]:
    """Yield what the policy warns of."""
    for weakness in _weaknesses(case):
        if weakness.consequence is Consequence.WARN:
            yield weakness.text


class _Weakness(NamedTuple):
    """What the tests do not show, and what the policy does about it."""

    consequence: Consequence
    code: str
    text: str


def _weaknesses(case: Case) -> Iterator[_Weakness]:
    policy = case.test_policy
    if tests_do_not_tell(case.task, case.facts):
        yield _Weakness(policy.do_not_tell, "TESTS_DO_NOT_TELL", NO_TEST_TELLS)

    unreached = unreached_lines(case.facts)
    if unreached:
        yield _Weakness(policy.not_reached, "CHANGE_NOT_REACHED", unreached)

    survivors = surviving_mutants(case.facts)
    if survivors:
        yield _Weakness(policy.mutants_survive, "MUTANTS_SURVIVED", survivors)
