"""All gates over a case.

Each gate is a pure function of the case; together they are everything a verdict needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from accordance.domain.case import Case
from accordance.domain.findings import Gate, Result
from accordance.domain.judging import History, judge
from accordance.domain.verdict import Verdict
from accordance.gates.budget import budget
from accordance.gates.environment import environment
from accordance.gates.evidence import evidence
from accordance.gates.file_match import file_match
from accordance.gates.notices import notices
from accordance.gates.policy import constitution, policy
from accordance.gates.schema import schema
from accordance.gates.scope import scope
from accordance.gates.status import need_input, status
from accordance.gates.tests import tests

GATES: Final[Mapping[Gate, Callable[[Case], Result]]] = MappingProxyType(
    {
        Gate.SCHEMA: schema,
        Gate.CONSTITUTION: constitution,
        Gate.POLICY: policy,
        Gate.SCOPE: scope,
        Gate.ENVIRONMENT: environment,
        Gate.BUDGET: budget,
        Gate.NEED_INPUT: need_input,
        Gate.EVIDENCE: evidence,
        Gate.FILE_MATCH: file_match,
        Gate.TESTS: tests,
        Gate.STATUS: status,
    }
)


def run_gates(case: Case) -> tuple[Result, ...]:
    """Return the result of every gate. Raises GateNotRun if a fact is missing."""
    return tuple(gate(case) for gate in GATES.values())


def verdict_on(case: Case, history: History) -> Verdict:
    """Run every gate and judge the results. Raises GateNotRun."""
    verdict = judge(run_gates(case), history)
    return replace(verdict, notices=notices(case))
