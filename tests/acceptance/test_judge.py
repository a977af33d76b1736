"""`accordance judge` on real repositories, with real processes: what an agent did, found out and judged."""

from __future__ import annotations

import base64
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from accordance import Accepted, check, judge
from accordance.domain.findings import Gate
from accordance.domain.usage import Usage
from accordance.errors import Conflict, InvalidSettings, NotFound
from accordance.judging.judge import AttemptTree, JudgeOptions, judge_on
from accordance.judging.task_input import PreflightFailed, read_task
from accordance.workspace.attestation import sign_bundle
from tests.acceptance.checkout import Checkout
from tests.acceptance.cli import accordance, interruptible
from tests.hostile.stage import FILES, FIXED, FOLDER, TEST, Stage, git
from tests.keys import new_key
from tests.limits import LIMIT
from tests.unit.cases import TASK_ID

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)

WRONG = "def last(items):\n    return items[0]\n"


def honest(checkout: Checkout) -> None:
    """The work is done and handed in."""
    checkout.work_honestly()
    checkout.hand_in()


def committed(checkout: Checkout) -> None:
    """The same, in a commit of its own."""
    checkout.work_honestly()
    checkout.commit("done")
    checkout.hand_in()


def untested(checkout: Checkout) -> None:
    """The agent says that tests passed, and they fail."""
    checkout.write("src/app.py", WRONG)
    checkout.tell("src/app.py")
    checkout.hand_in()


def too_far(checkout: Checkout) -> None:
    """Done, and a file changed that nobody asked for."""
    honest(checkout)
    checkout.write("README.md", "mine\n")


def asking(checkout: Checkout) -> None:
    """The agent needs to know something."""
    checkout.submit |= {
        "status": "NEED_INPUT",
        "changed_files": [],
        "needs_input": ["Which list?"],
    }
    checkout.patch = b""
    checkout.hand_in()


def garbled(checkout: Checkout) -> None:
    """The submission is no JSON."""
    honest(checkout)
    (checkout.work / FOLDER / "submit.json").write_text("Sure! Here it is: {", "utf-8")


Do = Callable[[Checkout], None]


@pytest.mark.seed("003-26", "004-36", "004-38")
@pytest.mark.parametrize(
    ("act", "options", "outcome", "code", "following"),
    [
        pytest.param(honest, (), "DONE", None, ("none", 0), id="done"),
        pytest.param(committed, (), "DONE", None, ("none", 0), id="done and committed"),
        pytest.param(untested, (), "RETRY", "CI_FAILED", ("retry", 1), id="tests fail"),
        pytest.param(
            untested,
            ("--attempt", "2"),
            "ESCALATE",
            "CI_FAILED",
            ("dlq", 1),
            id="tests fail again",
        ),
        pytest.param(
            too_far, (), "REJECT", "SCOPE_CONFLICT", ("human", 3), id="out of scope"
        ),
        pytest.param(
            asking, (), "ESCALATE", "NEED_INPUT_REQUIRED", ("human", 3), id="asks"
        ),
        pytest.param(
            garbled, (), "REJECT", "SCHEMA_VIOLATION", ("retry", 1), id="no JSON"
        ),
        pytest.param(
            honest,
            ("--executor", "gremlin"),
            "DONE",
            None,
            ("none", 0),
            id="no list of executors",
        ),
    ],
)
def test_outcomes(
    checkout: Checkout,
    act: Do,
    options: tuple[str, ...],
    outcome: str,
    code: str | None,
    following: tuple[str, int],
) -> None:
    """The outcome, its reason, what follows, and the exit code; the bundle holds."""
    action, exit_code = following
    act(checkout)
    ran = checkout.judge("--json", *options, submit=True)
    assert (ran.code, ran.err) == (exit_code, "")
    found = ran.json
    assert (found["outcome"], found["reason_code"], found["next_action"]) == (
        outcome,
        code,
        action,
    )
    assert found["submitted_by"] == "agent"
    assert bool(found["retry"]) == (action == "retry")
    assert bool(found["dead_letter"]) == (action == "dlq")
    assert accordance("verify", found["bundle"]).code == 0


def test_a_policy_is_kept(checkout: Checkout) -> None:
    """An executor that the task does not allow is refused, and a known model gives the ladder its next rung."""
    untested(checkout)
    checkout.task |= {
        "allowedExecutors": ["codex"],
        "allowedModels": ["glm-4.7", "claude-opus"],
    }
    refused = checkout.judge(
        "--json", "--executor", "opencodecli", "--artifacts", checkout.place / "a"
    )
    assert refused.json["reason_code"] == "POLICY_VIOLATION"
    second = checkout.judge(
        "--json",
        "--model",
        "glm-4.7",
        "--attempt",
        "2",
        "--artifacts",
        checkout.place / "b",
    )
    assert second.json["next_action"] == "model_upgrade"
    assert second.json["retry"]["model_tier"] == 1


