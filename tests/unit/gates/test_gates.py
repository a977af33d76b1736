"""Each gate answers one question from facts. A case is spoilt in one place; the right gate says so, with the right code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from accordance.domain.case import Breach, Case
from accordance.domain.facts import (
    WITH_ENVIRONMENT_GATE,
    ChangeKind,
    ChangeSet,
    CommandRun,
    Ending,
    EntryKind,
    EscapingLink,
    PatchFacts,
    PathChange,
    SelftestFacts,
    SteeringFile,
    TreeEntry,
)
from accordance.domain.findings import Gate, in_order
from accordance.domain.roles import ROLES
from accordance.domain.usage import Budget, Usage
from accordance.errors import GateNotRun
from accordance.gates.notices import notices
from accordance.gates.running import GATES, run_gates
from tests.unit.cases import (
    COMMAND,
    FACTS,
    TASK_ID,
    a_case,
    a_submit,
    a_task,
    some_changes,
    some_evidence,
)

PINS = a_task().pins.model_dump(exclude_none=True)
Found = list[tuple[Gate, str, str]]


def found(case: Case) -> Found:
    """What all gates say together."""
    return [
        (one.gate, one.code, one.message)
        for result in run_gates(case)
        for one in result.findings
    ]


def test_an_honest_case_passes_every_gate() -> None:
    """Nothing to object to, and every gate ran."""
    assert found(a_case()) == []
    assert (
        [result.gate for result in in_order(run_gates(a_case()))]
        == list(Gate)
        == list(GATES)
    )


def changed(*paths: str, **more: Any) -> Case:
    """A case with this change, honestly declared."""
    changes = ChangeSet(some_changes(*paths), **more)
    return a_case(
        submit=a_submit(changed_files=list(paths), new_files=[]),
        facts=replace(FACTS, changes=changes),
    )


def with_modes(before: int | None, after: int | None) -> Case:
    """A case whose one changed file had and has these modes; None: it was or is not there."""
    entries = [
        None if mode is None else TreeEntry("src/app.py", EntryKind.FILE, mode)
        for mode in (before, after)
    ]
    case = changed("src/app.py")
    change = replace(case.facts.changes.changes[0], before=entries[0], after=entries[1])
    changes = replace(case.facts.changes, changes=(change,))
    return replace(case, facts=replace(case.facts, changes=changes))


@pytest.mark.parametrize(
    ("before", "after"),
    [(0o644, 0o755), (0o4755, 0o4755), (0o4755, 0o755), (0o4755, None), (None, 0o1755)],
)
def test_modes_that_give_nobody_more_rights(
    before: int | None, after: int | None
) -> None:
    """Executable files, and bits that were there before, are nobody's concern."""
    assert found(with_modes(before, after)) == []


