"""The submission accordance hands in itself where no agent did: made from facts, its status from the tests.

Who can only speak (a model that is asked directly) has said something all the same: a claim, which can make the status worse than
the tests do, and never better.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Literal, NamedTuple

from accordance.contracts.catalogue.task import TaskInput
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.facts import AttemptFacts, ChangeKind
from accordance.rendering.documents import inline
from accordance.workspace.clone import Workspace
from accordance.workspace.collecting import CollectedFacts
from accordance.workspace.evidence import EvidenceRequest, look_at_evidence

_LARGEST_LOG: Final = (
    1 << 20
)  # of each command, in selftest.log; the whole one is kept beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What somebody says who can leave no evidence."""

    status: Literal["DONE", "NEED_INPUT", "FAILED"]
    summary: str
    reason_code: str | None = None
    needs_input: tuple[str, ...] = ()
    not_made: tuple[
        str, ...
    ] = ()  # paths of edits that were said and could not be made


class HandedIn(NamedTuple):
    """The submission, the facts with its evidence, and the artifacts by their path in the evidence folder."""

    submit: bytes
    collected: CollectedFacts
    artifacts: Mapping[str, bytes]


def hand_in(
    task: TaskInput,
    collected: CollectedFacts,
    workspace: Workspace,
    said: EvidenceRequest,
    work: Path,
    claim: Claim | None = None,
) -> HandedIn:
    """Make a submission with all its artifacts below the new folder `work`, and look at them as at anybody's."""
    facts = collected.facts
    submit = _json({**_submission(task, facts, said), **_claimed(claim, facts)})
    artifacts = {
        "report.md": _report(task, facts, claim).encode(),
        "selftest.log": _log(facts, said.tests, collected.logs),
        "patch.diff": collected.patch.text,
        "submit.json": submit,
        "evidence/runs.json": _json([asdict(run) for run in facts.runs]),
    }
    for path, content in artifacts.items():
        place = work / said.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    ours = replace(workspace, work=work)
    evidence = look_at_evidence(
        ours, said, collected.after, facts.changes, collected.patch
    )
    return HandedIn(
        submit, replace(collected, facts=replace(facts, evidence=evidence)), artifacts
    )


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode(
        "utf-8", "surrogatepass"
    )


def _submission(
    task: TaskInput, facts: AttemptFacts, said: EvidenceRequest
) -> JsonObject:
    failed = [run for run in facts.runs if not run.passed]
    new = {
        change.path
        for change in facts.changes.changes
        if change.kind is ChangeKind.ADDED
    }
    passed = len(facts.runs) - len(failed)
    done = not failed and not facts.isolation_missing
    reason: JsonObject = (
        {}
        if done
        else {"reason_code": "CI_FAILED" if failed else "ISOLATION_UNAVAILABLE"}
    )
    return {
        "schema_version": "scc.submit.v1",
        "task_id": task.task_id,
        "status": "DONE" if done else "FAILED",
        **reason,
        "changed_files": sorted(facts.changes.paths() - new),
        "new_files": sorted(new),
        "tests": {
            "commands": [run.command for run in facts.runs],
            "passed": done,
            "summary": f"{passed} of {len(said.tests)} test commands passed",
        },
        "artifacts": {name.value: place for name, place in said.places.items()},
        "exit_code": 0 if done else (failed[0].exit_code or 1 if failed else 1),
        "needs_input": [],
        "payload": {"made_by": "accordance"},
    }


def _claimed(claim: Claim | None, facts: AttemptFacts) -> JsonObject:
    """What a claim changes about a submission made from facts."""
    if claim is None:
        return {}
    told: JsonObject = {"summary": claim.summary}
    if claim.not_made:  # declared all the same: it is a claim that does not hold
        told["changed_files"] = sorted({*facts.changes.paths(), *claim.not_made})
        told["new_files"] = []
    if claim.status == "DONE":
        return told
    asks = claim.status == "NEED_INPUT"
    if code := claim.reason_code or ("NEED_INPUT_REQUIRED" if asks else None):
        told["reason_code"] = code
    told |= {
        "status": claim.status,
        "exit_code": 0 if asks else 1,
        "needs_input": list(claim.needs_input),
    }
    return told


def _log(facts: AttemptFacts, tests: Sequence[str], logs: Sequence[Path]) -> bytes:
    if facts.isolation_missing:
        not_run = "".join(
            f"$ {command}\nnot run: {facts.isolation_missing}\n" for command in tests
        )
        return f"{not_run}EXIT_CODE=1\n".encode()
    runs, parts = facts.runs, []
    for run, log in zip(runs, logs, strict=True):
        said = log.read_bytes()[:_LARGEST_LOG] if log.exists() else b""
        parts.append(b"$ %s\n%s\n" % (run.command.encode(), said.rstrip(b"\n")))
    code = next((run.exit_code or 1 for run in runs if not run.passed), 0)
    return b"".join(parts) + b"EXIT_CODE=%d\n" % code


def _report(task: TaskInput, facts: AttemptFacts, claim: Claim | None) -> str:
    nobody = "No agent handed anything in; this was made from what accordance found."
    changed = [
        f"- {change.kind}: {inline(' -> '.join(change.paths))}"
        for change in facts.changes.changes
    ]
    tests = [
        f"- {'passed' if run.passed else 'failed'}: {inline(run.command)}"
        for run in facts.runs
    ]
    return "\n".join(
        [
            f"# {inline(task.goal)}\n",
            f"{inline(claim.summary) if claim else nobody}\n",
            f"Changed files: {len(changed)}\n",
            *changed,
            "\nTest commands:\n",
            *tests,
            "",
        ]
    )
