"""What killed runs have left behind is thrown away when the next one begins, and nothing that is somebody's."""

from __future__ import annotations

from pathlib import Path

import pytest

from accordance.project.home import Home
from accordance.work.sweeping import swept
from accordance.work.taking import take_in
from tests.messages import PLAN
from tests.runtime.stage import Stage, lanes, stage


def left_behind(home: Home, task: str) -> None:
    """The clone and the room of a run, its log, and the room of somebody who writes a plan."""
    (home.new_clone(task, 1, "0123456789abcdef") / "work").mkdir(parents=True)
    folder = home.new_run(task, "action-1")
    (folder / "room/home").mkdir(parents=True)
    (folder / "stdout.log").touch()
    (home.new_run(PLAN, "plan") / "room").mkdir()


def found(home: Home) -> list[str]:
    """What is there, by its names."""
    kept = home.root / ".accordance"
    return sorted(
        str(place.relative_to(kept))
        for place in (*kept.glob("work/*"), *kept.glob("runs/*/*/*"))
    )


ROOM = f"runs/{PLAN}/plan-1/room"
LOG = "runs/{}/action-1-1/stdout.log"


def all_of(task: str) -> list[str]:
    """Everything that a run leaves."""
    return [
        LOG.format(task),
        f"runs/{task}/action-1-1/room",
        f"work/{task}-1-0123456789abcdef",
    ]


def test_where_nobody_else_can_be(on: Stage) -> None:
    """Everything goes but logs, and what is no run of a task."""
    left_behind(on.home, "a")
    with swept(on.ledger, on.home, is_alone=True):
        assert found(on.home) == sorted([ROOM, LOG.format("a")])


def test_where_another_ledger_is_worked_on(on: Stage, tmp_path: Path) -> None:
    """In the same folder: nothing is thrown away while somebody is there."""
    other = stage(str(tmp_path / "other.db"), tmp_path)
    with swept(other.ledger, other.home, is_alone=True):
        left_behind(on.home, "a")
        with swept(on.ledger, on.home, is_alone=True):
            pass
        with swept(on.ledger, on.home, is_alone=True):
            assert found(on.home) == sorted([ROOM, *all_of("a")])
    other.ledger.close()
    with swept(on.ledger, on.home, is_alone=True):
        assert found(on.home) == sorted([ROOM, LOG.format("a")])


def test_where_others_work(on: Stage) -> None:
    """What belongs to a task that somebody has stays; one that begins meanwhile has places of its own."""
    on.brings(lanes(2))
    with on.ledger.write() as tx:
        task = take_in(tx, PLAN, [], "somebody", 900)
    assert not isinstance(task, str)
    free = next(name for name in ("n0000", "n0001") if name != task.task.task_id)
    left_behind(on.home, task.task.task_id)
    left_behind(on.home, free)
    with swept(on.ledger, on.home, is_alone=False):
        others = [f"runs/{PLAN}/plan-2/room", ROOM, LOG.format(free)]
        assert found(on.home) == sorted([*all_of(task.task.task_id), *others])


@pytest.mark.parametrize(
    "there", [(), ("action-1-1",), ("action-1-3",), ("action-1-x", "action-10-9")]
)
def test_a_run_has_a_folder_of_its_own(tmp_path: Path, there: tuple[str, ...]) -> None:
    """Also where earlier ones were thrown away, or are called otherwise."""
    home = Home(tmp_path)
    for name in there:
        (home.runs / "a" / name).mkdir(parents=True)
    made = [home.new_run("a", "action-1") for _ in range(3)]
    assert len({*made, *(home.runs / "a" / name for name in there)}) == 3 + len(there)
    assert all(place.is_dir() for place in made)
