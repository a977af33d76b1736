"""A submission is read by the contract that its author was asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accordance import Accepted, Context, Rejected
from accordance.judging.claims import read_claim
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
