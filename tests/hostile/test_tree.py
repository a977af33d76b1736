"""Agents that cheat with files: each is seen through, and nothing they plant is ever run."""

from __future__ import annotations

from pathlib import Path

import pytest

from accordance.judging.rejudging import rejudge
from tests.hostile.cases import TREE, HostileCase
from tests.hostile.conftest import Score
from tests.hostile.stage import Stage

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)


@pytest.mark.parametrize("cheat", TREE, ids=str)
def test_the_cheat_is_seen(cheat: HostileCase, tmp_path: Path, score: Score) -> None:
    """The facts show it, the right code leads, the bundle says the same again, the user's places are as they were."""
    stage = Stage(tmp_path)
    stage.build()
    cheat.build(stage)
    stage.begin()
    before = stage.untouched()
    if cheat.honest:
        stage.work_honestly()
    cheat.act(stage)
    stage.hand_in()
    judgement = stage.judged()
    score(cheat.code is None, bool(judgement))
    assert cheat.look(judgement.facts), judgement.facts
    assert judgement.verdict.reason_code == cheat.code, judgement.verdict.messages
    assert bool(judgement) == (cheat.code is None)
    assert stage.untouched() == before
    assert not stage.left_running()
    assert judgement.bundle is not None
    again = rejudge(judgement.bundle)
    assert again.holds, again.faults
    assert again.judgement is not None
    assert again.judgement.verdict == judgement.verdict


def test_the_table_is_large_and_names_each_case_once() -> None:
    """At least forty ways to cheat, none twice."""
    names = [cheat.name for cheat in TREE]
    assert len(names) == len(set(names)) >= 40
