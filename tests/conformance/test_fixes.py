"""A fix is real: where every violation of a rejected line carries one, applying them all makes the message valid."""

from __future__ import annotations

import json

import pytest

from accordance import Accepted, Context, Rejected, apply_fixes, check, check_value
from accordance.contracts.catalogue.task import context_of
from tests.conformance.lines import Line, folder_of, read_lines
from tests.conftest import GIVEN_VECTORS

CONTRACTS = {
    "agent_input": "agent_request_v1",
    "agent_output": "agent_answer_v1",
    "handoff": "agent_handoff_v1",
}


def test_applying_all_fixes_makes_the_message_valid(
    request: pytest.FixtureRequest,
) -> None:
    """Over every line of every file; at least some lines must put it to the test."""
    folder = folder_of(request.config)
    lines = [
        line
        for file in ("workflow", "gateway", "research")
        for line in read_lines(folder / f"{file}.jsonl")
    ]
    tried = 0
    for line in lines:
        contract, text, context = question(line)
        result = check(text, contract, context) if contract else None
        if (
            isinstance(result, Rejected)
            and result.message is not None
            and all(one.fix for one in result.violations)
        ):
            tried += 1
            mended = apply_fixes(result.message, result.violations)
            assert isinstance(check_value(mended, contract, context), Accepted), (
                line["id"],
                result.violations,
            )
    assert tried >= 10 or folder != GIVEN_VECTORS


def question(line: Line) -> tuple[str | None, str, Context]:
    """Which contract, which text, in which context."""
    if "contract" in line:
        asked = line.get("context") or {}
        texts = [line[key] for key in ("input_text", "text") if key in line]
        text = texts[0] if texts else json.dumps(line["input"])
        return (
            line["contract"],
            text,
            Context(task_id=asked.get("task_id"), plan_id=asked.get("plan_id")),
        )
    if (
        line["kind"] == "submit"
        and isinstance(line.get("task"), dict)
        and line.get("submit") is not None
    ):
        task = check(json.dumps(line["task"]), "scc.task.v1")
        context = context_of(task.value) if isinstance(task, Accepted) else Context()
        return "scc.submit.v1", json.dumps(line["submit"]), context
    if line["kind"] == "task" and line.get("task") is not None:
        return "scc.task.v1", json.dumps(line["task"]), Context()
    if line["kind"] in CONTRACTS:
        return CONTRACTS[line["kind"]], json.dumps(line["input"]), Context()
    return None, "", Context()
