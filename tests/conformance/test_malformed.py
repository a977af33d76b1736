"""malformed.jsonl: awkward texts, read strictly and tolerantly, then checked against their contract.

Fields: text, contract, spec_should_accept_strict, tolerant_value (null: even the tolerant reader must refuse) and
contract_valid (whether the value that is read honours the contract).
"""

from __future__ import annotations

from accordance import Accepted, check, read, read_tolerant
from accordance.errors import Unparseable
from tests.conformance.lines import Line, Lines

LINES = Lines("malformed.jsonl")


def test_strict(line: Line) -> None:
    """What the seeds call readable is read, whatever its contract says of it then; nothing else is accepted."""
    is_readable = line["spec_should_accept_strict"]
    if is_readable:
        assert is_read(line["text"])
    wanted = is_readable and line.get("contract_valid") is not False
    assert isinstance(check(line["text"], line["contract"]), Accepted) == wanted


def is_read(text: str) -> bool:
    """Whether the strict reader gives an object."""
    try:
        read(text)
    except Unparseable:
        return False
    return True


def test_tolerant(line: Line) -> None:
    """The tolerant reader finds the value that was meant, or refuses to guess."""
    try:
        value = read_tolerant(line["text"])[0]
    except Unparseable:
        value = None
    assert value == line["tolerant_value"]


def test_contract(line: Line) -> None:
    """What was read is judged by its contract all the same."""
    if line.get("contract_valid") is not None and line["tolerant_value"] is not None:
        result = check(line["text"], line["contract"], reader=read_tolerant)
        assert isinstance(result, Accepted) == line["contract_valid"]
