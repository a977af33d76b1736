"""Whether the artifacts are there, and hold."""

from __future__ import annotations

from collections.abc import Iterator

from accordance.domain.case import Case
from accordance.domain.facts import ArtifactFact, ArtifactName
from accordance.domain.findings import Finding, Gate, Result, listed
from accordance.errors import GateNotRun


def evidence(case: Case) -> Result:
    """All five artifacts exist and can be read; report, log and patch say something, and it is not untrue."""
    return Result(
        Gate.EVIDENCE,
        (*_missing(case), *_log_does_not_hold(case), *_patch_does_not_hold(case)),
    )


def _missing(case: Case) -> Iterator[Finding]:
    for name in ArtifactName:
        fact = _looked_at(case, name)
        if not fact.inside:
            text = f"{name} lies outside the evidence folder: {fact.path}"
            yield Finding(Gate.EVIDENCE, "EVIDENCE_INVALID", text, (name,))
        elif not fact.exists:
            yield _lacks(name, f"{name} does not exist: {fact.path}", fact)
        elif not fact.readable:
            yield _lacks(name, f"{name} cannot be read: {fact.path}", fact)
        elif not fact.size and _must_say_something(case, name):
            yield _lacks(name, f"{name} is empty: {fact.path}", fact)


def _looked_at(case: Case, name: ArtifactName) -> ArtifactFact:
    fact = case.facts.evidence.artifact(name)
    if fact is None:
        raise GateNotRun(f"nobody looked for {name}; the evidence cannot be judged")
    return fact


def _must_say_something(case: Case, name: ArtifactName) -> bool:
    if name is ArtifactName.PATCH_DIFF:
        return bool(case.facts.changes)
    if name is ArtifactName.SELFTEST_LOG:
        return bool(case.tests)
    return name is not ArtifactName.EVIDENCE_DIR


def _lacks(name: ArtifactName, text: str, fact: ArtifactFact) -> Finding:
    problem = f" ({fact.problem})" if fact.problem else ""
    return Finding(Gate.EVIDENCE, "ARTIFACT_MISSING", text + problem, (name,))


def _has_content(case: Case, name: ArtifactName) -> bool:
    fact = _looked_at(case, name)
    return fact.inside and fact.exists and fact.readable and fact.size > 0


def _log_does_not_hold(case: Case) -> Iterator[Finding]:
    """selftest.log names every allowed test, is whole, and does not contradict the submission."""
    if not case.tests or not _has_content(case, ArtifactName.SELFTEST_LOG):
        return
    log = case.facts.evidence.selftest
    if log is None:
        raise GateNotRun("nobody read selftest.log; the evidence cannot be judged")
    if log.cut or log.exit_code is None:
        yield _invalid(
            ArtifactName.SELFTEST_LOG,
            "selftest.log is cut short: it must end with EXIT_CODE=<number>",
        )
    elif log.exit_code and case.claim and case.claim.tests.passed:
        yield _invalid(
            ArtifactName.SELFTEST_LOG,
            f"selftest.log ends with EXIT_CODE={log.exit_code}, the submission says that tests passed",
        )
    if missing := [
        command for command in log.commands_missing if command not in case.own_tests
    ]:
        text = f"selftest.log does not show these tests: {listed(missing)}"
        yield _invalid(ArtifactName.SELFTEST_LOG, text)


def _patch_does_not_hold(case: Case) -> Iterator[Finding]:
    """patch.diff is the real change."""
    if not _has_content(case, ArtifactName.PATCH_DIFF):
        return
    patch = case.facts.evidence.patch
    if patch is None:
        raise GateNotRun("nobody read patch.diff; the evidence cannot be judged")
    if not patch.parseable:
        yield _invalid(
            ArtifactName.PATCH_DIFF,
            f"patch.diff cannot be read as a patch: {patch.problem}",
        )
        return
    if patch.missing:
        text = f"changed, but not in patch.diff: {listed(patch.missing)}"
        yield _invalid(ArtifactName.PATCH_DIFF, text)
    if patch.extra:
        yield _invalid(
            ArtifactName.PATCH_DIFF,
            f"in patch.diff, but not changed: {listed(patch.extra)}",
        )
    if patch.same_content is False:
        yield _invalid(
            ArtifactName.PATCH_DIFF,
            "patch.diff gives other contents than the workspace has",
        )


def _invalid(name: ArtifactName, message: str) -> Finding:
    return Finding(Gate.EVIDENCE, "EVIDENCE_INVALID", message, (name,))
