"""Reading a set of tasks, in our own fields and in those of SWE-bench."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accordance.domain.eval_tasks import InvalidTaskSet, read_task_set, reported_id

OWN: dict[str, Any] = {
    "id": "last",
    "goal": "Make last() return the last item.",
    "files": {"app.py": "def last(items):\n    return items[0]\n"},
    "tests": ["python -m unittest"],
    "hidden_tests": {"files": {"test_hidden.py": "..."}},
    "fail_to_pass": ["test_hidden.Case.test_last"],
    "patch": "--- a/app.py\n",
}
TEST_PATCH = """\
diff --git a/tests/test_app.py b/tests/test_app.py
--- a/tests/test_app.py
+++ b/tests/test_app.py
@@ -1 +1,2 @@
 import app
+assert app.last([1, 2]) == 2
diff --git a/tests/conftest.py b/tests/conftest.py
--- a/tests/conftest.py
+++ b/tests/conftest.py
@@ -1 +1,2 @@
 import app
+import app
"""
SWE_BENCH: dict[str, Any] = {
    "repo": "owner/name",
    "instance_id": "owner__name-17",
    "base_commit": "1e263e4979386c4d5e7b8a1f0c2d3e4f5a6b7c8d",
    "patch": "the solution",
    "test_patch": TEST_PATCH,
    "problem_statement": "last() returns the first item.",
    "hints_text": "Look at the index.",
    "created_at": "2024-01-01T00:00:00Z",
    "version": "1.0",
    "FAIL_TO_PASS": '["tests/test_app.py::test_last"]',
    "PASS_TO_PASS": ["tests/test_app.py::test_first"],
    "environment_setup_commit": "1e263e4979386c4d5e7b8a1f0c2d3e4f5a6b7c8d",
    "difficulty": "<15 min fix",
}
TOML = """
[[tasks]]
id = "last"
goal = "Make last() return the last item."
repo = "app"
base = "main"
hidden_tests.tests = ["make test"]
fail_to_pass = ["test_last"]
"""


def test_our_own_fields() -> None:
    """A JSON list; the repository is made of files."""
    (task,) = read_task_set(json.dumps([OWN]), "tasks.json")
    assert task.files == OWN["files"]
    assert task.hidden_files == {"test_hidden.py": "..."}
    assert task.tests == ("python -m unittest",)
    assert task.role == "engineer"
    assert task.allowed_paths == ("**",)


def test_the_fields_of_swe_bench() -> None:
    """JSON lines; lists may be JSON texts; hints are nobody's."""
    text = json.dumps(SWE_BENCH) + "\n\n"
    (task,) = read_task_set(text, "tasks.jsonl")
    assert task.id == "owner__name-17"
    assert task.repo == "owner/name"
    assert task.base == SWE_BENCH["base_commit"]
    assert task.goal == "last() returns the first item."
    assert task.tests == ()
    assert task.hidden_tests == ("python -m pytest -q tests/test_app.py",)
    assert task.fail_to_pass == ("tests/test_app.py::test_last",)
    assert task.pass_to_pass == ("tests/test_app.py::test_first",)
    given = str(task.for_agent())
    for secret in ("the solution", "test_app", "Look at the index"):
        assert secret not in given


def test_a_command_for_swe_bench() -> None:
    """Where pytest is not how a repository is tested."""
    command = "python tests/runtests.py app"
    text = json.dumps({**SWE_BENCH, "test_command": command})
    (task,) = read_task_set(text, "tasks.jsonl")
    assert task.hidden_tests == (command,)


def test_toml() -> None:
    """For sets that people write."""
    (task,) = read_task_set(TOML, "tasks.toml")
    assert (task.repo, task.base) == ("app", "main")


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("tests/test_app.py::test_a[x y]", "tests/test_app.py::test_a[x y]"),
        ("test_a (app.tests.Case)", "app.tests.Case.test_a"),
        ("test_a (app.tests.Case.test_a)", "app.tests.Case.test_a"),
        ("a docstring of a test", "a docstring of a test"),
    ],
)
def test_names_of_tests(name: str, reported: str) -> None:
    """SWE-bench names tests as unittest prints them; reports have their ids."""
    assert reported_id(name) == reported


