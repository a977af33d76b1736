"""malformed.jsonl: awkward texts, read strictly and tolerantly, then checked against their contract.

Fields: text, contract, spec_should_accept_strict, tolerant_value (null: even the tolerant reader must refuse) and
contract_valid (whether the value that is read honours the contract).
"""

from __future__ import annotations

from accordance import Accepted, check, read_tolerant
from accordance.errors import Unparseable
from tests.conformance.lines import Line, Lines

LINES = Lines("malformed.jsonl")


def test_strict(line: Line) -> None:
    """The strict reader takes only what the seeds allow."""
    wanted = line["spec_should_accept_strict"] and line.get("contract_valid") is not False
    assert isinstance(check(line["text"], line["contract"]), Accepted) == wanted


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
