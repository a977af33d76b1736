"""Plans on the command line: real processes, real databases, and everything that can go wrong with them."""

from __future__ import annotations

import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.acceptance.cli import (
    ROOT,
    Ran,
    accordance,
    interruptible,
    path_with_accordance,
)
from tests.limits import LIMIT
from tests.messages import (
    ACTION,
    NEEDS_INPUT,
    PLAN,
    Message,
    changed,
    edge,
    node,
    plan,
    requirement,
    small_plan,
)
from tests.postgresql import OwnServer
from tests.reviews import node_review, plan_review


def action(task: str, content: str = "text") -> bytes:
    artifact = {"name": "text", "format": "md", "content": content}
    return json.dumps({**ACTION, "task_id": task, "artifact": artifact}).encode()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A project folder; every command runs in it."""
    (tmp_path / ".accordance").mkdir()
    return tmp_path


def imported(home: Path, message: Message, *options: str) -> Ran:
    (home / "plan.json").write_text(json.dumps(message))
    return accordance("plan", "import", "plan.json", *options, cwd=home)


def running(home: Path, message: Message | None = None) -> None:
    assert imported(home, message or small_plan(), "--no-review").code == 0


@pytest.mark.seed("001-26", "001-28")
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_shell_script_drives_a_plan(
    database: str, home: Path, request: pytest.FixtureRequest
) -> None:
    """Twelve nodes with an input, a returned product, a failed alternative and a confirmation, to DONE."""
    url = (
        request.getfixturevalue("postgresql_url") if database == "postgresql" else None
    )
    env = {
        **os.environ,
        "PATH": path_with_accordance(),
        **({"ACCORDANCE_LEDGER": url} if url else {}),
    }
    done = subprocess.run(
        ["sh", ROOT / "examples/plan/drive.sh", home],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stdout + done.stderr
    assert "● Spring catalogue" in done.stdout
    assert "† Pages for print" in done.stdout
    assert "integrity: holds\n  completeness: holds" in done.stdout
    manifest = json.loads((home / "deliverables/manifest.json").read_text())
    assert [
        one["path"] for one in manifest["files"] if one["task_id"] == "price-list"
    ] == ["artifacts/price-list/price-list.v2.md"]
    assert (
        home / "workspace/artifacts/price-list/price-list.v1.md"
    ).read_text() == "Attempt 1 at price-list"
    assert (
        json.loads((home / "tasks/plan.json").read_text())["plan"]["plan_id"]
        == "spring-catalogue"
    )


def cyclic() -> Message:
    nodes = [node("root", "GOAL"), node("a"), node("b")]
    edges = [
        edge("root", "a"),
        edge("root", "b"),
        edge("a", "b", "DEPENDS_ON"),
        edge("b", "a", "DEPENDS_ON"),
    ]
    return plan(nodes, edges)


def waits_for_its_goal() -> Message:
    nodes = [node("root", "GOAL"), node("a")]
    return plan(nodes, [edge("root", "a"), edge("root", "a", "DEPENDS_ON")])


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (cyclic(), "b -> a -> b"),
        (plan([node("root", "GOAL")], [edge("root", "nobody")]), "nobody"),
        (waits_for_its_goal(), '"a" waits for "root"'),
        (plan([], []), "$.nodes"),
    ],
    ids=["a cycle", "an unknown node", "a part that waits for its goal", "no nodes"],
)
def test_plans_that_are_none(message: Message, said: str, home: Path) -> None:
    """Reported like any other message; nothing enters the ledger."""
    ran = imported(home, message)
    assert ran.code == 1
    assert said in ran.out
    assert not (home / "tasks/plan.json").exists()


def test_nothing_begins_before_the_review(home: Path) -> None:
    """IN_REVIEW, returned, replaced, approved."""
    assert imported(home, small_plan()).code == 0
    waiting = accordance("task", "next", "--json", cwd=home)
    assert (waiting.code, waiting.json["why"]) == (3, "IN_REVIEW")
    refused = accordance("task", "submit", "-", stdin=action("a"), cwd=home)
    assert refused.code == 6
    poor = json.dumps(plan_review(60)).encode()
    returned = accordance("plan", "review", "-", "--json", stdin=poor, cwd=home)
    assert (returned.code, returned.json["state"]) == (0, "RETURNED")
    better = changed(small_plan(), "plan.title", "A better one")
    assert imported(home, better, "--json").json["revision"] == 2
    good = json.dumps(plan_review(95)).encode()
    assert (
        accordance("plan", "review", "-", "--json", stdin=good, cwd=home).json["state"]
        == "ACTIVE"
    )
    assert accordance("task", "next", "--json", cwd=home).json["task"]["task_id"] == "a"
    worse = changed(small_plan(), "plan.title", "Too late")
    ran = imported(home, worse)
    assert (ran.code, "already running" in ran.err) == (6, True)
    assert accordance("verify", cwd=home).code == 0


def test_an_assignment_has_all_that_is_needed(home: Path) -> None:
    """Task, contract with schema, what came before, what the review wants."""
    running(home)
    accordance("task", "submit", "-", stdin=action("a", "first"), cwd=home)
    shown = accordance("task", "show", "a", "--json", cwd=home).json
    seen = shown["artifact"]
    poor = json.dumps(node_review("a", 60)).encode()
    accordance("task", "review", "-", "--artifact", seen[:12], stdin=poor, cwd=home)
    again = accordance("task", "next", "--json", cwd=home).json
    assert again["context"]["last_review"]["suggestions"][0]["change"] == "More"
    assert again["contract"]["schema"]["required"][:2] == ["schema_version", "task_id"]
    ran = accordance(*again["hand_in"][1:], stdin=action("a", "second"), cwd=home)
    assert ran.code == 0
    good = json.dumps(
        {**node_review("a"), "artifact_sha256": json_of(home, "a")["artifact"]}
    ).encode()
    assert (
        accordance(
            "task", "review", "-", "--worker", "reviewer", stdin=good, cwd=home
        ).code
        == 0
    )
    following = accordance("task", "next", "--json", cwd=home).json
    assert following["context"]["dependencies"][0]["artifact"]["content"] == "second"
    text = accordance("task", "release", "b", cwd=home)
    assert text.out == "b is READY\n"
    assert (
        "hand in   accordance task submit - --task b --attempt 2"
        in accordance("task", "next", cwd=home).out
    )


def json_of(home: Path, task: str) -> Message:
    shown: Message = accordance("task", "show", task, "--json", cwd=home).json
    return shown


def test_messages_for_something_else(home: Path) -> None:
    """Another task, no task, a finished one, an unknown one, twice, an attempt that is over."""
    running(home)
    wrong = accordance(
        "task", "submit", "-", "--task", "a", "--json", stdin=action("b"), cwd=home
    )
    assert (wrong.code, wrong.json["violations"][0]["code"]) == (1, "wrong_task")
    assert json_of(home, "a")["parse_failures"] == 1
    unknown = accordance("task", "submit", "-", stdin=action("aa"), cwd=home)
    assert unknown.code == 5
    assert "no task 'aa'" in unknown.err
    unreadable = accordance("task", "submit", "-", stdin=b"hello", cwd=home)
    assert (unreadable.code, "--task" in unreadable.err) == (2, True)
    first = accordance(
        "task", "submit", "-", "--json", stdin=action("a"), cwd=home
    ).json
    second = accordance(
        "task", "submit", "-", "--json", stdin=action("a"), cwd=home
    ).json
    assert second == {**first, "repeated": True}
    assert len(json_of(home, "a")["artifacts"]) == 1
    late = accordance(
        "task", "submit", "-", "--attempt", "1", stdin=action("a", "late"), cwd=home
    )
    assert (late.code, "takes no action now" in late.err) == (6, True)
    assert accordance("verify", cwd=home).code == 0


def test_a_stale_review_is_refused(home: Path) -> None:
    """It binds to the product it saw; missing is an error."""
    running(home)
    accordance("task", "submit", "-", stdin=action("a", "first"), cwd=home)
    unnamed = accordance(
        "task", "review", "-", stdin=json.dumps(node_review("a")).encode(), cwd=home
    )
    assert (unnamed.code, "--artifact" in unnamed.err) == (2, True)
    stale = accordance("task", "review", "-", "--artifact", "0" * 64, stdin=json.dumps(node_review("a")).encode(), cwd=home)  # fmt: skip
    assert (stale.code, "stale" in stale.err) == (6, True)
    assert json_of(home, "a")["state"] == "READY_TO_CHECK"


def test_two_at_once(home: Path) -> None:
    """Of two processes that submit for the same task one wins, the other gets exit code 6."""
    running(home)
    with ThreadPoolExecutor() as pool:
        codes = list(
            pool.map(
                lambda content: (
                    accordance(
                        "task", "submit", "-", stdin=action("a", content), cwd=home
                    ).code
                ),
                ["one", "other"],
            )
        )
    assert sorted(codes) == [0, 6]
    assert len(json_of(home, "a")["artifacts"]) == 1
    assert accordance("verify", cwd=home).code == 0


def test_documents_are_asked_for_and_found(home: Path) -> None:
    """NEEDS_INPUT waits for a person; the file that is put there lets it go on."""
    running(home)
    message = json.dumps({**NEEDS_INPUT, "task_id": "a"}).encode()
    asked = accordance("task", "submit", "-", "--json", stdin=message, cwd=home)
    assert (asked.code, asked.json["waiting"]) == (3, "WAITING_INPUT")
    listed = accordance("inbox", "list", cwd=home)
    assert listed.code == 3
    assert "supplier_sheet (xlsx, pdf): Flour prices for spring" in listed.out
    (home / "sheet.txt").write_text("no sheet")
    wrong = accordance(
        "inbox", "answer", asked.json["question"], "--file", "sheet.txt", cwd=home
    )
    assert (wrong.code, "none of the wanted types" in wrong.err) == (2, True)
    (home / "sheet.pdf").write_text("a sheet")
    answered = accordance(
        "inbox", "answer", asked.json["question"], "--file", "sheet.pdf", cwd=home
    )
    assert answered.out == "answered; a (Task a) is READY\n"
    again = accordance("task", "next", "--json", cwd=home).json
    assert (
        again["context"]["inputs"][0]["reference"]
        == "workspace/inputs/supplier_sheet/sheet.pdf"
    )
    assert again["context"]["answers"][0]["answer"]["files"] == ["sheet.pdf"]
    twice = accordance("inbox", "answer", asked.json["question"], "again", cwd=home)
    assert twice.code == 6
    assert accordance("inbox", "answer", "q-nothing", "x", cwd=home).code == 5


def test_a_required_input_is_bound_and_taken_back(home: Path) -> None:
    """A file under workspace/inputs/ makes its task ready; when it goes, the task waits again."""
    nodes = [node("root", "GOAL"), node("a")]
    running(home, plan(nodes, [edge("root", "a")], requirements=[requirement("a")]))
    assert accordance("task", "next", "--json", cwd=home).json["why"] == "WAITING"
    sheet = home / "workspace/inputs/sheet/prices.xlsx"
    sheet.parent.mkdir(parents=True)
    sheet.write_text("prices")
    peeked = accordance("task", "next", cwd=home)
    assert (peeked.code, "prices.xlsx" in peeked.out) == (0, True)
    accordance("task", "release", "a", cwd=home)
    sheet.unlink()
    assert accordance("task", "next", "--json", cwd=home).json["why"] == "WAITING"
    kinds = [
        json.loads(line)["kind"]
        for line in accordance("events", "--json", cwd=home).out.splitlines()
    ]
    assert kinds.count("EVIDENCE_ADDED") == kinds.count("EVIDENCE_STALE") == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("task", "show", "zzz"), "no task 'zzz' (`accordance task list` shows them)"),
        (("plan", "show", "zzz"), "no plan 'zzz' (`accordance plan list` shows them)"),
        (
            ("inbox", "answer", "zzz", "--yes"),
            "no question 'zzz' (`accordance inbox list` shows them)",
        ),
    ],
)
def test_a_name_that_nothing_is_like(
    words: tuple[str, ...], line: str, home: Path
) -> None:
    """Where no known name is near, the line says where the names are."""
    running(home)
    ran = accordance(*words, cwd=home)
    assert (ran.code, ran.err) == (5, f"accordance: {line}\n")


def test_dead_letters(home: Path) -> None:
    """Given up, listed, requeued, dropped."""
    running(home)
    failed = json.dumps({**ACTION, "task_id": "a", "result_type": "ERROR", "artifact": None, "error": {"code": "BROKEN", "message": "broken"}}).encode()  # fmt: skip
    assert accordance("task", "submit", "-", stdin=failed, cwd=home).code == 0
    accordance("task", "next", cwd=home)
    escalated = accordance("task", "submit", "-", "--json", stdin=failed, cwd=home)
    assert (escalated.code, escalated.json["state"]) == (3, "BLOCKED")
    question = accordance("inbox", "list", "--json", cwd=home).json["items"][0][
        "question_id"
    ]
    assert accordance("inbox", "answer", question, cwd=home).code == 2
    assert accordance("inbox", "answer", question, "--give-up", cwd=home).code == 0
    assert accordance("plan", "status", cwd=home).code == 1
    listed = accordance("dlq", "list", "--json", cwd=home)
    assert (listed.code, listed.json["items"][0]["reason_code"]) == (1, "BROKEN")
    assert accordance("dlq", "requeue", "a", cwd=home).out == "a is READY\n"
    assert accordance("dlq", "drop", "a", cwd=home).code == 6
    kept = accordance("task", "cancel", "a", cwd=home)
    assert (kept.code, "--cascade" in kept.err) == (6, True)
    assert (
        accordance("task", "cancel", "a", "--excuse", cwd=home).out
        == "a is ABANDONED\n"
    )
    assert accordance("task", "next", "--json", cwd=home).json["task"]["task_id"] == "b"
    assert accordance("dlq", "list", cwd=home).out == "no dead letters\n"
    assert accordance("verify", cwd=home).code == 0


def test_a_fuse_blows_and_a_person_goes_on(home: Path) -> None:
    """The plan is held; nothing is handed out until somebody says so."""
    assert (
        imported(home, small_plan(), "--no-review", "--fuse", "calls_per_run=1").code
        == 0
    )
    accordance("task", "submit", "-", stdin=action("a"), cwd=home)
    held = accordance("task", "next", "--json", cwd=home)
    assert (held.code, held.json["why"]) == (3, "HELD")
    assert accordance("plan", "resume", cwd=home).code == 0
    assert accordance("task", "next", cwd=home).code == 0
    assert imported(home, small_plan(), "--fuse", "nothing=1").code == 2
    assert imported(home, small_plan(), "--fuse", "attempts=many").code == 2


def test_pictures_and_lists(home: Path) -> None:
    """Every way to look at a plan."""
    running(home)
    svg = accordance("plan", "graph", "--format", "svg", cwd=home).out
    assert svg.startswith("<svg")
    assert svg.count("<title>") == 4, "the picture's and those of three tasks"
    assert (
        "flowchart TD"
        in accordance("plan", "graph", "--format", "mermaid", cwd=home).out
    )
    assert (
        accordance("plan", "graph", "--format", "dot", "-o", "plan.dot", cwd=home).code
        == 0
    )
    assert (home / "plan.dot").read_text().startswith("digraph")
    assert (
        accordance("plan", "list", "--json", cwd=home).json["items"][0]["plan_id"]
        == PLAN
    )
    assert accordance("plan", "show", PLAN[:6], "--json", cwd=home).json["states"] == {
        "READY": 1,
        "PENDING": 2,
    }
    assert "Spring catalogue" in accordance("plan", "show", cwd=home).out
    assert "0 of 3 done" in accordance("plan", "status", cwd=home).out
    assert accordance("plan", "status", "--json", cwd=home).json["root"] == "PENDING"
    assert accordance("task", "next", "--peek", cwd=home).out == "a  Task a\n"
    assert accordance("plan", "show", "nothing", cwd=home).code == 5
    assert "revision 1 was imported, 3 nodes" in accordance("events", cwd=home).out
    assert accordance("doctor", cwd=home).code == 0
    assert accordance("plan", "export", "--dry-run", cwd=home).code == 0
    assert accordance(
        "plan", "import", "plan.json", "--dry-run", "--json", cwd=home
    ).json["ready"] == ["a"]


def test_marks_that_are_taken_out_are_told(home: Path) -> None:
    """By the import itself, and as JSON."""
    words = ("START", "Begin", "END", "Finish", "STOP", "stop")
    message = small_plan()
    message["nodes"] += [node(word, title=word) for word in words]
    ran = imported(home, message, "--dry-run", "--json")
    assert [warning["path"] for warning in ran.json["warnings"]] == [
        f"$.nodes[{at}]" for at in range(3, 9)
    ]
    shown = imported(home, message, "--dry-run").out
    assert (
        'warning: $.nodes[3]: "START" only marks where the plan begins: taken out, it is no task [mark_taken_out]'
        in shown
    )
    whole = imported(home, message, "--json")
    assert (whole.json["nodes"], len(whole.json["warnings"])) == (3, 6)


def test_an_integer_that_cannot_be_kept_is_told_before_the_import(home: Path) -> None:
    """As any other fault of the plan."""
    ran = imported(home, changed(small_plan(), "nodes.1.priority", 2**63))
    assert (ran.code, "out_of_range" in ran.out) == (1, True)


def test_lists_in_pages(home: Path) -> None:
    """A filter, a limit, a cursor: as lines that say how to go on, and as JSON with `next`."""
    running(home)
    first = accordance("task", "list", "--limit", "2", "--json", cwd=home).json
    assert [task["task_id"] for task in first["items"]] == ["root", "a"]
    rest = accordance(
        "task", "list", "--limit", "2", "--cursor", first["next"], "--json", cwd=home
    ).json
    assert ([task["task_id"] for task in rest["items"]], rest["next"]) == (["b"], None)
    lines = accordance("task", "list", "--limit", "1", cwd=home).out.splitlines()
    assert lines[0].startswith("root  PENDING")
    assert lines[1].startswith("there are more: --cursor ")
    ready = accordance("task", "list", "--filter", "state:ready", cwd=home).out
    assert ready == "a  READY           Task a\n"
    assert accordance("task", "list", "--plan", PLAN[:5], cwd=home).code == 0
    assert (
        accordance("plan", "list", "--filter", "state:held", cwd=home).out
        == "no plans\n"
    )
    assert accordance("inbox", "list", "--plan", PLAN[:5], cwd=home).code == 0
    page = accordance("events", "--limit", "1", "--json", cwd=home).out.splitlines()
    event, following = json.loads(page[0]), json.loads(page[1])
    assert (event["number"], event["kind"]) == (1, "PLAN_IMPORTED")
    words = ("events", "--limit", "1", "--cursor", following["next"])
    assert "the review of the plan was waived" in accordance(*words, cwd=home).out
    assert "there are more" in accordance(*words, cwd=home).out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("task", "list", "--filter", "stat:x"), "did you mean state: ?"),
        (("plan", "list", "--filter", "state:actve"), "did you mean ACTIVE?"),
        (("dlq", "list", "--filter", '"'), "close every quote"),
        (("inbox", "list", "--cursor", "x"), "the cursor cannot be read"),
        (("events", "--filter", "since:soon"), "since:soon is no date"),
        (("events", "--follow", "--limit", "1"), "--follow has no end"),
    ],
)
def test_a_list_that_cannot_be_read(
    home: Path, words: tuple[str, ...], line: str
) -> None:
    """Ends with exit code 2 and the way out."""
    running(home)
    ran = accordance(*words, cwd=home)
    assert (ran.code, line in ran.err) == (2, True), ran.err


def test_following_events(home: Path) -> None:
    """What happens elsewhere appears."""
    running(home)
    page = accordance("events", "--json", cwd=home).out.splitlines()
    newest = json.loads(page[-1])["number"]
    command = [
        sys.executable,
        "-m",
        "accordance.cli.main",
        "events",
        "--follow",
        "--json",
        "--after",
        str(newest),
    ]
    with subprocess.Popen(
        command, cwd=home, stdout=subprocess.PIPE, text=True
    ) as following:
        try:
            accordance("task", "next", cwd=home)
            assert following.stdout is not None
            assert json.loads(following.stdout.readline())["kind"] == "CLAIMED"
        finally:
            following.kill()


def test_no_ledger_and_no_plan(tmp_path: Path) -> None:
    """Said in one line, with the way out; looking makes nothing."""
    ran = accordance("plan", "list", "--home", tmp_path)
    assert (ran.code, "plan import" in ran.err) == (5, True)
    assert not (tmp_path / ".accordance").exists()
    assert accordance("doctor", "--home", tmp_path).code == 0


def test_a_ledger_of_a_newer_version(home: Path) -> None:
    """Left alone."""
    running(home)
    with sqlite3.connect(home / ".accordance/ledger.db") as database:
        database.execute("UPDATE accordance_schema SET version_num = '9999'")
    ran = accordance("plan", "list", cwd=home)
    assert (ran.code, "newer accordance" in ran.err) == (2, True)


def test_what_is_no_ledger(home: Path) -> None:
    """A file of another kind, an address nobody can read."""
    (home / "notes.txt").write_text(
        "just some notes, long enough to have a header of a hundred bytes. " * 3
    )
    ran = accordance("plan", "list", "--ledger", "notes.txt", cwd=home)
    assert (ran.code, "something else" in ran.err) == (2, True)
    assert accordance("plan", "list", "--ledger", "mysql://x/y", cwd=home).code == 2
    away = accordance(
        "plan", "list", "--ledger", "postgresql://nobody@127.0.0.1:1/nothing", cwd=home
    )
    assert (away.code, "does not answer" in away.err) == (5, True)


def test_a_locked_ledger(home: Path) -> None:
    """Somebody holds it: after its patience is over the command says so, and nothing is lost."""
    running(home)
    with sqlite3.connect(
        home / ".accordance/ledger.db", isolation_level=None
    ) as database:
        database.execute("BEGIN IMMEDIATE")
        ran = accordance(
            "task",
            "submit",
            "-",
            stdin=action("a"),
            cwd=home,
            env={"ACCORDANCE_PATIENCE": "0.2"},
        )
        database.execute("ROLLBACK")
    assert ran.code == 6
    assert "another process holds it" in ran.err
    kept = next((home / ".accordance/unsent").iterdir())
    assert kept.read_bytes() == action("a")
    assert accordance("task", "submit", kept, cwd=home).code == 0


def test_a_full_disk(home: Path) -> None:
    """Nothing is half written; the next run goes on. A file system of our own, so that it is really full."""
    place = home / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True, check=False)  # fmt: skip
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here (needs root)")
    try:
        (place / ".accordance").mkdir()
        running(place)

        filled = 0
        with (place / "filler").open("wb", buffering=0) as filler:
            while True:
                try:
                    filled += filler.write(b"x" * 4096)
                except OSError:
                    break
        ran = accordance(
            "task", "submit", "-", stdin=action("a", "text " * 2000), cwd=place
        )
        assert (ran.code, "full" in ran.err or "No space" in ran.err) == (2, True), (
            ran.err
        )
        (place / "filler").unlink()
        assert accordance("verify", cwd=place).code == 0
        assert accordance("task", "submit", "-", stdin=action("a"), cwd=place).code == 0
    finally:
        subprocess.run(["umount", place], check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    """One line, and the way out."""
    tmp_path.chmod(0o500)
    ran = imported_elsewhere(tmp_path)
    assert (ran.code, "may not be written" in ran.err) == (4, True)


def imported_elsewhere(folder: Path) -> Ran:
    message = json.dumps(small_plan()).encode()
    return accordance("plan", "import", "-", "--home", folder, stdin=message)


def test_a_read_only_file_system(home: Path) -> None:
    """Nothing can be written: one line, and it goes on when it can."""
    place = home / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a file system cannot be mounted here (needs root)")
    try:
        (place / ".accordance").mkdir()
        running(place)
        (place / "message.json").write_bytes(action("a"))
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        ran = accordance("task", "submit", "message.json", cwd=place)
        assert (ran.code, len(ran.err.splitlines())) == (4, 1), ran.err
        subprocess.run(["mount", "-o", "remount,rw", place], check=True)
        assert accordance("task", "submit", "message.json", cwd=place).code == 0
    finally:
        subprocess.run(["umount", place], check=True)


def test_postgresql_goes_away_and_comes_back(home: Path) -> None:
    """A clear line, the message is kept, and the next run goes on."""
    server = OwnServer()
    env = {"ACCORDANCE_LEDGER": server.start()}
    try:
        (home / "plan.json").write_text(json.dumps(small_plan()))
        assert (
            accordance(
                "plan", "import", "plan.json", "--no-review", cwd=home, env=env
            ).code
            == 0
        )
        server.stop()
        away = accordance("task", "submit", "-", stdin=action("a"), cwd=home, env=env)
        assert (away.code, len(away.err.splitlines())) == (5, 1), away.err
        server.start()
        assert (
            accordance("task", "submit", "-", stdin=action("a"), cwd=home, env=env).code
            == 0
        )
        assert accordance("verify", cwd=home, env=env).code == 0
    finally:
        server.remove()


def on_a_terminal(*args: str, cwd: Path, until: str) -> str:
    """What a command shows on a terminal, up to some words; then it is interrupted like a person would."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "accordance.cli.main", *args]
    shown = b""
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=interruptible(),
    ) as running_one:
        os.close(follower)
        try:
            while until.encode() not in shown:
                shown += os.read(leader, 4096)
        except OSError:
            pass  # it has ended
        running_one.send_signal(signal.SIGINT)
        try:
            running_one.wait(LIMIT)
        finally:
            running_one.kill()
    os.close(leader)
    return shown.decode(errors="replace")


def test_a_plan_is_watched_on_a_terminal(home: Path) -> None:
    """A table that lives until somebody has seen enough; a long import says how far it is."""
    running(home)
    assert "0 of 3 done" in on_a_terminal(
        "plan", "status", cwd=home, until="0 of 3 done"
    )
    names = [f"n{at}" for at in range(2500)]
    whole = plan([node("top", "GOAL"), *(node(name) for name in names)], [edge("top", name) for name in names], root="top")  # fmt: skip
    whole = json.loads(json.dumps(whole).replace(PLAN, "large"))
    (home / "large.json").write_text(json.dumps(whole))
    shown = on_a_terminal("plan", "import", "large.json", cwd=home, until="2501 nodes")
    assert "importing" in shown
