"""The inbox, acts on many tasks, and going on after the cause is mended: the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.cli import Ran, accordance
from tests.messages import Message, edge, node, plan

NEEDS_KEY = """
[executors.m]
kind = "llm"
model = "small"
base_url = "http://127.0.0.1:9/v1"
key_env = "THE_TEST_KEY"

[executors.hands]
kind = "external"

[[routes]]
kind = "action"
executor = "m"

[[routes]]
kind = "review"
executor = "hands"
"""
WITH_HANDS = NEEDS_KEY.replace('executor = "m"', 'executor = "hands"')
HOSTILE = "Red \x1b[31mtitle\n::error::x"


def three(title: str = "Third") -> Message:
    """Three actions that could all begin at once."""
    nodes = [
        node("root", "GOAL", title="Catalogue"),
        node("one-1", title="First"),
        node("two-2", title="Second"),
        node("three-3", title=title),
    ]
    edges = [edge("root", name) for name in ("one-1", "two-2", "three-3")]
    return plan(nodes, edges)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A project whose executor needs a key that is not set."""
    (tmp_path / "accordance.toml").write_text(NEEDS_KEY)
    (tmp_path / "plan.json").write_text(json.dumps(three(HOSTILE)))
    imported = accordance("plan", "import", "plan.json", "--no-review", cwd=tmp_path)
    assert imported.code == 0, imported.err
    return tmp_path


def inbox(home: Path, *words: str) -> Ran:
    """An inbox command."""
    return accordance("inbox", *words, cwd=home)


def test_a_missing_key_and_then_not(home: Path) -> None:
    """One question for all; exit 4; the next run says what is still missing; then it goes on."""
    ran = accordance("run", cwd=home)
    assert ran.code == 4, ran
    listed = inbox(home, "list")
    assert listed.code == 3
    first, *_ = listed.out.splitlines()
    assert first.startswith("#")
    assert "HELP, just now" in first
    assert "2 more wait for the same" in listed.out
    assert "PERMISSION_DENIED: the environment variable THE_TEST_KEY" in listed.out
    assert "\x1b" not in listed.out
    assert "retry     The task is tried again" in listed.out
    assert "set the variable; the next `accordance run` goes on by itself" in listed.out

    again = accordance("run", cwd=home)
    assert again.code == 4
    assert "3 tasks still wait: the environment variable THE_TEST_KEY" in again.err
    assert "set the variable, then run again" in again.err

    (home / "accordance.toml").write_text(WITH_HANDS)
    gone = accordance("run", "--json", cwd=home)
    assert gone.code == 3, gone.err  # the routes give the tasks to outside workers now
    assert "3 tasks go on: no longer missing: THE_TEST_KEY" in gone.err
    assert gone.json["states"]["READY"] == 3
    assert accordance("verify", cwd=home).code == 0


def test_answers_by_number(home: Path) -> None:
    """By number, by title, together, by a filter; a second answer says who was first."""
    accordance("run", cwd=home)
    numbers = {
        item["task_id"]: str(item["number"])
        for item in inbox(home, "list", "--each", "--json").json["items"]
    }
    number = numbers["one-1"]
    shown = inbox(home, "show", number)
    assert "    task      one-1" in shown.out

    refused = inbox(home, "answer", number, "retry")
    assert refused.code == 2
    assert "this would answer 3; nothing was changed; add --yes" in refused.err

    only = inbox(home, "answer", "First", "give-up", "--only", "--by", "ann")
    assert (only.code, only.out) == (0, "answered; one-1 (First) is DEAD_LETTER\n")
    late = inbox(home, "answer", number, "retry")
    assert late.code == 6
    assert "was answered by ann on" in late.err
    assert late.err.rstrip().endswith("given up")

    helping = ("--filter", "kind:help")
    preview = inbox(home, "answer", "--all", "retry", *helping, "--dry-run")
    assert "would answer 2" in preview.out
    together = inbox(home, "answer", numbers["two-2"], "retry", "--yes")
    assert together.code == 0, together
    assert together.out.endswith("answer: 2 done\n")
    assert inbox(home, "answer", "--all", "retry", *helping, "--yes").code == 5
    assert accordance("verify", cwd=home).code == 0


def test_many_tasks_at_once(home: Path) -> None:
    """A filter, a preview, a confirmation, and the reason in the chain."""
    accordance("run", cwd=home)
    assert accordance("task", "retry", cwd=home).code == 2
    assert accordance("task", "retry", "First", "--filter", "x", cwd=home).code == 2
    dry = accordance(
        "task", "retry", "--filter", "state:blocked", "--dry-run", cwd=home
    )
    assert dry.code == 0
    assert dry.out.endswith("would retry 3\n")
    words = ("--filter", "state:blocked", "--yes", "--reason", "the key is there")
    done = accordance("task", "retry", *words, "--json", cwd=home)
    assert done.code == 0
    assert {item["state"] for item in done.json["done"]} == {"READY"}
    nothing = accordance("task", "retry", *words, cwd=home)
    assert (nothing.code, nothing.out) == (5, "nothing matches\n")
    cancelled = accordance("task", "cancel", "--filter", "second", "--yes", cwd=home)
    assert cancelled.code == 0, cancelled
    letters = accordance("dlq", "requeue", "--filter", "kind:action", "--yes", cwd=home)
    assert letters.code == 5


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        pytest.param(
            ("inbox", "answer"), 2, "name a question, or give --all", id="no question"
        ),
        pytest.param(
            ("inbox", "answer", "7", "yes"), 5, "no question '7'", id="a wrong number"
        ),
        pytest.param(
            ("inbox", "answer", "--all", "a", "b"),
            2,
            "with --all, give an answer and no question",
            id="two words for all",
        ),
        pytest.param(
            ("inbox", "answer", "--all"),
            2,
            "with --all, the answer is a word or a text",
            id="no answer for all",
        ),
        pytest.param(
            ("task", "show", "--", "--yes"),
            5,
            "no task '--yes'",
            id="a name that looks like an option",
        ),
    ],
)
def test_bad_words(home: Path, words: tuple[str, ...], code: int, line: str) -> None:
    """One clear line, and nothing is changed."""
    ran = accordance(*words, cwd=home)
    assert ran.code == code, ran
    assert line in ran.err


def test_the_shell_completes_names(home: Path) -> None:
    """Ids with their titles; nothing where there is no ledger."""
    variables = {
        "_ACCORDANCE_COMPLETE": "zsh_complete",
        "COMP_WORDS": "accordance task show t",
        "COMP_CWORD": "3",
    }
    completed = accordance(cwd=home, env=variables)
    assert completed.out.splitlines()[:3] == [
        "plain",
        "three-3",
        "Red \\u001b[31mtitle\\n::error::x",
    ]
    assert "two-2" in completed.out
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".accordance").mkdir()
    assert accordance(cwd=elsewhere, env=variables).out.strip() == ""
