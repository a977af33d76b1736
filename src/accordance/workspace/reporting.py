"""Watching tests from inside their run: a reporter beside them, and what it wrote.

The reporter lies in a folder of the room that the tests can read and not change. It
appends to a file that they could change; `domain.test_streams` believes only what holds
together.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from accordance.domain.changed_code import lines_run
from accordance.domain.facts import IsolationLevel
from accordance.domain.test_results import TestReport
from accordance.domain.test_streams import MAX_BYTES, read_stream
from accordance.workspace.inside import reporters
from accordance.workspace.isolation import Room

_STREAM: Final = "report.jsonl"
_FOLDER: Final = "reporters"
_TRACED: Final = "traced.json"
_FILES: Final = ("sitecustomize.py", "node_reporter.mjs")
_PYTHON_PATH: Final = re.compile(r"(?<![\w$])PYTHONPATH=")
_NODE_TEST: Final = re.compile(r"\bnode\b(?=[^|;&]*\s--test(?:\s|\Z))")
_NODE_OPTIONS: Final = re.compile(r"(?<![\w$])NODE_OPTIONS=")


def watched(room: Room, only: str = "") -> Room:
    """Return the room with the variables by which test runners load our reporter.

    `only` is the id of the only test that is run, where the reporter can see to that.
    """
    environment = dict(room.environment)
    python_path = environment.get("PYTHONPATH")
    node_options = environment.get("NODE_OPTIONS")
    environment["BUILD_REPORT"] = os.fspath(room.folder / _STREAM)
    environment["PYTHONPATH"] = _joined(":", _python_path(room), python_path)
    environment["NODE_OPTIONS"] = _joined(" ", _node_options(room), node_options)
    if only:
        environment["BUILD_ONLY"] = only
    return replace(room, environment=environment, log=_STREAM)


def lay_reporters(
    room: Room,
    level: IsolationLevel,
    traced: Collection[str] = (),
) -> None:
    """Copy the reporters into a new room, before it is prepared.

    `traced` are files of the tree whose lines are reported when they are run.
    """
    source = Path(reporters.__file__).parent
    target = room.folder / _FOLDER
    target.mkdir(mode=0o755)
    target.chmod(0o755)
    for name in _FILES:
        shutil.copyfile(source / name, target / name)
        (target / name).chmod(0o644)
    if traced:
        root = os.path.realpath(room.work_seen_at(level))
        about = {"root": root, "files": sorted(traced)}
        (target / _TRACED).write_text(json.dumps(about), "utf-8")
        (target / _TRACED).chmod(0o644)


def watched_command(command: str, room: Room, only: str = "") -> str:
    """Return the command with our reporter in the variables that it sets itself.

    Node takes the name of the only test in the command.
    """
    if only:
        name = re.escape(only.rpartition(" > ")[2])
        option = shlex.quote(f"--test-name-pattern=^{name}$")
        command = _NODE_TEST.sub(lambda words: f"{words[0]} {option}", command)
    command = _PYTHON_PATH.sub(f"PYTHONPATH={_python_path(room)}:", command)
    return _NODE_OPTIONS.sub(f"NODE_OPTIONS='{_node_options(room)} '", command)


def read_report(room: Room) -> TestReport | None:
    """Return the report of the command that just ran; None where no runner began."""
    stream = room.folder / _STREAM
    if stream.stat().st_size > MAX_BYTES:
        return TestReport("", tampered=f"the report is larger than {MAX_BYTES} bytes")
    return read_stream(_lines(stream))


def read_lines_run(room: Room) -> Mapping[str, set[int]] | None:
    """Return which lines of the traced files were run; None where that is not known."""
    stream = room.folder / _STREAM
    if stream.stat().st_size > MAX_BYTES:
        return None
    return lines_run(_lines(stream))


def _lines(stream: Path) -> Iterator[bytes]:
    with stream.open("rb") as lines:
        yield from lines


def _python_path(room: Room) -> str:
    return os.fspath(room.folder / _FOLDER)


def _node_options(room: Room) -> str:
    """Report to our file, and to the screen as Node does by itself."""
    reporter = room.folder / _FOLDER / "node_reporter.mjs"
    options = (
        "--test-reporter=spec",
        "--test-reporter-destination=stdout",
        f"--test-reporter={reporter}",
        "--test-reporter-destination=/dev/null",
    )
    return " ".join(options)


def _joined(separator: str, ours: str, theirs: str | None) -> str:
    return f"{ours}{separator}{theirs}" if theirs else ours
