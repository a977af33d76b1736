"""How a judgement leaves the command line: its exit code, its files, its ways to fail."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from accordance.cli.judge import exit_code
from accordance.cli.judgement_output import Output, write_judgement
from accordance.domain.escalation import ACTIONS, LadderPosition, LadderStep
from accordance.domain.judging import History
from accordance.domain.roles import ROLES
from accordance.domain.terms import Terms, case_under
from accordance.domain.verdict import Outcome
from accordance.errors import CannotWrite
from accordance.gates.running import verdict_on
from accordance.judging.judgement import Judgement
from tests.acceptance.checkout import Checkout
from tests.acceptance.cli import ROOT
from tests.hostile.stage import FIXED
from tests.unit.cases import FACTS, a_case, a_task

LEVELS = {action.value: level for level, action in ACTIONS.items()}
ROW = re.compile(r"^\| (DONE|RETRY|REJECT|ESCALATE) \|[^|]*\| ([a-z_, ]+) \| (\d) \|$")


def a_judgement() -> Judgement:
    """Work that is done; it was not kept."""
    task = a_task()
    history = History(LadderPosition(max_attempts=3))
    terms = Terms(role=ROLES["engineer"], history=history)
    case = case_under(terms, task, a_case(task=task).submission, FACTS)
    return Judgement(
        verdict=verdict_on(case, history),
        case=case,
        terms=terms,
        submitted_at="2026-01-01T00:00:00Z",
        evaluated_at="2026-01-01T00:00:00Z",
        links={},
    )


def table() -> list[tuple[str, str, int]]:
    """Every outcome and what follows, with its exit code, as the docs say."""
    rows = []
    for line in (ROOT / "docs/gateway.md").read_text("utf-8").splitlines():
        match = ROW.match(line)
        if match:
            outcome, actions, code = match.groups()
            rows += [(outcome, action, int(code)) for action in actions.split(", ")]
    return rows


@pytest.mark.parametrize(("outcome", "action", "code"), table())
def test_exit_codes_are_those_of_the_docs(outcome: str, action: str, code: int) -> None:
    """3 wherever a person has the next move; 0 for work that is done."""
    done = a_judgement()
    step = None if action == "none" else LadderStep(LEVELS[action])
    verdict = replace(done.verdict, outcome=Outcome(outcome), step=step)
    assert exit_code(replace(done, verdict=verdict)) == code


def test_the_table_knows_every_outcome() -> None:
    """And every action."""
    outcomes, actions, codes = (set(column) for column in zip(*table(), strict=True))
    assert outcomes == {*Outcome}
    assert actions == {"none", *LEVELS}
    assert codes == {0, 1, 3}


def test_what_can_be_written_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that fails keeps no other from being written, nor the lines for people."""
    (tmp_path / "gone").write_text("a file")
    gone = tmp_path / "gone" / "x.xml"
    fine = tmp_path / "x.sarif"
    outputs = [Output("junit", str(gone)), Output("sarif", str(fine)), Output("text")]
    with pytest.raises(CannotWrite, match="gone"):
        write_judgement(a_judgement(), outputs, "task.json")
    assert '"2.1.0"' in fine.read_text("utf-8")
    assert capsys.readouterr().out.startswith("✓ DONE")


def test_a_change_of_nothing_is_not_done(checkout: Checkout) -> None:
    """Although every test passes; unless the task may find the work done."""
    checkout.write("src/app.py", FIXED)
    checkout.begin_with("done before")
    ran = checkout.judge("--json")
    assert (ran.code, ran.json["reason_code"]) == (1, "NOTHING_CHANGED")
    checkout.task |= {"allow_no_change": True}
    allowed = checkout.judge("--json", "--attempt", "2")
    assert (allowed.code, allowed.json["outcome"]) == (0, "DONE")
