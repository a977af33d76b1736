"""A repository on a git remote, changed by machines that share a ledger and no folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from accordance.changes.project_repository import repository_of
from accordance.changes.workshop import Workshop, workshop_of
from accordance.errors import NotRebased
from accordance.runtime.publishing import Publishing
from accordance.service import plans
from accordance.service.plan_rebasing import rebase_plan
from accordance.service.project import open_project
from accordance.workspace.errors import RemoteUnavailable
from tests.acceptance.coding import BRANCH, FIRST, SECOND
from tests.hostile.stage import git
from tests.messages import PLAN
from tests.remotes import BareRemote
from tests.service.conftest import brings
from tests.service.landing_stage import (
    FILES,
    NAME,
    RATE,
    THIRD,
    TOTAL,
    LandingStage,
    a_plan,
    change,
)

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run",
)
HEAD = f"refs/heads/{BRANCH}"
PLAN_OF_THREE = a_plan(
    change(FIRST, "Rename it", "check_name.py"),
    change(SECOND, "Count with the rate", "check_total.py"),
    change(THIRD, "Raise the rate", "check_rate.py"),
    checked=(THIRD,),
)


@dataclass
class Fleet:
    """Two machines, each with a project folder of its own, and a remote."""

    remote: BareRemote
    here: LandingStage
    there: LandingStage

    def landed(self) -> list[str]:
        """The titles on the plan's branch of the remote, the first first."""
        log = git(self.remote.place, "log", "--reverse", "--format=%s", BRANCH)
        return log.splitlines()[1:]

    def publishing(self, stage: LandingStage, told: list[str]) -> Publishing:
        """Somebody who looks after the branches, on a machine."""
        shop = workshop_of(stage.project.home)
        return Publishing(stage.project.ledger, shop, None, told.append, seconds=0)

    def question(self) -> str:
        """The only question that is open."""
        with self.here.project.ledger.read() as tx:
            (asked,) = tx.open_questions()
        return asked.text


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """A plan of three changes that could all begin; the first is reviewed."""
    remote = BareRemote.made(tmp_path / "server", FILES)
    settings = (
        f'[workspace]\nrepo = "{remote.url}"\nbase = "main"\nremote_seconds = 20\n'
    )
    ledger = str(tmp_path / "ledger.db")
    stages = []
    with ExitStack() as stack:
        for name in ("here", "there"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "accordance.toml").write_text(settings, "utf-8")
            project = stack.enter_context(open_project(folder, ledger, create=True))
            stages.append(LandingStage(project))
        brings(stages[0].project, PLAN_OF_THREE)
        yield Fleet(remote, *stages)


def test_changes_of_two_machines_land_on_each_other(fleet: Fleet) -> None:
    """Each pushes what it has judged; a change that the other has overtaken is applied to that and judged again."""
    rename = fleet.here.take("ann", FIRST)
    count = fleet.there.take("bob", SECOND)
    rate = fleet.here.take("ann", THIRD)
    fleet.here.write(rate, prices=RATE)
    assert fleet.here.hand_in(rate)["status"] == "accepted"
    kept = fleet.remote.refs("refs/accordance/")
    assert [name.rpartition("/")[2].startswith(THIRD) for name in kept] == [True]

    fleet.here.write(rename, prices=NAME)
    assert fleet.here.hand_in(rename)["state"] == "DONE"
    fleet.there.write(count, total=TOTAL)
    assert fleet.there.hand_in(count)["state"] == "DONE"
    assert fleet.landed() == ["Rename it", "Count with the rate"]

    # judged here, approved and landed there: its commit comes from the remote
    assert fleet.there.review(THIRD)["state"] == "DONE"
    assert fleet.landed() == ["Rename it", "Count with the rate", "Raise the rate"]
    assert "return 7" in git(fleet.remote.place, "show", f"{BRANCH}:prices.py")
    assert "'cost'" in git(fleet.remote.place, "show", f"{BRANCH}:prices.py")

    assert fleet.remote.refs("refs/accordance/") == {}
    assert fleet.here.failures(THIRD) == 0


