"""Hooks of agents and of git: put in, asked, gone past, and taken out again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.cli import accordance
from tests.acceptance.shop import RIGHT, TASK, WRONG, Shop
from tests.messages import SUBMIT
from tests.messages import TASK as TASK_ID

KINDS = ("claude", "codex", "opencode", "git", "pre-commit")
SETTINGS = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "opencode": ".opencode/plugins/accordance.js",
    "git": ".git/hooks/pre-commit",
    "pre-commit": ".pre-commit-config.yaml",
}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A repository with a bug, and a task beside it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-home"))
    return Shop(tmp_path)


# putting in and taking out


def test_every_hook_is_shown_put_in_twice_and_taken_out(shop: Shop) -> None:
    """Showing writes nothing, twice is once, and taking out leaves what was there."""
    shop.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n").chmod(0o755)
    shop.write(".claude/settings.json", '{\n  "model": "opus"\n}\n')
    before = shop.tracked
    for kind in ("claude", "git"):
        shown = shop.put_in(kind, "--show")
        assert f"+++ {SETTINGS[kind]}" in shown.out
        assert shop.tracked == before

    for kind in KINDS:
        shop.put_in(kind)
    put_in = shop.tracked
    assert put_in.keys() > {*before, *SETTINGS.values()}
    for kind in KINDS:
        again = shop.hook(kind, "--json").json
        assert {file["change"] for file in again["files"]} == {"as it was"}
        assert again["task_id"] == TASK["task_id"]
    assert shop.tracked == put_in

    for kind in KINDS:
        assert shop.hook(kind, "--remove").code == 0
    assert shop.tracked == before
    assert shop.git("for-each-ref", "refs/accordance").out == ""
    assert "has no such hook" in shop.hook("git", "--remove").out


def test_a_hook_needs_a_task_once(shop: Shop) -> None:
    """The first hook of a tree is given a task; the next ones take it over."""
    refused = shop.hook("claude")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "no task is set" in refused.err
    assert "--task FILE" in refused.err
    assert ".claude/settings.json" not in shop.tracked
    shop.put_in("claude")
    assert shop.hook("codex").code == 0


@pytest.mark.parametrize(
    ("task", "code", "reason"),
    [
        ("{}", 2, "PREFLIGHT_FAILED"),
        (json.dumps({**TASK, "role": "wizard"}), 2, "wizard"),
        (None, 5, "no such file"),
    ],
)
def test_a_bad_task_puts_nothing_in(
    shop: Shop, task: str | None, code: int, reason: str
) -> None:
    """It is read before anything is written."""
    if task is not None:
        shop.write("../other.json", task)
    refused = shop.hook("claude", "--task", "../other.json")
    assert (refused.code, refused.err.count("\n")) == (code, 1), refused.err
    assert ".claude/settings.json" not in shop.tracked


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        (".claude/settings.json", "{} // mine\n", "claude"),
        (".codex/hooks.json", "[]\n", "codex"),
        (".pre-commit-config.yaml", "repos: []\n", "pre-commit"),
    ],
)
def test_settings_that_would_lose_something_are_left_alone(
    shop: Shop, path: str, text: str, kind: str
) -> None:
    """With the file, the reason and the way out."""
    shop.write(path, text)
    refused = shop.hook(kind, "--task", "../task.json")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert f"{path} is left as it is" in refused.err
    assert shop.read(path) == text


def test_a_link_out_of_the_repository_is_not_followed(shop: Shop) -> None:
    """Settings of other repositories stay alone."""
    shop.write("../shared/settings.json", "{}")
    (shop.work / ".claude").symlink_to(shop.place / "shared")
    refused = shop.hook("claude", "--task", "../task.json")
    assert refused.code == 2
    assert "outside this repository" in refused.err
    assert shop.read("../shared/settings.json") == "{}"


def test_what_a_person_has_not_committed_is_not_the_agents(shop: Shop) -> None:
    """The agent begins with the tree as it is. No branch, index or file changes."""
    shop.write("README.md", "half a sentence\n")
    status = shop.git("status", "--porcelain").out
    head = shop.git("rev-parse", "HEAD").out
    put_in = shop.put_in("git")
    assert "with what is not committed yet: README.md" in put_in.out
    assert shop.git("status", "--porcelain").out == status
    assert shop.git("rev-parse", "HEAD").out == head

    shop.write("shop/prices.py", RIGHT)
    assert shop.stops()["systemMessage"] == "accordance: DONE"


# agents


def test_a_false_done_is_sent_back_and_let_go_with_a_word(shop: Shop) -> None:
    """Three rounds with the reasons; then the person learns that it is not done. A new turn counts anew."""
    shop.put_in("claude", "--rounds", "2")
    first = shop.stops()
    assert first["decision"] == "block"
    assert "test_every_price_counts" in first["reason"]
    assert "It will be judged 1 more time." in first["reason"]
    assert "not be judged again" in shop.stops(again=True)["reason"]
    let_go = shop.stops(again=True)
    assert "decision" not in let_go
    assert let_go["systemMessage"].startswith("accordance: NOT DONE, RETRY")
    assert shop.stops()["decision"] == "block"
    assert shop.outcomes() == ["RETRY"] * 4


def test_mended_work_is_done(shop: Shop) -> None:
    """Judged again from the same beginning."""
    shop.put_in("codex")
    shop.write("shop/prices.py", WRONG + "# looks good\n")
    assert shop.stops("codex")["decision"] == "block"
    shop.write("shop/prices.py", RIGHT)
    assert "decision" not in shop.stops("codex", again=True)
    assert shop.outcomes() == ["RETRY", "DONE"]


def test_an_agent_may_stop_to_ask(shop: Shop) -> None:
    """A question is no false done."""
    shop.put_in("claude")
    asking = {
        "status": "NEED_INPUT",
        "changed_files": [],
        "new_files": [],
        "needs_input": ["Should discounts count?"],
    }
    question = json.dumps({**SUBMIT, **asking}).replace(TASK_ID, TASK["task_id"])
    submit = f"artifacts/{TASK['task_id']}/submit.json"
    shop.write(submit, question)
    answer = shop.stops()
    assert "decision" not in answer, answer
    assert "The agent asks you" in answer["systemMessage"]


@pytest.mark.parametrize(
    "path",
    [".claude/settings.json", ".git/hooks/pre-commit"],
)
def test_an_agent_that_touches_its_hooks_is_not_done(shop: Shop, path: str) -> None:
    """The work itself is right; in the honest twin above, that is enough."""
    for kind in ("claude", "git"):
        shop.put_in(kind)
    shop.write("shop/prices.py", RIGHT)
    shop.write(path, "{}\n")
    reason = shop.stops()["reason"]
    assert path.rpartition("/")[2] in reason or path in reason


@pytest.mark.parametrize("kind", ["claude", "codex", "opencode"])
def test_without_a_task_an_agent_goes_on_and_the_person_knows(
    shop: Shop, kind: str
) -> None:
    """A colleague has the settings, but no task."""
    answer = shop.stops(kind)
    assert answer.keys() == {"systemMessage"}
    assert "nothing was judged" in answer["systemMessage"]


def test_a_gate_that_did_not_run_is_no_silent_yes(shop: Shop) -> None:
    """The agent has to say so, once; then the person is told."""
    shop.put_in("claude")
    [task] = (shop.place / "state-home").rglob("task.json")
    task.write_text("{}")
    told = shop.stops()
    assert told["decision"] == "block"
    assert "could not judge the work" in told["reason"]
    assert "NOT JUDGED" in shop.stops(again=True)["systemMessage"]


@pytest.mark.parametrize("name", ["hook.json", "baseline.json"])
def test_damaged_state_is_no_silent_yes_either(shop: Shop, name: str) -> None:
    """Whatever is broken, an answer comes, and it is not yes."""
    shop.put_in("claude")
    [place] = (shop.place / "state-home").rglob(name)
    place.write_text("{")
    assert shop.stops()["decision"] == "block"
    assert "NOT JUDGED" in shop.stops(again=True)["systemMessage"]


@pytest.mark.parametrize("event", [b"", b"{", b"[]", b'{"session_id": 1}', b"\xff"])
def test_what_no_agent_says_is_an_error_and_no_block(shop: Shop, event: bytes) -> None:
    """Exit code 2 would send an agent back; an error does not."""
    shop.put_in("claude")
    done = accordance("hook", "run", "claude", stdin=event, cwd=shop.work)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)


# git


def test_git_commits_only_what_is_done(shop: Shop) -> None:
    """With the reasons; the honest commit passes."""
    shop.put_in("git")
    shop.write("shop/prices.py", WRONG + "# looks good\n")
    shop.git("add", "-A")
    refused = shop.git("commit", "-m", "Add all prices")
    assert refused.code == 1
    assert "the commit is refused. RETRY CI_FAILED" in refused.err
    assert "test_every_price_counts" in refused.err

    shop.write("shop/prices.py", RIGHT)
    committed = shop.git("commit", "-a", "-m", "Add all prices")
    assert committed.code == 0, committed.err
    assert "DONE" in committed.err


def test_what_is_committed_is_what_is_judged(shop: Shop) -> None:
    """The right tree does not carry a wrong index."""
    shop.put_in("git")
    shop.write("shop/prices.py", WRONG + "# staged\n")
    shop.git("add", "-A")
    shop.write("shop/prices.py", RIGHT)
    refused = shop.git("commit", "-m", "Add all prices")
    assert refused.code == 1
    assert "the commit would leave out shop/prices.py" in refused.err


def test_a_hook_that_was_there_runs_first(shop: Shop) -> None:
    """Where it refuses, nothing is judged."""
    own = shop.write(".git/hooks/pre-commit", "#!/bin/sh\necho mine; exit 7\n")
    own.chmod(0o755)
    shop.put_in("git")
    shop.write("shop/prices.py", RIGHT)
    refused = shop.git("commit", "-a", "-m", "Add all prices")
    assert refused.code == 1
    assert "mine" in refused.out + refused.err
    assert shop.outcomes() == []


def test_the_folder_of_hooks_is_gits_own_choice(shop: Shop) -> None:
    """A folder of the repository is taken, a folder of all repositories is refused."""
    shop.git("config", "core.hooksPath", "hooks")
    shop.put_in("git")
    assert "hook run git" in shop.read("hooks/pre-commit")
    shop.hook("git", "--remove")
    shop.git("config", "core.hooksPath", str(shop.place / "everywhere"))
    refused = shop.hook("git", "--task", "../task.json")
    assert refused.code == 2
    assert "for other repositories as well" in refused.err
    assert not (shop.place / "everywhere").exists()


def test_another_working_tree_is_not_judged(shop: Shop) -> None:
    """It shares the hook, and has no task. Git says so, and commits."""
    shop.put_in("git")
    assert shop.git("worktree", "add", "-q", "../other").code == 0
    committed = shop.git("-C", "../other", "commit", "--allow-empty", "-m", "Mine")
    assert committed.code == 0, committed.err
    assert "nothing was judged: no task is set" in committed.err
