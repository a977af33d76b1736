"""The spans of a judgement: its gates, and what they said."""

from __future__ import annotations

from pathlib import Path

import pytest

from accordance.domain.findings import Gate
from accordance.domain.verdict import Outcome
from tests.hostile.judged_changes import FIXED, judged
from tests.spans import recorded


@pytest.mark.parametrize(
    ("change", "outcome", "failed"),
    [
        ({"src/app.py": FIXED}, Outcome.DONE, set()),
        ({"src/app.py": FIXED, "secret.txt": "Bob"}, Outcome.REJECT, {Gate.SCOPE}),
    ],
    ids=["an honest change", "a change outside its pins"],
)
def test_each_gate_has_a_span(
    tmp_path: Path, change: dict[str, str | None], outcome: Outcome, failed: set[Gate]
) -> None:
    """Below the judgement, with the codes of what it found and none of its words."""
    with recorded() as spans:
        judgement = judged(tmp_path, change)
    assert judgement.outcome is outcome

    (judge,) = spans.named("accordance.judge")
    gates = [span for span in spans.all if span.name.startswith("gate ")]
    assert [span.name for span in gates] == [f"gate {gate}" for gate in Gate]
    for span in gates:
        assert span.parent is not None
        assert span.parent.span_id == judge.context.span_id
    said = {
        (span.attributes or {})["accordance.gate"]
        for span in gates
        if not (span.attributes or {})["accordance.gate.passed"]
    }
    assert said == failed
    assert [event.name for event in judge.events] == ["accordance.verdict"]
    assert (judge.attributes or {})["accordance.verdict"] == outcome.value
    assert "secret.txt" not in "".join(span.to_json() for span in spans.all)
