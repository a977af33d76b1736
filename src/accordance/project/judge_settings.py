"""`[judge]` and `[judge.environment]`: how attempts are judged, and what tests run with."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
)

from accordance.contracts.pins import normal_path
from accordance.domain.attempts import MAX_ATTEMPTS, SAME_ERROR_LIMIT
from accordance.domain.setting_tables import Count, SettingTable, Texts
from accordance.errors import IsolationTurnedOff

RLIMIT: Final = "rlimit"
_PERSONS_CHOICE: Final = (
    "[judge] isolation: a file cannot turn isolation off; a person can, for one command"
)


def _never_off(wish: object) -> object:
    """Refuse to turn isolation off in a file.

    A file can only ask for more isolation: the agent to be isolated may have written
    it.
    """
    if wish == RLIMIT:
        raise IsolationTurnedOff(_PERSONS_CHOICE)
    return wish


def _no_empty_command(commands: tuple[str, ...]) -> tuple[str, ...]:
    if not all(command.strip() for command in commands):
        raise ValueError("a command is empty")
    return commands


def _inside_the_repository(patterns: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in patterns:
        if normal_path(pattern) is None:
            raise ValueError(f"{pattern!r} is no path in the repository")
    return patterns


LeastIsolation: TypeAlias = Annotated[
    Literal["auto", "bubblewrap", "bwrap", "landlock"], BeforeValidator(_never_off)
]
Commands: TypeAlias = Annotated[Texts, AfterValidator(_no_empty_command)]
Patterns: TypeAlias = Annotated[Texts, AfterValidator(_inside_the_repository)]


class EnvironmentSettings(SettingTable):
    """What tests run with. Read from the base."""

    python: str = Field(
        default="",
        description=(
            "The Python of tests, or, where something is prepared, the Python that it "
            "is prepared with. Never accordance's own."
        ),
        examples=["/opt/project/bin/python"],
    )
    prepare: Commands = Field(
        default=(),
        description=(
            "Commands that prepare the environment, run once at the base and with "
            "network; $ENVIRONMENT is its folder, and a Python environment is made "
            "there first."
        ),
        examples=[["pip install -r requirements.txt"]],
    )
    inputs: Texts = Field(
        default=(),
        description=(
            "Files of the base that decide when it is prepared anew; the lock files "
            "and manifests that are known by default, the whole tree without any."
        ),
        examples=[["requirements.txt"]],
    )
    folders: dict[str, str] = Field(
        default_factory=dict,
        description=(
            "Trusted folders laid into the tests' copy, by their place in the tree; "
            "paths are relative to the settings. They replace what the agent left."
        ),
        examples=[{"node_modules": "/srv/node_modules"}],
    )
    variables: dict[str, str] = Field(
        default_factory=dict,
        description="Additional environment variables of tests.",
        examples=[{"TZ": "UTC"}],
    )
    detect: bool = Field(
        default=True,
        description=(
            "Prepare what lock files and manifests of the base say, where a test "
            "command needs it."
        ),
        examples=[False],
    )


class Judge(SettingTable):
    """How attempts are judged and their tests are run. Read from the base."""

    isolation: LeastIsolation = Field(
        default="auto",
        description="The least isolation that tests run in.",
        examples=["bubblewrap"],
    )
    tests: Commands = Field(
        default=(),
        description="Test commands, for tasks that name none of their own.",
        examples=[["make test"]],
    )
    compare_with_base: bool = Field(
        default=True,
        description="Run the tests on the base as well, so that a change answers only for the tests it broke.",
        examples=[False],
    )
    tests_that_do_not_tell: Literal["ignore", "warn", "refuse"] = Field(
        default="warn",
        description=(
            "What follows if source changed, and every test passes without the change, "
            "too: TESTS_DO_NOT_TELL as a notice, as a fail code, or nothing."
        ),
        examples=["refuse"],
    )
    changed_lines_never_run: Literal["ignore", "warn", "refuse"] = Field(
        default="ignore",
        description=(
            "What follows if no test runs some of the changed lines of Python files. "
            "Unless it is ignored, the tests run once more, watched line by line."
        ),
        examples=["warn"],
    )
    mutants: Annotated[int, Field(ge=0, le=100)] = Field(
        default=0,
        description=(
            "How many small faults are put into changed lines of Python, one at a time, "
            "to see whether the tests notice. Each costs a run of the tests."
        ),
        examples=[5],
    )
    mutants_within: Count = Field(
        default=300,
        description="After this many seconds no further fault is tried.",
        examples=[60],
    )
    mutants_that_survive: Literal["ignore", "warn", "refuse"] = Field(
        default="warn",
        description=(
            "What follows if no test notices a fault: MUTANTS_SURVIVED as a notice, as "
            "a fail code, or nothing."
        ),
        examples=["refuse"],
    )
    test_reports: Patterns = Field(
        default=(),
        description=(
            "Files in which test commands leave reports in JUnit's XML. Used where "
            "accordance cannot watch the tests itself."
        ),
        examples=[["build/test-results/*.xml"]],
    )
    rerun_failed: Annotated[int, Field(ge=0, le=10)] = Field(
        default=0,
        description=(
            "How often a failed test is run again, alone, to tell a flaky test from a "
            "broken one."
        ),
        examples=[2],
    )
    may_be_flaky: Patterns = Field(
        default=(),
        description=(
            "Tests, by their files or ids, that may fail if they pass when they are "
            "run again. Every other flaky test counts as failed."
        ),
        examples=[["tests/test_network.py"]],
    )
    hidden_tests: str = Field(
        default="",
        description=(
            "The folder with the tests that no agent may see, relative to the settings "
            "and outside the repository. A task names a folder in it."
        ),
        examples=["../hidden-tests"],
    )
    max_attempts: Count = Field(
        default=MAX_ATTEMPTS,
        description="Attempts per task; a role or a task can only lower it.",
        examples=[5],
    )
    repeat_threshold: Count = Field(
        default=SAME_ERROR_LIMIT,
        description=(
            "After the same error this many times in a row, "
            "the task is not tried in the same way again."
        ),
        examples=[3],
    )
    seconds: Count = Field(
        default=600,
        description="Time limit of each test command, in seconds.",
        examples=[1200],
    )
    memory_mb: Count = Field(
        default=8192,
        description="Memory limit of each test command, in megabytes.",
        examples=[4096],
    )
    readable: Texts = Field(
        default=(),
        description=(
            "Folders that tests may read besides the system's, "
            "relative to the settings."
        ),
        examples=[["/srv/fixtures"]],
    )
    carry: Texts = Field(
        default=(),
        description=(
            "Ignored folders of the tree that tests need; their content is trusted."
        ),
        examples=[["node_modules"]],
    )
    environment: EnvironmentSettings = Field(
        default_factory=EnvironmentSettings.model_construct,
        description="What tests run with.",
        examples=[{"variables": {"TZ": "UTC"}, "detect": False}],
    )
