"""What somebody hands in about a change, read by the contract it was asked for under."""

from __future__ import annotations

from accordance.api import check
from accordance.contracts.catalogue.edits import EDITS
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.context import Context
from accordance.contracts.contract import VERSION_KEY
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Rejected
from accordance.domain.case import Submission
from accordance.errors import Unparseable


def read_claim(raw: bytes, context: Context) -> Submission:
    """A submission. Edits that are broken are told by their own contract: their author was never asked for another."""
    result = check(raw, SUBMIT, context)
    if isinstance(result, Rejected) and _speaks_of_edits(raw):
        edits = check(raw, EDITS, context)
        return edits if isinstance(edits, Rejected) else result
    return result


def _speaks_of_edits(raw: bytes) -> bool:
    try:
        return parse_object(raw).get(VERSION_KEY) == EDITS.version
    except Unparseable:
        return False
