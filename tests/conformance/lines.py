"""Reading vector files: one JSON object a line, one test a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.disagreements import DISAGREEMENTS

Line = dict[str, Any]

FILES = ("workflow.jsonl", "gateway.jsonl", "research.jsonl", "malformed.jsonl")


@dataclass(frozen=True)
class Lines:
    """The lines of one file that a test is about."""

    file: str
    wanted: Callable[[Line], bool] = lambda _: True

    def parametrise(self, metafunc: pytest.Metafunc) -> None:
        """One test per line, named after its id; a line we disagree with must fail, and says why."""
        folder = folder_of(metafunc.config)
        metafunc.parametrize(
            "line",
            [
                _param(line)
                for line in read_lines(folder / self.file)
                if self.wanted(line)
            ],
        )


def folder_of(config: pytest.Config) -> Path:
    """The folder of the vectors. One that holds none is a slip: nothing would be run, and nothing would fail."""
    folder: Path = config.getoption("--vectors")
    if not any((folder / file).is_file() for file in FILES):
        raise pytest.UsageError(f"--vectors: {folder} holds none of {', '.join(FILES)}")
    return folder


def read_lines(path: Path) -> list[Line]:
    """All lines of a file; none if the folder has no such file."""
    if not path.exists():
        return []
    return [
        {"id": f"{path.stem}-{number}", **json.loads(text)}
        for number, text in enumerate(
            path.read_bytes().split(b"\n"), 1
        )  # JSON may hold other line separators
        if text.strip()
    ]


def _param(line: Line) -> Any:
    reason = DISAGREEMENTS.get(str(line["id"]))
    marks = (
        [pytest.mark.xfail(reason=reason, raises=AssertionError, strict=True)]
        if reason
        else []
    )
    return pytest.param(line, id=str(line["id"]), marks=marks)
