"""Whether the declared change is the real change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from accordance.contracts.pins import normal_path
from accordance.domain.case import Case
from accordance.domain.facts import ChangeSet
from accordance.domain.findings import MAX_NAMED, Finding, Gate, Result, listed


def file_match(case: Case) -> Result:
    """changed_files and new_files together are exactly the real change.

    Both ends of a rename count. A declared path that is left out may have changed.
    """
    claim = case.claim
    if claim is None:
        finding = Finding(
            Gate.FILE_MATCH,
            "EVIDENCE_INVALID",
            message="there is no valid submission that could declare a change",
        )
        return Result(Gate.FILE_MATCH, (finding,))

    changes = case.facts.changes
    declared = _normal_paths((*claim.changed_files, *claim.new_files))
    real = _normal_paths(changes.paths())
    ignored = _normal_paths(path for change in changes.ignored for path in change.paths)

    undeclared = real - declared
    left_out = {path for path in declared if _is_left_out(path, changes)}
    unchanged = declared - real - ignored - left_out
    findings = (
        *_difference(undeclared, "changed, but not declared"),
        *_difference(unchanged, "declared, but not changed"),
    )
    return Result(Gate.FILE_MATCH, findings)


def _is_left_out(path: str, changes: ChangeSet) -> bool:
    return any(item.covers(path) for item in changes.left_out)


def _difference(paths: set[str], problem: str) -> Iterator[Finding]:
    if not paths:
        return
    ordered = sorted(paths)
    yield Finding(
        Gate.FILE_MATCH,
        "EVIDENCE_INVALID",
        message=f"{problem}: {listed(ordered)}",
        about=tuple(ordered[:MAX_NAMED]),
    )


def _normal_paths(paths: Iterable[str]) -> set[str]:
    return {normal_path(path) or path for path in paths}