def test_the_same_error_twice_is_seen_in_the_bundles(checkout: Checkout) -> None:
    """The earlier attempt's bundle says how it failed; the dead letter holds everything to begin again."""
    (checkout.place / "accordance.toml").write_text(
        "[roles.engineer]\nmax_attempts = 3\n", "utf-8"
    )
    untested(checkout)
    first = checkout.judge("--json").json
    assert (first["outcome"], first["max_attempts"]) == ("RETRY", 3)
    assert "CI_FAILED" in first["retry"]["tell"]
    second = checkout.judge("--json", "--attempt", "2").json
    assert (second["outcome"], second["next_action"]) == ("ESCALATE", "dlq")
    _replaced("gateway.log", "judging", "nothing")(checkout.bundle)
    unknown = checkout.judge(
        "--json", "--attempt", "2", "--artifacts", _moved(checkout)
    ).json
    assert (unknown["outcome"], unknown["signature"]) == ("RETRY", first["signature"])
    letter = second["dead_letter"]
    assert letter["history"] == [first["signature"], second["signature"]]
    assert letter["task"]["goal"] == checkout.task["goal"]
    assert letter["base_commit"] == git(checkout.work, "rev-parse", "HEAD").strip()


def _moved(checkout: Checkout) -> Path:
    """Another place with the first bundle only."""
    shutil.copytree(checkout.bundle, checkout.place / "moved" / FOLDER / "attempt-1")
    return checkout.place / "moved"


def test_without_a_submission(checkout: Checkout) -> None:
    """Accordance hands in itself, by what it found; the tree gets nothing but the bundle."""
    failed = checkout.judge("--json", "--artifacts", checkout.place / "before")
    assert (failed.code, failed.json["reason_code"]) == (1, "CI_FAILED")
    checkout.work_honestly()
    checkout.write("tests/test_more.py", "assert True\n")
    ran = checkout.judge("--json")
    assert (ran.code, ran.json["outcome"], ran.json["submitted_by"]) == (
        0,
        "DONE",
        "accordance",
    )
    made = json.loads((checkout.bundle / "submit.json").read_bytes())
    assert isinstance(check(json.dumps(made), "submit"), Accepted)
    assert (made["status"], made["changed_files"], made["new_files"]) == (
        "DONE",
        ["src/app.py"],
        ["tests/test_more.py"],
    )
    assert all((checkout.work / place).exists() for place in ran.json["links"].values())
    assert [place.name for place in (checkout.work / FOLDER).iterdir()] == ["attempt-1"]
    assert (
        "made by accordance from facts: no agent handed them in"
        in checkout.judge("--attempt", "2").out
    )


def test_a_submission_left_behind_is_found(checkout: Checkout) -> None:
    """What the agent left in its evidence folder counts, but not through a link."""
    asking(checkout)
    assert checkout.judge("--artifacts", checkout.place / "a").code == 3
    elsewhere = checkout.place / "elsewhere.json"
    (checkout.work / FOLDER / "submit.json").replace(elsewhere)
    (checkout.work / FOLDER / "submit.json").symlink_to(elsewhere)
    ran = checkout.judge("--json", "--artifacts", checkout.place / "b")
    assert (ran.json["submitted_by"], ran.json["reason_code"]) == (
        "accordance",
        "CI_FAILED",
    )


ALL_FORMATS = ("markdown", "github", "gitlab", "junit", "sarif", "json", "003", "004")


def test_the_formats(checkout: Checkout) -> None:
    """One judgement, every format; and again from the bundle, without the repository."""
    too_far(checkout)
    untested(checkout)
    files = {name: checkout.place / f"out.{name}" for name in ALL_FORMATS}
    options = [f"--format={name}={file}" for name, file in files.items()]
    ran = checkout.judge("--format", "text", *options)
    out = {name: file.read_text("utf-8") for name, file in files.items()}
    for name, contract in (("003", "scc.outcome.v1"), ("004", "scc.verdict.v1")):
        result = check(out[name], contract)
        assert isinstance(result, Accepted), result
    assert json.loads(out["003"])["verdict"] == "REJECT"
    assert json.loads(out["004"])["verdict"] == "FAIL"
    assert "✗ REJECT  SCOPE_CONFLICT" in ran.out
    assert "      AssertionError: wrong" in ran.out, "what the test printed"
    assert "next: human. A person decides." in ran.out
    assert (
        "::error file=README.md,title=accordance SCOPE_CONFLICT::1 path is outside"
        in out["github"]
    )
    assert out["markdown"].startswith("## ❌ REJECT: SCOPE_CONFLICT")
    assert "AssertionError: wrong" in out["markdown"]
    assert json.loads(out["gitlab"])[0]["location"]["path"] == "README.md"
    assert json.loads(out["json"])["cause"] == "change"
    _looks_like_junit(out["junit"])
    _looks_like_sarif(json.loads(out["sarif"]))
    _is_rendered_again(checkout, out, ran.out)


