"""A judgement for people, schedulers, dashboards, GitHub, test reporters and code scanning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET

from rich.console import Console
from rich.text import Text

from accordance.cli.annotations import github_annotation, sarif_document
from accordance.cli.showing import as_json_text, shown
from accordance.contracts.printable import printable
from accordance.domain.escalation import LEVELS
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
    with console.capture() as said:
        for line in _lines(judgement):
            console.print(line)
    return said.get().rstrip("\n")


def _lines(judgement: Judgement) -> Iterator[Text]:
    verdict, facts = judgement.verdict, judgement.facts
    mark, style = ("✓" if judgement else "✗"), _STYLES.get(verdict.outcome, "bold red")
    most = judgement.terms.history.standing.max_attempts
    yield Text.assemble(
        (f"{mark} {verdict.outcome}", style),
        "  ",
        (printable(verdict.reason_code or ""), "red"),
        "  " if verdict.reason_code else "",
        (f"{judgement.task_id}  attempt {judgement.attempt} of {most}", "dim"),
    )
    for finding in verdict.findings:
        yield Text.assemble(
            f"  {finding.gate:<10}  {printable(finding.message)}  ",
            (printable(finding.code), "red"),
        )
    for run in facts.runs:
        mark, style = ("✓", "green") if run.passed else ("✗", "red")
        how = f"{run.duration_ms / 1000:.1f} s, isolated by {run.isolation}"
        yield Text.assemble(
            "  ", (mark, style), f" {printable(run.command)}  ", (how, "dim")
        )
    count = len(facts.changes.paths())
    changed = "1 changed path" if count == 1 else f"{count} changed paths"
    yield Text(
        f"  {changed} since {facts.base_commit[:12] or 'the earlier copy'}", "dim"
    )
    for notice in verdict.notices:
        yield Text(f"  note: {printable(notice)}", "dim")
    if verdict.step is not None:
        role = f" ({verdict.step.role})" if verdict.step.role else ""
        yield Text(f"  next: {verdict.next_action}{role}. {LEVELS[verdict.step.level]}")
    if judgement.bundle is not None:
        yield Text(f"  evidence: {printable(str(judgement.bundle))}", "dim")


def as_json(judgement: Judgement, _task: str) -> str:
    """All of it."""
    bundle = None if judgement.bundle is None else str(judgement.bundle)
    return _dumped({**judgement.to_json(), "bundle": bundle})


def as_outcome(judgement: Judgement, _task: str) -> str:
    """`scc.outcome.v1`."""
    return _dumped(judgement.as_outcome())


def as_verdict(judgement: Judgement, _task: str) -> str:
    """`scc.verdict.v1`."""
    return _dumped(judgement.as_verdict())


def _dumped(value: object) -> str:
    return as_json_text(value)


def as_github(judgement: Judgement, _task: str) -> str:
    """Annotations of GitHub Actions, one for each finding, and the outcome."""
    verdict = judgement.verdict
    lines = [
        github_annotation(
            "error", f"accordance {one.code}", one.message, _file(_path(judgement, one))
        )
        for one in verdict.findings
    ]
    text = f"{verdict.outcome}: {verdict.reason} Next: {verdict.next_action}."
    notes = [
        github_annotation("notice", "accordance", notice, {})
        for notice in verdict.notices
    ]
    return "\n".join(
        [*lines, *notes, github_annotation("notice", "accordance", text, {})]
    )


def _file(path: str | None) -> dict[str, object]:
    return {} if path is None else {"file": path}


def _path(judgement: Judgement, finding: Finding) -> str | None:
    """The first changed path that the finding is about."""
    changed = judgement.facts.changes.paths()
    return next((thing for thing in finding.about if thing in changed), None)


def as_sarif(judgement: Judgement, task: str) -> str:
    """SARIF 2.1.0. What is about no changed file is shown at the task, for code scanning wants a place."""
    findings = judgement.verdict.findings
    rules = [_rule(code) for code in dict.fromkeys(one.code for one in findings)]
    results = [_result(one, _path(judgement, one) or task) for one in findings]
    return sarif_document(rules, results)


def _rule(code: str) -> dict[str, Any]:
    try:
        page = fail_code(code)
    except UnknownCode:  # an agent may give reasons of its own
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": page.trigger},
        "help": {"text": page.action},
    }


def _result(finding: Finding, path: str) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": path}, "region": {"startLine": 1}}
    return {
        "ruleId": finding.code,
        "level": "error",
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
    }


def as_junit(judgement: Judgement, _task: str) -> str:
    """JUnit XML: every gate and every test command is a test case."""
    whole = ET.Element("testsuites", name="accordance")
    gates = ET.SubElement(whole, "testsuite", name=f"gates of {judgement.task_id}")
    for gate in Gate:
        case = ET.SubElement(
            gates, "testcase", classname="accordance.gates", name=gate.value
        )
        found = [one for one in judgement.verdict.findings if one.gate is gate]
        if found:  # a test case fails once
            codes, texts = (
                dict.fromkeys(values)
                for values in zip(
                    *((one.code, one.message) for one in found), strict=True
                )
            )
            _fails(case, ", ".join(codes), "\n".join(map(printable, texts)))
    runs = ET.SubElement(whole, "testsuite", name=f"tests of {judgement.task_id}")
    for run in judgement.facts.runs:
        seconds = f"{run.duration_ms / 1000:.3f}"
        case = ET.SubElement(
            runs,
            "testcase",
            classname="accordance.tests",
            name=_xml(run.command),
            time=seconds,
        )
        if not run.passed:
            _fails(case, run.ending.value, f"exit code {run.exit_code}")
    for suite in (gates, runs):
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
    ET.indent(whole)
    return ET.tostring(whole, encoding="unicode", xml_declaration=True)


def _fails(case: ET.Element, kind: str, text: str) -> None:
    lines = [_xml(line) for line in text.split("\n")]
    failure = ET.SubElement(case, "failure", type=_xml(kind), message=lines[0])
    failure.text = "\n".join(lines)


def _xml(line: str) -> str:
    """One line, without the signs that XML cannot hold."""
    return _NOT_IN_XML.sub("\ufffd", shown(line))


FORMATS: Mapping[str, Callable[[Judgement, str], str]] = {
    "text": as_text,
    "003": as_outcome,
    "004": as_verdict,
    "github": as_github,
    "junit": as_junit,
    "sarif": as_sarif,
}
