"""The tests that failed because of a change: where each stands, and why it failed.

Only the runs that everybody may see are looked at: of hidden tests nothing but their
number is ever shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from accordance.contracts.catalogue.task import TaskInput
from accordance.domain.facts import AttemptFacts
from accordance.domain.test_results import file_of
from accordance.domain.test_runs import excused_failures

MAX_LINES: Final = 10  # of a failure that are shown
MAX_WIDTH: Final = 200  # characters of such a line
MAX_EXPLAINED: Final = 100
"""Tests whose failure is read; of those after them only the name is known."""
_CUT: Final = "…"

# a file and a line, as Python, pytest, Node, Rust and Go write them
_PLACE: Final = re.compile(
    r'(?:File "|file://)?(?P<file>[^\s"():]{1,300}\.\w{1,10})'
    r'(?:", line |:)(?P<line>[0-9]{1,7})\b'
)
_ASSERTION: Final = re.compile(r"^(?:E|>) ")  # pytest's marks


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A test that failed, and that the change has to answer for."""

    test: str  # its id
    command: str
    lines: tuple[str, ...] = ()  # the lines that show why
    file: str = ""  # in the repository; empty where it is unknown
    line: int | None = None  # where it failed in that file

    @property
    def place(self) -> str:
        """The file and the line, as far as they are known."""
        if self.line is None:
            return self.file
        return f"{self.file}:{self.line}"

    @property
    def why(self) -> str:
        """The line that says most: the first that pytest marks, else the last."""
        for line in self.lines:
            if line.startswith("E "):
                return line[1:].strip()
        if self.lines:
            return self.lines[-1].strip()
        return ""


def failing_tests(task: TaskInput, facts: AttemptFacts) -> tuple[FailingTest, ...]:
    """Return the failing tests that are held against a change, in the order they ran."""
    excused = excused_failures(task, facts)
    failing: dict[str, FailingTest] = {}
    for run in facts.runs:
        for result in run.results:
            test = result.test
            is_known = test in excused or test in failing
            if not result.failed or is_known:
                continue
            is_explained = len(failing) < MAX_EXPLAINED
            text = result.text if is_explained else ""
            failing[test] = _failing(test, run.command, text)
    return tuple(failing.values())


def _failing(test: str, command: str, text: str) -> FailingTest:
    file, line = place_in(text, test)
    return FailingTest(
        test=test,
        command=command,
        lines=telling_lines(text),
        file=file,
        line=line,
    )


def telling_lines(text: str, most: int = MAX_LINES) -> tuple[str, ...]:
    """Return the lines of a failure that tell why.

    These are the assertions that pytest marks, or else the last lines.
    """
    stripped = map(str.rstrip, text.splitlines())
    lines = [line for line in stripped if line]
    marked = [line for line in lines if _ASSERTION.match(line)]
    chosen = marked[:most] if marked else lines[-most:]
    return tuple(_shortened(line) for line in chosen)


def _shortened(line: str) -> str:
    if len(line) <= MAX_WIDTH:
        return line
    return line[: MAX_WIDTH - 1] + _CUT


def place_in(text: str, test: str) -> tuple[str, int | None]:
    """Return the file of a test and the line at which it failed, from its own words.

    The last line that the failure names in the test's own file counts. Without it the
    file is that of the id, if the id names a file.
    """
    named = file_of(test)
    names_a_file = named != test or "/" in test  # else it may be a module
    is_inside = names_a_file and _is_relative_file(named)
    test_file = named if is_inside else ""
    test_line = None
    for file, line in _places(text):
        own_file = _own_file(file, test)
        if own_file:
            test_file = own_file
            test_line = line
    return test_file, test_line


def _places(text: str) -> Iterator[tuple[str, int]]:
    for match in _PLACE.finditer(text):
        yield match["file"], int(match["line"])


def _own_file(file: str, test: str) -> str:
    """Return a file as the repository names it if it is the test's own; else nothing.

    A failure may name it by its full path in the copy that the tests ran in, and an id
    may name it as a module.
    """
    named = file_of(test)
    if file == named or file.endswith(f"/{named}"):
        return named if _is_relative_file(named) else ""

    folders = file.split("/")
    stem, _, suffix = folders[-1].rpartition(".")
    for start in range(len(folders)):
        parts = (*folders[start:-1], stem)
        module = ".".join(parts)
        if test.startswith(f"{module}."):
            path = "/".join(parts) + f".{suffix}"
            return path if _is_relative_file(path) else ""
    return ""


def _is_relative_file(path: str) -> bool:
    """Whether a path names a file below the root of the repository."""
    parts = path.split("/")
    has_suffix = "." in parts[-1].strip(".")
    is_inside = {"", ".."}.isdisjoint(parts) and "\\" not in path
    return has_suffix and is_inside and path.isprintable()
