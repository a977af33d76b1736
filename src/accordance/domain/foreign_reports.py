"""Reports that test tools write themselves: Go, Rust, Jest, Vitest, and JUnit's XML.

They are weaker than those of our own reporter. No canary flies among their tests, and
code of the tree can write them as well as the tool. So they can show a failure, and
their successes are worth what the exit code is worth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final
from xml.etree import ElementTree as ET

from accordance.domain.json_numbers import as_number
from accordance.domain.test_results import TestOutcome, TestReport, TestResult, worst

GO: Final = "go"
CARGO: Final = "cargo"
JEST: Final = "jest"
VITEST: Final = "vitest"
JUNIT: Final = "junit"
_SUSPICIOUS: Final = (b"<!DOCTYPE", b"<!ENTITY", b"\0")
"""What no report needs: definitions, and encodings in which they could hide."""
_MOST_TEXT: Final = 4000  # characters kept of why a test failed


def _report(
    runner: str,
    results: Iterable[TestResult],
    incomplete: str = "",
) -> TestReport:
    """A report in which each test counts once, by its worst outcome."""
    known: dict[str, TestResult] = {}
    for result in results:
        other = known.get(result.test, result)
        is_worse = worst((other.outcome, result.outcome)) is result.outcome
        known[result.test] = result if is_worse else other
    if not known and not incomplete:
        incomplete = "no test was run"
    return TestReport(
        runner,
        tuple(known.values()),
        incomplete=incomplete,
        written_by_run=True,
    )


# -- go test -json


_GO_ACTIONS: Final[Mapping[str, TestOutcome]] = MappingProxyType(
    {
        "pass": TestOutcome.PASSED,
        "fail": TestOutcome.FAILED,
        "skip": TestOutcome.SKIPPED,
    }
)


def read_go(log: str) -> TestReport | None:
    """Read the events of `go test -json`; None where there are none."""
    go = _GoLog()
    for event in _objects(log):
        go.take(event)
    if go.is_empty:
        return None

    results = [*go.results, *go.broken_builds()]
    return _report(GO, results, _unfinished(sorted(go.open_packages)))


@dataclass(slots=True)
class _GoLog:
    """The events of `go test -json`, read so far."""

    results: list[TestResult] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)  # by test or package
    open_packages: set[str] = field(default_factory=set)
    failed_packages: list[str] = field(default_factory=list)
    is_empty: bool = True

    def take(self, event: Mapping[str, Any]) -> None:
        """Read an event; other lines of JSON are passed over."""
        package = event.get("Package")
        action = event.get("Action")
        if not isinstance(package, str) or not isinstance(action, str):
            return
        self.is_empty = False

        test = event.get("Test")
        name = f"{package}::{test}" if test else package
        outcome = _GO_ACTIONS.get(action)
        if action == "output":
            self._add_text(name, str(event.get("Output", "")))
        elif outcome is None:
            self.open_packages.add(package)
        elif test:
            seconds = _seconds(event.get("Elapsed"))
            self._add_result(name, outcome, seconds)
        else:
            self._close(package, outcome)

    def _add_text(self, name: str, output: str) -> None:
        text = self.texts.get(name, "") + output
        self.texts[name] = text[-_MOST_TEXT:]

    def _add_result(self, name: str, outcome: TestOutcome, seconds: float) -> None:
        text = ""
        if outcome is TestOutcome.FAILED:
            text = self.texts.get(name, "")
        result = TestResult(name, outcome, seconds, text)
        self.results.append(result)

    def _close(self, package: str, outcome: TestOutcome) -> None:
        self.open_packages.discard(package)
        if outcome is TestOutcome.FAILED:
            self.failed_packages.append(package)

    def broken_builds(self) -> Iterator[TestResult]:
        """Yield packages that failed without a failed test.

        They could not be built, or ended on their own.
        """
        failed = [result.test for result in self.results if result.failed]
        for package in self.failed_packages:
            has_failed_test = any(test.startswith(f"{package}::") for test in failed)
            if not has_failed_test:
                yield _broken(package, self.texts.get(package, ""))


# -- cargo test


_CARGO_TARGET: Final = re.compile(
    r"\s+(?:Running (?:unittests )?(\S+)|Doc-tests (\S+))"
)
_CARGO_BEGIN: Final = re.compile(r"running (\d+) tests?\Z")
_CARGO_TEST: Final = re.compile(
    r"test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:, .*)?\Z"
)
_CARGO_LINE: Final = re.compile(r" \(line \d+\)")  # of a test in the documentation
_CARGO_END: Final = re.compile(r"test result: (?:ok|FAILED)\. ")
_CARGO_OUTCOMES: Final[Mapping[str, TestOutcome]] = MappingProxyType(
    {
        "ok": TestOutcome.PASSED,
        "FAILED": TestOutcome.FAILED,
        "ignored": TestOutcome.SKIPPED,
    }
)


def read_cargo(log: str) -> TestReport | None:
    """Read what Rust's own test harness prints; None where it printed nothing."""
    results: list[TestResult] = []
    target = ""
    announced = 0
    is_open = is_known = False
    unfinished = []
    for line in log.splitlines():
        place = _CARGO_TARGET.match(line)
        begin = _CARGO_BEGIN.match(line)
        test = _CARGO_TEST.match(line)
        if place is not None:
            target = place[1] or place[2]
        elif begin is not None:
            if is_open:
                unfinished.append(target)
            announced = int(begin[1])
            is_open = is_known = True
        elif test is not None and is_open:
            own_name = _CARGO_LINE.sub("", test[1])
            name = f"{target}::{own_name}" if target else own_name
            results.append(TestResult(name, _CARGO_OUTCOMES[test[2]]))
            announced -= 1
        elif _CARGO_END.match(line):
            if announced > 0:
                unfinished.append(target)
            is_open = False
    if not is_known:
        return None
    if is_open:
        unfinished.append(target)
    return _report(CARGO, results, _unfinished(unfinished))


