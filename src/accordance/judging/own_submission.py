"""The submission that accordance makes itself where no agent did.

It is made from facts, and its status from the tests. A model that can only answer, and
write no files, still makes a claim; the claim can make the status worse than the tests
do, and never better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Literal, NamedTuple

from accordance.contracts.catalogue.task import TaskInput
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.facts import (
    ArtifactFact,
    ArtifactName,
    AttemptFacts,
    ChangeKind,
    CommandRun,
    EvidenceFacts,
)
from accordance.domain.test_runs import failed_runs
from accordance.judging.kept_json import as_bytes
from accordance.rendering.documents import inline
from accordance.workspace.clone import Workspace
from accordance.workspace.collecting import CollectedFacts
from accordance.workspace.evidence import USUAL, EvidenceRequest, look_at_evidence

_MAX_LOG_BYTES: Final = 1 << 20
"""Of each command, in selftest.log; the whole log is kept beside it."""
_RUNS: Final = "runs.json"
_USUAL_FILES: Final = USUAL | {
    ArtifactName.EVIDENCE_DIR: f"{USUAL[ArtifactName.EVIDENCE_DIR]}/{_RUNS}"
}
_NO_SUMMARY: Final = "No agent handed anything in; this was made from the facts."


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a model says that cannot leave evidence."""

    status: Literal["DONE", "NEED_INPUT", "FAILED"]
    summary: str
    reason_code: str | None = None
    needs_input: tuple[str, ...] = ()
    not_made: tuple[str, ...] = ()
    """The paths of edits that were described and could not be made."""
    tests: tuple[str, ...] = ()
    """The commands that its author chose, where the task names none."""


class HandedIn(NamedTuple):
    """A submission, the facts with its evidence, and its artifacts by path."""

    submit: bytes
    collected: CollectedFacts
    artifacts: Mapping[str, bytes]


def hand_in(
    task: TaskInput,
    collected: CollectedFacts,
    workspace: Workspace,
    request: EvidenceRequest,
    work: Path,
    claim: Claim | None = None,
) -> HandedIn:
    """Make a submission with all its artifacts below the new folder `work`.

    The artifacts are then examined like any agent's.
    """
    facts = collected.facts
    submission = _submission(task, facts, request)
    if claim is not None:
        submission |= _claimed(claim, facts)
    submit = as_bytes(submission)

    documents = _documents(task, collected, request, submit, claim)
    artifacts = {_USUAL_FILES[name]: text for name, text in documents.items()}
    _write(artifacts, work / request.folder)

    evidence = _examined(collected, workspace, request, work)
    complete_facts = replace(facts, evidence=evidence)
    return HandedIn(submit, replace(collected, facts=complete_facts), artifacts)


def complete(
    task: TaskInput,
    collected: CollectedFacts,
    workspace: Workspace,
    request: EvidenceRequest,
    work: Path,
    submit: bytes,
) -> HandedIn:
    """Make the artifacts that an agent has left out, below the new folder `work`.

    What it has left stays as it is, right or wrong: only what is not there is made.
    """
    facts = collected.facts
    left = {fact.name: fact for fact in facts.evidence.artifacts}
    missing = [name for name in ArtifactName if _is_missing(left[name])]
    if not missing:
        return HandedIn(submit, collected, {})

    documents = _documents(task, collected, request, submit, None)
    artifacts = {}
    for name in missing:
        path = left[name].path.removeprefix(f"{request.folder}/")
        path = path.rstrip("/")
        if name is ArtifactName.EVIDENCE_DIR:
            path += f"/{_RUNS}"
        artifacts[path] = documents[name]
    _write(artifacts, work / request.folder)

    made = _examined(collected, workspace, request, work)
    evidence = _merged(facts.evidence, made, missing)
    complete_facts = replace(facts, evidence=evidence)
    return HandedIn(submit, replace(collected, facts=complete_facts), artifacts)


def _is_missing(fact: ArtifactFact) -> bool:
    """Whether nothing stands where an artifact should be; a link out of it is there."""
    return fact.inside and not fact.exists


def _merged(
    left: EvidenceFacts,
    made: EvidenceFacts,
    missing: Sequence[ArtifactName],
) -> EvidenceFacts:
    """Return the agent's evidence with what was made in place of what is missing."""
    ours = {fact.name: replace(fact, ours=True) for fact in made.artifacts}
    artifacts = [
        ours[fact.name] if fact.name in missing else fact for fact in left.artifacts
    ]
    makes_log = ArtifactName.SELFTEST_LOG in missing
    makes_patch = ArtifactName.PATCH_DIFF in missing
    return replace(
        left,
        artifacts=tuple(artifacts),
        selftest=made.selftest if makes_log else left.selftest,
        patch=made.patch if makes_patch else left.patch,
    )


def _documents(
    task: TaskInput,
    collected: CollectedFacts,
    request: EvidenceRequest,
    submit: bytes,
    claim: Claim | None,
) -> dict[ArtifactName, bytes]:
    """Return every artifact, made from facts; of the folder, the file in it."""
    facts = collected.facts
    log = _selftest_log(task, facts, request.tests, collected.logs)
    return {
        ArtifactName.REPORT_MD: _report(task, facts, claim).encode(),
        ArtifactName.SELFTEST_LOG: log,
        ArtifactName.PATCH_DIFF: collected.patch.text,
        ArtifactName.SUBMIT_JSON: submit,
        ArtifactName.EVIDENCE_DIR: as_bytes([asdict(run) for run in facts.runs]),
    }


