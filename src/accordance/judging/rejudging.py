"""Judging again from a bundle alone.

Its hashes and its signature are checked, its facts recomputed from its trees, and its
verdict from its facts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from accordance.api import check
from accordance.contracts.catalogue.task import TASK, TaskInput
from accordance.contracts.context import ROLES, Context
from accordance.contracts.violation import Rejected
from accordance.domain.case import claim_context
from accordance.domain.facts import AttemptFacts, ChangeSet
from accordance.domain.patch import changed_lines
from accordance.domain.terms import Terms, case_under, terms_from
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
from accordance.workspace.entries import sha256_of
from accordance.workspace.errors import BundleBroken
from accordance.workspace.steering import steering_files


@dataclass(frozen=True, slots=True)
class Rejudged:
    """The result of judging a bundle again."""

    folder: Path
    judgement: Judgement | None  # None where it cannot be judged again
    faults: tuple[str, ...]
    signature: str  # what is known of it

    @property
    def holds(self) -> bool:
        """Whether the bundle is unchanged and its verdict follows from it."""
        return not self.faults


def is_bundle(folder: Path) -> bool:
    """Whether a folder looks like an evidence bundle."""
    return (folder / MANIFEST).is_file()


def rejudge(folder: Path, key: Path | None = None) -> Rejudged:
    """Check a bundle, judge again from what it holds, and compare.

    The signature is checked where there is a public key. Raises BundleBroken if the
    folder is not a bundle.
    """
    faults = [f"hash: {fault}" for fault in broken_files(folder)]
    judgement = None
    try:
        judgement = _judge_again(folder)
    except (
        AccordanceError,
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
    ) as error:
        faults.append(f"verdict: cannot be reached again: {_reason(error)}")
    else:
        faults += _untrue_facts(folder, judgement.facts)
        faults += _other_verdicts(folder, judgement)

    signature = _check_signature(folder, judgement, key)
    faults += signature.faults
    return Rejudged(folder, judgement, tuple(faults), signature.state)


def _reason(error: Exception) -> str:
    if isinstance(error, AccordanceError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _judge_again(folder: Path) -> Judgement:
    """Return the judgement that follows from the bundle.

    Times and links are taken as they were written.
    """
    terms = terms_from((folder / "terms.json").read_bytes())
    task = _task(folder, terms)
    submit = (folder / "submit.json").read_bytes()
    submission = read_claim(submit, claim_context(task))
    links = read_tree(folder, "tree-before.json").links
    case = case_under(terms, task, submission, read_facts(folder), links)

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


def _task(folder: Path, terms: Terms) -> TaskInput:
    """Return the task of a bundle. Raises BundleBroken."""
    role = terms.role.name
    context = Context(roles=frozenset((*ROLES, role)))
    task = check((folder / "task.json").read_bytes(), TASK, context)
    if isinstance(task, Rejected):
        raise BundleBroken(f"task.json is not a task: {task.violations[0]}")
    if task.value.role != role:
        raise BundleBroken(
            f"terms.json names the role {role}, but the task {task.value.role}"
        )
    return task.value


def _written(folder: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((folder / name).read_bytes()))


def _untrue_facts(folder: Path, facts: AttemptFacts) -> Iterator[str]:
    """Yield the facts that do not follow from the trees and logs beside them."""
    if _recomputed_changes(folder, facts) != facts.changes:
        yield "facts: the change is not the difference of the two trees"
    if steering_files(facts.changes, facts.version) != facts.steering:
        yield "facts: the files that steer tests are not those of the change"

    patch = (folder / "patch.diff").read_bytes().decode("utf-8", "replace")
    if facts.lines is not None and changed_lines(patch) != facts.lines:
        yield "facts: the number of changed lines is not that of patch.diff"

    for number, run in enumerate(facts.runs, 1):
        log = folder / "runs" / f"{number:02}.log"
        if sha256_of(log) != run.log_sha256:
            yield f"facts: runs/{log.name} is not the output of {run.command}"

    hidden_runs = () if facts.hidden is None else facts.hidden.runs
    for number, run in enumerate(hidden_runs, 1):
        log = folder / "runs" / f"hidden-{number:02}.log"
        if sha256_of(log) != run.log_sha256:
            yield f"facts: runs/{log.name} is not the output of the hidden tests"


def _recomputed_changes(folder: Path, facts: AttemptFacts) -> ChangeSet:
    ignored: set[str] = set()
    for change in facts.changes.ignored:
        ignored.update(change.paths)

    return difference(
        read_tree(folder, "tree-before.json"),
        read_tree(folder, "tree-after.json"),
        evidence=facts.evidence.folder,
        ignored=ignored.intersection,
        internals_known=facts.changes.internals_known,
    )


def _other_verdicts(folder: Path, judgement: Judgement) -> Iterator[str]:
    """Yield the files of the verdict that say something else."""
    recomputed = {
        "judgement.json": judgement.to_json(),
        "verdict.json": judgement.as_verdict(),
        "outcome.json": judgement.as_outcome(),
    }
    follows = f"{judgement.outcome}, {judgement.verdict.reason}"
    for name, value in recomputed.items():
        as_json = json.loads(json.dumps(value))
        if _written(folder, name) != as_json:
            yield f"verdict: {name} is not what follows ({follows})"


class _SignatureCheck(NamedTuple):
    """What is known of a signature, and what is wrong with it."""

    state: str
    faults: tuple[str, ...] = ()


def _check_signature(
    folder: Path,
    judgement: Judgement | None,
    key: Path | None,
) -> _SignatureCheck:
    if key is None:
        is_signed = (folder / ATTESTATION).exists()
        if is_signed:
            return _SignatureCheck("present, not checked (no key was given)")
        return _SignatureCheck("none")

    from accordance.workspace.attestation import verify_bundle

    try:
        attested = verify_bundle(folder, key)
    except BundleBroken as error:
        return _SignatureCheck("does not hold", (f"signature: {error}",))
    if judgement is not None and attested != about(judgement):
        fault = "signature: it attests another verdict"
        return _SignatureCheck("does not hold", (fault,))
    return _SignatureCheck("holds")
