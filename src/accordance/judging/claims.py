"""What an agent submits about a change, read by the contract that it answers."""

from __future__ import annotations

from typing import Final

from accordance.api import check
from accordance.contracts.catalogue.edits import EDITS
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.context import Context
from accordance.contracts.contract import VERSION_KEY
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Rejected
from accordance.domain.case import Submission
from accordance.errors import Unparseable

_MARKS_OF_A_SUBMISSION: Final = (SUBMIT.version.encode(), b'"changed_files"')


def read_claim(raw: bytes, context: Context) -> Submission:
    """Read a submission.

    Broken edits are reported by the contract for edits, because that is the only form
    their author was asked for.
    """
    submission = check(raw, SUBMIT, context)
    if isinstance(submission, Rejected) and _are_edits(raw):
        edits = check(raw, EDITS, context)
        if isinstance(edits, Rejected):
            return edits
    return submission


def is_prose(raw: bytes) -> bool:
    """Whether a message is words, and no attempt at a submission.

    Words claim nothing that could be wrong. A broken submission stays broken: its author
    meant to claim something.
    """
    try:
        parse_object(raw)
    except Unparseable:
        return not any(mark in raw for mark in _MARKS_OF_A_SUBMISSION)
    return False


def _are_edits(raw: bytes) -> bool:
    try:
        message = parse_object(raw)
    except Unparseable:
        return False
    return message.get(VERSION_KEY) == EDITS.version
