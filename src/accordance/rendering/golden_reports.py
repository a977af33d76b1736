"""Reports of golden sets: text for people, JSON to keep, JUnit for CI."""

from __future__ import annotations

import re
from html import escape
from typing import Annotated, Final, Literal

from pydantic import Field

from accordance.contracts.checking import Checker
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Closed, Text
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.registry import Registry
from accordance.contracts.violation import Rejected
from accordance.domain.research.golden import CaseResult, GoldenReport
from accordance.domain.research.regression import Regression
from accordance.errors import InvalidGolden

VERSION: Final = "accordance.golden_report.v1"
_NOT_IN_XML: Final = re.compile(
    "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_MARKS: Final = {
    "PASSED": "✓",
    "FAILED": "✗",
    "MISSING": "?",
}


# -- text


def as_text(report: GoldenReport) -> str:
    """Return the problems of each case, the rates of each level, and the means."""
    lines = [f"golden set {report.name}: {len(report.results)} cases"]
    for result in report.results:
        mark = _MARKS[result.status]
        lines.append(f"{mark} {result.id}  {result.level}  {result.agent}")
        lines += [f"    {problem}" for problem in result.problems]

    lines.append("")
    for level, (passed, total) in report.by_level().items():
        lines.append(f"{level:<9} {passed} of {total} passed")
    for name, mean in report.metrics().items():
        lines.append(f"{name:<17} {mean:.3f}")
    return "\n".join(lines) + "\n"


def regression_text(regression: Regression) -> str:
    """Return the difference of two reports for people."""
    lines = []
    for kind, case_ids in regression.cases().items():
        lines += [f"{kind:<7} {case_id}" for case_id in case_ids]
    for name, (before, after) in regression.metrics.items():
        lines.append(f"{name:<17} {before:.3f} -> {after:.3f}")
    return "\n".join(lines or ["no difference"]) + "\n"


# -- JSON


def as_json(report: GoldenReport) -> JsonObject:
    """Return a report to keep, and to compare with a later report."""
    levels = {}
    for level, (passed, total) in report.by_level().items():
        rate = round(passed / total, 6)
        levels[level] = {
            "passed": passed,
            "total": total,
            "rate": rate,
        }

    return {
        "schema_version": VERSION,
        "name": report.name,
        "passed": report.passed,
        "levels": levels,
        "metrics": {name: round(mean, 6) for name, mean in report.metrics().items()},
        "cases": [_case_json(result) for result in report.results],
    }


def _case_json(result: CaseResult) -> JsonObject:
    return {
        "id": result.id,
        "level": result.level,
        "agent": result.agent,
        "status": result.status,
        "problems": list(result.problems),
        "metrics": dict(result.metrics),
    }


class _Case(Closed):
    id: Text
    level: Text
    agent: Text
    status: Literal["PASSED", "FAILED", "MISSING"]
    problems: list[str]
    metrics: dict[str, float]

    def result(self) -> CaseResult:
        return CaseResult(
            id=self.id,
            level=self.level,
            agent=self.agent,
            status=self.status,
            problems=tuple(self.problems),
            metrics=self.metrics,
        )


class _Level(Closed):
    passed: int
    total: int
    rate: float


class _Report(Closed):
    schema_version: Literal["accordance.golden_report.v1"]
    name: Text
    passed: bool
    levels: dict[str, _Level]
    metrics: dict[str, float]
    cases: Annotated[list[_Case], Field(min_length=1)]


_FILE: Final = Contract(
    version=VERSION,
    name="golden_report",
    model=_Report,
)
_checker: Final = Checker(Registry((_FILE,)))


def read_report(raw: bytes | str) -> GoldenReport:
    """Read a report that was kept as JSON. Raises InvalidGolden."""
    result = _checker.check(raw, _FILE)
    if isinstance(result, Rejected):
        raise InvalidGolden(f"not a report of a golden set: {result.violations[0]}")

    file: _Report = result.value
    results = [case.result() for case in file.cases]
    return GoldenReport(file.name, tuple(results))


# -- JUnit


def as_junit(report: GoldenReport) -> str:
    """Return a report for CI: a suite for each level, a test case for each case."""
    name, total = _xml(report.name), len(report.results)
    failures = sum(not result.passed for result in report.results)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="{name}" tests="{total}" failures="{failures}">',
    ]
    for level in report.by_level():
        lines += _suite(level, report)
    lines.append("</testsuites>")
    return "\n".join(lines) + "\n"


def _suite(level: str, report: GoldenReport) -> list[str]:
    passed, total = report.by_level()[level]
    failures = total - passed
    lines = [f'  <testsuite name="{level}" tests="{total}" failures="{failures}">']
    for result in report.results:
        if result.level == level:
            lines += _testcase(result)
    lines.append("  </testsuite>")
    return lines


def _testcase(result: CaseResult) -> list[str]:
    agent, case_id = _xml(result.agent), _xml(result.id)
    head = f'    <testcase classname="{agent}" name="{case_id}"'
    if result.passed:
        return [f"{head}/>"]

    problems = _xml("\n".join(result.problems))
    return [
        f"{head}>",
        f'      <failure message="{result.status}">{problems}</failure>',
        "    </testcase>",
    ]


def _xml(text: str) -> str:
    return escape(_NOT_IN_XML.sub("\ufffd", text))
