"""Fail codes: why an attempt was not accepted, how bad that is, and what to do.

docs/fail-codes.md is generated from the table. The first twenty codes are the origin's,
the next five come from its longer list, the last are our own. An agent may claim those
of `contracts.catalogue.reasons.REASON_CODES`, all of which are here.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from accordance.contracts.catalogue.reasons import NO_REASON, REASON_ALIASES
from accordance.errors import UnknownCode

Severity: TypeAlias = Literal["critical", "high", "medium", "low"]
Owner: TypeAlias = Literal["agent", "task", "system"]


class FailCode(NamedTuple):
    """A code with its page."""

    code: str
    severity: Severity
    owner: Owner  # who can do something about it
    trigger: str
    action: str


FAIL_CODES: Final[tuple[FailCode, ...]] = (
    FailCode(
        "SCOPE_CONFLICT",
        "critical",
        "agent",
        (
            "A change is outside the allowed paths, inside a forbidden path, or cannot"
            " be judged."
        ),
        "A person decides: undo the change, widen the pins or split the task.",
    ),
    FailCode(
        "POLICY_VIOLATION",
        "critical",
        "agent",
        "A tool, model or executor that is not permitted was used.",
        "A person decides before it is tried again.",
    ),
    FailCode(
        "CONSTITUTION_VIOLATION",
        "critical",
        "agent",
        (
            "A rule that no task can lift was broken: while the agent ran, the"
            " repository itself gained programs that git would run."
        ),
        "It is given up at once; everything is kept as a dead letter.",
    ),
    FailCode(
        "CI_FAILED",
        "high",
        "agent",
        (
            "A test command did not pass in the gateway's own run, or the agent itself"
            " reports failing tests."
        ),
        "Fix the cause and run every test command again.",
    ),
    FailCode(
        "SCHEMA_VIOLATION",
        "high",
        "agent",
        "The submission does not honour scc.submit.v1.",
        "Send the whole submission again, corrected.",
    ),
    FailCode(
        "PINS_INSUFFICIENT",
        "high",
        "task",
        "A file that the task needs is not pinned.",
        "Ask with NEED_INPUT; a person widens the pins.",
    ),
    FailCode(
        "BUDGET_EXCEEDED",
        "high",
        "task",
        "The attempt used more tokens or money than the task may cost.",
        "It is given up; split the task or raise its budget.",
    ),
    FailCode(
        "TIMEOUT_EXCEEDED",
        "high",
        "agent",
        "The attempt took longer than timeoutMs.",
        "Do less in one attempt, or allow more time.",
    ),
    FailCode(
        "PREFLIGHT_FAILED",
        "high",
        "task",
        (
            "The task could not start, because of its contract, role, pins, files,"
            " tests, model or executor."
        ),
        "Correct the task; every reason is listed.",
    ),
    FailCode(
        "MAX_ATTEMPTS_EXCEEDED",
        "high",
        "agent",
        "All attempts are used up.",
        "The task goes up the escalation ladder.",
    ),
    FailCode(
        "ROLE_POLICY_VIOLATION",
        "high",
        "agent",
        "A path was written that the pins allow but the role does not.",
        "A person gives the task to a role that may, or changes the role.",
    ),
    FailCode(
        "EXECUTOR_ERROR",
        "medium",
        "system",
        (
            "The agent, its model or its connection failed, or it reports FAILED"
            " without a reason."
        ),
        "Try again, each time after a longer wait.",
    ),
    FailCode(
        "CI_SKIPPED",
        "medium",
        "task",
        "There is no test command, so nothing shows that the work is done.",
        (
            "Name the commands in allowedTests, in [judge] tests of accordance.toml,"
            " or in the submission."
        ),
    ),
    FailCode(
        "TESTS_ONLY_TASK_SELFTEST",
        "medium",
        "task",
        "The only test commands are the task's own self-test.",
        "Add a real test to allowedTests.",
    ),
    FailCode(
        "SPLIT_REQUIRED",
        "medium",
        "task",
        "The task is too large for one attempt.",
        "A person splits it, or gives it to the splitter.",
    ),
    FailCode(
        "NEED_INPUT_REQUIRED",
        "medium",
        "task",
        "The agent cannot continue without something it asks for.",
        "A person answers; this costs no attempt.",
    ),
    FailCode(
        "MODEL_UNAVAILABLE",
        "medium",
        "system",
        "The model could not be reached.",
        (
            "The next tier of the allowed models tries; if there is none, a person"
            " decides."
        ),
    ),
    FailCode(
        "ARTIFACT_MISSING",
        "medium",
        "agent",
        "A required artifact is missing, empty or unreadable.",
        "Produce it.",
    ),
    FailCode(
        "MAX_CHILDREN_EXCEEDED",
        "medium",
        "task",
        "A plan has more parts than its budget allows.",
        "Plan it with fewer parts.",
    ),
    FailCode(
        "DUPLICATE_DISPATCH",
        "low",
        "system",
        "The task is being worked on already.",
        "Nothing to do: the second start is skipped.",
    ),
    FailCode(
        "EVIDENCE_INVALID",
        "medium",
        "agent",
        (
            "The evidence contradicts the facts: the patch or the file list is not the"
            " real change, or a log is cut short."
        ),
        "Produce it again from what was really done.",
    ),
    FailCode(
        "FILE_NOT_FOUND",
        "medium",
        "task",
        "A file that the task names does not exist.",
        "Correct the task, or create the file.",
    ),
    FailCode(
        "PERMISSION_DENIED",
        "medium",
        "system",
        "The attempt has no access to something it needs.",
        "Grant it, or do without.",
    ),
    FailCode(
        "MERGE_CONFLICT",
        "medium",
        "agent",
        "The change does not apply to the current state of the repository.",
        "Start again from the current state.",
    ),
    FailCode(
        "DEPENDENCY_MISSING",
        "medium",
        "system",
        "A program or package that is needed is not installed.",
        "Install it, or add it to the task.",
    ),
    FailCode(
        "TEST_STEERING_CHANGED",
        "high",
        "agent",
        (
            "A file that decides how tests run (conftest.py, pytest.ini, Makefile,"
            " ...) was changed without being pinned by name."
        ),
        "Undo that change, or pin the file by its full path.",
    ),
    FailCode(
        "HOOKS_CHANGED",
        "high",
        "agent",
        (
            "A file that decides what agents and hooks do (.claude, .codex, .opencode,"
            " .pre-commit-config.yaml, ...) was changed without being pinned by name."
        ),
        "Undo that change, or pin the file by its full path.",
    ),
    FailCode(
        "TESTS_NOT_RUN",
        "high",
        "agent",
        (
            "A test runner exited with success but left no report of its tests, an empty"
            " one, or one that breaks off."
        ),
        (
            "Let the tests run to their end: nothing may exit the process, replace the"
            " runner or skip it."
        ),
    ),
    FailCode(
        "TEST_RUN_TAMPERED",
        "high",
        "agent",
        (
            "The report of a test run is not what happened: canaries were reported"
            " wrongly, or the report was changed."
        ),
        "Undo whatever patches the test runner.",
    ),
    FailCode(
        "TESTS_WEAKENED",
        "high",
        "agent",
        (
            "Tests that passed before the change are gone or skipped, assert less, or"
            " pass only because they were changed."
        ),
        (
            "Restore them. A task that asks for another behaviour names the tests in"
            " may_change_tests."
        ),
    ),
    FailCode(
        "TESTS_DO_NOT_TELL",
        "medium",
        "agent",
        (
            "Source was changed, and every test that passes now passes without the"
            ' change, too. Only with [judge] tests_that_do_not_tell = "refuse".'
        ),
        (
            "Add a test that fails without the change. A task that must not change"
            " behaviour says so with keeps_behaviour."
        ),
    ),
    FailCode(
        "CHANGE_NOT_REACHED",
        "medium",
        "agent",
        (
            "No test runs some of the changed lines. Only with [judge]"
            ' changed_lines_never_run = "refuse".'
        ),
        "Add a test that runs the lines named, or remove them.",
    ),
    FailCode(
        "MUTANTS_SURVIVED",
        "medium",
        "agent",
        (
            "No test notices some faults that were put into changed lines. Only with"
            ' [judge] mutants and mutants_that_survive = "refuse".'
        ),
        "Add tests that fail with the changes named, or remove what nothing needs.",
    ),
    FailCode(
        "NOTHING_CHANGED",
        "medium",
        "agent",
        "The submission reports success, but no file was changed.",
        "Do the work. A task that may change nothing says so with allow_no_change.",
    ),
    FailCode(
        "REPOSITORY_UNAVAILABLE",
        "high",
        "system",
        (
            "The remote of the repository cannot be reached, wants credentials or"
            " refuses a push. This costs the agent no attempt."
        ),
        "Make it usable; the task goes on by itself. accordance doctor tries it.",
    ),
    FailCode(
        "ISOLATION_UNAVAILABLE",
        "high",
        "system",
        "No test ran, because this machine cannot isolate test commands.",
        "Install what the message names; accordance doctor shows what works.",
    ),
    FailCode(
        "ENVIRONMENT_BROKEN",
        "high",
        "system",
        (
            "What the tests need could not be prepared, or is not where tests can see"
            " it. This costs the agent no attempt."
        ),
        (
            "Mend what the message names, or change [judge.environment] in the settings"
            " of the base."
        ),
    ),
)
"""Every code, in the origin's order first."""

_BY_NAME: Final = {entry.code: entry for entry in FAIL_CODES}


def fail_code(name: str) -> FailCode:
    """Return the entry of a code, in any letter case, by its name or an alias.

    Raises UnknownCode.
    """
    code = REASON_ALIASES.get(name.upper(), name.upper())
    try:
        return _BY_NAME[code]
    except KeyError:
        raise UnknownCode(name, _BY_NAME) from None


def normal_reason(claimed: str | None) -> str | None:
    """Return the fail code that a claim names, with aliases resolved.

    None for "ok", for no reason, and for words of the agent's own.
    """
    if claimed is None:
        return None
    reason = claimed.strip()
    if reason.casefold() in ("", NO_REASON):
        return None
    upper = reason.upper()
    code = REASON_ALIASES.get(upper, upper)
    return code if code in _BY_NAME else None
