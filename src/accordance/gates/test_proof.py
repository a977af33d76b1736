"""Whether the tests of a change prove it, as far as the policy asks for proof.

The same rule is a finding or a notice, as the policy has it.
"""

from __future__ import annotations

from collections.abc import Iterator

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
    if case.test_policy.do_not_tell is Consequence.REFUSE and _is_untold(case):
        yield Finding(Gate.TESTS, "TESTS_DO_NOT_TELL", NO_TEST_TELLS)

    unreached = unreached_lines(case.facts)
    if unreached and case.test_policy.not_reached is Consequence.REFUSE:
        yield Finding(Gate.TESTS, "CHANGE_NOT_REACHED", unreached)

    survivors = surviving_mutants(case.facts)
    if survivors and case.test_policy.mutants_survive is Consequence.REFUSE:
        yield Finding(Gate.TESTS, "MUTANTS_SURVIVED", survivors)


def proof_notices(case: Case) -> Iterator[str]:
    """Yield what the policy warns of."""
    if case.test_policy.do_not_tell is Consequence.WARN and _is_untold(case):
        yield NO_TEST_TELLS

    unreached = unreached_lines(case.facts)
    if unreached and case.test_policy.not_reached is Consequence.WARN:
        yield unreached

    survivors = surviving_mutants(case.facts)
    if survivors and case.test_policy.mutants_survive is Consequence.WARN:
        yield survivors


def _is_untold(case: Case) -> bool:
    return tests_do_not_tell(case.task, case.facts)