def _is_rendered_again(checkout: Checkout, out: dict[str, str], text: str) -> None:
    """Byte for byte, with no repository left."""
    kept = checkout.place / "kept"
    task = checkout.place / "task.json"
    shutil.move(checkout.bundle, kept)
    shutil.rmtree(checkout.work)
    for name in ALL_FORMATS:
        again = accordance("render", kept, "--task", task, "--format", name)
        assert again.code == 0, again
        expected = out[name].replace(str(checkout.bundle), str(kept))
        assert again.out.rstrip("\n") == expected.rstrip("\n")
    shown = accordance("render", kept).out
    assert shown == text.replace(str(checkout.bundle), str(kept))


def test_what_cannot_be_rendered(checkout: Checkout) -> None:
    """A folder that is no bundle, and a bundle that somebody has changed."""
    missing = accordance("render", checkout.place)
    assert (missing.code, "is not a bundle of evidence" in missing.err) == (5, True)
    untested(checkout)
    assert checkout.judge().code == 1
    (checkout.bundle / "runs" / "01.log").write_text("all is well", "utf-8")
    changed = accordance("render", checkout.bundle, "--format", "junit")
    assert (changed.code, changed.out) == (1, "")
    assert "runs/01.log: changed" in changed.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--format", "yaml"), "'yaml' is not among text, markdown"),
        (("--format", "junit="), "names no file"),
        (("--format", "junit", "--json"), "junit must be alone on standard output"),
        (("--format=junit=x", "--format=sarif=x"), "two formats would be written to x"),
        (("--format", "junit=task.json/x.xml"), "task.json is not a folder"),
        (("--format", "junit=repository"), "repository is a folder"),
    ],
    ids=[
        "a format that nobody knows",
        "a file without a name",
        "two documents on standard output",
        "two formats in a file",
        "a file in place of a folder",
        "a folder in place of a file",
    ],
)
def test_formats_that_cannot_be_written(
    checkout: Checkout, options: tuple[str, ...], says: str
) -> None:
    """Refused at once, before anything is judged."""
    ran = checkout.judge(*options)
    assert (ran.code, says in ran.err) == (2, True), ran
    assert not checkout.bundle.exists()


def _looks_like_junit(text: str) -> None:
    whole = ET.fromstring(text.encode())
    gates, tests = whole.findall("testsuite")
    assert "AssertionError: wrong" in (tests.findtext("testcase/failure") or "")
    failed = {case.get("name") for case in gates if case.find("failure") is not None}
    assert failed == {"scope", "evidence", "file_match", "tests"}
    assert (gates.get("tests"), gates.get("failures")) == (str(len(Gate)), "4")
    assert [case.get("name") for case in tests] == [TEST]


def _looks_like_sarif(whole: dict[str, Any]) -> None:
    run = whole["runs"][0]
    assert whole["version"] == "2.1.0"
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {
        one["ruleId"] for one in run["results"]
    }
    places = [
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for one in run["results"]
    ]
    assert places[0] == "README.md"
    assert places[-1].endswith("task.json")


@pytest.mark.seed("004-43")
def test_a_reason_of_the_agents_own(checkout: Checkout) -> None:
    """It is told as it is, and becomes no code."""
    checkout.submit |= {
        "status": "FAILED",
        "reason_code": "OUT_OF_IDEAS",
        "exit_code": 1,
    }
    honest(checkout)
    whole = json.loads(checkout.judge("--format", "sarif").out)
    [rule] = whole["runs"][0]["tool"]["driver"]["rules"]
    [result] = whole["runs"][0]["results"]
    assert rule["id"] == "EXECUTOR_ERROR"
    assert "(OUT_OF_IDEAS)" in result["message"]["text"]


def test_names_that_no_terminal_should_see(checkout: Checkout) -> None:
    """What an agent calls its files reaches neither the terminal nor XML as it is."""
    checkout.write("evil\x1b[31m\x01.txt", "mine\n")
    assert "\x1b" not in checkout.judge("--artifacts", checkout.place / "a").out
    ET.fromstring(
        checkout.judge(
            "--format", "junit", "--artifacts", checkout.place / "b"
        ).out.encode()
    )


def no_task(checkout: Checkout) -> tuple[str, ...]:
    """Nothing is asked."""
    checkout.task = {"goal": "Fix it."}
    return ()


