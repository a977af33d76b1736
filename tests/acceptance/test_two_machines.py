"""Two machines that share a database and a blob store, and no folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from accordance.changes.keeping import with_kept_evidence
from accordance.changes.settling import change_in
from accordance.changes.workshop import Workshop, workshop_of
from accordance.domain.blobs import BlobConfig
from accordance.domain.faults import Fault
from accordance.executors.opinion import Opinion
from accordance.executors.protocol import RunOutcome
from accordance.runtime.kept_run import KeptRun
from accordance.service.attempt_files import (
    attempt_patch,
    attempt_place,
)
from accordance.service.attempt_logs import attempt_log
from accordance.service.blobs import blob_status, check_blobs, collect_blobs
from accordance.service.bundles import fetched, verify_bundle
from accordance.service.health import look_around
from accordance.service.project import Project, open_project
from accordance.service.task_records import show_task
from accordance.service.verification import verify
from accordance.store.blobs.s3 import S3Store
from accordance.store.sql import SqlLedger
from accordance.work.change_evidence import reviewed_change
from accordance.work.coding_tasks import coding_task
from accordance.work.input_files import fetch_inputs, look_at_inputs
from accordance.work.inputs import bind_inputs
from accordance.work.kept_evidence import JudgedRun
from accordance.work.kept_logs import kept_logs
from accordance.work.run_log import RunKey, keep_report
from accordance.work.taking import take_up
from tests.acceptance.coding import (
    FIRST,
    SETTINGS,
    CodingProject,
    coding_node,
    coding_plan,
)
from tests.acceptance.workshop import a_choice, hand_in
from tests.hostile.stage import FOLDER
from tests.messages import PLAN, edge, node, requirement
from tests.s3_server import BUCKET, KEY, s3_server

pytestmark = pytest.mark.xdist_group("s3")
FIXED = "def last(items):\n    return items[len(items) - 1]\n"
LONG = "a line of a long log\n" * 40_000
STORE = """
ledger = "{ledger}"

[blobs]
store = "s3://{bucket}/{prefix}"
endpoint = "{endpoint}"
region = "us-east-1"
patience_seconds = 1
"""


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of a server."""
    with s3_server() as address:
        yield address


class Machines:
    """A first machine with the repository, and any number of others."""

    def __init__(self, folder: Path, ledger: str, endpoint: str) -> None:
        self._folder = folder
        self._settings = STORE.format(
            ledger=ledger, bucket=BUCKET, prefix=folder.name, endpoint=endpoint
        )
        self._open = ExitStack()
        check = node("check", "CHECK"), edge(FIRST, "check", "DEPENDS_ON")
        plan = coding_plan(coding_node(), check[0], edges=check[1:])
        plan["requirements"] = [requirement(FIRST, name="prices", allowed_types=["md"])]
        self.project = CodingProject(folder / "first", plan=plan)
        self.project.build()
        self.first = self._machine(self.project.home, "repository")
        assert self.project.imports().code == 0

    def another(self) -> Project:
        """A machine with a folder of its own."""
        return self._machine(self._folder / "second", str(self.project.repository))

    def _machine(self, home: Path, repository: str) -> Project:
        home.mkdir(exist_ok=True)
        settings = SETTINGS.format(executor="").replace(
            'repo = "repository"', f'repo = "{repository}"'
        )
        (home / "accordance.toml").write_text(self._settings + settings)
        return self._open.enter_context(open_project(home, create=True))

    def close(self) -> None:
        """Close all ledgers."""
        self._open.close()


@pytest.fixture
def machines(
    tmp_path: Path, postgresql_url: str, s3: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Machines]:
    """The first machine has a plan whose change needs an input."""
    for name, value in KEY.items():
        monkeypatch.setenv(name, value)
    made = Machines(tmp_path, postgresql_url, s3)
    yield made
    made.close()


