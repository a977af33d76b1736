"""A case in which everything is as it should be, to be spoilt in one place by a test."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from accordance import Accepted, check
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.catalogue.task import TASK, TaskInput
from accordance.domain.case import Case, claim_context, scope_of
from accordance.domain.facts import (
    ArtifactFact,
    ArtifactName,
    AttemptFacts,
    ChangeKind,
    ChangeSet,
    CommandRun,
    EvidenceFacts,
    PatchFacts,
    PathChange,
    SelftestFacts,
)
from accordance.domain.roles import ROLES

TASK_ID = "72c84e9c-0975-4c1a-b9a5-864c2725dc8a"
COMMAND = "python -m pytest -q tests/test_app.py"
FILES = {
    ArtifactName.REPORT_MD: "report.md",
    ArtifactName.SELFTEST_LOG: "selftest.log",
    ArtifactName.PATCH_DIFF: "patch.diff",
    ArtifactName.SUBMIT_JSON: "submit.json",
    ArtifactName.EVIDENCE_DIR: "evidence/",
}


def a_task(**changes: Any) -> TaskInput:
    """A task that its contract accepts."""
    asked = {
        "task_id": TASK_ID,
        "goal": "Fix it.",
        "role": "engineer",
        "pins": {
            "allowed_paths": ["src/**", "tests/**"],
            "forbidden_paths": ["**/secrets/**"],
        },
        "files": ["src/app.py"],
        "allowedTests": [COMMAND],
        "allowedModels": ["glm-4.7"],
        "allowedExecutors": ["codex"],
        "timeoutMs": 1000,
    }
    result = check(json.dumps(asked | changes), TASK)
    assert isinstance(result, Accepted), result
    return result.value


def a_submit(**changes: Any) -> dict[str, Any]:
    """What an honest agent says of it."""
    said = {
        "schema_version": "scc.submit.v1",
        "task_id": TASK_ID,
        "status": "DONE",
        "changed_files": ["src/app.py"],
        "new_files": ["tests/test_app.py"],
        "tests": {"commands": [COMMAND], "passed": True, "summary": "1 passed"},
        "artifacts": {
            name.value: f"artifacts/{TASK_ID}/{file}" for name, file in FILES.items()
        },
        "exit_code": 0,
        "needs_input": [],
    }
    return said | changes


def some_changes(*paths: str) -> tuple[PathChange, ...]:
    """Each of them modified."""
    return tuple(PathChange(path, ChangeKind.MODIFIED) for path in paths)


def some_evidence(**spoilt: dict[str, Any]) -> EvidenceFacts:
    """All five artifacts as they should be, but for what is said of one by its name."""
    artifacts = (
        replace(
            ArtifactFact(name, file, exists=True, readable=True, size=10),
            **spoilt.get(name.value, {}),
        )
        for name, file in FILES.items()
    )
    return EvidenceFacts(
        artifacts=tuple(artifacts),
        selftest=SelftestFacts(exit_code=0),
        patch=PatchFacts(),
    )


FACTS = AttemptFacts(
    changes=ChangeSet(some_changes("src/app.py", "tests/test_app.py")),
    runs=(CommandRun(COMMAND, 0),),
    evidence=some_evidence(),
)


def a_case(
    *,
    task: TaskInput | None = None,
    submit: object = None,
    facts: AttemptFacts = FACTS,
    **more: Any,
) -> Case:
    """The case, spoilt where a test wants it."""
    asked = task or a_task()
    role = ROLES[asked.role]
    said = check(json.dumps(submit or a_submit()), SUBMIT, claim_context(asked))
    whole = Case(
        task=asked, role=role, scope=scope_of(asked, role), submission=said, facts=facts
    )
    return replace(whole, **more)
