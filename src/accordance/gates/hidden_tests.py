"""Whether the tests that no agent sees passed on its work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from accordance.domain.case import Case
from accordance.domain.findings import Finding, Gate
from accordance.domain.hidden_tests import hidden_faults
from accordance.domain.test_runs import excused_failures

_ABOUT: Final = "hidden tests"


def hidden_findings(case: Case) -> Iterator[Finding]:
    """Yield what is wrong with the runs of hidden tests, without a name."""
    excused = excused_failures(case.task, case.facts)
    for fault in hidden_faults(case.facts, excused):
        yield Finding(
            gate=Gate.TESTS,
            code=fault.code,
            message=fault.text,
            about=(_ABOUT,),
        )