@pytest.mark.parametrize(
    ("case", "code", "message"),
    [
        pytest.param(changed("README.md"), "SCOPE_CONFLICT", "1 path is outside the allowed paths: README.md", id="outside"),
        pytest.param(
            changed("src/Secrets/k"), "SCOPE_CONFLICT", "1 path is forbidden by the pins, or git's own: src/Secrets/k", id="forbidden"
        ),
        pytest.param(changed("src/\x07"), "SCOPE_CONFLICT", "no path inside the workspace", id="a name that cannot be judged"),
        pytest.param(changed("src/.git/config"), "SCOPE_CONFLICT", "git's own: src/.git/config", id="git inside"),
        pytest.param(
            changed(*(f"x/{n:05}" for n in range(10_000))), "SCOPE_CONFLICT", "10000 paths are outside", id="10,000 files"
        ),
        pytest.param(
            changed(ignored=some_changes("dist/evil.js")), "SCOPE_CONFLICT", "outside the allowed paths: dist/evil.js", id="ignored"
        ),
        pytest.param(
            changed(internals=some_changes(".git/hooks/pre-commit")), "SCOPE_CONFLICT", "by which git is steered", id="hooks"
        ),
        pytest.param(
            changed(escaping_links=(EscapingLink("src/l", "/etc"),)), "SCOPE_CONFLICT", "leave the workspace: src/l -> /etc", id="link"
        ),
        pytest.param(changed(special=("src/pipe",)), "SCOPE_CONFLICT", "neither files nor links", id="special"),
        pytest.param(changed(unreadable=("src/x",)), "SCOPE_CONFLICT", "not readable", id="unreadable"),
        pytest.param(changed(twins=("src/APP.py",)), "SCOPE_CONFLICT", "other spellings", id="twin"),
        pytest.param(changed(nested_added=("src/sub",)), "SCOPE_CONFLICT", "inside the repository: src/sub", id="nested"),
        pytest.param(with_modes(0o644, 0o4755), "SCOPE_CONFLICT", "rights of their owner or group: src/app.py", id="set-user-id"),
        pytest.param(with_modes(None, 0o2755), "SCOPE_CONFLICT", "rights of their owner or group: src/app.py", id="set-group-id"),
        pytest.param(changed(incomplete="too deep"), "SCOPE_CONFLICT", "could not be seen as a whole: too deep", id="incomplete"),
        pytest.param(
            changed(directories=some_changes("src/secrets")), "SCOPE_CONFLICT", "1 path is", id="a forbidden directory"
        ),
        pytest.param(
            replace(changed("src/a"), role=ROLES["doc"], scope=replace(a_case().scope, role=ROLES["doc"].write)),
            "ROLE_POLICY_VIOLATION",
            "outside what the role may write: src/a",
            id="not the role's",
        ),
        pytest.param(
            replace(changed("src/a"), scope=replace(a_case().scope, role=ROLES["engineer"].write), breaches=(Breach("SCOPE_CONFLICT", "wrote to /tmp"),)),
            "SCOPE_CONFLICT",
            "wrote to /tmp",
            id="noticed from outside",
        ),
    ],
)  # fmt: skip
def test_scope(case: Case, code: str, message: str) -> None:
    """What was touched is asked of the real change, and what cannot be judged is not in scope."""
    [finding] = GATES[Gate.SCOPE](case).findings
    assert finding.code == code
    assert message in finding.message
    assert len(finding.about) <= 10


def test_a_rename_touches_both_ends() -> None:
    """Moving a file out of scope into it removes one that was not the agent's."""
    move = PathChange("src/a", ChangeKind.RENAMED, "lib/a")
    case = a_case(facts=replace(FACTS, changes=ChangeSet((move,))))
    assert GATES[Gate.SCOPE](case).findings[0].about == ("lib/a",)


def test_links_the_change_makes_are_judged_where_they_lead() -> None:
    """A link into a forbidden place is refused; one that goes is no link any more."""
    entry = TreeEntry("src/l", EntryKind.SYMLINK, target="secrets/k")
    made, gone = (
        PathChange("src/l", ChangeKind.ADDED, after=entry),
        PathChange("src/l", ChangeKind.DELETED, before=entry),
    )
    for change, paths in ((made, [("src/l",)]), (gone, [])):
        case = a_case(facts=replace(FACTS, changes=ChangeSet((change,))))
        assert [one.about for one in GATES[Gate.SCOPE](case).findings] == paths


def test_caches_and_harmless_directories_are_nobodys_business() -> None:
    """What a tool leaves behind is no change of the agent, an empty directory is no content."""
    case = changed(
        "src/app.py",
        ignored=some_changes("lib/__pycache__/a.pyc"),
        directories=some_changes("empty"),
    )
    assert found(case) == []


