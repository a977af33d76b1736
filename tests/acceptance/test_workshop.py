"""An agent that asks for its verdict while it still runs, in a clone made by the workshop."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from accordance.api import check
from accordance.changes import attempt as coding
from accordance.changes import concluding
from accordance.changes.settling import change_in
from accordance.changes.workshop import Workshop
from accordance.domain.faults import Fault
from accordance.domain.preflight import preflight
from accordance.domain.spending import Spending
from accordance.domain.usage import Budget
from accordance.executors.opinion import Opinion
from accordance.executors.prompt_building import build_prompt
from accordance.executors.protocol import Observation, RunOutcome
from accordance.judging import examining, task_input
from accordance.judging.claims import read_claim
from accordance.judging.rejudging import rejudge
from accordance.store.opening import open_ledger
from accordance.work.assignment import assignment
from accordance.work.change_evidence import reviewed_change
from accordance.work.taking import take_up
from accordance.workspace import collecting, leaving, testing
from accordance.workspace.errors import BundleBroken, WorkspaceError
from accordance.workspace.overlay import whole_tree
from accordance.workspace.snapshot import take_snapshot
from tests.acceptance.coding import FIRST, a_task
from tests.acceptance.workshop import a_choice, begun, hand_in
from tests.hostile.stage import FIXED, FOLDER, TEST, git
from tests.limits import LIMIT

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)
SLOW = "python -B -c 'import pathlib, time; pathlib.Path(\"src/slow\").exists() and time.sleep(10**6)'"


FAULT = RunOutcome(fault=Fault.TIMED_OUT, text="too long")
WRONG = "def last(items):\n    return items[0]\n"


def test_it_repairs_what_it_is_told(tmp_path: Path) -> None:
    """RETRY with what failed, then DONE; in the end everything is judged again, and only that is kept."""
    shop, job = begun(tmp_path)
    opinions: list[Opinion] = []

    def agent(work: Path, opinion: Callable[[bytes], Opinion]) -> RunOutcome:
        for text in (WRONG, FIXED):
            (work / "src/app.py").write_text(text)
            opinions.append(opinion(hand_in(work)))
        return RunOutcome(raw=hand_in(work))

    produced = shop.carry_out(job, a_choice(), agent)
    assert [(one.done, one.reason_code) for one in opinions] == [
        (False, "CI_FAILED"),
        (True, None),
    ]
    assert f"exit code 1: {TEST}" in opinions[0].text
    assert produced.judged is not None
    assert produced.judged["verdict"]["outcome"] == "DONE"  # type: ignore[index]
    (bundle,) = (shop.home.root / FOLDER).iterdir()
    assert bundle.name.startswith("attempt-1-run-"), "it gets its name when it counts"
    assert shop.repository == shop.home.root / "repository"


def count_calls(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], *places: ModuleType
) -> list[Any]:
    """Count the calls of a function, in the modules that import it: the first argument of each call."""
    calls: list[Any] = []

    def counted(first: Any, *others: Any, **named: Any) -> Any:
        calls.append(first)
        return function(first, *others, **named)

    for place in places:
        monkeypatch.setattr(place, function.__name__, counted)
    return calls


def test_nothing_is_found_out_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One preflight, one reading of the submission, one walk through each tree: the base, what the agent left, the tests' copy.

    An opinion in between reads the submission, and walks through the tree, as they are then.
    """
    preflights = count_calls(monkeypatch, preflight, coding, task_input)
    readings = count_calls(monkeypatch, read_claim, examining)
    checks = count_calls(monkeypatch, check, concluding)
    walks = count_calls(monkeypatch, whole_tree, collecting, leaving)
    copies = count_calls(monkeypatch, take_snapshot, testing)
    seen: list[tuple[int, ...]] = []

    def counts() -> tuple[int, ...]:
        return tuple(
            len(calls) for calls in (preflights, readings, checks, walks, copies)
        )

    def agent(work: Path, opinion: Callable[[bytes], Opinion]) -> RunOutcome:
        (work / "src/app.py").write_text(FIXED)
        seen.append(counts())
        assert opinion(hand_in(work)).done
        seen.append(counts())
        return RunOutcome(raw=hand_in(work))

    shop, job = begun(tmp_path)
    produced = shop.carry_out(job, a_choice(), agent)
    assert produced.judged is not None
    assert [*seen, counts()] == [(1, 0, 0, 1, 0), (1, 1, 0, 2, 1), (1, 2, 0, 3, 2)]


