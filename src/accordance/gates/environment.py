"""Whether the tests could be run at all. Where not, no agent is to blame.

Until facts of version WITH_ENVIRONMENT_GATE the gate of the tests reported this. An
agent then lost an attempt for a fault of its evidence, although no attempt could pass.
"""

from __future__ import annotations

from accordance.domain.case import Case
from accordance.domain.facts import WITH_ENVIRONMENT_GATE, AttemptFacts
from accordance.domain.findings import Finding, Gate, Result


def environment(case: Case) -> Result:
    """This machine can isolate the tests, and has what they need."""
    return Result(Gate.ENVIRONMENT, environment_findings(case, Gate.ENVIRONMENT))


def could_not_run(facts: AttemptFacts) -> bool:
    """Whether the tests show nothing, for a reason that no agent can help."""
    return bool(facts.isolation_missing or facts.environment_broken)


def environment_findings(case: Case, gate: Gate) -> tuple[Finding, ...]:
    """Return why tests could not be run, if it is for this gate to report it."""
    facts = case.facts
    has_own_gate = facts.version >= WITH_ENVIRONMENT_GATE
    reporting = Gate.ENVIRONMENT if has_own_gate else Gate.TESTS
    if gate is not reporting:
        return ()
    if facts.isolation_missing:
        text = f"no test was run: {facts.isolation_missing}"
        return (Finding(gate, "ISOLATION_UNAVAILABLE", text),)
    if facts.environment_broken:
        text = facts.environment_broken
        return (Finding(gate, "ENVIRONMENT_BROKEN", text),)
    return ()