@pytest.mark.seed("003-20", "003-21")
@pytest.mark.parametrize(
    ("case", "expected"),
    [
        pytest.param(
            a_case(submit={**a_submit(), "task_id": "other", "exit_code": "0"}),
            [
                (Gate.SCHEMA, "SCHEMA_VIOLATION", "does not honour its contract: $.exit_code: expected an integer"),
                (Gate.FILE_MATCH, "EVIDENCE_INVALID", "no valid submission"),
            ],
            id="no valid submission: facts are judged all the same",
        ),
        pytest.param(
            a_case(breaches=(Breach("CONSTITUTION_VIOLATION", "the gate was switched off"),)),
            [(Gate.CONSTITUTION, "CONSTITUTION_VIOLATION", "the gate was switched off")],
            id="constitution",
        ),
        pytest.param(
            a_case(breaches=(Breach("POLICY_VIOLATION", "asked the network"), Breach("SOMETHING_NEW", "who knows"))),
            [(Gate.POLICY, "POLICY_VIOLATION", "asked the network"), (Gate.POLICY, "SOMETHING_NEW", "who knows")],
            id="a breach nobody knows is a matter of policy",
        ),
        pytest.param(
            a_case(usage=Usage(tools=frozenset(("network", "edit")), model="gpt-4o", executor="opencodecli")),
            [
                (Gate.POLICY, "POLICY_VIOLATION", "the role engineer may not use network"),
                (Gate.POLICY, "POLICY_VIOLATION", "the model gpt-4o is not among allowedModels: glm-4.7"),
                (Gate.POLICY, "POLICY_VIOLATION", "the executor opencodecli is not among allowedExecutors: codex"),
            ],
            id="tools, model, executor",
        ),
        pytest.param(
            a_case(
                usage=Usage(tokens=11, cost=0.5, duration_ms=1001, model="glm-4.7"),
                budget=Budget(tokens=10, cost=0.4),
                breaches=(Breach("TIMEOUT_EXCEEDED", "ended at its limit"),),
            ),
            [
                (Gate.BUDGET, "TIMEOUT_EXCEEDED", "ended at its limit"),
                (Gate.BUDGET, "BUDGET_EXCEEDED", "tokens: 11 used, 10 allowed"),
                (Gate.BUDGET, "BUDGET_EXCEEDED", "cost: 0.5 used, 0.4 allowed"),
                (Gate.BUDGET, "TIMEOUT_EXCEEDED", "milliseconds: 1001 used, 1000 allowed"),
            ],
            id="budget",
        ),
        pytest.param(
            a_case(
                usage=Usage(tokens=10, cost=0.4, duration_ms=1000, model="glm-4.7"),
                budget=Budget(tokens=10, cost=0.4),
            ),
            [],
            id="a budget that is used up to its end",
        ),
        pytest.param(
            a_case(task=a_task(pins={**PINS, "max_files": 1, "max_loc": 10}), facts=replace(FACTS, lines=11)),
            [
                (Gate.BUDGET, "SPLIT_REQUIRED", "the change is too large: 2 files, pins.max_files allows 1; make a smaller change"),
                (Gate.BUDGET, "SPLIT_REQUIRED", "the change is too large: 11 lines, pins.max_loc allows 10; make a smaller change"),
            ],
            id="larger than the pins allow",
        ),
        pytest.param(
            a_case(task=a_task(pins={**PINS, "max_files": 2, "max_loc": 11}), facts=replace(FACTS, lines=11)),
            [],
            id="as large as the pins allow",
        ),
        pytest.param(
            a_case(task=a_task(pins={**PINS, "max_loc": 10})),
            [(Gate.BUDGET, "EVIDENCE_INVALID", "pins.max_loc is 10, and lines were never counted")],
            id="a bound that nobody measured",
        ),
        pytest.param(
            a_case(submit=a_submit(status="NEED_INPUT", needs_input=["Which port?", " "], reason_code="needs_clarification")),
            [(Gate.NEED_INPUT, "NEED_INPUT_REQUIRED", "the agent asks: Which port?")],
            id="a question",
        ),
        pytest.param(
            a_case(submit=a_submit(status="FAILED", exit_code=1, summary="no disk")),
            [(Gate.STATUS, "EXECUTOR_ERROR", "the submission says that it failed (EXECUTOR_ERROR): no disk")],
            id="failed without a reason",
        ),
        pytest.param(
            a_case(submit=a_submit(status="FAILED", exit_code=1, reason_code="merge_conflict")),
            [(Gate.STATUS, "MERGE_CONFLICT", "the submission says that it failed (MERGE_CONFLICT)")],
            id="failed with a reason",
        ),
        pytest.param(
            a_case(submit=a_submit(changed_files=["./src/app.py", "src/app.py", "docs/x"], new_files=[])),
            [
                (Gate.SCOPE, "SCOPE_CONFLICT", "declared and not changed, and outside the allowed paths: docs/x"),
                (Gate.FILE_MATCH, "EVIDENCE_INVALID", "changed, but not declared: tests/test_app.py"),
                (Gate.FILE_MATCH, "EVIDENCE_INVALID", "declared, but not changed: docs/x"),
            ],
            id="other files than declared",
        ),
        pytest.param(
            a_case(submit=a_submit(changed_files=["src/app.py", "src/secrets/key.txt", "../x"])),
            [
                (Gate.SCOPE, "SCOPE_CONFLICT", "declared and not changed, and forbidden by the pins, or git's own: src/secrets/key.txt"),
                (Gate.SCOPE, "SCOPE_CONFLICT", "no path inside the workspace, or a link that leaves it: ../x"),
                (Gate.FILE_MATCH, "EVIDENCE_INVALID", "declared, but not changed: ../x, src/secrets/key.txt"),
            ],
            id="declared out of scope, and not even changed",
        ),
        pytest.param(
            a_case(
                submit=a_submit(new_files=["tests/test_app.py", f"artifacts/{TASK_ID}/report.md"]),
                facts=replace(FACTS, evidence=replace(FACTS.evidence, folder=f"artifacts/{TASK_ID}")),
            ),
            [(Gate.FILE_MATCH, "EVIDENCE_INVALID", "declared, but not changed: artifacts/")],
            id="its own evidence, declared as a change: wrong, and no breach of scope",
        ),
        pytest.param(
            a_case(
                submit=a_submit(changed_files=["src/app.py", "dist/x"]),
                facts=replace(FACTS, changes=replace(FACTS.changes, ignored=some_changes("dist/x"))),
            ),
            [(Gate.SCOPE, "SCOPE_CONFLICT", "outside the allowed paths: dist/x")],
            id="an ignored file may be declared, but must be in scope",
        ),
    ],
)  # fmt: skip
def test_claims_and_breaches(case: Case, expected: Found) -> None:
    """Every finding names its gate, its code and what shows it."""
    seen = found(case)
    assert [(gate, code) for gate, code, _ in seen] == [
        (gate, code) for gate, code, _ in expected
    ]
    for (_, _, message), (_, _, part) in zip(seen, expected, strict=True):
        assert part in message