@pytest.mark.parametrize(
    ("spoken", "left", "counts"),
    [
        pytest.param("bad", None, "bad", id="the only one, good or bad"),
        pytest.param("good", "good", "good", id="both the same"),
        pytest.param("bad", "good", "good", id="only what was left is good"),
        pytest.param("good", "bad", "good", id="only what was said is good"),
        pytest.param("bad", "worse", "bad", id="neither is good"),
    ],
)
def test_which_submission_counts(
    tmp_path: Path, spoken: str, left: str | None, counts: str
) -> None:
    """Agents may say it, leave it, or both: what honours the contract counts, else what was said."""
    shop, job = begun(tmp_path)
    texts = {"bad": b"{}", "worse": b"[]"}

    def agent(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
        (work / "src/app.py").write_text(FIXED)
        texts["good"] = hand_in(work)
        submission = work / FOLDER / "submit.json"
        submission.unlink()
        if left is not None:
            submission.write_bytes(texts[left])
        return RunOutcome(raw=texts[spoken])

    assert shop.carry_out(job, a_choice(), agent).raw == texts[counts]


def test_a_fault_is_passed_on(tmp_path: Path) -> None:
    """An agent that ended without a message, but for silence, is judged by nobody."""
    shop, job = begun(tmp_path)
    assert shop.carry_out(job, a_choice(), lambda *_: FAULT) is FAULT
    assert not (shop.home.root / FOLDER).exists()


@pytest.mark.parametrize(
    ("task", "model", "said"),
    [
        pytest.param(
            {"allowedExecutors": ["codex"]},
            None,
            "agent is not among those allowed",
            id="executor",
        ),
        pytest.param(
            {"allowedModels": ["large"]},
            "small",
            "small is not among those allowed",
            id="model",
        ),
        pytest.param(
            {"allowedTests": ["make self_test"]},
            None,
            "only a self-test",
            id="only a self-test",
        ),
        pytest.param(
            {"files": ["docs/guide.md"]},
            None,
            "files: docs/guide.md",
            id="files out of scope",
        ),
    ],
)
def test_preflight(
    tmp_path: Path, task: dict[str, Any], model: str | None, said: str
) -> None:
    """What could not be accepted in the end is not begun."""
    shop, job = begun(tmp_path, **task)
    produced = shop.carry_out(
        job, a_choice(model), lambda *_: pytest.fail("it was begun")
    )
    assert (produced.code, said in produced.text) == ("PREFLIGHT_FAILED", True), (
        produced
    )


def test_a_task_without_tests_is_begun(tmp_path: Path) -> None:
    """Whoever makes the change says how it was tested, and that is run."""
    shop, job = begun(tmp_path, allowedTests=[])

    def agent(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
        (work / "src/app.py").write_text(FIXED)
        return RunOutcome(raw=hand_in(work))

    produced = shop.carry_out(job, a_choice(), agent)
    assert produced.judged is not None, produced
    assert produced.judged["verdict"]["outcome"] == "DONE"  # type: ignore[index]
    assert "the agent's choice" in str(produced.judged["verdict"]["notices"])  # type: ignore[index]


@pytest.mark.parametrize(
    ("model", "tiers", "action"),
    [
        pytest.param(
            "small",
            {"small": 2, "large": 1},
            "model_upgrade",
            id="a stronger model is asked next",
        ),
        pytest.param(
            "large", {"small": 2, "large": 1}, "retry", id="it is the strongest"
        ),
        pytest.param(
            "odd", {"large": 1}, "model_upgrade", id="a model nobody has ranked"
        ),
        pytest.param(None, {}, "retry", id="no models at all"),
    ],
)
def test_what_follows_is_what_the_verdict_says(
    tmp_path: Path, model: str | None, tiers: dict[str, int], action: str
) -> None:
    """A run asks the next stronger model after each failure, so that is its verdict's next action."""
    shop, job = begun(tmp_path)

    def agent(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
        (work / "src/app.py").write_text(WRONG)
        return RunOutcome(raw=hand_in(work))

    produced = shop.carry_out(
        job, replace(a_choice(model), tiers=tiers, tier=tiers.get(model or "")), agent
    )
    assert produced.judged is not None, produced
    bundle = shop.home.root / str(produced.judged["written"])
    assert json.loads((bundle / "judgement.json").read_bytes())["next_action"] == action


def test_an_opinion_is_about_the_tree_as_it_is(tmp_path: Path) -> None:
    """A link in the evidence's place is seen while it is there; in the end it is gone, and the work is judged without it."""
    shop, job = begun(tmp_path)
    opinions: list[Opinion] = []

    def agent(work: Path, opinion: Callable[[bytes], Opinion]) -> RunOutcome:
        (work / "src/app.py").write_text(FIXED)
        raw = hand_in(work)
        (work / FOLDER / "report.md").unlink()
        (work / "artifacts").rename(work / "elsewhere")
        (work / "artifacts").symlink_to("elsewhere")
        opinions.append(opinion(raw))
        (work / "artifacts").unlink()
        (work / "elsewhere").rename(work / "artifacts")
        return RunOutcome(raw=hand_in(work))

    produced = shop.carry_out(job, a_choice(), agent)
    assert not opinions[0].done
    assert produced.judged is not None


def test_no_opinion_outlives_the_run(tmp_path: Path) -> None:
    """Tests that still run when the agent has ended are ended, too, before anything is judged; nobody is answered later."""
    shop, job = begun(tmp_path, allowedTests=[SLOW, TEST])
    asked: list[Callable[[bytes], Opinion]] = []
    with ThreadPoolExecutor(2) as pool:
        answers: list[Future[Opinion]] = []

        def agent(work: Path, opinion: Callable[[bytes], Opinion]) -> RunOutcome:
            asked.append(opinion)
            (work / "src/app.py").write_text(FIXED)
            (work / "src/slow").touch()
            raw = hand_in(work, SLOW, TEST)
            answers.extend(pool.submit(opinion, raw) for _ in range(2))
            while not list(work.parent.glob("private/opinion-1/scratch/*runs/01.log")):
                time.sleep(0.01)  # until its tests run; they would for ever
            (work / "src/slow").unlink()
            return RunOutcome(raw=hand_in(work, SLOW, TEST))

        produced = shop.carry_out(job, a_choice(), agent)
        assert [one.result(LIMIT).text for one in answers] == ["The run is over."] * 2
    assert produced.judged is not None
    assert produced.judged["verdict"]["outcome"] == "DONE"  # type: ignore[index]
    assert not list(shop.home.clones.rglob("*"))
    assert asked[0](b"{}").text == "The run is over."


def test_a_task_bounds_its_change_and_its_attempts(tmp_path: Path) -> None:
    """A change that is too large is told so; with the task's last attempt it goes up the ladder."""
    pins = {**a_task()["pins"], "max_loc": 1}
    shop, job = begun(tmp_path, pins=pins, max_attempts=1)
    produced = shop.carry_out(job, a_choice(), fixed)
    assert produced.judged is not None
    verdict: Any = produced.judged["verdict"]
    assert (verdict["outcome"], verdict["reason_code"]) == (
        "ESCALATE",
        "SPLIT_REQUIRED",
    )
    assert "2 lines, pins.max_loc allows 1" in verdict["findings"][0]["message"]
    (bundle,) = (shop.home.root / FOLDER).iterdir()
    assert rejudge(bundle).holds


# -- several runs of one attempt: a worker that was thought dead, a run that was cut off


def fixed(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
    """A good agent."""
    (work / "src/app.py").write_text(FIXED)
    return RunOutcome(raw=hand_in(work))


def wrong(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
    """A bad one."""
    (work / "src/app.py").write_text(WRONG)
    return RunOutcome(raw=hand_in(work))


def settled(
    shop: Workshop, produced: RunOutcome, *, holds: bool = True
) -> dict[str, Any]:
    """What the ledger makes of a run; the transaction may come to nothing."""
    ledger = open_ledger(shop.home.ledger)
    assert produced.raw is not None
    assert produced.judged is not None
    with contextlib.suppress(_Undone), contextlib.closing(ledger), ledger.write() as tx:
        answer = change_in(
            tx, shop.home, produced.raw, FIRST, 1, produced.judged
        ).to_json()
        if not holds:
            raise _Undone
    return answer


class _Undone(Exception):
    """A transaction that does not hold."""


def bundles(shop: Workshop) -> dict[str, str]:
    """The outcomes that lie in the folder of the evidence, by the names of their bundles."""
    folders = sorted((shop.home.root / FOLDER).iterdir())
    return {
        place.name: json.loads((place / "judgement.json").read_bytes())["outcome"]
        for place in folders
    }


def test_a_worker_that_was_thought_dead_takes_nothing_from_the_other(
    tmp_path: Path,
) -> None:
    """It ends while the other works: each has its own clone, and removes no more than that."""
    shop, job = begun(tmp_path)

    def takes_over(work: Path, opinion: Callable[[bytes], Opinion]) -> RunOutcome:
        slow = RunOutcome(fault=Fault.TIMED_OUT, text="too long")
        assert shop.carry_out(job, a_choice(), lambda *_: slow) is slow
        assert shop.carry_out(job, a_choice(), wrong).judged is not None
        return fixed(work, opinion)

    produced = shop.carry_out(job, a_choice(), takes_over)
    assert produced.judged is not None
    assert not list(shop.home.clones.rglob("*"))
    answer = settled(shop, produced)
    assert (answer["outcome"], answer["bundle"]) == ("DONE", f"{FOLDER}/attempt-1")
    names = list(bundles(shop))
    assert (names[0], len(names)) == ("attempt-1", 2)
    assert bundles(shop)["attempt-1"] == "DONE"


def test_what_comes_too_late_leaves_the_evidence_alone(tmp_path: Path) -> None:
    """The first that is settled counts; the other is refused, and its evidence stays under its own name."""
    shop, job = begun(tmp_path)
    good, bad = (shop.carry_out(job, a_choice(), agent) for agent in (fixed, wrong))
    assert settled(shop, good)["outcome"] == "DONE"
    late = settled(shop, bad)
    assert (late["status"], late["why"]) == (
        "refused",
        f"attempt 1 of task {FIRST} is over",
    )
    assert sorted(bundles(shop).values()) == ["DONE", "RETRY"]
    assert bundles(shop)["attempt-1"] == "DONE"


def test_a_transaction_that_does_not_hold_is_made_again(tmp_path: Path) -> None:
    """The evidence had its name already; what somebody else had left there is kept."""
    shop, job = begun(tmp_path)
    produced = shop.carry_out(job, a_choice(), fixed)
    left = shop.home.root / FOLDER / "attempt-1"
    shutil.copytree(next(left.parent.iterdir()), left)
    (left / "manifest.json").write_text("{}")
    settled(shop, produced, holds=False)
    assert settled(shop, produced)["outcome"] == "DONE"
    assert list(bundles(shop)) == ["attempt-1", "attempt-1-cut-1"]
    assert (left.with_name("attempt-1-cut-1") / "manifest.json").read_text() == "{}"


def test_a_reviewer_of_a_change_sees_what_was_asked_and_what_was_shown(
    tmp_path: Path,
) -> None:
    """Goal, files, pins, assumptions, accordance's own test results, the report, the patch and the rubric."""
    shop, job = begun(
        tmp_path, is_checked=True, files=["src/app.py"], assumptions=["Python 3"]
    )
    assert (
        settled(shop, shop.carry_out(job, a_choice(), fixed))["state"]
        == "READY_TO_CHECK"
    )
    with (
        contextlib.closing(open_ledger(shop.home.ledger)) as ledger,
        ledger.write() as tx,
    ):
        told = assignment(tx, shop.home, take_up(tx, tx.task("check"), "reviewer", 900))
    change = told["context"]["reviewed_change"]
    asked = change["task"]
    assert (asked["goal"], asked["files"]) == (
        "last() returns the last item.",
        ["src/app.py"],
    )
    assert (asked["pins"], asked["assumptions"]) == (a_task()["pins"], ["Python 3"])
    assert [(one["command"], one["passed"]) for one in change["tests"]] == [
        (TEST, True)
    ]
    assert (change["report"], change["changed_files"]) == ("Done.\n", ["src/app.py"])
    assert "+    return items[len(items) - 1]" in told["context"]["product"]["content"]
    prompt = build_prompt(told, "reviewer.v1", shop.home.root).prompt.user
    for words in (
        "last() returns the last item.",
        "src/**",
        "Python 3",
        "len(items) - 1",
        "Done.",
        "approve_at",
    ):
        assert words in prompt
    shutil.rmtree(shop.home.root / FOLDER)
    with (
        contextlib.closing(open_ledger(shop.home.ledger)) as ledger,
        ledger.read() as tx,
    ):
        elsewhere = reviewed_change(tx, shop.home.root, tx.task(FIRST))
    assert elsewhere is not None
    assert "on the machine that judged it" in str(elsewhere["note"])


def test_evidence_that_is_gone_settles_nothing(tmp_path: Path) -> None:
    """A verdict nobody could recompute does not count."""
    shop, job = begun(tmp_path)
    produced = shop.carry_out(job, a_choice(), fixed)
    shutil.rmtree(shop.home.root / FOLDER)
    with pytest.raises(BundleBroken, match="the evidence of the change is not in"):
        settled(shop, produced)


class Notebook:
    """A memory."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {}

    def recall(self, asked: str) -> dict[str, Any] | None:
        return self.kept.get(asked)

    def keep(self, asked: str, answer: Mapping[str, Any]) -> None:
        self.kept[asked] = json.loads(json.dumps(answer))


def cut_off(*_: object) -> None:
    """The end of a process."""
    raise SystemExit


SPENT = Spending(read=150, written=5, cost=0.5, calls=2)


@pytest.mark.parametrize("says", ["a message", "nothing"])
def test_what_was_done_is_kept_before_it_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str
) -> None:
    """Whoever goes on only judges, and what it cost is counted."""
    shop, job = begun(tmp_path)
    memory = Notebook()

    def agent(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
        (work / "src/app.py").write_text(FIXED)
        about = RunOutcome(
            raw=hand_in(work),
            spending=SPENT,
            exit_code=3,
            seen=(Observation("agent", {"session": "s"}),),
        )
        return (
            about
            if says == "a message"
            else replace(about, raw=None, fault=Fault.SILENT, text="it said nothing")
        )

    with monkeypatch.context() as patched:
        patched.setattr(concluding, "judge_on", cut_off)
        with pytest.raises(SystemExit):
            shop.carry_out(job, a_choice(), agent, memory)
    produced = shop.carry_out(
        job, a_choice(), lambda *_: pytest.fail("it was run again"), memory
    )
    assert produced.judged is not None
    assert produced.judged["verdict"]["outcome"] == "DONE"  # type: ignore[index]
    assert (produced.spending, produced.exit_code, produced.fault) == (SPENT, 3, None)
    assert [one.what for one in produced.seen] == ["agent", "kept"]


def test_what_was_left_out_is_known_to_whoever_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not restored, and a forbidden path in it stays forbidden."""
    shop, job = begun(tmp_path)
    memory = Notebook()

    def agent(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
        (work / "src/app.py").write_text(FIXED)
        (work / "build/secrets").mkdir(parents=True)
        (work / "build/secrets/key").write_text("planted")
        return RunOutcome(raw=hand_in(work))

    with monkeypatch.context() as patched:
        patched.setattr(concluding, "judge_on", cut_off)
        with pytest.raises(SystemExit):
            shop.carry_out(job, a_choice(), agent, memory)
    produced = shop.carry_out(
        job, a_choice(), lambda *_: pytest.fail("it was run again"), memory
    )
    assert memory.kept["work"]["left_out"]
    assert produced.judged is not None
    verdict: Any = produced.judged["verdict"]
    assert verdict["reason_code"] == "ROLE_POLICY_VIOLATION"
    assert "build/secrets/key" in verdict["findings"][0]["message"]


def test_work_that_was_kept_is_judged_where_it_was_made(tmp_path: Path) -> None:
    """The plan has moved on: the work counts, and lands by a rebase."""
    shop, job = begun(tmp_path)
    memory = Notebook()

    def agent(work: Path, _: Callable[[bytes], Opinion]) -> RunOutcome:
        (work / "src/app.py").write_text(FIXED)
        return RunOutcome(raw=hand_in(work))

    first = shop.carry_out(job, a_choice(), agent, memory).judged
    assert first is not None
    git(shop.repository, "commit", "--quiet", "--allow-empty", "--message=next")
    moved = replace(job, head=git(shop.repository, "rev-parse", "HEAD").strip())
    again = shop.carry_out(
        moved, a_choice(), lambda *_: pytest.fail("it was run again"), memory
    )
    assert again.judged is not None
    assert again.judged["base"] == first["base"]


def test_what_cannot_be_judged_was_paid_for_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no fault of the task's, and nobody says that nobody was asked to work."""
    shop, job = begun(tmp_path)

    def fails(*_: object) -> None:
        raise WorkspaceError("the disk is full")

    monkeypatch.setattr(concluding, "judge_on", fails)
    produced = shop.carry_out(
        job, a_choice(), lambda work, _: RunOutcome(raw=hand_in(work), spending=SPENT)
    )
    assert (produced.fault, produced.spending) == (Fault.CRASHED, SPENT)
    assert produced.text == "the change could not be judged: the disk is full"


def test_a_change_that_has_cost_too_much_is_not_accepted(tmp_path: Path) -> None:
    """By what was seen of the run; the verdict can be reached again from its bundle."""
    shop, job = begun(tmp_path)

    def agent(work: Path, opinion: Callable[[bytes], Opinion]) -> RunOutcome:
        (work / "src/app.py").write_text(FIXED)
        assert opinion(
            hand_in(work)
        ).done  # while it runs, nobody knows what it will have cost
        return RunOutcome(raw=hand_in(work), spending=SPENT)

    produced = shop.carry_out(
        replace(job, budget=Budget(tokens=154)), a_choice(), agent
    )
    assert produced.judged is not None
    verdict: Any = produced.judged["verdict"]
    assert verdict["reason_code"] == "BUDGET_EXCEEDED"
    again = rejudge(shop.home.root / str(produced.judged["written"]))
    assert again.judgement is not None
    assert again.judgement.verdict.reason_code == "BUDGET_EXCEEDED"
