"""What an agent leaves out, accordance makes from facts and says so; what it claims wrongly stays a finding."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from accordance.judging.rejudging import rejudge
from tests.acceptance.checkout import Checkout
from tests.hostile.stage import FOLDER

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)

LEFT_OUT = {
    "report.md": "report_md",
    "patch.diff": "patch_diff",
    "selftest.log": "selftest_log",
    "submit.json": "submit_json",
    "evidence": "evidence_dir",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A repository in which the work is done and handed in."""
    made = Checkout(tmp_path)
    made.build()
    made.ask()
    made.work_honestly()
    made.hand_in()
    return made


def leave_out(checkout: Checkout, *names: str) -> Path:
    """Take these artifacts away; the submission itself is handed in apart."""
    submit = checkout.place / "submit.json"
    submit.write_text(json.dumps(checkout.submit), "utf-8")
    for name in names:
        place = checkout.work / FOLDER / name
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()
    return submit


@pytest.mark.parametrize(
    "names", [*([name] for name in LEFT_OUT), [*LEFT_OUT]], ids=str
)
def test_what_is_left_out_is_made(checkout: Checkout, names: list[str]) -> None:
    """The verdict says what was made; the bundle holds it, and can be judged again."""
    submit = leave_out(checkout, *names)
    ran = checkout.judge("--submit", submit, "--json")
    assert ran.code == 0, ran.out + ran.err
    assert ran.json["submitted_by"] == "agent"
    (notice,) = [text for text in ran.json["notices"] if "left it out" in text]
    assert all(LEFT_OUT[name] in notice for name in names)
    for name in names:
        assert (checkout.bundle / "agent" / name).exists()
    if "patch.diff" in names:
        made = (checkout.bundle / "agent/patch.diff").read_bytes()
        assert made == (checkout.bundle / "patch.diff").read_bytes()
    again = rejudge(checkout.bundle)
    assert again.holds, again.faults


def test_nothing_is_made_where_all_is_there(checkout: Checkout) -> None:
    """Then there is nothing to say about it."""
    ran = checkout.judge("--json")
    assert ran.code == 0, ran.out + ran.err
    assert not [text for text in ran.json["notices"] if "left it out" in text]


def test_a_wrong_claim_stays_a_finding(checkout: Checkout) -> None:
    """Whatever else is made for it."""
    checkout.submit["changed_files"] = ["src/other.py"]
    submit = leave_out(checkout, *LEFT_OUT)
    ran = checkout.judge("--submit", submit, "--json")
    assert ran.json["reason_code"] == "EVIDENCE_INVALID", ran.out


def test_a_wrong_patch_stays_a_finding(checkout: Checkout) -> None:
    """It is there, so it is not made."""
    (checkout.work / FOLDER / "patch.diff").write_text("", "utf-8")
    ran = checkout.judge("--json")
    assert ran.json["reason_code"] == "ARTIFACT_MISSING", ran.out


def test_a_lie_about_tests_is_told_by_the_tests(checkout: Checkout) -> None:
    """The log that was left out is ours, and shows what happened."""
    checkout.write("src/app.py", "def last(items):\n    return items[0]\n")
    submit = leave_out(checkout, "selftest.log", "patch.diff")
    ran = checkout.judge("--submit", submit, "--json")
    assert ran.json["reason_code"] == "CI_FAILED", ran.out
    assert "the agent says that tests passed" in ran.out