# -- Jest and Vitest


_JEST_OUTCOMES: Final[Mapping[str, TestOutcome]] = MappingProxyType(
    {
        "passed": TestOutcome.PASSED,
        "failed": TestOutcome.FAILED,
        "pending": TestOutcome.SKIPPED,
        "skipped": TestOutcome.SKIPPED,
        "todo": TestOutcome.SKIPPED,
        "disabled": TestOutcome.SKIPPED,
    }
)


def read_jest(log: str, root: str = "", runner: str = JEST) -> TestReport | None:
    """Read the JSON that Jest and Vitest print; None where there is none.

    `root` is the folder that file names begin with.
    """
    documents = [value for value in _objects(log) if "testResults" in value]
    if not documents:
        return None
    results = []
    for file in _dicts(documents[-1].get("testResults")):
        name = str(file.get("name", "")).removeprefix(f"{root}/")
        tests = list(_dicts(file.get("assertionResults")))
        results += [_jest_result(name, test) for test in tests]
        if not tests and file.get("status") == "failed":
            message = str(file.get("message", ""))
            results.append(_broken(name, message[:_MOST_TEXT]))
    return _report(runner, results)


def read_vitest(log: str, root: str = "") -> TestReport | None:
    """Read the JSON that Vitest prints, which has the form of Jest's."""
    return read_jest(log, root, VITEST)


def _jest_result(file: str, test: Mapping[str, Any]) -> TestResult:
    ancestors = _texts(test.get("ancestorTitles"))
    title = str(test.get("title", ""))
    name = " > ".join((file, *ancestors, title))

    status = str(test.get("status"))
    outcome = _JEST_OUTCOMES.get(status, TestOutcome.ERROR)
    text = "\n".join(_texts(test.get("failureMessages")))
    milliseconds = _seconds(test.get("duration"))
    return TestResult(
        test=name,
        outcome=outcome,
        seconds=milliseconds / 1000,
        text=text[:_MOST_TEXT],
    )


# -- JUnit's XML


_JUNIT_TAGS: Final[Mapping[str, TestOutcome]] = MappingProxyType(
    {
        "skipped": TestOutcome.SKIPPED,
        "error": TestOutcome.ERROR,
        "failure": TestOutcome.FAILED,
    }
)
"""What a test ended with; the last that is there counts."""


def read_junit(documents: Iterable[bytes]) -> TestReport:
    """Read reports in JUnit's XML, which most test tools can write."""
    results: list[TestResult] = []
    for document in documents:
        if any(mark in document for mark in _SUSPICIOUS):
            return _report(JUNIT, (), "the report holds more than results of tests")
        try:
            root = ET.fromstring(document)  # noqa: S314 - without entities
        except (ET.ParseError, ValueError, LookupError):
            return _report(JUNIT, (), "the report is not XML")
        results += [_junit_result(case) for case in root.iter("testcase")]
    return _report(JUNIT, results)


def _junit_result(case: ET.Element) -> TestResult:
    words = (case.get("file"), case.get("classname"), case.get("name"))
    name = "::".join(filter(None, words))
    outcome = TestOutcome.PASSED
    text = ""
    for tag, meaning in _JUNIT_TAGS.items():
        part = case.find(tag)
        if part is not None:
            outcome = meaning
            text = part.get("message") or part.text or ""
    if outcome is TestOutcome.SKIPPED:
        text = ""
    return TestResult(
        test=name,
        outcome=outcome,
        seconds=_junit_seconds(case),
        text=text[:_MOST_TEXT],
    )


def _junit_seconds(case: ET.Element) -> float:
    try:
        return float(case.get("time") or 0)
    except ValueError:
        return 0.0


# -- what they share


READERS: Final[Mapping[str, Callable[[str, str], TestReport | None]]] = (
    MappingProxyType(
        {
            GO: lambda log, _: read_go(log),
            CARGO: lambda log, _: read_cargo(log),
            JEST: read_jest,
            VITEST: read_vitest,
        }
    )
)
"""How the output of each tool is read; the second text is the folder of the tree."""


def _objects(log: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects that stand in lines of their own."""
    for line in log.splitlines():
        if not line.startswith("{"):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        yield value


def _broken(name: str, text: str) -> TestResult:
    """Return the result of a file or a package whose tests could not be run."""
    return TestResult(name, TestOutcome.ERROR, 0.0, text)


def _texts(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(item) for item in value]
    return []


def _dicts(value: object) -> Iterator[Mapping[str, Any]]:
    if not isinstance(value, list):
        return
    for item in value:
        if isinstance(item, dict):
            yield item


def _seconds(value: object) -> float:
    seconds = as_number(value)
    return 0.0 if seconds is None else float(seconds)


def _unfinished(names: list[str]) -> str:
    if not names:
        return ""
    return f"tests ended before their run was over: {', '.join(names[:10])}"
