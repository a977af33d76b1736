"""The stop hooks of the real codex, opencode and Claude Code, against a scripted model.

They are used where they are installed (`make agents`, or a folder in ACCORDANCE_AGENTS) and skipped by name elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.shop import Shop
from tests.executors.agents.by_hand import KINDS, ByHand, installed
from tests.fake_model_server import Json, Script, serving

REFUSED = "accordance has judged the work, and it is not done"
FALSE_WORK: Json = {"run": "echo '# looks good' >> shop/prices.py"}
MENDING: Json = {"run": "sed -i 's/prices.1:./prices/' shop/prices.py"}
pytestmark = pytest.mark.xdist_group("agents")  # each of them wants a core for itself


@pytest.fixture(params=KINDS)
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> ByHand:
    """An agent that is installed."""
    return installed(str(request.param), tmp_path / "agent")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A repository with a bug, and a task beside it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-home"))
    return Shop(tmp_path)


def work(agent: ByHand, shop: Shop, says: Callable[[Json], Json]) -> str:
    """Put the hook in, and let the agent work until it ends."""
    shop.put_in(agent.kind)
    with serving(Script([FALSE_WORK], asked=says)) as server:
        return agent.work(shop.work, server.url)


def test_a_false_done_is_refused_and_mended(agent: ByHand, shop: Shop) -> None:
    """The agent claims to be done, gets the reasons, mends the work, and is DONE."""

    def says(body: Json) -> Json:
        conversation = json.dumps(body)
        if REFUSED not in conversation:
            is_claiming = "looks good" in conversation
            return {"say": "All done!"} if is_claiming else FALSE_WORK
        return {"say": "Mended."} if "sed -i" in conversation else MENDING

    printed = work(agent, shop, says)
    assert "Mended." in printed
    assert shop.outcomes() == ["RETRY", "DONE"]
    assert "prices[1:]" not in shop.read("shop/prices.py")


def test_an_honest_done_is_believed_at_once(agent: ByHand, shop: Shop) -> None:
    """The honest twin: judged once, and never sent back."""

    def says(body: Json) -> Json:
        return {"say": "All done!"} if "sed -i" in json.dumps(body) else MENDING

    printed = work(agent, shop, says)
    assert "All done!" in printed
    assert shop.outcomes() == ["DONE"]
