"""How the environment of tests is explained: for people and for programs."""

from __future__ import annotations

from accordance.cli.showing import as_json_text
from accordance.contracts.printable import printable
from accordance.domain.findings import listed
from accordance.judging.environments import EnvironmentExplanation


def as_text(explanation: EnvironmentExplanation) -> str:
    """For people."""
    tests = listed(explanation.tests) or "not named yet"
    lines = [f"tests:  {tests}", f"python: {explanation.python}"]
    lines += [f"- {reason}" for reason in explanation.plan.reasons]
    for step in explanation.plan.steps:
        lines += [f"  $ {command}" for command in step.commands]
        lines += [f"  {folder} is laid into the tests' copy" for folder in step.folders]
    for name, place in explanation.wish.folders.items():
        lines.append(f"- {name} is laid into the tests' copy from {place}")
    if explanation.plan.steps:
        inputs = listed(explanation.plan.inputs) or "every file of the base"
        lines.append(f"prepared once at the base, and anew when this changes: {inputs}")
    lines.append("nothing was run")
    return "\n".join(printable(line) for line in lines)


def as_json(explanation: EnvironmentExplanation) -> str:
    """For programs."""
    return as_json_text(explanation.to_json())