def fixed(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
    """A good agent, with evidence that is too large for the database."""
    (work / "src/app.py").write_text(FIXED)
    raw = hand_in(work)
    (work / FOLDER / "evidence" / "trace.log").write_text(LONG)
    return RunOutcome(raw=raw)


def made_on(project: Project) -> tuple[Workshop, RunOutcome]:
    """The change of the task, made and judged on a machine, and not yet settled."""
    shop = workshop_of(project.home)
    with project.ledger.write() as tx:
        task = take_up(tx, tx.task(FIRST), "test", 900).task
        asked = coding_task(tx, task)
        assert asked is not None
        job = shop.commission(tx, task, asked)
    produced = shop.carry_out(job, a_choice(), fixed)
    assert produced.fault is None, produced.text
    return shop, produced


def run_of_first() -> JudgedRun:
    """The run that `made_on` makes."""
    return JudgedRun(plan_id=PLAN, task_id=FIRST, attempt=1)


def findings(project: Project) -> list[str]:
    """What does not hold, on a machine."""
    views = verify(project).findings
    return [fault for one in views for fault in (*one.integrity, *one.completeness)]


def test_one_judges_and_the_other_goes_on(machines: Machines) -> None:
    """With the folder of the first gone: settling, review, showing, verifying."""
    first, second = machines.first, machines.another()
    give_input(first, "prices.md", LONG)
    _, produced = made_on(first)
    produced = with_kept_evidence(
        first.ledger, first.home.root, run_of_first(), produced
    )
    folder = first.home.new_run(FIRST, "action-1")
    (folder / "stdout.log").write_text(LONG)
    (folder / "stderr.log").write_text("a warning\n")
    logs = kept_logs(first.ledger, folder)
    kept = json.loads(json.dumps(KeptRun.of(produced).to_json() | {"logs": []}))
    shutil.rmtree(first.home.root / "artifacts")
    shutil.rmtree(first.home.runs)

    answer = settled_on(second, KeptRun.from_json(kept), logs)
    assert (answer["outcome"], answer["state"]) == ("DONE", "READY_TO_CHECK")
    assert not (second.home.root / "artifacts").exists()

    with second.ledger.read() as tx:
        reviewed = reviewed_change(tx, second.home.root, tx.task(FIRST))
    assert reviewed is not None
    assert reviewed["changed_files"] == ["src/app.py"]
    assert findings(second) == []
    shutil.rmtree(second.home.root / "artifacts")
    assert findings(second) == []

    assert "len(items) - 1" in attempt_patch(second, FIRST).patch
    log = attempt_log(second, FIRST)
    assert log.text.startswith("a line of a long log")
    assert log.text.endswith("a warning\n")
    assert (Path(attempt_place(second, FIRST).path) / "manifest.json").is_file()
    assert show_task(second, FIRST).attempts[0].is_evidence_there

    shutil.rmtree(second.home.root / "artifacts")
    bundle = second.home.root / "artifacts" / FIRST / "attempt-1"
    assert fetched(bundle)
    assert verify_bundle(bundle).holds
    assert not fetched(bundle.with_name("attempt-9"))


def settled_on(project: Project, kept: KeptRun, logs: Any = ()) -> dict[str, Any]:
    """What the ledger makes of a run, on a machine."""
    assert kept.message is not None
    assert kept.judged is not None
    run = RunKey(plan_id=PLAN, task_id=FIRST, kind="action", attempt=1)
    with project.ledger.write() as tx:
        keep_report(tx, run, kept.report, logs)
        return change_in(
            tx, project.home, kept.message, FIRST, 1, kept.judged
        ).to_json()


def give_input(project: Project, name: str, text: str) -> None:
    """Put a file into the folder of a machine, and bind it."""
    path = project.home.inputs / "prices" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    files = look_at_inputs(project.ledger, project.home)
    with project.ledger.write() as tx:
        bind_inputs(tx, PLAN, files)


def test_what_is_missing_or_changed_is_named(machines: Machines) -> None:
    """By blob, task and file: by `verify`, and by `blobs verify`."""
    first, second = machines.first, machines.another()
    give_input(first, "prices.md", "prices")
    _, produced = made_on(first)
    produced = with_kept_evidence(
        first.ledger, first.home.root, run_of_first(), produced
    )
    settled_on(first, KeptRun.of(produced))
    assert check_blobs(second).holds

    assert isinstance(second.ledger, SqlLedger)
    store = second.ledger.blobs.store
    assert store is not None
    (blob,) = [blob for blob in store.blobs() if blob.size == len(LONG)]
    (part,) = store.objects(f"{blob.sha256[:2]}/{blob.sha256}/")
    what = f"task {FIRST}, attempt 1: the evidence file agent/evidence/trace.log"

    store.write(part.key, LONG[:-1].encode() + b"?")
    (finding,) = check_blobs(second).findings
    assert (finding.problem, finding.named_by) == ("changed", (what,))
    assert f"{what} (blob {blob.sha256[:12]}) is not what was kept" in findings(second)

    store.remove([part.key])
    (finding,) = check_blobs(second).findings
    assert (finding.problem, finding.named_by) == ("missing", (what,))
    assert f"{what} (blob {blob.sha256[:12]}) is missing" in findings(second)


def test_an_input_goes_where_the_attempt_is(machines: Machines) -> None:
    """A change and a removal on one machine count on the other, too."""
    first, second = machines.first, machines.another()
    assert look_at_inputs(second.ledger, second.home) == []
    give_input(first, "prices.md", LONG)
    copy = second.home.inputs / "prices" / "prices.md"

    def fetched_text() -> str:
        with second.ledger.read() as tx:
            fetch_inputs(tx, second.home, tx.task(FIRST))
        return copy.read_text()

    assert [file.path for file in look_at_inputs(second.ledger, second.home)] == [
        "prices/prices.md"
    ]
    assert not copy.exists()
    assert fetched_text() == LONG

    give_input(first, "prices.md", "newer")
    assert look_at_inputs(second.ledger, second.home) == look_at_inputs(
        first.ledger, first.home
    )
    assert fetched_text() == "newer"
    assert len(look_at_inputs(second.ledger, second.home)) == 1

    copy.unlink()
    assert look_at_inputs(second.ledger, second.home) == []
    assert look_at_inputs(first.ledger, first.home) == []


def test_a_store_that_is_away_is_no_fault_of_the_task(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work was done and is kept; the task waits for the store alone."""
    first = machines.first
    give_input(first, "prices.md", "prices")
    _, produced = made_on(first)
    assert isinstance(first.ledger, SqlLedger)
    store = first.ledger.blobs.store
    assert store is not None

    with monkeypatch.context() as away:
        away.setattr(store, "_bucket", _bucket_of_nobody(store))
        lost = with_kept_evidence(
            first.ledger, first.home.root, run_of_first(), produced
        )
        status = blob_status(first)
    assert (lost.fault, lost.raw, lost.judged) == (Fault.STORE_AWAY, None, None)
    assert "does not answer" in lost.text
    assert not status.is_reachable

    again = with_kept_evidence(first.ledger, first.home.root, run_of_first(), produced)
    assert again == produced
    status = blob_status(first)
    assert (status.is_reachable, status.in_store, status.loose) == (True, 1, 0)
    assert collect_blobs(first).removed == ()


def _bucket_of_nobody(store: Any) -> Any:
    nobody = S3Store(
        BlobConfig(
            store="s3://blobs/x", endpoint="http://127.0.0.1:9", patience_seconds=1
        )
    )
    assert type(nobody) is type(store)
    return nobody._bucket


def test_the_doctor_looks_at_the_store(machines: Machines) -> None:
    """It says where large blobs lie."""
    found = {view.name: view for view in look_around(machines.first.home.root)}
    assert found["blobs"].ok
    assert f"s3://{BUCKET}/" in found["blobs"].found