def bad_settings(text: str) -> Callable[[Checkout], tuple[str, ...]]:
    """An accordance.toml that cannot be read, above the repository."""

    def act(checkout: Checkout) -> tuple[str, ...]:
        (checkout.place / "accordance.toml").write_text(text, "utf-8")
        return ()

    return act


def asked(**changes: object) -> Callable[[Checkout], tuple[str, ...]]:
    """A task that was asked otherwise."""

    def act(checkout: Checkout) -> tuple[str, ...]:
        checkout.task |= changes
        return ()

    return act


def judged_before(checkout: Checkout) -> tuple[str, ...]:
    """There is a bundle of this attempt."""
    checkout.bundle.mkdir(parents=True)
    return ()


def linked_away(checkout: Checkout) -> tuple[str, ...]:
    """The evidence folder leads elsewhere."""
    (checkout.work / "artifacts").symlink_to(checkout.outside)
    return ()


def submits_a_secret(folder: bool) -> Callable[[Checkout], tuple[str, ...]]:
    """What is called a submission is a link, or lies behind one, to a file of the user."""

    def act(checkout: Checkout) -> tuple[str, ...]:
        place = checkout.work / ("src/linked" if folder else "src/submit.json")
        place.symlink_to(
            checkout.outside if folder else checkout.outside / "precious.txt"
        )
        return (
            "--submit",
            f"repository/src/{'linked/precious.txt' if folder else 'submit.json'}",
        )

    return act


BAD = [
    pytest.param(submits_a_secret(folder=False), 2, "leads out of the tree", id="a link as submission"),
    pytest.param(submits_a_secret(folder=True), 2, "leads out of the tree", id="a folder behind a link"),
    pytest.param(lambda _: ("--task", "nowhere.json"), 5, "no file 'nowhere.json'", id="no task file"),
    pytest.param(lambda _: ("--submit", "nowhere.json"), 5, "no file 'nowhere.json'", id="no submit file"),
    pytest.param(lambda _: ("--repo", "nowhere"), 5, "no directory 'nowhere'", id="no repository"),
    pytest.param(lambda _: ("--base", "f" * 40), 5, "has no commit 'ffff", id="no such base"),
    pytest.param(lambda _: ("--attempt", "0"), 2, "is not in the range", id="attempt 0"),
    pytest.param(lambda _: ("--isolation", "hope"), 2, "is not one of", id="no isolation"),
    pytest.param(lambda _: ("--format", "005"), 2, "is not among", id="no format"),
    pytest.param(lambda _: ("--task", "-", "--submit", "-"), 2, "both be standard input", id="one input"),
    pytest.param(lambda _: ("--task", "-"), 2, "PREFLIGHT_FAILED: contract:", id="empty task"),
    pytest.param(lambda _: ("--task", "."), 2, "cannot be read: Is a directory", id="a folder as task"),
    pytest.param(lambda _: ("--attest", "nowhere.pem"), 2, "holds no readable private key", id="no key"),
    pytest.param(no_task, 2, "$.task_id", id="no task"),
    pytest.param(asked(role="wizard"), 2, "unknown_role", id="role"),
    pytest.param(asked(task_id="../../etc"), 2, "$.task_id", id="an id that is a path"),
    pytest.param(asked(files=["README.md"]), 2, "files: README.md: not_allowed", id="file out of pins"),
    pytest.param(asked(role="reviewer"), 2, "reviewer writes nothing", id="role that writes nothing"),
    pytest.param(asked(allowedTests=["no-such-tool x"]), 2, "no-such-tool is not installed", id="no such tool"),
    pytest.param(asked(allowedTests=["./run.sh"]), 2, "./run.sh is not in the repository", id="no such script"),
    pytest.param(asked(allowedTests=["README.md/../x"]), 2, "is not in the repository", id="odd script"),
    pytest.param(asked(allowedTests=["./README.md"]), 2, "./README.md is not executable", id="no script"),
    pytest.param(asked(allowedTests=["/no/such"]), 2, "does not exist or cannot be run", id="no such program"),
    pytest.param(asked(allowedTests=["X=1"]), 2, "it names no program", id="no program"),
    pytest.param(asked(allowedTests=["echo 'x"]), 2, "the shell cannot read it", id="quotes"),
    pytest.param(asked(allowedTests=["echo x &&"]), 2, "the shell cannot read it", id="syntax"),
    pytest.param(bad_settings("[judge"), 2, "accordance.toml", id="settings: no TOML"),
    pytest.param(bad_settings("judge = 1"), 2, "[judge] is a table", id="settings: no table"),
    pytest.param(bad_settings("[judge]\nsecond = 1"), 2, "no key 'second'", id="settings: unknown key"),
    pytest.param(bad_settings("[judge]\nseconds = 0"), 2, "whole number from 1, got 0", id="settings: no time"),
    pytest.param(bad_settings("[judge]\ncarry = 1"), 2, "[judge] carry is a list of texts", id="settings: no list"),
    pytest.param(bad_settings("[judge]\nenvironment = 1"), 2, "is a table", id="settings: environment"),
    pytest.param(bad_settings("[judge]\nisolation = 1"), 2, "isolation is one of", id="settings: isolation"),
    pytest.param(bad_settings("[tiers]\nmine = 0"), 2, "whole number from 1, got 0", id="settings: tier"),
    pytest.param(bad_settings("[roles.engineer]\nfly = true"), 2, "no key 'fly'", id="settings: role"),
    pytest.param(judged_before, 6, "attempt 1 was judged before", id="judged before"),
    pytest.param(linked_away, 2, "is a link or a file, not a folder", id="artifacts linked away"),
]  # fmt: skip