def test_any_machine_finishes_the_push_that_a_kill_prevented(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger has the change; the machine that landed it is gone before it could push."""
    with monkeypatch.context() as killed:
        killed.setattr(Workshop, "publish", lambda *_: "it was killed")
        fleet.here.make("ann", FIRST, prices=NAME)
    assert HEAD not in fleet.remote.refs()

    told: list[str] = []
    fleet.publishing(fleet.there, told).catch_up()
    assert (fleet.landed(), told) == (["Rename it"], [])
    fleet.publishing(fleet.here, told).catch_up()  # it is back, and has nothing to do
    assert (fleet.landed(), told) == (["Rename it"], [])


def test_what_others_add_to_the_branch_is_taken_in_when_a_person_says_so(
    fleet: Fleet,
) -> None:
    """No agent works on a head that is not the branch's; nobody loses an attempt or a commit."""
    fleet.here.make("ann", FIRST, prices=NAME)
    under_way = fleet.there.take("bob", SECOND)
    foreign = fleet.remote.push(BRANCH, message="by hand", **{"README.md": "More.\n"})

    repository_of(fleet.here.project.home).refresh(not_older=0)
    shown = plans.show_plan(fleet.here.project).base_moved
    assert shown is not None
    assert shown.startswith(f"the branch {BRANCH} was moved by someone else")
    assert "accordance plan rebase" in shown
    fleet.here.why_nothing("ann")
    assert fleet.here.state(THIRD) == "BLOCKED"
    assert fleet.question().startswith("MERGE_CONFLICT: the branch")

    taken_in = rebase_plan(fleet.here.project, None, by="eve")
    assert (taken_in.new_head, taken_in.not_published) == (foreign, None)
    assert fleet.here.state(THIRD) == "READY"
    assert fleet.here.failures(THIRD) == 0

    fleet.there.write(under_way, total=TOTAL)
    assert fleet.there.hand_in(under_way)["state"] == "DONE"
    assert fleet.landed() == ["Rename it", "by hand", "Count with the rate"]

    # it is part of the plan from now on, and goes along to a new base
    moved = fleet.remote.push("main", **{"more.py": "MORE = 1\n"})
    rebased = rebase_plan(fleet.there.project, None, by="eve")
    assert (rebased.is_done, rebased.new_base) == (True, moved)
    assert fleet.landed()[1:] == ["Rename it", "by hand", "Count with the rate"]
    assert git(fleet.remote.place, "show", f"{BRANCH}:README.md") == "More.\n"


def test_a_rewritten_branch_is_taken_in_or_given_back(fleet: Fleet) -> None:
    """The plan's changes are replayed on it; where they do not apply, nothing is moved, and deleting it is the other way."""
    fleet.here.make("ann", FIRST, prices=NAME)
    git(fleet.remote.place, "update-ref", HEAD, "main")
    clash = FILES["prices.py"].replace("'price'", "'fee'")
    fleet.remote.push(BRANCH, message="theirs", **{"prices.py": clash})
    with pytest.raises(NotRebased, match="does not apply"):
        rebase_plan(fleet.here.project, None, by="eve")
    assert fleet.landed() == ["theirs"]

    told: list[str] = []
    git(fleet.remote.place, "update-ref", "-d", HEAD)
    rebase_plan(fleet.here.project, None, by="eve")  # it has nothing to take in
    publishing = fleet.publishing(fleet.there, told)
    publishing.catch_up()
    assert (fleet.landed(), told) == (["Rename it"], [])


def test_a_push_in_between_is_never_overwritten(fleet: Fleet) -> None:
    """The branch is moved only from where it was seen: a machine that knows less than the remote cannot undo it."""
    fleet.here.make("ann", FIRST, prices=NAME)
    third = fleet.there.take("bob", SECOND)
    fleet.there.write(third, total=TOTAL)
    foreign = fleet.remote.push(BRANCH, message="by hand", **{"README.md": "More.\n"})
    answer = fleet.there.hand_in(third)
    assert answer["state"] == "DONE"
    assert "was moved by someone else" in answer["not_published"]
    assert fleet.remote.refs()[HEAD] == foreign

    # what is common to both stays, the rest of the plan goes on top of theirs
    rebase_plan(fleet.there.project, None, by="eve")
    assert fleet.landed() == ["Rename it", "by hand", "Count with the rate"]


def test_a_remote_that_is_away_costs_nobody_an_attempt(fleet: Fleet) -> None:
    """The task waits, one clear line says for what, and it goes on by itself."""
    away = fleet.remote.place.with_name("away.git")
    fleet.remote.place.rename(away)
    fleet.here.why_nothing("ann")
    assert fleet.here.state(THIRD) == "BLOCKED"
    with fleet.here.project.ledger.read() as tx:
        texts = [asked.text for asked in tx.open_questions()]
    assert all(
        text.startswith(f"REPOSITORY_UNAVAILABLE: the repository {fleet.remote.url}:")
        for text in texts
    )

    told: list[str] = []
    publishing = fleet.publishing(fleet.there, told)
    publishing.catch_up()
    assert fleet.here.state(THIRD) == "BLOCKED"
    away.rename(fleet.remote.place)
    fleet.publishing(fleet.there, told).catch_up()
    assert fleet.here.state(THIRD) == "READY"
    assert fleet.here.failures(THIRD) == 0
    assert fleet.here.make("ann", FIRST, prices=NAME)["state"] == "DONE"


def test_a_hook_that_declines_is_quoted_and_the_work_is_kept(fleet: Fleet) -> None:
    """The clone can be handed in again, once the remote takes it."""
    fleet.remote.hook("pre-receive", "echo 'only on weekdays' >&2; exit 1")
    second = fleet.here.take("ann", FIRST)
    fleet.here.write(second, prices=NAME)
    with pytest.raises(RemoteUnavailable) as refused:
        fleet.here.hand_in(second)
    assert "refuses the push" in str(refused.value)
    assert "only on weekdays" in str(refused.value)

    (fleet.remote.place / "hooks/pre-receive").unlink()
    assert fleet.here.hand_in(second)["state"] == "DONE"
    assert fleet.landed() == ["Rename it"]


def test_a_protected_branch_stops_no_work(fleet: Fleet) -> None:
    """Changes go on in the ledger; why the branch stays behind is said once, and it follows later."""
    fleet.remote.hook("update", 'case "$1" in refs/heads/*) exit 1;; esac')
    answer = fleet.here.make("ann", FIRST, prices=NAME)
    assert answer["state"] == "DONE"
    assert "refuses the push" in answer["not_published"]
    assert fleet.there.make("bob", SECOND, total=TOTAL)["state"] == "DONE"
    assert HEAD not in fleet.remote.refs()

    told: list[str] = []
    publishing = fleet.publishing(fleet.there, told)
    assert publishing.publish(PLAN) is not None
    assert publishing.publish(PLAN) is not None
    assert len(told) == 1
    (fleet.remote.place / "hooks/update").unlink()
    assert publishing.publish(PLAN) is None
    assert fleet.landed() == ["Rename it", "Count with the rate"]


def test_a_branch_of_the_same_name_is_left_alone(fleet: Fleet) -> None:
    """It was there before the plan began: a person is asked, and it stays as it is."""
    git(fleet.remote.place, "update-ref", HEAD, "main")
    fleet.here.why_nothing("ann")
    with fleet.here.project.ledger.read() as tx:
        texts = {asked.text for asked in tx.open_questions()}
    assert all("this ledger did not make it" in text for text in texts)
