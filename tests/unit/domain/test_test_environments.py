"""What the tests of a repository need, by the files of its base: a table of repositories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pytest

from accordance.domain.python_projects import copies_of_project, project_name
from accordance.domain.test_environments import (
    EnvironmentWish,
    Family,
    Surroundings,
    families_needed,
    files_of_interest,
    plan_environment,
)

PYTEST = "python -m pytest -q"
UNITTEST = "python -m unittest"
PROJECT = '[project]\nname = "demo"\n'


class Repository(NamedTuple):
    """Files, a test command, and what is prepared for it."""

    files: Mapping[str, str]
    test: str
    commands: tuple[str, ...]
    because: str
    has_uv: bool = False


REPOSITORIES = {
    "nothing said": Repository({}, UNITTEST, (), "no file of the base says that the tests need anything"),
    "nothing said, pytest run": Repository(
        {}, PYTEST, ("pip install pytest",), "pip: a test command runs pytest, which no file names"
    ),
    "uv.lock": Repository(
        {"uv.lock": "", "pyproject.toml": PROJECT},
        PYTEST,
        ("uv sync --frozen --all-extras --all-groups",),
        "uv: locked by uv.lock",
        has_uv=True,
    ),
    "uv.lock without uv": Repository(
        {"uv.lock": "", "pyproject.toml": PROJECT},
        UNITTEST,
        ("pip install -e .",),
        "pip: needed by pyproject.toml; uv is not installed, so its lock file is not used",
    ),
    "requirements": Repository(
        {"requirements-dev.txt": "pytest==8\n", "requirements.txt": "six\n"},
        PYTEST,
        ("pip install -r requirements-dev.txt -r requirements.txt",),
        "pip: needed by requirements-dev.txt, requirements.txt",
    ),
    "requirements that may install the project itself": Repository(
        {"pyproject.toml": PROJECT, "requirements.txt": ".\n"},
        UNITTEST,
        ("pip install -r requirements.txt -e .", "pip install --no-deps -e ."),
        "pip: needed by requirements.txt, pyproject.toml",
    ),
    "a project without a test runner": Repository(
        {"pyproject.toml": PROJECT},
        "pytest",
        ("pip install -e . pytest",),
        "pip: needed by pyproject.toml; a test command runs pytest, which no file names",
    ),
    "extras": Repository(
        {"pyproject.toml": f"{PROJECT}optional-dependencies.test = ['pytest>=8']\noptional-dependencies.docs = ['sphinx']\n"},
        PYTEST,
        ("pip install -e '.[test]'",),
        "pip: needed by pyproject.toml",
    ),
    "a group that includes another": Repository(
        {"pyproject.toml": "[dependency-groups]\ndev = [{include-group = 'test'}, 'ruff', 3]\ntest = ['pytest', {include-group = 'dev'}]\n"},
        PYTEST,
        ("pip install pytest ruff",),
        "pip: needed by the dependency groups of pyproject.toml",
    ),
    "an older project": Repository(
        {"setup.py": "setup(extras_require={'test': ['pytest']})", "setup.cfg": ""},
        PYTEST,
        ("pip install -e .",),
        "pip: needed by setup.py, setup.cfg",
    ),
    "a file of tools alone": Repository(
        {"pyproject.toml": "[tool.ruff]\nline-length = 88\n"},
        UNITTEST,
        (),
        "no file of the base says that the tests need anything",
    ),
    "a file that cannot be read": Repository(
        {"pyproject.toml": "[project"}, UNITTEST, (), "no file of the base says that the tests need anything"
    ),
    "a table that is none": Repository(
        {"pyproject.toml": "project = 1\n"}, UNITTEST, (), "no file of the base says that the tests need anything"
    ),
    "npm": Repository(
        {"package-lock.json": "{}", "package.json": "{}"},
        "npm test",
        ("npm ci --no-audit --no-fund",),
        "npm: locked by package-lock.json",
    ),
    "npm that no test needs": Repository(
        {"package-lock.json": "{}"}, UNITTEST, (), "nothing is prepared for Node: no test command needs it"
    ),
    "cargo": Repository(
        {"Cargo.lock": ""},
        "cargo test",
        ("CARGO_HOME={environment}/cargo cargo fetch --locked",),
        "cargo: locked by Cargo.lock",
    ),
    "go": Repository(
        {"go.mod": "", "go.sum": ""},
        "go test ./...",
        ("GOMODCACHE={environment}/go GOFLAGS=-modcacherw go mod download",),
        "go: needed by go.mod",
    ),
}  # fmt: skip


@pytest.mark.parametrize("repository", REPOSITORIES.values(), ids=REPOSITORIES)
def test_what_is_prepared_for_a_repository(repository: Repository) -> None:
    """The commands, and the reason that a person reads."""
    plan = plan_environment(
        repository.files,
        [repository.test],
        EnvironmentWish(),
        Surroundings(has_uv=repository.has_uv),
    )

    commands = [command for step in plan.steps for command in step.commands]
    assert tuple(commands) == repository.commands
    assert plan.reasons == (repository.because,)
    assert set(plan.inputs) <= repository.files.keys()


WISHES = {
    "a person's environment is active": (
        EnvironmentWish(),
        Surroundings(active=("/venv",)),
        "nothing is prepared for Python: /venv is active",
    ),
    "the settings name a Python": (
        EnvironmentWish(python="/venv/bin/python"),
        Surroundings(),
        "nothing is prepared for Python: [judge.environment] names /venv/bin/python",
    ),
    "detection is off": (
        EnvironmentWish(detect=False),
        Surroundings(),
        "[judge.environment] detect is false",
    ),
}


@pytest.mark.parametrize(("wish", "surroundings", "reason"), WISHES.values(), ids=WISHES)  # fmt: skip
def test_what_comes_before_detection(
    wish: EnvironmentWish, surroundings: Surroundings, reason: str
) -> None:
    """A choice of the person is never overruled by a file."""
    files = {"requirements.txt": "six\n"}
    plan = plan_environment(files, [UNITTEST], wish, surroundings)
    assert (plan.steps, plan.reasons) == ((), (reason,))


@pytest.mark.parametrize(
    ("wish", "family", "inputs"),
    [
        (EnvironmentWish(prepare=("pip install six",)), Family.PYTHON, ("go.mod",)),
        (EnvironmentWish(prepare=("cp /srv/x .",), inputs=("x",)), None, ("x",)),
    ],
)
def test_commands_of_the_settings_come_first(
    wish: EnvironmentWish, family: Family | None, inputs: tuple[str, ...]
) -> None:
    """They replace detection; its files still decide when they run again, unless others are named."""
    plan = plan_environment({"go.mod": ""}, ["go test"], wish, Surroundings())
    (step,) = plan.steps
    assert (step.commands, step.family, step.inputs) == (wish.prepare, family, inputs)
    assert plan.reasons == ("settings: [judge.environment] prepare",)


@pytest.mark.parametrize(
    ("command", "families"),
    [
        ("pytest -q", {Family.PYTHON}),
        ("CI=1 /opt/x/bin/python3.12 -m pytest", {Family.PYTHON}),
        ("cd ui && npm test", {Family.NODE}),
        ("cargo test; go test ./...", {Family.RUST, Family.GO}),
        ("true", set()),
        ("make test", set(Family)),
        ("./run-tests.sh", set(Family)),
        ("CI=1", set()),
    ],
)
def test_what_a_command_may_need(command: str, families: set[Family]) -> None:
    """By the programs it calls; one that nobody knows may need anything."""
    assert families_needed([command]) == families


def test_the_files_that_say_what_tests_need() -> None:
    """At the top of the tree, under the names that people give them."""
    names = [
        "uv.lock",
        "requirements.txt",
        "requirements/test.txt",
        "dev-requirements.txt",
        "docs/requirements.txt",
        "requirements-docs.txt",
        "src/uv.lock",
    ]
    assert files_of_interest(names) == (
        "dev-requirements.txt",
        "requirements.txt",
        "requirements/test.txt",
        "uv.lock",
    )


EDITABLE = {"url": "file:///repo", "dir_info": {"editable": True}}
COPY = {"url": "file:///repo", "dir_info": {}}


@pytest.mark.parametrize(
    ("installed", "copies"),
    [
        ({"six": {}, "my_demo": EDITABLE}, ()),
        ({"my_demo": {}}, ("my_demo",)),  # from an index
        ({"other": COPY}, ("other",)),  # from the tree, under whatever name
        ({"other": {"url": "file:///repository", "dir_info": {}}}, ()),
        ({"other": {"url": "file:///repo/a.whl", "archive_info": {}}}, ()),
    ],
)
def test_a_copy_of_the_project_is_seen(
    installed: Mapping[str, Mapping[str, object]], copies: tuple[str, ...]
) -> None:
    """Tests that import a copy say nothing about the change."""
    assert copies_of_project("My.Demo", "/repo", installed) == copies
    assert copies_of_project("", "/elsewhere", {"six": {}}) == ()


@pytest.mark.parametrize(
    ("text", "name"), [(PROJECT, "demo"), ("[project", ""), ("", "")]
)
def test_the_name_of_a_project(text: str, name: str) -> None:
    """As pyproject.toml says; nothing where it says nothing."""
    assert project_name({"pyproject.toml": text}) == name