def without(task: dict[str, Any], field: str) -> dict[str, Any]:
    """A task that lacks a field."""
    return {key: value for key, value in task.items() if key != field}


@pytest.mark.parametrize(
    ("task", "fault"),
    [
        (without(OWN, "goal"), "tasks.json, task 1 (last): goal is missing"),
        (
            without(SWE_BENCH, "FAIL_TO_PASS"),
            "tasks.json, task 1 (owner__name-17): FAIL_TO_PASS is missing",
        ),
        (
            {**OWN, "goals": "x"},
            "tasks.json, task 1 (last): unknown field 'goals'; did you mean goal?",
        ),
        (
            {**SWE_BENCH, "image_assets": []},
            "tasks.json, task 1 (owner__name-17): unknown field 'image_assets'",
        ),
        (without(OWN, "id"), "tasks.json, task 1: id is missing"),
        (
            {**OWN, "id": "../x"},
            (
                "tasks.json, task 1 (../x): id: an id has letters, digits, '.', '_' and"
                " '-', at most 100 of them"
            ),
        ),
        (
            {**OWN, "files": {"../x": ""}},
            (
                "tasks.json, task 1 (last): files.../x.[key]: '../x' is no path below the"
                " repository"
            ),
        ),
        (
            {**OWN, "files": {".git/hooks/x": ""}},
            (
                "tasks.json, task 1 (last): files..git/hooks/x.[key]: '.git/hooks/x' is no"
                " path below the repository"
            ),
        ),
        (
            {**OWN, "repo": "x"},
            "tasks.json, task 1 (last): either repo and base, or files",
        ),
        (
            {**without(OWN, "files"), "repo": "x"},
            (
                "tasks.json, task 1 (last): base is missing: the commit that the agent"
                " begins at"
            ),
        ),
        (
            without(OWN, "tests"),
            (
                "tasks.json, task 1 (last): there is no test command in tests or"
                " hidden_tests.tests"
            ),
        ),
        (
            {**SWE_BENCH, "FAIL_TO_PASS": "tests/test_app.py"},
            (
                "tasks.json, task 1 (owner__name-17): FAIL_TO_PASS: a list, or a JSON list"
                " in a text"
            ),
        ),
        (
            {**SWE_BENCH, "test_patch": "+++"},
            (
                "tasks.json, task 1 (owner__name-17): test_patch has no Python file, so"
                " test_command must say how to test"
            ),
        ),
        ("x", "tasks.json, task 1: a task is an object"),
    ],
)
def test_what_is_wrong_with_a_task(task: object, fault: str) -> None:
    """It is told in a line: which task, which field, and what."""
    with pytest.raises(InvalidTaskSet) as caught:
        read_task_set(json.dumps([task]), "tasks.json")
    assert str(caught.value) == fault


@pytest.mark.parametrize(
    ("text", "name", "fault"),
    [
        ("", "t.jsonl", "t.jsonl: there are no tasks"),
        ("[]", "t.json", "t.json: there are no tasks"),
        ("", "t.toml", "t.toml: there are no tasks"),
        ("[", "t.json", "t.json: not JSON (Expecting value: line 1 column 2 (char 1))"),
        ("\n{", "t.jsonl", "t.jsonl, line 2: not JSON"),
        ("[" * 100_000, "t.json", "t.json: nested too deeply"),
        ("x = " + "[" * 100_000, "t.toml", "t.toml: nested too deeply"),
        ("x", "t.toml", "t.toml: Expected '=' after a key"),
        ("x = 1", "t.toml", "t.toml: unknown field 'x'; only tasks is known"),
        ("tasks = 1", "t.toml", "t.toml: tasks is a list of tables ([[tasks]])"),
        (
            json.dumps([OWN, OWN]),
            "t.json",
            "t.json, task 2: last is the id of t.json, task 1, too",
        ),
    ],
)
def test_what_is_wrong_with_a_set(text: str, name: str, fault: str) -> None:
    """The same for the whole file."""
    with pytest.raises(InvalidTaskSet) as caught:
        read_task_set(text, name)
    assert str(caught.value).startswith(fault)
