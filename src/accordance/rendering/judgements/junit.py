"""A judgement as JUnit XML, which most CI servers show as a test report."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from accordance.domain.causes import Cause, cause_of
from accordance.domain.facts import CommandRun
from accordance.domain.findings import Finding, Gate
from accordance.domain.test_results import TestOutcome, TestResult, file_of
from accordance.domain.test_runs import excused_failures
from accordance.rendering.judgements.attempt import JudgedAttempt
from accordance.rendering.showing import shown

_NOT_IN_XML: Final = re.compile(
    "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_SKIPPED: Final = frozenset((TestOutcome.SKIPPED, TestOutcome.XFAILED))
_EXCUSED: Final = "failed, and is not held against the change"


def as_junit(judged: JudgedAttempt) -> str:
    """Return a suite of the gates, and a suite for each test command.

    Where a runner has reported its tests, each of them is a test case; otherwise the
    command itself is. A fault of the environment is an error, not a failure.
    """
    root = ET.Element("testsuites", name="accordance")
    gates = _suite(root, f"gates of {judged.task.task_id}")
    for gate in Gate:
        _add_gate(gates, gate, judged.verdict.findings)

    excused = excused_failures(judged.task, judged.facts)
    for run in judged.facts.runs:
        suite = _suite(root, run.command)
        _add_run(suite, run, judged, excused)

    for suite in root:
        _count(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _suite(root: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(root, "testsuite", name=_xml(name))


def _count(suite: ET.Element) -> None:
    kinds = {
        "failures": "failure",
        "errors": "error",
        "skipped": "skipped",
    }
    suite.set("tests", str(len(suite)))
    for name, tag in kinds.items():
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))


def _add_gate(suite: ET.Element, gate: Gate, findings: Sequence[Finding]) -> None:
    """Add a gate as a test case. A test case fails once, with all its findings."""
    case = ET.SubElement(
        suite,
        "testcase",
        classname="accordance.gates",
        name=gate.value,
    )
    of_gate = [finding for finding in findings if finding.gate is gate]
    if not of_gate:
        return

    codes = dict.fromkeys(finding.code for finding in of_gate)
    messages = dict.fromkeys(finding.message for finding in of_gate)
    is_environment_fault = cause_of(of_gate[0]) is Cause.ENVIRONMENT
    tag = "error" if is_environment_fault else "failure"
    _add_problem(case, tag, ", ".join(codes), list(messages))


def _add_run(
    suite: ET.Element,
    run: CommandRun,
    judged: JudgedAttempt,
    excused: Collection[str],
) -> None:
    """Add the tests of a command as test cases, or the command itself."""
    for result in run.results:
        _add_test(suite, result, is_excused=result.test in excused)
    if run.results:
        return

    seconds = run.duration_ms / 1000
    case = _case(suite, "accordance.tests", run.command, seconds)
    if not run.passed:
        lines = [f"exit code {run.exit_code}", *judged.output_of(run)]
        _add_problem(case, "failure", run.ending.value, lines)


def _add_test(suite: ET.Element, result: TestResult, *, is_excused: bool) -> None:
    file = file_of(result.test)
    name = result.test.removeprefix(f"{file}::")
    case = _case(suite, file, name, result.seconds)
    if result.failed and not is_excused:
        tag = "error" if result.outcome is TestOutcome.ERROR else "failure"
        lines = result.text.splitlines() or ["failed"]
        _add_problem(case, tag, result.outcome.value, lines)
    elif is_excused:
        ET.SubElement(case, "skipped", message=_EXCUSED)
    elif result.outcome in _SKIPPED:
        ET.SubElement(case, "skipped")


def _case(suite: ET.Element, classname: str, name: str, seconds: float) -> ET.Element:
    return ET.SubElement(
        suite,
        "testcase",
        classname=_xml(classname),
        name=_xml(name),
        time=f"{seconds:.3f}",
    )


def _add_problem(case: ET.Element, tag: str, kind: str, lines: Sequence[str]) -> None:
    written = [_xml(line) for line in lines]
    problem = ET.SubElement(case, tag, type=_xml(kind), message=written[0])
    problem.text = "\n".join(written)


def _xml(line: str) -> str:
    """A line without the characters that XML cannot hold."""
    return _NOT_IN_XML.sub("\ufffd", shown(line))
