"""Agents that cheat with files: each is seen through, and nothing they plant is ever run."""

from __future__ import annotations

from pathlib import Path

import pytest

from accordance.domain.verdict import Outcome
from tests.hostile.cases import TREE, HostileCase
from tests.hostile.stage import Stage

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="isolation needs Linux: no test could be run by accordance itself"
)


@pytest.mark.parametrize("cheat", TREE, ids=str)
def test_the_cheat_is_seen(cheat: HostileCase, tmp_path: Path) -> None:
    """The facts show what was done, the right code leads, the user's places are as they were."""
    stage = Stage(tmp_path)
    stage.build()
    cheat.build(stage)
    stage.begin()
    before = stage.untouched()
    if cheat.honest:
        stage.work_honestly()
    cheat.act(stage)
    stage.hand_in()
    collected = stage.collected()
    verdict = stage.judged(collected)
    assert cheat.look(collected.facts), collected.facts
    assert verdict.reason_code == cheat.code, verdict.messages
    assert (verdict.outcome is Outcome.DONE) == (cheat.code is None)
    assert stage.untouched() == before


def test_the_table_is_large_and_names_each_case_once() -> None:
    """At least forty ways to cheat, none twice."""
    names = [cheat.name for cheat in TREE]
    assert len(names) == len(set(names)) >= 40
