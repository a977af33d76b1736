"""Where judgements are kept: a bundle for each attempt, written once and signed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from accordance.domain.facts import ArtifactFact, ArtifactName, EvidenceFacts
from accordance.domain.terms import terms_to_json
from accordance.errors import AttemptJudged
from accordance.judging.judgement import Judgement
from accordance.judging.kept_json import as_bytes
from accordance.workspace.bundle import (
    Papers,
    broken_files,
    bundle_folder,
    until_it_counts,
    write_bundle,
)
from accordance.workspace.collecting import CollectedFacts
from accordance.workspace.errors import BundleBroken, WorkspaceError


def free_place(
    bundles: Path,
    task_id: str,
    attempt: int,
    owner: str | None = None,
) -> Path:
    """Return where the bundle will be written.

    Raises AttemptJudged if there is a bundle, and WorkspaceError if a link would lead
    it elsewhere.
    """
    place = bundle_folder(bundles, task_id, attempt)
    if owner is not None:
        place = until_it_counts(place, owner)

    for folder in (place.parent.parent, place.parent, place):
        is_other_than_folder = folder.exists() and not folder.is_dir()
        if folder.is_symlink() or is_other_than_folder:
            raise WorkspaceError(
                f"{folder} is a link or a file, not a folder; keep the bundle elsewhere"
            )
    if place.exists():
        raise AttemptJudged(
            f"attempt {attempt} was judged before: {place} exists",
            way_out="give this attempt its own number",
        )
    return place


def earlier_failures(bundles: Path, task_id: str, attempt: int) -> tuple[str, ...]:
    """Return how earlier attempts failed, oldest first.

    Attempts whose bundles are missing or broken are left out.
    """
    signatures = []
    for number in range(1, attempt):
        signature = _failure_in(bundle_folder(bundles, task_id, number))
        if signature:
            signatures.append(signature)
    return tuple(signatures)


def _failure_in(folder: Path) -> str:
    """Return the signature of a bundle's failure; nothing where it is not whole."""
    try:
        if broken_files(folder):
            return ""
        judgement = json.loads((folder / "judgement.json").read_bytes())
        return str(judgement["signature"])
    except (BundleBroken, OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def links_to(evidence: EvidenceFacts, bundle: Path | None) -> dict[str, str]:
    """Return where each artifact is.

    That is in the bundle, if the artifact is kept there; otherwise where the submission
    says.
    """
    links = {}
    for fact in evidence.artifacts:
        place = fact.path
        if bundle is not None and _is_kept(fact):
            inside = fact.path.removeprefix(f"{evidence.folder}/")
            place = f"{evidence.folder}/{bundle.name}/agent/{inside}"
        links[fact.name.value] = place
    return links


def _is_kept(fact: ArtifactFact) -> bool:
    """Whether an artifact goes into the bundle: a file with content, or a folder.

    An empty folder is evidence that there is no more.
    """
    if not fact.inside or not fact.exists:
        return False
    is_folder = fact.name is ArtifactName.EVIDENCE_DIR and fact.readable
    return is_folder or fact.size > 0


def keep(
    judgement: Judgement,
    place: Path,
    collected: CollectedFacts,
    work: Path,
    papers: Papers,
) -> None:
    """Write the bundle. Raises WorkspaceError."""
    verdict = as_bytes(judgement.as_verdict())
    more = {
        "terms.json": terms_to_json(judgement.terms),
        "outcome.json": as_bytes(judgement.as_outcome()),
        "judgement.json": as_bytes(judgement.to_json()),
    }
    papers = replace(papers, verdict=verdict, more=more)
    write_bundle(place, collected, work, papers)

    evidence = collected.facts.evidence
    folder = evidence.artifact(ArtifactName.EVIDENCE_DIR)
    if folder is not None and _is_kept(folder):
        inside = folder.path.removeprefix(f"{evidence.folder}/")
        (place / "agent" / inside).mkdir(parents=True, exist_ok=True)


def sign(judgement: Judgement, place: Path, key: Path) -> None:
    """Sign the bundle. Needs the extra `attest`."""
    from accordance.workspace.attestation import sign_bundle

    sign_bundle(place, key, about(judgement))


def about(judgement: Judgement) -> dict[str, str]:
    """Return what a signature attests beside the hashes."""
    return {
        "task_id": judgement.task_id,
        "attempt": str(judgement.attempt),
        "outcome": judgement.outcome.value,
        "reason_code": judgement.verdict.reason_code or "",
        "base_commit": judgement.facts.base_commit,
        "tree": judgement.facts.tree,
        "evaluated_at": judgement.evaluated_at,
    }
