"""Three workers with nothing in common but a database, a blob store and a git remote; one of them is killed."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from accordance.domain.lifecycle import State
from accordance.domain.records import VerdictRecord
from accordance.service.project import Project, open_project
from accordance.service.verification import verify
from accordance.store.sql import SqlLedger
from tests.acceptance.cli import ROOT, accordance, interruptible
from tests.acceptance.test_quickstart import BRANCH, NEW_PRICES, VERDICTS
from tests.hostile.stage import git
from tests.limits import LIMIT
from tests.s3_server import BUCKET, KEY, s3_server

pytestmark = [
    pytest.mark.skipif(
        not Path("/proc/self").exists(),
        reason="isolation needs Linux: no agent could be run",
    ),
    pytest.mark.xdist_group("s3"),
    pytest.mark.unmeasured,  # dozens of interpreters; other tests run the same commands
]
QUICKSTART = ROOT / "examples" / "quickstart"
PLAN = "parcels-in-april"
SHARED = """
ledger = "{ledger}"

[blobs]
store = "s3://{bucket}/fleet"
endpoint = "{endpoint}"
region = "us-east-1"
inline_bytes = 1000
"""
UNDER_WAY = (
    State.READY,
    State.IN_PROGRESS,
    State.READY_TO_CHECK,
    State.TO_BE_MODIFY,
)


class Fleet:
    """Machines, each with a folder of its own."""

    def __init__(self, folder: Path, ledger: str, endpoint: str) -> None:
        self.folder = folder
        self.remote = folder / "remote.git"
        shared = SHARED.format(ledger=ledger, bucket=BUCKET, endpoint=endpoint)
        settings = (QUICKSTART / "accordance.toml").read_text()
        repository = f'repo = "file://{self.remote}"'
        self._settings = shared + settings.replace('repo = "repository"', repository)
        self._make_remote()

    def _make_remote(self) -> None:
        first = self.folder / "first-commit"
        shutil.copytree(QUICKSTART / "repository", first)
        git(first, "init", "--quiet", "--initial-branch=main")
        git(first, "add", "--all")
        git(first, "commit", "--quiet", "--message=Parcels")
        git(first, "clone", "--quiet", "--bare", ".", str(self.remote))
        shutil.rmtree(first)

    def machine(self, name: str) -> Path:
        """The project folder of a machine: settings and agents, nothing else."""
        home = self.folder / name
        home.mkdir()
        (home / "accordance.toml").write_text(self._settings)
        shutil.copytree(QUICKSTART / "agents", home / "agents")
        return home


@contextmanager
def worker(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker on a machine, until the end of the block."""
    command = [sys.executable, "-m", "accordance.cli.main", "worker"]
    with (home / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--home", str(home)],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=interruptible(),
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(LIMIT)


def wait_for(ledger: SqlLedger, holds: object, *, what: str) -> None:
    """Wait for the ledger's next events until something holds."""
    assert callable(holds)
    deadline = time.monotonic() + LIMIT
    seen = 0
    while not holds():
        assert time.monotonic() < deadline, f"still waiting: {what}"
        seen = ledger.wait_for_change(after=seen, seconds=1)


def holders(project: Project) -> list[str]:
    """The workers that have a task now."""
    with project.ledger.read() as tx:
        tasks = tx.tasks(PLAN, State.IN_PROGRESS, State.READY_TO_CHECK)
        return [task.lease.holder for task in tasks if task.lease is not None]


def is_at_rest(project: Project) -> bool:
    """Whether nothing is left that a worker could do."""
    with project.ledger.read() as tx:
        return not any(tx.tasks(PLAN, *UNDER_WAY))


def test_three_machines_finish_a_plan_and_one_is_killed(
    tmp_path: Path, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdicts are those of one machine; a fourth one, which saw nothing of it, shows and verifies them."""
    for name, value in KEY.items():
        monkeypatch.setenv(name, value)
    with ExitStack() as stack:
        endpoint = stack.enter_context(s3_server())
        fleet = Fleet(tmp_path, postgresql_url, endpoint)
        homes = [fleet.machine(f"machine-{number}") for number in (1, 2, 3)]
        plan = QUICKSTART / "plan.json"
        imported = accordance("plan", "import", plan, "--no-review", "--home", homes[0])
        assert imported.code == 0, imported.err
        inputs = homes[1] / "workspace" / "inputs"
        inputs.mkdir(parents=True)
        shutil.copy(QUICKSTART / "inputs" / "price-list.csv", inputs)

        watched = stack.enter_context(open_project(homes[0]))
        assert isinstance(watched.ledger, SqlLedger)
        workers = [stack.enter_context(worker(home)) for home in homes]
        by_pid = {str(process.pid): process for process in workers}
        killed: list[subprocess.Popen[bytes]] = []

        def a_worker_was_killed() -> bool:
            """Kill the first worker that is seen at a task."""
            for holder in holders(watched):
                process = by_pid.get(holder.split("-")[-2])
                if process is not None:
                    process.kill()
                    process.wait(LIMIT)
                    killed.append(process)
                    return True
            return False

        wait_for(watched.ledger, a_worker_was_killed, what="a worker at work")
        gone = homes[workers.index(killed[0])]
        shutil.rmtree(gone)  # with everything that lay only there
        wait_for(watched.ledger, lambda: is_at_rest(watched), what="the plan rests")

        fourth = fleet.machine("machine-4")
        _shows_everything(fourth)
        _is_on_the_remote(fleet.remote)


def _shows_everything(home: Path) -> None:
    found = accordance("plan", "status", "--json", "--home", home).json
    assert found["states"] == {"PENDING": 1, "BLOCKED": 1, "DONE": 7, "DEAD_LETTER": 1}
    with open_project(home) as project:
        faults = [
            fault
            for view in verify(project).findings
            for fault in (*view.integrity, *view.completeness)
        ]
        assert faults == []
        assert set(VERDICTS) <= set(_verdicts(project))
    shown = accordance("task", "diff", "New prices", "--home", home)
    assert '"city": 390' in shown.out, shown
    assert accordance("task", "log", "New prices", "--home", home).code == 0
    assert accordance("blobs", "verify", "--home", home).code == 0


def _verdicts(project: Project) -> Iterator[tuple[str, str, str]]:
    with project.ledger.read() as tx:
        for verdict in tx.find(VerdictRecord, plan_id=PLAN):
            title = tx.task(verdict.subject).title
            yield title, verdict.outcome, verdict.reason_code


def _is_on_the_remote(remote: Path) -> None:
    assert NEW_PRICES in git(remote, "show", f"{BRANCH}:parcels/prices.py")
    titles = git(remote, "log", "--format=%s", f"main..{BRANCH}").splitlines()
    assert sorted(titles) == [
        "A discount, the other way",
        "New prices",
        "Rounding to five cents",
    ]