@pytest.mark.parametrize(("act", "exit_code", "says"), BAD)
def test_bad_input(
    checkout: Checkout,
    act: Callable[[Checkout], tuple[str, ...]],
    exit_code: int,
    says: str,
) -> None:
    """One clear line, the right exit code, nothing written."""
    options = act(checkout)
    before = checkout.untouched()
    ran = checkout.judge(*options)
    assert (ran.code, ran.out) == (exit_code, "")
    assert says in ran.err
    assert ran.err.count("\n") == 1
    assert checkout.untouched() == before


def test_a_task_within_reach_proves_nothing(checkout: Checkout) -> None:
    """A task file in the judged tree is the base's, or it is refused."""
    place = checkout.write("tasks/fix.json", json.dumps(checkout.task))
    ran = accordance(
        "judge", "--task", place, "--repo", checkout.work, "--base", checkout.head
    )
    assert ran.code == 2
    assert "tasks/fix.json lies in the tree that is judged" in ran.err
    checkout.begin_with("a task")
    checkout.work_honestly()
    task = ("--task", place, "--base", checkout.begun_at)
    inside = accordance(
        "judge", *task, cwd=checkout.work / "src"
    )  # from anywhere in the tree
    assert (inside.code, inside.err) == (0, "")
    place.write_text(
        json.dumps(checkout.task | {"pins": {"allowed_paths": ["**"]}}), "utf-8"
    )
    again = accordance("judge", *task, "--repo", checkout.work, "--attempt", "2")
    assert "tasks/fix.json lies in the tree that is judged" in again.err


def test_the_rules_are_the_bases(checkout: Checkout) -> None:
    """What the agent writes into accordance.toml does not change what it is judged by, and is seen."""
    checkout.write(
        "accordance.toml", '[roles.engineer.write]\nallow_paths = ["tests/**"]\n'
    )
    checkout.begin_with("rules")
    checkout.task |= {"pins": {"allowed_paths": ["**"]}, "files": []}
    checkout.work_honestly()
    checkout.write(
        "accordance.toml",
        '[roles.engineer.write]\nallow_paths = ["**"]\ndeny_paths = []\n',
    )
    found = checkout.judge("--json").json
    assert (found["outcome"], found["reason_code"]) == (
        "REJECT",
        "ROLE_POLICY_VIOLATION",
    )
    told = " ".join(one["message"] for one in found["findings"])
    assert "accordance.toml" in told
    assert "src/app.py" in told


def test_rules_that_cannot_be_read(checkout: Checkout) -> None:
    """The base's settings are an error if they are no settings, whatever the tree holds now."""
    checkout.write("accordance.toml", "[judge")
    checkout.begin_with("rules")
    (checkout.work / "accordance.toml").unlink()
    ran = checkout.judge()
    assert (ran.code, "accordance.toml at " in ran.err) == (2, True)


def test_a_directory_without_git(checkout: Checkout, tmp_path: Path) -> None:
    """It is judged against an earlier copy; without one there is nothing to judge."""
    shutil.rmtree(checkout.work / ".git")
    earlier = tmp_path / "earlier"
    shutil.copytree(checkout.work, earlier, symlinks=True)
    checkout.work_honestly()
    ran = checkout.judge("--base", earlier, "--json")
    assert (ran.code, ran.json["base_commit"]) == (0, "")
    assert accordance("verify", ran.json["bundle"]).code == 0
    assert FIXED.splitlines()[1] in (checkout.bundle / "patch.diff").read_text("utf-8")
    nothing = checkout.judge("--attempt", "2")
    assert nothing.code == 5
    assert "an earlier copy is needed to compare it with" in nothing.err
    inside = checkout.judge("--base", checkout.work / "src", "--attempt", "2")
    assert "their folders overlap" in inside.err


