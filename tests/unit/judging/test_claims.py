"""A submission is read by the contract that its author was asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accordance import Accepted, Context, Rejected
from accordance.judging.claims import is_prose, read_claim
from tests.unit.cases import TASK_ID, a_submit

CONTEXT = Context(task_id=TASK_ID)
EDITS: dict[str, Any] = {
    "schema_version": "file_edits_v1",
    "task_id": TASK_ID,
    "status": "DONE",
    "summary": "Done.",
    "edits": [],
    "needs_input": [],
}


def test_a_submission_is_accepted() -> None:
    assert isinstance(read_claim(json.dumps(a_submit()).encode(), CONTEXT), Accepted)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(b"Sure!", ["text_around $"], id="no JSON"),
        pytest.param(
            json.dumps(a_submit(status="SURE")).encode(),
            ["not_in_enum $.status"],
            id="a submission",
        ),
        pytest.param(
            json.dumps({**EDITS, "edits": "all"}).encode(),
            ["wrong_type $.edits"],
            id="edits",
        ),
    ],
)
def test_faults_are_those_of_its_own_contract(raw: bytes, expected: list[str]) -> None:
    submission = read_claim(raw, CONTEXT)
    assert isinstance(submission, Rejected)
    faults = [f"{fault.code} {fault.path}" for fault in submission.violations]
    assert faults == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(b"I mended it, and all tests pass.", True, id="words"),
        pytest.param(b"", True, id="nothing"),
        pytest.param(json.dumps(a_submit()).encode(), False, id="a submission"),
        pytest.param(b'{"anything": 1}', False, id="another object"),
        pytest.param(
            b'Here: {"schema_version": "scc.submit.v1"', False, id="half a submission"
        ),
        pytest.param(
            b'{"changed_files": [}', False, id="a broken submission without a version"
        ),
    ],
)
def test_what_is_only_words(raw: bytes, *, expected: bool) -> None:
    """A broken submission stays broken: its author meant to claim something."""
    assert is_prose(raw) is expected
