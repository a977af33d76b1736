"""Reports of golden sets: text for people, JSON to keep, JUnit for CI; and the difference of two kept ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
from accordance.errors import InvalidGolden

VERSION: Final = "accordance.golden_report.v1"
_NOT_IN_XML: Final = re.compile(
    "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_MARKS: Final = {"PASSED": "✓", "FAILED": "✗", "MISSING": "?"}


def as_text(report: GoldenReport) -> str:
    """For people: what failed, the rates per level, the means."""
    lines = [f"golden set {report.name}: {len(report.results)} cases"]
    for one in report.results:
        lines.append(f"{_MARKS[one.status]} {one.id}  {one.level}  {one.agent}")
        lines += [f"    {problem}" for problem in one.problems]
    lines.append("")
    lines += [
        f"{level:<9} {good} of {count} passed"
        for level, (good, count) in report.by_level().items()
    ]
    lines += [f"{name:<17} {mean:.3f}" for name, mean in report.metrics().items()]
    return "\n".join(lines) + "\n"


def as_json(report: GoldenReport) -> JsonObject:
    """To keep, and to compare with a later one."""
    rates = {
        level: {"passed": good, "total": count, "rate": round(good / count, 6)}
        for level, (good, count) in report.by_level().items()
    }
    return {
        "schema_version": VERSION,
        "name": report.name,
        "passed": report.passed,
        "levels": rates,
        "metrics": {name: round(mean, 6) for name, mean in report.metrics().items()},
        "cases": [
            {
                "id": one.id,
                "level": one.level,
                "agent": one.agent,
                "status": one.status,
                "problems": list(one.problems),
                "metrics": dict(one.metrics),
            }
            for one in report.results
        ],
    }


def as_junit(report: GoldenReport) -> str:
    """For CI: a suite per level, a test case per case."""
    total = len(report.results)
    bad = sum(one.status != "PASSED" for one in report.results)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(
        f'<testsuites name="{_xml(report.name)}" tests="{total}" failures="{bad}">'
    )
    for level, (good, count) in report.by_level().items():
        lines.append(
            f'  <testsuite name="{level}" tests="{count}" failures="{count - good}">'
        )
        lines += [
            line
            for one in report.results
            if one.level == level
            for line in _testcase(one)
        ]
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _testcase(one: CaseResult) -> list[str]:
    head = f'    <testcase classname="{_xml(one.agent)}" name="{_xml(one.id)}"'
    if one.status == "PASSED":
        return [f"{head}/>"]
    text = _xml("\n".join(one.problems))
    return [
        f"{head}>",
        f'      <failure message="{one.status}">{text}</failure>',
        "    </testcase>",
    ]


def _xml(text: str) -> str:
    return escape(_NOT_IN_XML.sub("\ufffd", text))


class _Case(Closed):
    id: Text
    level: Text
    agent: Text
    status: Literal["PASSED", "FAILED", "MISSING"]
    problems: list[str]
    metrics: dict[str, float]


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


_FILE: Final = Contract(version=VERSION, name="golden_report", model=_Report)
_checker: Final = Checker(Registry((_FILE,)))


def read_report(raw: bytes | str) -> GoldenReport:
    """A report that was kept. Raises InvalidGolden."""
    found = _checker.check(raw, _FILE)
    if isinstance(found, Rejected):
        raise InvalidGolden(f"no report of a golden set: {found.violations[0]}")
    written: _Report = found.value
    results = tuple(
        CaseResult(
            one.id, one.level, one.agent, one.status, tuple(one.problems), one.metrics
        )
        for one in written.cases
    )
    return GoldenReport(written.name, results)


@dataclass(frozen=True, slots=True)
class Regression:
    """What changed from one report to the next."""

    broken: tuple[str, ...]  # passed before, does not now
    gone: tuple[str, ...]  # passed before, is not asked any more
    mended: tuple[str, ...]
    added: tuple[str, ...]
    metrics: dict[str, tuple[float, float]]  # before and after, where they differ

    @property
    def worse(self) -> bool:
        """Whether something that passed does not pass any more."""
        return bool(self.broken or self.gone)

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        return {
            "worse": self.worse,
            "broken": list(self.broken),
            "gone": list(self.gone),
            "mended": list(self.mended),
            "added": list(self.added),
            "metrics": {
                name: {"before": old, "after": new}
                for name, (old, new) in self.metrics.items()
            },
        }

    def __str__(self) -> str:
        rows = (
            ("broken", self.broken),
            ("gone", self.gone),
            ("mended", self.mended),
            ("added", self.added),
        )
        lines = [f"{kind:<7} {name}" for kind, names in rows for name in names]
        lines += [
            f"{name:<17} {old:.3f} -> {new:.3f}"
            for name, (old, new) in self.metrics.items()
        ]
        return "\n".join(lines or ["no difference"]) + "\n"


def regression(before: GoldenReport, after: GoldenReport) -> Regression:
    """The difference of two reports."""
    old = {one.id: one.status == "PASSED" for one in before.results}
    new = {one.id: one.status == "PASSED" for one in after.results}
    means = after.metrics()
    return Regression(
        broken=tuple(name for name, good in new.items() if old.get(name) and not good),
        gone=tuple(name for name, good in old.items() if good and name not in new),
        mended=tuple(
            name for name, good in new.items() if good and old.get(name) is False
        ),
        added=tuple(name for name in new if name not in old),
        metrics={
            name: (round(mean, 6), round(means[name], 6))
            for name, mean in before.metrics().items()
            if name in means and round(mean, 6) != round(means[name], 6)
        },
    )
