"""Whether what was declared is what was changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from accordance.contracts.pins import normal_path
from accordance.domain.case import Case
from accordance.domain.findings import MAX_NAMED, Finding, Gate, Result, listed


def file_match(case: Case) -> Result:
    """changed_files and new_files together are exactly the real change; both ends of a rename count."""
    claim = case.claim
    if claim is None:
        message = "there is no valid submission that could declare a change"
        return Result(
            Gate.FILE_MATCH, (Finding(Gate.FILE_MATCH, "EVIDENCE_INVALID", message),)
        )
    declared = _normal((*claim.changed_files, *claim.new_files))
    real = _normal(case.facts.changes.paths())
    ignored = _normal(
        path for change in case.facts.changes.ignored for path in change.paths
    )
    return Result(
        Gate.FILE_MATCH,
        (
            *_differs(real - declared, "changed, but not declared"),
            *_differs(declared - real - ignored, "declared, but not changed"),
        ),
    )


def _differs(paths: set[str], text: str) -> Iterator[Finding]:
    if found := sorted(paths):
        about = tuple(found[:MAX_NAMED])
        yield Finding(
            Gate.FILE_MATCH, "EVIDENCE_INVALID", f"{text}: {listed(found)}", about
        )


def _normal(paths: Iterable[str]) -> set[str]:
    return {normal_path(path) or path for path in paths}
