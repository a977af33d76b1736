"""Coverage-guided fuzzing of the readers: whatever the bytes, a value or one typed error, and the readers agree.

make fuzz SECONDS=60
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["accordance"]):
    from accordance import (
        Accepted,
        Rejected,
        StreamGuard,
        check,
        dump_json,
        feedback,
        registry,
    )
    from accordance.contracts.feedback import MAX_BYTES
    from accordance.contracts.reading import read
    from accordance.contracts.tolerant import read_tolerant
    from accordance.errors import Unparseable

NAMES = (None, *registry.versions())


def fuzz(data: bytes) -> None:
    """One input, through everything that reads."""
    name = NAMES[data[0] % len(NAMES)] if data else None
    text = data[1:]
    strict = strict_reading(text)
    streamed = stream(text)
    assert (strict is None) == (streamed is not None), (strict, streamed)
    tolerant = tolerant_reading(text)
    assert strict is None or tolerant == strict
    result = check(text, name)
    if isinstance(result, Rejected):
        assert result.violations
        assert len(feedback(result).encode()) <= MAX_BYTES
    else:
        again = check(dump_json(result.value), name)
        assert isinstance(again, Accepted)
        assert again.repairs == ()


def strict_reading(text: bytes) -> object:
    try:
        value = read(text)
    except Unparseable:
        return None
    json.dumps(value)
    return value


def tolerant_reading(text: bytes) -> object:
    try:
        return read_tolerant(text)[0]
    except Unparseable:
        return None


def stream(text: bytes) -> object:
    guard = StreamGuard()
    for at in range(0, len(text), 7):
        guard.feed(text[at : at + 7])
    return guard.finish()


def seed(folder: Path) -> None:
    """Begin with what is known to be interesting: every vector, once per contract byte."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(
        (Path(__file__).parent.parent / "tests/conformance/vectors").glob("*.jsonl")
    ):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
            vector = json.loads(line)
            text = (
                vector.get("input_text")
                or vector.get("text")
                or json.dumps(vector.get("input") or vector.get("submit"))
            )
            (folder / f"{file.stem}-{number}").write_bytes(
                bytes([number % len(NAMES)]) + text.encode("utf-8", "replace")
            )


if __name__ == "__main__":
    seed(Path(__file__).parent / "corpus" / "seeds")
    atheris.Setup(sys.argv, fuzz)
    atheris.Fuzz()
