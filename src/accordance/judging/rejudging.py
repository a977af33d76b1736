"""Judging again from a bundle alone: its hashes, its signature, its facts from its trees, its verdict from its facts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accordance.api import check
from accordance.contracts.catalogue.task import TASK
from accordance.contracts.context import ROLES, Context
from accordance.contracts.violation import Rejected
from accordance.domain.case import claim_context
from accordance.domain.facts import AttemptFacts, Snapshot
from accordance.domain.patch import changed_lines
from accordance.domain.terms import case_under, terms_from
from accordance.errors import AccordanceError
from accordance.gates.running import verdict_on
from accordance.judging.bundles import about
from accordance.judging.claims import read_claim
from accordance.judging.judgement import Judgement
from accordance.workspace.bundle import (
    ATTESTATION,
    MANIFEST,
    broken_files,
    read_facts,
    read_tree,
)
from accordance.workspace.difference import difference
from accordance.workspace.errors import BundleBroken
from accordance.workspace.steering import steering_files


@dataclass(frozen=True, slots=True)
class Rejudged:
    """What came of judging a bundle again."""

    folder: Path
    judgement: Judgement | None  # None where it cannot be judged again
    faults: tuple[str, ...]
    signature: str  # what is known of it

    @property
    def holds(self) -> bool:
        """Whether everything is as it was written, and follows from itself."""
        return not self.faults


def is_bundle(folder: Path) -> bool:
    """Whether this looks like a bundle of evidence."""
    return (folder / MANIFEST).is_file()


def rejudge(folder: Path, key: Path | None = None) -> Rejudged:
    """Check hashes and, with a public key, the signature; judge again and compare. Raises BundleBroken if it is no bundle."""
    faults = [f"hash: {fault}" for fault in broken_files(folder)]
    judgement = None
    try:
        judgement = _again(folder)
    except (
        AccordanceError,
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
    ) as error:
        faults.append(f"verdict: cannot be reached again: {_told(error)}")
    else:
        faults += _untrue_facts(folder, judgement.facts)
        faults += _other_verdict(folder, judgement)
    signature, broken = _signature(folder, judgement, key)
    return Rejudged(folder, judgement, (*faults, *broken), signature)


def _told(error: Exception) -> str:
    return (
        str(error)
        if isinstance(error, AccordanceError)
        else f"{type(error).__name__}: {error}"
    )


def _again(folder: Path) -> Judgement:
    """The judgement as it follows from the bundle. Times and links are taken as written."""
    terms = terms_from((folder / "terms.json").read_bytes())
    roles = frozenset((*ROLES, terms.role.name))
    task = check((folder / "task.json").read_bytes(), TASK, Context(roles=roles))
    if isinstance(task, Rejected):
        raise BundleBroken(f"task.json is no task: {task.violations[0]}")
    if task.value.role != terms.role.name:
        raise BundleBroken(
            f"terms.json speaks of the role {terms.role.name}, the task of {task.value.role}"
        )
    submission = read_claim(
        (folder / "submit.json").read_bytes(), claim_context(task.value)
    )
    links = read_tree(folder, "tree-before.json").links
    case = case_under(terms, task.value, submission, read_facts(folder), links)
    written = _written(folder, "judgement.json")
    return Judgement(
        verdict=verdict_on(case, terms.history),
        case=case,
        terms=terms,
        submitted_at=str(written["submitted_at"]),
        evaluated_at=str(written["evaluated_at"]),
        links=dict(written["links"]),
        bundle=folder,
    )


def _written(folder: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((folder / name).read_bytes()))


def _untrue_facts(folder: Path, facts: AttemptFacts) -> Iterator[str]:
    """Facts that do not follow from the trees and logs beside them."""
    before, after = (
        read_tree(folder, "tree-before.json"),
        read_tree(folder, "tree-after.json"),
    )
    if _changes(before, after, facts) != facts.changes:
        yield "facts: the change is not the difference of the two trees"
    if steering_files(facts.changes) != facts.steering:
        yield "facts: the files that steer tests are not those of the change"
    patch = (folder / "patch.diff").read_bytes().decode("utf-8", "replace")
    if facts.lines is not None and changed_lines(patch) != facts.lines:
        yield "facts: the number of changed lines is not that of patch.diff"
    for number, run in enumerate(facts.runs, 1):
        log = folder / "runs" / f"{number:02}.log"
        digest = hashlib.sha256(log.read_bytes()).hexdigest() if log.is_file() else ""
        if digest != run.log_sha256:
            yield f"facts: runs/{log.name} is not the output of {run.command}"


def _changes(before: Snapshot, after: Snapshot, facts: AttemptFacts) -> object:
    quiet = {path for change in facts.changes.ignored for path in change.paths}
    return difference(
        before,
        after,
        evidence=facts.evidence.folder,
        ignored=quiet.intersection,
        internals_known=facts.changes.internals_known,
    )


def _other_verdict(folder: Path, judgement: Judgement) -> Iterator[str]:
    again = {
        "judgement.json": judgement.to_json(),
        "verdict.json": judgement.as_verdict(),
        "outcome.json": judgement.as_outcome(),
    }
    for name, value in again.items():
        if _written(folder, name) != json.loads(json.dumps(value)):
            yield f"verdict: {name} is not what follows ({judgement.outcome}, {judgement.verdict.reason})"


def _signature(
    folder: Path, judgement: Judgement | None, key: Path | None
) -> tuple[str, list[str]]:
    signed = (folder / ATTESTATION).exists()
    if key is None:
        return ("there, not checked (no key was given)" if signed else "none"), []
    from accordance.workspace.attestation import verify_bundle

    try:
        attested = verify_bundle(folder, key)
    except BundleBroken as error:
        return "does not hold", [f"signature: {error}"]
    if judgement is not None and attested != about(judgement):
        return "does not hold", ["signature: it attests another verdict"]
    return "holds", []
