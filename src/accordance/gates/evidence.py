"""Whether the artifacts are there, and say what is true."""

from __future__ import annotations

from collections.abc import Iterator

from accordance.domain.case import Case
from accordance.domain.facts import ArtifactFact, ArtifactName
from accordance.domain.findings import Finding, Gate, Result, listed
from accordance.errors import GateNotRun


def evidence(case: Case) -> Result:
    """All five artifacts exist and can be read; log and patch show what happened."""
    findings = (*_missing(case), *_wrong_log(case), *_wrong_patch(case))
    return Result(Gate.EVIDENCE, findings)


def _missing(case: Case) -> Iterator[Finding]:
    for name in ArtifactName:
        artifact = _artifact(case, name)
        if not artifact.inside:
            text = f"{name} lies outside the evidence folder: {artifact.path}"
            yield _invalid(name, text)
        elif not artifact.exists:
            yield _lacking(name, "does not exist", artifact)
        elif not artifact.readable:
            yield _lacking(name, "cannot be read", artifact)
        elif artifact.size == 0 and _must_have_content(case, name):
            yield _lacking(name, "is empty", artifact)


def _artifact(case: Case, name: ArtifactName) -> ArtifactFact:
    artifact = case.facts.evidence.artifact(name)
    if artifact is None:
        raise GateNotRun(f"{name} was never looked for; the evidence cannot be judged")
    return artifact


def _must_have_content(case: Case, name: ArtifactName) -> bool:
    if name is ArtifactName.PATCH_DIFF:
        patch = case.facts.evidence.patch
        shows_all = patch is not None and not patch.missing
        return bool(case.facts.changes) and not shows_all
    if name is ArtifactName.SELFTEST_LOG:
        return bool(case.tests)
    return name is not ArtifactName.EVIDENCE_DIR


def _has_content(case: Case, name: ArtifactName) -> bool:
    artifact = _artifact(case, name)
    can_be_read = artifact.inside and artifact.exists and artifact.readable
    return can_be_read and artifact.size > 0


def _wrong_log(case: Case) -> Iterator[Finding]:
    """selftest.log shows every test, is complete, and agrees with the submission."""
    name = ArtifactName.SELFTEST_LOG
    if not case.tests or not _has_content(case, name):
        return
    log = case.facts.evidence.selftest
    if log is None:
        raise GateNotRun("selftest.log was never read; the evidence cannot be judged")

    # a log of ours repeats what our own run shows, which the next gate judges
    is_agents = not _artifact(case, name).ours
    claims_success = case.claim is not None and case.claim.tests.passed
    is_claim = claims_success and is_agents
    if log.cut or log.exit_code is None:
        text = "selftest.log is cut short: it must end with EXIT_CODE=<number>"
        yield _invalid(name, text)
    elif is_claim and log.exit_code != 0:
        text = (
            f"selftest.log ends with EXIT_CODE={log.exit_code}, "
            "the submission says that tests passed"
        )
        yield _invalid(name, text)

    ours = case.own_tests
    missing = [command for command in log.commands_missing if command not in ours]
    if missing:
        text = f"selftest.log does not show these tests: {listed(missing)}"
        yield _invalid(name, text)


def _wrong_patch(case: Case) -> Iterator[Finding]:
    """patch.diff is the real change."""
    name = ArtifactName.PATCH_DIFF
    if not _has_content(case, name):
        return
    patch = case.facts.evidence.patch
    if patch is None:
        raise GateNotRun("patch.diff was never read; the evidence cannot be judged")

    if not patch.parseable:
        text = f"patch.diff cannot be read as a patch: {patch.problem}"
        yield _invalid(name, text)
        return
    if patch.missing:
        text = f"changed, but not in patch.diff: {listed(patch.missing)}"
        yield _invalid(name, text)
    if patch.extra:
        text = f"in patch.diff, but not changed: {listed(patch.extra)}"
        yield _invalid(name, text)
    if patch.same_content is False:
        text = "patch.diff gives other contents than the workspace has"
        yield _invalid(name, text)


def _lacking(name: ArtifactName, problem: str, artifact: ArtifactFact) -> Finding:
    text = f"{name} {problem}: {artifact.path}"
    if artifact.problem:
        text += f" ({artifact.problem})"
    return Finding(
        Gate.EVIDENCE,
        "ARTIFACT_MISSING",
        message=text,
        about=(name,),
    )


def _invalid(name: ArtifactName, text: str) -> Finding:
    return Finding(
        Gate.EVIDENCE,
        "EVIDENCE_INVALID",
        message=text,
        about=(name,),
    )
