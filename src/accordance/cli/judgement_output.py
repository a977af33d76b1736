"""The formats of a judgement: for people, programs, GitHub, test reports, scanners."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from rich.console import Console
from rich.text import Text

from accordance.cli.annotations import github_annotation, sarif_document
from accordance.cli.showing import as_json_text, shown
from accordance.contracts.printable import printable
from accordance.domain.escalation import LEVELS
from accordance.domain.facts import CommandRun
from accordance.domain.fail_codes import fail_code
from accordance.domain.findings import Finding, Gate
from accordance.domain.verdict import Outcome
from accordance.errors import UnknownCode
from accordance.judging.judgement import Judgement

_STYLES = {Outcome.DONE: "bold green", Outcome.ESCALATE: "bold yellow"}
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_text(judgement: Judgement, _task: str) -> str:
    """For people."""
    console = Console(highlight=False, soft_wrap=True)
    with console.capture() as output:
        for line in _lines(judgement):
            console.print(line)
    return output.get().rstrip("\n")


def _lines(judgement: Judgement) -> Iterator[Text]:
    verdict = judgement.verdict
    yield _headline(judgement)

    for finding in verdict.findings:
        yield Text.assemble(
            f"  {finding.gate:<10}  {printable(finding.message)}  ",
            (printable(finding.code), "red"),
        )
    for run in judgement.facts.runs:
        yield _run_line(run)
    yield _change_line(judgement)

    for notice in verdict.notices:
        yield Text(f"  note: {printable(notice)}", "dim")
    if verdict.step is not None:
        role = f" ({verdict.step.role})" if verdict.step.role else ""
        meaning = LEVELS[verdict.step.level]
        yield Text(f"  next: {verdict.next_action}{role}. {meaning}")
    if judgement.bundle is not None:
        yield Text(f"  evidence: {printable(str(judgement.bundle))}", "dim")


def _headline(judgement: Judgement) -> Text:
    """The outcome, its reason, the task and the attempt."""
    verdict = judgement.verdict
    mark = "✓" if judgement else "✗"
    style = _STYLES.get(verdict.outcome, "bold red")
    max_attempts = judgement.terms.history.standing.max_attempts
    attempt = f"attempt {judgement.attempt} of {max_attempts}"

    line = Text.assemble((f"{mark} {verdict.outcome}", style), "  ")
    if verdict.reason_code:
        line.append(printable(verdict.reason_code), "red")
        line.append("  ")
    return line.append(f"{judgement.task_id}  {attempt}", "dim")


def _run_line(run: CommandRun) -> Text:
    """A test command and whether it passed."""
    mark, style = ("✓", "green") if run.passed else ("✗", "red")
    seconds = run.duration_ms / 1000
    return Text.assemble(
        "  ",
        (mark, style),
        f" {printable(run.command)}  ",
        (f"{seconds:.1f} s, isolated by {run.isolation}", "dim"),
    )


def _change_line(judgement: Judgement) -> Text:
    """How many paths changed, and since when."""
    facts = judgement.facts
    count = len(facts.changes.paths())
    changed = "1 changed path" if count == 1 else f"{count} changed paths"
    base = facts.base_commit[:12] or "the earlier copy"
    return Text(f"  {changed} since {base}", "dim")


def as_json(judgement: Judgement, _task: str) -> str:
    """The whole judgement as JSON."""
    bundle = None if judgement.bundle is None else str(judgement.bundle)
    return as_json_text({**judgement.to_json(), "bundle": bundle})


def as_outcome(judgement: Judgement, _task: str) -> str:
    """`scc.outcome.v1`."""
    return as_json_text(judgement.as_outcome())


def as_verdict(judgement: Judgement, _task: str) -> str:
    """`scc.verdict.v1`."""
    return as_json_text(judgement.as_verdict())


def as_github(judgement: Judgement, _task: str) -> str:
    """Annotations of GitHub Actions: one per finding and notice, and the outcome."""
    verdict = judgement.verdict
    lines = []
    for finding in verdict.findings:
        path = _changed_path(judgement, finding)
        place: dict[str, object] = {} if path is None else {"file": path}
        title = f"accordance {finding.code}"
        lines.append(github_annotation("error", title, finding.message, place))

    summary = f"{verdict.outcome}: {verdict.reason} Next: {verdict.next_action}."
    notices = [
        github_annotation("notice", "accordance", text, {})
        for text in (*verdict.notices, summary)
    ]
    return "\n".join([*lines, *notices])


def _changed_path(judgement: Judgement, finding: Finding) -> str | None:
    """The first changed path that a finding is about."""
    changed = judgement.facts.changes.paths()
    for subject in finding.about:
        if subject in changed:
            return subject
    return None


def as_sarif(judgement: Judgement, task: str) -> str:
    """SARIF 2.1.0.

    Code scanning needs a file for every finding: one that is about no changed file is
    shown at the task.
    """
    findings = judgement.verdict.findings
    codes = dict.fromkeys(finding.code for finding in findings)
    rules = [_sarif_rule(code) for code in codes]
    results = []
    for finding in findings:
        path = _changed_path(judgement, finding) or task
        results.append(_sarif_result(finding, path))
    return sarif_document(rules, results)


def _sarif_rule(code: str) -> dict[str, Any]:
    try:
        page = fail_code(code)
    except UnknownCode:  # an agent may give reasons of its own
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": page.trigger},
        "help": {"text": page.action},
    }


def _sarif_result(finding: Finding, path: str) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": path}, "region": {"startLine": 1}}
    return {
        "ruleId": finding.code,
        "level": "error",
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
    }


def as_junit(judgement: Judgement, _task: str) -> str:
    """JUnit XML: every gate and every test command is a test case."""
    root = ET.Element("testsuites", name="accordance")
    gates = ET.SubElement(root, "testsuite", name=f"gates of {judgement.task_id}")
    for gate in Gate:
        _add_gate(gates, gate, judgement.verdict.findings)

    tests = ET.SubElement(root, "testsuite", name=f"tests of {judgement.task_id}")
    for run in judgement.facts.runs:
        _add_run(tests, run)

    for suite in (gates, tests):
        failures = suite.findall("testcase/failure")
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(failures)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _add_gate(suite: ET.Element, gate: Gate, findings: Sequence[Finding]) -> None:
    """Add a gate as a test case. A test case fails once, with all its findings."""
    case = ET.SubElement(
        suite, "testcase", classname="accordance.gates", name=gate.value
    )
    of_gate = [finding for finding in findings if finding.gate is gate]
    if not of_gate:
        return

    codes = dict.fromkeys(finding.code for finding in of_gate)
    messages = dict.fromkeys(finding.message for finding in of_gate)
    lines = [printable(message) for message in messages]
    _add_failure(case, ", ".join(codes), "\n".join(lines))


def _add_run(suite: ET.Element, run: CommandRun) -> None:
    """Add a test command as a test case."""
    case = ET.SubElement(
        suite,
        "testcase",
        classname="accordance.tests",
        name=_xml(run.command),
        time=f"{run.duration_ms / 1000:.3f}",
    )
    if not run.passed:
        _add_failure(case, run.ending.value, f"exit code {run.exit_code}")


def _add_failure(case: ET.Element, kind: str, text: str) -> None:
    lines = [_xml(line) for line in text.split("\n")]
    failure = ET.SubElement(case, "failure", type=_xml(kind), message=lines[0])
    failure.text = "\n".join(lines)


def _xml(line: str) -> str:
    """A line without the characters that XML cannot hold."""
    return _NOT_IN_XML.sub("\ufffd", shown(line))


FORMATS: Mapping[str, Callable[[Judgement, str], str]] = {
    "text": as_text,
    "003": as_outcome,
    "004": as_verdict,
    "github": as_github,
    "junit": as_junit,
    "sarif": as_sarif,
}