def test_a_schema_finding_does_not_grow_with_the_message() -> None:
    """Ten violations are told, the rest are counted."""
    [finding] = GATES[Gate.SCHEMA](
        a_case(submit=a_submit(changed_files=[0] * 40))
    ).findings
    assert len(finding.about) == 10
    assert "; and 30 more" in finding.message


def ran(**run: Any) -> Case:
    """A case whose test ended otherwise."""
    return a_case(facts=replace(FACTS, runs=(replace(CommandRun(COMMAND, 0), **run),)))


@pytest.mark.parametrize(
    ("case", "code", "message"),
    [
        pytest.param(ran(exit_code=137), "CI_FAILED", f"exit code 137: {COMMAND} (the agent says that tests passed)", id="killed"),
        pytest.param(ran(ending=Ending.TIMED_OUT), "CI_FAILED", "ran into its time limit", id="too long"),
        pytest.param(ran(ending=Ending.OUTPUT_LIMIT), "CI_FAILED", "wrote more than it may", id="too loud"),
        pytest.param(ran(ending=Ending.NOT_STARTED), "CI_FAILED", "could not be started", id="no such program"),
        pytest.param(ran(command="true"), "CI_FAILED", f"was not run: {COMMAND}", id="another command"),
        pytest.param(
            a_case(facts=replace(FACTS, runs=(CommandRun(COMMAND, 1), CommandRun(COMMAND, 0)))),
            "CI_FAILED",
            f"exit code 1: {COMMAND}",
            id="first it failed, then it passed",
        ),
        pytest.param(
            a_case(facts=replace(FACTS, runs=(CommandRun(COMMAND, 0), CommandRun(COMMAND, 2)))),
            "CI_FAILED",
            f"exit code 2: {COMMAND}",
            id="first it passed, then it failed",
        ),
        pytest.param(
            a_case(submit=a_submit(tests={"commands": [], "passed": False, "summary": ""})),
            "CI_FAILED",
            "the submission says that tests fail",
            id="the agent itself says so",
        ),
        pytest.param(
            a_case(task=a_task(allowedTests=[]), submit=a_submit(tests={"commands": [], "passed": True, "summary": ""})),
            "CI_SKIPPED",
            "no test command",
            id="no test",
        ),
        pytest.param(
            a_case(task=a_task(allowedTests=[]), facts=replace(FACTS, runs=(CommandRun(COMMAND, 1),))),
            "CI_FAILED",
            f"exit code 1: {COMMAND}",
            id="the agent's own choice fails",
        ),
        pytest.param(
            a_case(task=a_task(allowedTests=[]), own_tests=("make test",)),
            "CI_FAILED",
            "was not run: make test",
            id="the repository's own test was not run",
        ),
        pytest.param(
            a_case(task=a_task(allowedTests=["make self_test"]), facts=replace(FACTS, runs=(CommandRun("make self_test", 0),))),
            "TESTS_ONLY_TASK_SELFTEST",
            "only the task's own self-test",
            id="only a self-test",
        ),
        pytest.param(
            a_case(facts=replace(FACTS, steering=(SteeringFile("tests/conftest.py", "pytest"),))),
            "TEST_STEERING_CHANGED",
            "without being pinned by name: tests/conftest.py",
            id="steered",
        ),
    ],
)  # fmt: skip
def test_tests(case: Case, code: str, message: str) -> None:
    """Only our own run, unsteered, of every test, proves anything."""
    [finding] = GATES[Gate.TESTS](case).findings
    assert (finding.code, finding.gate) == (code, Gate.TESTS)
    assert message in finding.message


