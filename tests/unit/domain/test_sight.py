"""What the agent of a task may read: what it may write, what it is given to read, the tests it is to run."""

from __future__ import annotations

from typing import Any

import pytest

from accordance.contracts.pins import Pins
from accordance.domain.roles import ROLES, AgentRole
from accordance.domain.sight import Sight, places_named

ENGINEER = ROLES["engineer"]
PATHS = frozenset(
    [
        ".gitignore",
        "README.md",
        "accordance.toml",
        "check.sh",
        "conftest.py",
        "docs/guide.md",
        "pyproject.toml",
        "secrets/key.txt",
        "src/app.py",
        "src/app_test.py",
        "src/other.py",
        "tests/__init__.py",
        "tests/deep/__init__.py",
        "tests/deep/test_deep.py",
        "tests/helpers.py",
        "tests/test_app.py",
    ]
)
BUILD = {".gitignore", "conftest.py", "pyproject.toml"}  # what every role reads
TESTS = {path for path in PATHS if path.startswith("tests/")}


def readable(
    role: AgentRole = ENGINEER, forbidden: tuple[str, ...] = (), **task: Any
) -> set[str]:
    """What may be read beside the build files, by a task that may write src/app.py."""
    pins = {
        "allowed_paths": task.pop("allowed", ["src/app.py"]),
        "forbidden_paths": list(forbidden),
        **task.pop("pins", {}),
    }
    return set(Sight.of({"pins": pins, **task}, role).readable(PATHS)) - BUILD


@pytest.mark.seed("003-4", "004-9")
@pytest.mark.parametrize(
    ("task", "seen"),
    [
        pytest.param({}, {"src/app.py"}, id="without tests, only what may be written"),
        pytest.param(
            {"allowed": ["src/**"]},
            {"src/app.py", "src/app_test.py", "src/other.py"},
            id="a whole folder",
        ),
        pytest.param(
            {"files": ["docs/guide.md"]},
            {"src/app.py", "docs/guide.md"},
            id="files can be read",
        ),
        pytest.param(
            {"files": ["../x", "/etc"]},
            {"src/app.py"},
            id="files that lead out name nothing",
        ),
        pytest.param(
            {"pins": {"read_paths": ["docs/**"]}},
            {"src/app.py", "docs/guide.md"},
            id="read_paths can be read",
        ),
        pytest.param(
            {"allowedTests": ["python tests/test_app.py"]},
            {"src/app.py", *TESTS},
            id="a test brings its folder along",
        ),
        pytest.param(
            {"allowedTests": ["pytest -q tests/deep/test_deep.py::test_x"]},
            {"src/app.py", *TESTS},
            id="one test of a file",
        ),
        pytest.param(
            {"allowedTests": ["python3 -m unittest tests.test_app.Case.test_x"]},
            {"src/app.py", *TESTS},
            id="a test named as a module",
        ),
        pytest.param(
            {"allowedTests": ["python -m pytest tests"]},
            {"src/app.py", *TESTS},
            id="a folder of tests",
        ),
        pytest.param(
            {"allowedTests": ["python -m tests"]},
            {"src/app.py", *TESTS},
            id="a package of tests",
        ),
        pytest.param(
            {"allowedTests": ["sh -c 'cd . && pytest src/app_test.py'"]},
            {"src/app.py", "src/app_test.py"},
            id="a test beside the code does not open the code's folder",
        ),
        pytest.param(
            {"allowedTests": ["PYTHONPATH=src pytest --cov=docs tests"]},
            {"src/app.py", *TESTS},
            id="options and variables name nothing",
        ),
        pytest.param(
            {"allowedTests": ["make test"]},
            {"src/app.py", "src/app_test.py", *TESTS},
            id="a command that names no test finds them in the usual places",
        ),
        pytest.param(
            {"allowedTests": ["./check.sh"]},
            {"src/app.py", "src/app_test.py", "check.sh", *TESTS},
            id="so does a script",
        ),
    ],
)
def test_what_can_be_read(task: dict[str, Any], seen: set[str]) -> None:
    """Nothing else of the repository."""
    assert readable(**task) == seen


@pytest.mark.seed("003-5", "004-10")
@pytest.mark.parametrize(
    ("task", "seen"),
    [
        pytest.param(
            {"files": ["secrets/key.txt"]},
            {"src/app.py"},
            id="what the role is denied, named as a file",
        ),
        pytest.param(
            {"allowed": ["accordance.toml", "src/app.py"]},
            {"src/app.py"},
            id="the rules, although allowed",
        ),
        pytest.param(
            {"forbidden": ("docs/**",), "pins": {"read_paths": ["docs/**"]}},
            {"src/app.py"},
            id="read_paths",
        ),
        pytest.param(
            {"forbidden": ("TESTS/**",), "allowedTests": ["pytest tests"]},
            {"src/app.py"},
            id="tests, in any letter case",
        ),
        pytest.param(
            {"forbidden": ("src",), "allowed": ["src/**"]},
            set(),
            id="a folder by its bare name",
        ),
    ],
)
def test_forbidden_wins(task: dict[str, Any], seen: set[str]) -> None:
    """Whatever else names a path."""
    assert readable(**task) == seen