def _write(artifacts: Mapping[str, bytes], folder: Path) -> None:
    for path, content in artifacts.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def _examined(
    collected: CollectedFacts,
    workspace: Workspace,
    request: EvidenceRequest,
    work: Path,
) -> EvidenceFacts:
    """Examine the artifacts below a folder like any agent's."""
    return look_at_evidence(
        replace(workspace, work=work),
        request,
        collected.after,
        collected.facts.changes,
        collected.patch,
    )


def _submission(
    task: TaskInput,
    facts: AttemptFacts,
    request: EvidenceRequest,
) -> JsonObject:
    """Return a submission of nothing but facts."""
    failed = failed_runs(task, facts)
    passed_count = len(facts.runs) - len(failed)
    untested = facts.isolation_missing or facts.environment_broken
    passed = not failed and not untested
    changes = facts.changes.changes
    new_files = {change.path for change in changes if change.kind is ChangeKind.ADDED}

    submission: JsonObject = {
        "schema_version": "scc.submit.v1",
        "task_id": task.task_id,
        "status": "DONE",
        "changed_files": sorted(facts.changes.paths() - new_files),
        "new_files": sorted(new_files),
        "tests": {
            "commands": [run.command for run in facts.runs],
            "passed": passed,
            "summary": f"{passed_count} of {len(request.tests)} test commands passed",
        },
        "artifacts": {name.value: place for name, place in request.places.items()},
        "exit_code": 0,
        "needs_input": [],
        "payload": {"made_by": "accordance"},
    }
    if not passed:
        submission["status"] = "FAILED"
        submission["reason_code"] = _reason_code(failed, facts)
        submission["exit_code"] = _exit_code(failed) or 1
    return submission


def _reason_code(failed: Sequence[CommandRun], facts: AttemptFacts) -> str:
    if facts.environment_broken:
        return "ENVIRONMENT_BROKEN"
    return "CI_FAILED" if failed else "ISOLATION_UNAVAILABLE"


def _exit_code(failed: Sequence[CommandRun]) -> int:
    """Return the exit code of the first failure; 0 where nothing failed."""
    if not failed:
        return 0
    return failed[0].exit_code or 1


def _claimed(claim: Claim, facts: AttemptFacts) -> JsonObject:
    """Return what a claim changes about a submission made from facts."""
    changed: JsonObject = {"summary": claim.summary}
    if claim.not_made:  # still declared: it is a claim that does not hold
        declared = {*facts.changes.paths(), *claim.not_made}
        changed["changed_files"] = sorted(declared)
        changed["new_files"] = []
    if claim.status == "DONE":
        return changed

    needs_input = claim.status == "NEED_INPUT"
    changed["status"] = claim.status
    changed["exit_code"] = 0 if needs_input else 1
    changed["needs_input"] = list(claim.needs_input)
    if claim.reason_code:
        changed["reason_code"] = claim.reason_code
    elif needs_input:
        changed["reason_code"] = "NEED_INPUT_REQUIRED"
    return changed


def _selftest_log(
    task: TaskInput,
    facts: AttemptFacts,
    tests: Sequence[str],
    logs: Sequence[Path],
) -> bytes:
    """Return the output of every test, as an agent would have logged it."""
    untested = facts.isolation_missing or facts.environment_broken
    if untested and not facts.runs:
        return _log_of_untested(tests, untested)

    parts = []
    for run, log in zip(facts.runs, logs, strict=True):
        output = b""
        if log.exists():
            output = log.read_bytes()[:_MAX_LOG_BYTES]
        parts.append(b"$ %s\n" % run.command.encode())
        parts.append(b"%s\n" % output.rstrip(b"\n"))
    exit_code = _exit_code(failed_runs(task, facts))
    parts.append(b"EXIT_CODE=%d\n" % exit_code)
    return b"".join(parts)


def _log_of_untested(tests: Sequence[str], reason: str) -> bytes:
    lines = []
    for command in tests:
        lines.append(f"$ {command}\n")
        lines.append(f"not run: {reason}\n")
    lines.append("EXIT_CODE=1\n")
    return "".join(lines).encode()


def _report(task: TaskInput, facts: AttemptFacts, claim: Claim | None) -> str:
    summary = inline(claim.summary) if claim else _NO_SUMMARY
    changes = facts.changes.changes
    lines = [f"# {inline(task.goal)}\n", f"{summary}\n"]

    lines.append(f"Changed files: {len(changes)}\n")
    for change in changes:
        paths = " -> ".join(change.paths)
        lines.append(f"- {change.kind}: {inline(paths)}")

    lines.append("\nTest commands:\n")
    for run in facts.runs:
        result = "passed" if run.passed else "failed"
        lines.append(f"- {result}: {inline(run.command)}")

    lines.append("")
    return "\n".join(lines)