@pytest.mark.parametrize(
    ("missing", "code", "message"),
    [
        ({"isolation_missing": "install bwrap"}, "ISOLATION_UNAVAILABLE", "no test was run: install bwrap"),
        ({"environment_broken": "no pytest"}, "ENVIRONMENT_BROKEN", "no pytest"),
    ],
    ids=["nothing could be run", "something that tests need is missing"],
)  # fmt: skip
def test_an_environment_that_runs_no_test(
    missing: dict[str, str], code: str, message: str
) -> None:
    """It has a gate of its own; in facts from before, the gate of the tests reports it."""
    facts = replace(FACTS, runs=(), **missing)  # type: ignore[arg-type]
    early = a_case(facts=replace(facts, version=WITH_ENVIRONMENT_GATE - 1))
    today = a_case(facts=replace(facts, version=WITH_ENVIRONMENT_GATE))
    assert found(early) == [(Gate.TESTS, code, message)]
    assert found(today) == [(Gate.ENVIRONMENT, code, message)]

    honest = a_case(facts=replace(FACTS, version=WITH_ENVIRONMENT_GATE))
    assert GATES[Gate.ENVIRONMENT](honest).passed


@pytest.mark.parametrize(
    "named",
    [
        {"files": ["tests/conftest.py"]},
        {"pins": {"allowed_paths": ["tests/conftest.py", "src/**"]}},
    ],
)
def test_a_steering_file_the_task_names_may_be_changed(named: dict[str, Any]) -> None:
    """By its full path, as a pin or as a file to touch."""
    case = a_case(
        task=a_task(**named),
        facts=replace(FACTS, steering=(SteeringFile("tests/conftest.py", "pytest"),)),
    )
    assert GATES[Gate.TESTS](case).passed