def test_a_role_narrows_and_says_what_it_reads() -> None:
    """What a task allows and the role does not write is not read; what the role reads is, in every task."""
    writer = AgentRole(name="writer", write=Pins.of(["docs/**"]), read=("src/**",))
    assert readable(writer, allowed=["docs/**", "README.md"]) == {
        "docs/guide.md",
        "src/app.py",
        "src/app_test.py",
        "src/other.py",
    }
    assert readable(AgentRole(name="nobody", read=())) == set()


@pytest.mark.parametrize(
    ("path", "is_forbidden"),
    [
        pytest.param("secrets/key.txt", True, id="by the role"),
        pytest.param("docs/guide.md", True, id="by the task"),
        pytest.param("src/.git/config", True, id="git's own"),
        pytest.param("src/other.py", False, id="outside, but not forbidden"),
    ],
)
def test_what_is_forbidden(path: str, *, is_forbidden: bool) -> None:
    """It is kept from the agent by every road, not only left out of its clone."""
    task = {"pins": {"allowed_paths": ["src/app.py"], "forbidden_paths": ["docs/**"]}}
    assert Sight.of(task, ENGINEER).forbids(path) is is_forbidden


def test_what_a_command_names() -> None:
    """Files and folders of those it is asked about."""
    assert places_named("cat tests/test_app.py docs nothing.py", PATHS) == {
        "tests/test_app.py",
        "docs",
    }
    assert places_named(
        "python -m unittest shop.tests", ["shop/tests/test_till.py"]
    ) == {"shop/tests"}


@pytest.mark.parametrize(
    ("allowed", "forbidden", "folders"),
    [
        pytest.param(
            ["src/new/app.py"], [], {"src/new"}, id="of a file that is to be made"
        ),
        pytest.param(
            ["src/*/test_*.py", "docs/"],
            [],
            {"src", "docs"},
            id="as far as there is no star",
        ),
        pytest.param(["README.md", "**/x.py"], [], set(), id="none at the root"),
        pytest.param(["src/a/x.py"], ["src/a"], set(), id="none that is forbidden"),
    ],
)
def test_folders_that_are_there_in_any_case(
    allowed: list[str], forbidden: list[str], folders: set[str]
) -> None:
    """A new file has a place, also where nothing beside it may be read."""
    task = {"pins": {"allowed_paths": allowed, "forbidden_paths": forbidden}}
    assert Sight.of(task, ENGINEER).folders == folders


def test_what_may_be_shown_without_knowing_the_repository() -> None:
    """What may be written or is given; tests are not looked for."""
    task = {
        "pins": {"allowed_paths": ["src/**"]},
        "files": ["docs/guide.md"],
        "allowedTests": ["make test"],
    }
    sight = Sight.of(task, ENGINEER)
    shown = {path for path in PATHS if sight.may_be_shown(path)} - BUILD
    assert shown == {"src/app.py", "src/app_test.py", "src/other.py", "docs/guide.md"}


@pytest.mark.parametrize(
    ("context", "told"),
    [
        pytest.param(
            {"docs": {"secrets/key.txt": "hunter2", "docs/guide.md": "A guide."}},
            {"docs": {"docs/guide.md": "A guide."}},
            id="a document by the path of a forbidden file",
        ),
        pytest.param(
            {
                "map": {
                    "files": ["src/app.py", "Secrets/key.txt", {"secrets/a": 1}],
                    "count": 3,
                }
            },
            {"map": {"files": ["src/app.py", {}], "count": 3}},
            id="a name in a map, in any letter case",
        ),
        pytest.param(
            {"context_pack": "Be brief."},
            {"context_pack": "Be brief."},
            id="prose is left as it is",
        ),
    ],
)
def test_a_task_is_told_without_what_is_forbidden(
    context: dict[str, Any], told: dict[str, Any]
) -> None:
    """Whoever put the context together may have looked at more than the agent may."""
    task = {"pins": {"allowed_paths": ["src/**"]}, "goal": "Mend it."}
    sight = Sight.of(task, ENGINEER)
    assert sight.shown_task({**task, "context": context}) == {**task, "context": told}
    assert sight.shown_task(task) == task
