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


@dataclass(frozen=True)
class Lines:
    """The lines of one file that a test is about."""

    file: str
    wanted: Callable[[Line], bool] = lambda _: True

    def parametrise(self, metafunc: pytest.Metafunc) -> None:
        """One test per line, named after its id; a line we disagree with must fail, and says why."""
        folder: Path = metafunc.config.getoption("--vectors")
        metafunc.parametrize(
            "line", [_param(line) for line in read_lines(folder / self.file) if self.wanted(line)]
        )


def read_lines(path: Path) -> list[Line]:
    """All lines of a file; none if the folder has no such file."""
    if not path.exists():
        return []
    return [
        {"id": f"{path.stem}-{number}", **json.loads(text)}
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if text.strip()
    ]


def _param(line: Line) -> Any:
    reason = DISAGREEMENTS.get(str(line["id"]))
    marks = [pytest.mark.xfail(reason=reason, raises=AssertionError, strict=True)] if reason else []
    return pytest.param(line, id=str(line["id"]), marks=marks)