def test_roles_that_need_no_test() -> None:
    """Documentation can be done without one."""
    untested = a_submit(tests={"commands": [], "passed": True, "summary": ""})
    case = a_case(
        task=a_task(role="doc", allowedTests=[]),
        submit=untested,
        facts=replace(FACTS, runs=()),
    )
    assert GATES[Gate.TESTS](case).passed


@pytest.mark.parametrize(
    ("facts", "code", "message"),
    [
        (some_evidence(report_md={"exists": False, "problem": "a link to nowhere"}), "ARTIFACT_MISSING", "report_md does not exist: report.md (a link to nowhere)"),
        (some_evidence(selftest_log={"readable": False}), "ARTIFACT_MISSING", "selftest_log cannot be read"),
        (some_evidence(report_md={"size": 0}), "ARTIFACT_MISSING", "report_md is empty"),
        (some_evidence(selftest_log={"size": 0}), "ARTIFACT_MISSING", "selftest_log is empty"),
        (replace(some_evidence(patch_diff={"size": 0}), patch=PatchFacts(missing=("a",))), "ARTIFACT_MISSING", "patch_diff is empty"),
        (replace(some_evidence(patch_diff={"size": 0}), patch=None), "ARTIFACT_MISSING", "patch_diff is empty"),
        (some_evidence(evidence_dir={"exists": False}), "ARTIFACT_MISSING", "evidence_dir does not exist"),
        (some_evidence(patch_diff={"inside": False, "path": "/etc/x"}), "EVIDENCE_INVALID", "outside the evidence folder: /etc/x"),
        (replace(some_evidence(), selftest=SelftestFacts()), "EVIDENCE_INVALID", "must end with EXIT_CODE="),
        (replace(some_evidence(selftest_log={"size": 1}), selftest=SelftestFacts()), "EVIDENCE_INVALID", "must end with EXIT_CODE="),
        (replace(some_evidence(), selftest=SelftestFacts(0, cut=True)), "EVIDENCE_INVALID", "selftest.log is cut short"),
        (replace(some_evidence(), selftest=SelftestFacts(1)), "EVIDENCE_INVALID", "ends with EXIT_CODE=1, the submission says that tests passed"),
        (replace(some_evidence(), selftest=SelftestFacts(0, (COMMAND,))), "EVIDENCE_INVALID", "does not show these tests"),
        (replace(some_evidence(), patch=PatchFacts(parseable=False, problem="no header")), "EVIDENCE_INVALID", "as a patch: no header"),
        (replace(some_evidence(), patch=PatchFacts(missing=("a",))), "EVIDENCE_INVALID", "not in patch.diff: a"),
        (replace(some_evidence(), patch=PatchFacts(extra=("a",))), "EVIDENCE_INVALID", "in patch.diff, but not changed: a"),
        (replace(some_evidence(), patch=PatchFacts(same_content=False)), "EVIDENCE_INVALID", "other contents"),
    ],
)  # fmt: skip
def test_evidence(facts: Any, code: str, message: str) -> None:
    """All five artifacts are there, and none says what is not true."""
    [finding] = GATES[Gate.EVIDENCE](
        a_case(facts=replace(FACTS, evidence=facts))
    ).findings
    assert finding.code == code
    assert message in finding.message


@pytest.mark.parametrize("name", ["selftest_log", "patch_diff"])
@pytest.mark.parametrize(
    "spoilt", [{"size": 0}, {"exists": False}, {"readable": False}, {"inside": False}]
)
def test_what_has_no_content_is_not_examined_further(
    name: str, spoilt: dict[str, Any]
) -> None:
    """Nobody could read it, so it is lacking and nothing else."""
    evidence = some_evidence(**{name: spoilt})
    unread = replace(evidence, patch=None)
    if name == "selftest_log":
        unread = replace(evidence, selftest=None)
    case = a_case(facts=replace(FACTS, evidence=unread))
    [finding] = GATES[Gate.EVIDENCE](case).findings
    assert finding.about == (name,)