def test_isolation_that_cannot_be_had(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No test is run; a person must decide, and is told what to install."""
    tools = checkout.place / "tools"
    tools.mkdir()
    for name in ("git", "sh"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", os.fspath(tools))
    honest(checkout)
    ran = checkout.judge("--isolation", "bubblewrap", "--json")
    assert (ran.code, ran.json["outcome"], ran.json["next_action"]) == (
        3,
        "ESCALATE",
        "human",
    )
    assert ran.json["reason_code"] == "ISOLATION_UNAVAILABLE"
    assert ran.json["uses_attempt"] is False
    assert "install bubblewrap" in ran.json["reason"]
    assert ran.json["tests"] == []
    made = checkout.judge(
        "--isolation", "bubblewrap", "--json", "--artifacts", checkout.place / "a"
    )
    assert made.json["reason_code"] == "ISOLATION_UNAVAILABLE"
    doctor = accordance("doctor", "--json")
    assert {one["name"].strip(): one["ok"] for one in doctor.json}["bwrap"] is False
    text = accordance("doctor", cwd=checkout.place).out
    assert "–   bwrap      bwrap is not installed; install bubblewrap" in text


@pytest.mark.parametrize("level", ["auto", "landlock", "rlimit"])
def test_the_level_is_in_the_evidence(checkout: Checkout, level: str) -> None:
    """What was wished is what was used, or nothing was run; auto never goes below what confines."""
    checkout.work_honestly()
    found = checkout.judge("--isolation", level, "--json").json
    used = found["isolation"]
    if used is None:
        assert found["reason_code"] == "ISOLATION_UNAVAILABLE"
    else:
        assert used in ("bwrap", "landlock") if level == "auto" else used == level


def test_settings_reach_the_tests(checkout: Checkout) -> None:
    """Environment, further folders and ignored folders are given to the tests, and nothing else is."""
    shelf, ignored = checkout.place / "shelf", checkout.work / "build"
    for folder, text in ((shelf, "from outside"), (ignored, "ignored")):
        folder.mkdir()
        (folder / "note").write_text(text, "utf-8")
    command = f'test "$COLOUR" = blue && test -z "$SECRET" && cat {shelf}/note && cat build/note'
    checkout.task |= {
        "allowedTests": [command],
        "pins": {"allowed_paths": ["src/**", "build/**"]},
    }
    checkout.work_honestly()
    bare = checkout.judge("--json", "--artifacts", checkout.place / "a")
    assert bare.json["reason_code"] == "CI_FAILED"
    (checkout.place / "accordance.toml").write_text(
        f'[judge]\nreadable = ["{shelf}"]\ncarry = ["build"]\nenvironment.variables = {{ COLOUR = "blue" }}\nseconds = 60\n'
        'memory_mb = 512\nrepeat_threshold = 3\nisolation = "auto"\nmax_attempts = 2\n[tiers]\nours = 1\n',
        "utf-8",
    )
    assert checkout.judge("--json").json["outcome"] == "DONE"
    assert (checkout.bundle / "runs/01.log").read_text("utf-8") == "from outsideignored"


def test_attestation(checkout: Checkout) -> None:
    """Signed offline; the signature holds under its own key only, and only as long as nothing is changed."""
    private, public = checkout.place / "key.pem", checkout.place / "key.pub"
    new_key(private, public)
    new_key(checkout.place / "other.pem", checkout.place / "other.pub")
    honest(checkout)
    assert checkout.judge("--attest", private, submit=True).code == 0
    good = accordance("verify", checkout.bundle, "--key", public)
    assert (good.code, "signature: holds" in good.out) == (0, True)
    statement = json.loads(
        base64.b64decode(
            json.loads((checkout.bundle / "attestation.json").read_bytes())["payload"]
        )
    )
    checkout.commit("as judged")
    git(
        checkout.work, "rm", "-r", "--quiet", "--cached", "artifacts"
    )  # evidence is no part of what is judged
    tree = git(checkout.work, "write-tree").strip()
    assert {"name": "tree", "digest": {"gitTree": tree}} in statement["subject"]
    unchecked = accordance("verify", checkout.bundle)
    assert "not checked" in unchecked.out
    foreign = accordance(
        "verify", checkout.bundle, "--key", checkout.place / "other.pub", "--json"
    )
    assert (foreign.code, foreign.json["signature"]) == (1, "does not hold")
    nobody = accordance("verify", checkout.bundle, "--key", checkout.place / "no.pub")
    assert (nobody.code, "holds no readable public key" in nobody.err) == (2, True)
    log = checkout.bundle / "gateway.log"
    log.write_text(log.read_text("utf-8") + "nothing to see\n", "utf-8")
    _write_manifest_anew(checkout.bundle)
    tampered = accordance("verify", checkout.bundle, "--key", public)
    assert (tampered.code, "is not what was signed" in tampered.out) == (
        1,
        True,
    )
    sign_bundle(checkout.bundle, private, {"task_id": TASK_ID, "outcome": "REJECT"})
    assert (
        "it attests another verdict"
        in accordance("verify", checkout.bundle, "--key", public).out
    )
    (checkout.bundle / "attestation.json").unlink()
    assert "is not signed" in accordance("verify", checkout.bundle, "--key", public).out


def holds(folder: Path, name: str) -> bool:
    """Whether a file of that name lies anywhere below, in folders that come and go."""
    return any(name in files for _, _, files in os.walk(folder))


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_signal_ends_a_judgement_in_order(
    checkout: Checkout, number: signal.Signals, code: int
) -> None:
    """Nothing runs on, nothing is left in the folder for temporary files, and the shell is told."""
    checkout.work_honestly()
    checkout.task["allowedTests"] = ["touch $TMPDIR/began; sleep 1000"]
    (checkout.place / "task.json").write_text(json.dumps(checkout.task), "utf-8")
    scratch = checkout.place / "tmp"
    scratch.mkdir()
    words = (
        "judge",
        "--task",
        checkout.place / "task.json",
        "--repo",
        checkout.work,
        "--base",
        checkout.begun_at,
    )
    with subprocess.Popen(
        [sys.executable, "-m", "accordance.cli.main", *map(str, words)],
        env={**interruptible(), "TMPDIR": os.fspath(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as judging:
        while not holds(scratch, "began") and judging.poll() is None:
            time.sleep(0.02)
        judging.send_signal(number)
        try:
            assert judging.wait(LIMIT) == code
        finally:
            judging.kill()
    assert list(scratch.iterdir()) == []
    assert not checkout.left_running()


def test_a_repository_by_another_hash(checkout: Checkout) -> None:
    """Git names objects by SHA-256 there; nothing else is different."""
    shutil.rmtree(checkout.work / ".git")
    git(
        checkout.work,
        "init",
        "--quiet",
        "--initial-branch=main",
        "--object-format=sha256",
    )
    checkout.commit("base")
    base = git(checkout.work, "rev-parse", "HEAD").strip()
    honest(checkout)
    found = checkout.judge("--json", "--base", base, submit=True)
    assert (found.code, found.json["outcome"]) == (0, "DONE")


def _write_manifest_anew(bundle: Path) -> None:
    """What somebody does who changes a file and knows about the manifest."""
    from accordance.workspace.bundle import _write_manifest

    (bundle / "manifest.json").unlink()
    _write_manifest(bundle)


def _replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    def act(bundle: Path) -> None:
        text = (bundle / name).read_text("utf-8")
        assert old in text
        (bundle / name).write_text(text.replace(old, new), "utf-8")

    return act


@pytest.mark.seed("004-2", "004-3")
@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        pytest.param(_replaced("verdict.json", "FAIL", "PASS"), "verdict.json is not what follows", id="verdict"),
        pytest.param(_replaced("outcome.json", "RETRY", "DONE"), "outcome.json is not what follows", id="outcome"),
        pytest.param(_replaced("judgement.json", '"RETRY"', '"DONE"'), "judgement.json is not what follows", id="judgement"),
        pytest.param(_replaced("runs/01.log", "Assertion", "assertion"), "is not the output of", id="log"),
        pytest.param(_replaced("tree-after.json", "src/app.py", "src/apt.py"), "not the difference of the two trees", id="tree"),
        pytest.param(_replaced("facts.json", '"steering": []', '"steering": [{"path":"x","steers":"y"}]'), "the files that steer tests are not", id="steering"),
        pytest.param(_replaced("task.json", "src/**", "../**"), "task.json is not a task", id="task"),
        pytest.param(_replaced("terms.json", "engineer", "doc"), "terms.json names the role doc", id="terms"),
        pytest.param(lambda bundle: (bundle / "facts.json").write_text("[]", "utf-8"), "no readable facts.json", id="facts"),
        pytest.param(lambda bundle: (bundle / "judgement.json").write_text("[1]", "utf-8"), "cannot be reached again", id="no judgement"),
    ],
)  # fmt: skip
def test_a_tampered_bundle(
    checkout: Checkout, tamper: Callable[[Path], None], says: str
) -> None:
    """A changed file is seen by its hash; with the manifest written anew, by what no longer follows."""
    untested(checkout)
    checkout.judge(submit=True)
    tamper(checkout.bundle)
    by_hash = accordance("verify", checkout.bundle)
    assert by_hash.code == 1
    assert "hash: " in by_hash.out
    _write_manifest_anew(checkout.bundle)
    by_content = accordance("verify", checkout.bundle)
    assert by_content.code == 1
    assert "hash: " not in by_content.out
    assert says in by_content.out


def test_what_is_no_bundle(checkout: Checkout) -> None:
    """Folders without a manifest, manifests that are none, keys for plans."""
    nothing = accordance("verify", checkout.work)
    assert (nothing.code, "has no manifest.json" in nothing.err) == (5, True)
    (checkout.place / "manifest.json").write_text("{}", "utf-8")
    odd = accordance("verify", checkout.place)
    assert (odd.code, "no readable manifest.json" in odd.err) == (1, True)
    key = accordance("verify", "--key", "key.pub", cwd=checkout.place)
    assert (key.code, "--key is for the signature of a BUNDLE" in key.err) == (2, True)


def test_pins_explain(checkout: Checkout) -> None:
    """Which pattern decided, by the pins or by the role."""
    task = checkout.place / "task.json"
    task.write_text(
        json.dumps(checkout.task | {"pins": {"allowed_paths": ["**"]}}), "utf-8"
    )
    (checkout.place / "accordance.toml").write_text(
        '[roles.engineer]\nwrite = { deny_paths = ["docs/"] }\n', "utf-8"
    )
    good = accordance(
        "pins", "explain", "src/app.py", "--task", task, cwd=checkout.place
    )
    assert (good.code, good.out.splitlines()[0]) == (0, "✓ src/app.py: allowed by **")
    bad = accordance(
        "pins",
        "explain",
        "src/app.py",
        "docs/x",
        "../x",
        "--task",
        task,
        "--json",
        cwd=checkout.place,
    )
    assert bad.code == 1
    rules = [
        (one["path"], one["rule"], one["pattern"], one["allowed"])
        for one in bad.json["paths"]
    ]
    assert rules == [
        ("src/app.py", "allowed", "**", True),
        ("docs/x", "role_deny", "docs/", False),
        ("../x", "unsafe_path", None, False),
    ]
    assert accordance("pins", "explain", "x", "--task", "nowhere").code == 5


def test_progress_is_shown_on_a_terminal(checkout: Checkout) -> None:
    """Which step is running, on standard error; standard output holds the result alone."""
    checkout.work_honestly()
    (checkout.place / "task.json").write_text(json.dumps(checkout.task), "utf-8")
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "accordance.cli.main",
        "judge",
        "--task",
        "task.json",
        "--repo",
        checkout.work,
        "--base",
        checkout.begun_at,
    ]
    with subprocess.Popen(
        [*map(str, command), "--json"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        cwd=checkout.place,
    ) as process:
        os.close(theirs)
        assert process.stdout is not None
        out = process.stdout.read()
        process.wait()
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:
        pass  # the terminal is gone with its last user
    os.close(ours)
    assert json.loads(out)["outcome"] == "DONE"
    assert b"cloning the base" in shown


def test_the_library_call(checkout: Checkout) -> None:
    """The same as the command, with values in place of files; true if and only if it is done."""
    checkout.work_honestly()
    told: list[str] = []
    begun = checkout.begun_at
    found = judge(checkout.task, repo=checkout.work, base=begun, tell=told.append)
    assert found
    assert found.bundle == checkout.bundle
    assert f"running {TEST}" in told
    assert all(
        what in (checkout.bundle / "gateway.log").read_text("utf-8")
        for what in told[1:]
    )
    with pytest.raises(Conflict, match="attempt 1 was judged before"):
        judge(checkout.task, repo=checkout.work, base=begun)
    with pytest.raises(InvalidSettings, match="isolation must be"):
        judge(
            checkout.task, repo=checkout.work, base=begun, attempt=2, isolation="hope"
        )
    with pytest.raises(NotFound, match="no file"):
        judge(Path("nowhere.json"), repo=checkout.work, base=begun)
    with pytest.raises(PreflightFailed) as failed:
        judge("{}", repo=checkout.work, base=begun)
    assert len(failed.value.preflight.reasons) > 1
    text = json.dumps(checkout.submit | {"task_id": "another"})
    other = judge(
        json.dumps(checkout.task),
        text,
        repo=checkout.work,
        base=begun,
        artifacts=checkout.place / "a",
        usage=Usage(tokens=5),
    )
    assert not other
    assert other.verdict.reason_code == "SCHEMA_VIOLATION"
    assert other.retry is not None
    assert other.dead_letter is None
    assert TASK_ID in str(other.bundle)
    assert FILES["src/app.py"] != FIXED


def test_prepared_ground(tmp_path: Path) -> None:
    """An attempt in a clone of our own, without a bundle: links lead to where the agent left things."""
    stage = Stage(tmp_path)
    stage.build()
    stage.begin()
    stage.work_honestly()
    stage.hand_in()
    ground = AttemptTree(
        workspace=stage.workspace, before=stage.before, private=tmp_path / "private"
    )
    found = judge_on(ground, read_task(stage.task), None, JudgeOptions(attempt=2))
    assert found
    assert found.bundle is None
    assert found.links["report_md"] == f"{FOLDER}/report.md"
    assert found.submitted_by == "agent"
