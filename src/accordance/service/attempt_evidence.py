"""What an attempt has left behind: the bundle of its evidence, and its logs.

Everything here was written by accordance or by an agent, and may be gone, huge or
damaged since: it is read up to a bound, and what cannot be read counts as not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from accordance.domain.naming import safe_name
from accordance.errors import AccordanceError
from accordance.executors.left_files import read_file_inside, read_tail_inside
from accordance.project.home import Home
from accordance.service.views.stories import FailingTestView
from accordance.work.kept_logs import LOG_NAMES

if TYPE_CHECKING:  # showing a task needs no terms of verdicts
    from accordance.domain.scope import PathScope

_LARGEST_DOCUMENT: Final = 16 << 20
_MOST_TESTS: Final = 5
_MOST_LINES: Final = 10
_LONGEST_LINE: Final = 300
_NUMBERED: Final = re.compile(r"-(\d{1,9})$")


@dataclass(frozen=True, slots=True)
class Bundle:
    """The evidence of an attempt, as far as it can be read."""

    folder: Path

    @property
    def is_there(self) -> bool:
        """Whether the folder is still where it was put."""
        return self.folder.is_dir()

    def patch(self, most: int) -> bytes | None:
        """Return the real change, up to so many bytes; None if it is gone."""
        return read_file_inside(self.folder, "patch.diff", most)

    def test_runs(self) -> list[TestCommand]:
        """Return the test commands of the judgement, in their order."""
        runs = _list_in(self._document("judgement.json"), "tests")
        commands = []
        for number, run in enumerate(runs, 1):
            if isinstance(run, dict):
                commands.append(TestCommand(number, run))
        return commands

    def test_log(self, command: TestCommand, most: int) -> bytes | None:
        """Return the end of what a test command printed; None if it is gone."""
        return read_tail_inside(self.folder, f"runs/{command.log_name}", most)

    def scope(self) -> PathScope | None:
        """Return what the attempt was allowed to touch; None if that is unknown."""
        from accordance.contracts.pins import Pins
        from accordance.domain.scope import PathScope
        from accordance.domain.terms import terms_from

        pins = self._document("task.json").get("pins")
        raw_terms = read_file_inside(self.folder, "terms.json", _LARGEST_DOCUMENT)
        if not isinstance(pins, dict) or raw_terms is None:
            return None
        try:
            forbidden = pins.get("forbidden_paths") or ()
            own = Pins.of(pins["allowed_paths"], forbidden)
            role = terms_from(raw_terms).role
        except (AccordanceError, KeyError, TypeError, AttributeError):
            return None
        return PathScope(own, role.write)

    def findings(self) -> dict[str, list[tuple[str, str]]] | None:
        """Return the codes and texts of findings by gate; None if they are gone."""
        findings = self._document("judgement.json").get("findings")
        if not isinstance(findings, list):
            return None
        by_gate: dict[str, list[tuple[str, str]]] = {}
        for finding in findings:
            if not isinstance(finding, dict):
                continue
            gate = str(finding.get("gate", ""))
            code = str(finding.get("code", ""))
            message = str(finding.get("message", ""))
            by_gate.setdefault(gate, []).append((code, message))
        return by_gate

    def never_run(self) -> dict[str, tuple[int, ...]]:
        """Return the changed lines that no test ran, by file, as far as was traced."""
        missed = {}
        for lines in _list_in(self._document("judgement.json"), "changed_lines"):
            if not isinstance(lines, dict):
                continue
            never_run = lines.get("never_run")
            if not isinstance(never_run, list):
                continue
            file = str(lines.get("file", ""))
            numbers = [number for number in never_run if type(number) is int]
            missed[file] = tuple(numbers)
        return missed

    def next_action(self) -> str | None:
        """Return what the judgement says comes next."""
        action = self._document("judgement.json").get("next_action")
        return action if isinstance(action, str) else None

    def _document(self, name: str) -> Mapping[str, Any]:
        raw = read_file_inside(self.folder, name, _LARGEST_DOCUMENT)
        try:
            document = json.loads(raw or b"{}")
        except (ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}


@dataclass(frozen=True, slots=True)
class TestCommand:
    """A test command that the judge ran."""

    __test__ = False  # the name means something else to pytest

    number: int
    run: Mapping[str, Any]

    @property
    def command(self) -> str:
        """What was run."""
        return str(self.run.get("command", ""))

    @property
    def log_name(self) -> str:
        """The name of its log in the bundle."""
        return f"{self.number:02}.log"

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        return self.run.get("passed") is True

    def failed_tests(self) -> Iterator[tuple[str, str]]:
        """Yield the tests that failed, with what they printed."""
        report = self.run.get("report")
        if not isinstance(report, dict):
            return
        for test in _list_in(report, "failed"):
            if isinstance(test, dict):
                name = str(test.get("test", ""))
                text = str(test.get("text", ""))
                yield name, text


def _list_in(document: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list of a document; an empty list if there is none."""
    value = document.get(key)
    return value if isinstance(value, list) else []


def failing_tests(bundle: Bundle) -> tuple[tuple[FailingTestView, ...], int]:
    """Return the first failing tests of an attempt, and how many more there are.

    A command that names no test stands for itself, with the end of its log.
    """
    views: list[FailingTestView] = []
    for command in bundle.test_runs():
        if command.passed:
            continue
        named = list(command.failed_tests())
        if not named:
            log = bundle.test_log(command, _LONGEST_LINE * _MOST_LINES) or b""
            named = [(command.command, log.decode("utf-8", "replace"))]
        views += [_failing_test(test, text) for test, text in named]
    left_out = max(0, len(views) - _MOST_TESTS)
    return tuple(views[:_MOST_TESTS]), left_out


def _failing_test(test: str, text: str) -> FailingTestView:
    return FailingTestView(test=test, lines=last_lines(text, _MOST_LINES))


def last_lines(text: str, most: int) -> tuple[str, ...]:
    """Return the last lines of a text that are not blank; long ones are cut."""
    whole_lines = text.expandtabs().splitlines()
    lines = []
    for whole_line in whole_lines:
        line = whole_line.rstrip()[:_LONGEST_LINE]
        if line.strip():
            lines.append(line)
    return tuple(lines[-most:])


def run_folder(home: Home, task_id: str, attempt: int, kind: str) -> Path | None:
    """Return the folder of the last run of an attempt; None if there is none."""
    base = home.runs / safe_name(task_id)
    folders = []
    for folder in base.glob(f"{kind}-{attempt}-*"):
        number = _NUMBERED.search(folder.name)
        if number is not None and folder.is_dir():
            folders.append((int(number[1]), folder))
    return max(folders)[1] if folders else None


def run_logs(home: Home, task_id: str, attempt: int, kind: str) -> tuple[Path, ...]:
    """Return what the executor printed in an attempt: the logs that are not empty."""
    folder = run_folder(home, task_id, attempt, kind)
    if folder is None:
        return ()
    logs = [folder / name for name in LOG_NAMES]
    return tuple(log for log in logs if log.is_file() and log.stat().st_size)