@pytest.mark.parametrize(
    "case",
    [
        a_case(facts=replace(FACTS, evidence=some_evidence(evidence_dir={"size": 0}))),
        a_case(
            facts=replace(
                FACTS,
                changes=ChangeSet(),
                evidence=some_evidence(patch_diff={"size": 0}),
            )
        ),
        a_case(
            task=a_task(allowedTests=[]),
            submit=a_submit(tests={"commands": [], "passed": True, "summary": ""}),
            facts=replace(FACTS, evidence=some_evidence(selftest_log={"size": 0})),
        ),
        a_case(
            submit=a_submit(tests={"commands": [], "passed": False, "summary": ""}),
            facts=replace(
                FACTS, evidence=replace(some_evidence(), selftest=SelftestFacts(1))
            ),
        ),
    ],
    ids=[
        "an empty folder",
        "no change, no patch",
        "no tests, no log",
        "a log of failure, honestly told",
    ],
)
def test_evidence_that_may_be_empty(case: Case) -> None:
    """Where there is nothing to say, nothing need be said."""
    assert GATES[Gate.EVIDENCE](case).passed


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (replace(some_evidence(), artifacts=()), "report_md was never looked for"),
        (replace(some_evidence(), selftest=None), "selftest.log was never read"),
        (replace(some_evidence(), patch=None), "patch.diff was never read"),
    ],
)
def test_a_fact_that_was_not_collected_is_an_error(evidence: Any, message: str) -> None:
    """It is never taken for a pass."""
    with pytest.raises(GateNotRun, match=message):
        run_gates(a_case(facts=replace(FACTS, evidence=evidence)))


@pytest.mark.parametrize(
    ("case", "told"),
    [
        pytest.param(
            a_case(),
            [],
            id="nothing to say: the task names its tests, the agent handed in",
        ),
        pytest.param(
            a_case(own_tests=("make test",)),
            [],
            id="the task's tests are those that count",
        ),
        pytest.param(
            a_case(task=a_task(allowedTests=[])),
            [f"the agent's choice: {COMMAND}"],
            id="the agent has chosen the tests",
        ),
        pytest.param(
            a_case(task=a_task(allowedTests=[]), own_tests=(COMMAND,)),
            [f"the repository's own: {COMMAND}"],
            id="it has chosen what the repository names anyway",
        ),
        pytest.param(
            a_case(submitted_by="accordance"),
            ["made by accordance from facts"],
            id="no agent handed anything in",
        ),
        pytest.param(
            a_case(facts=replace(FACTS, git_programs=("hook pre-commit",))),
            [
                "git would run programs in this tree (nothing of it was run here): hook pre-commit"
            ],
            id="a hook",
        ),
    ],
)
def test_what_a_reader_should_know(case: Case, told: list[str]) -> None:
    """A notice says what a verdict rests on; nobody is blamed for it."""
    seen = notices(case)
    assert len(seen) == len(told)
    assert all(part in notice for part, notice in zip(told, seen, strict=True))


@pytest.mark.parametrize(
    ("claimed", "code", "told"),
    [
        ("ci_failed", "CI_FAILED", "(CI_FAILED)"),
        ("OUT_OF_IDEAS", "EXECUTOR_ERROR", "(OUT_OF_IDEAS)"),
        ("the build is red, sorry", "EXECUTOR_ERROR", "(the build is red, sorry)"),
        ("ok", "EXECUTOR_ERROR", "(EXECUTOR_ERROR)"),
    ],
)
def test_a_reason_is_a_fail_code(claimed: str, code: str, told: str) -> None:
    """Words of the agent's own are told, and never become the code."""
    said = a_submit(status="FAILED", exit_code=1, reason_code=claimed)
    [finding] = GATES[Gate.STATUS](a_case(submit=said)).findings
    assert finding.code == code
    assert told in finding.message
