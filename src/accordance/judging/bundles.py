"""Where judgements are kept: one bundle for each attempt, written once, signed where there is a key."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from accordance.domain.facts import ArtifactFact, ArtifactName, EvidenceFacts
from accordance.domain.terms import terms_to_json
from accordance.errors import AttemptJudged
from accordance.judging.judgement import Judgement
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
    bundles: Path, task_id: str, attempt: int, owner: str | None = None
) -> Path:
    """Where the bundle will be written. Raises Conflict if there is one, WorkspaceError if a link leads elsewhere."""
    place = bundle_folder(bundles, task_id, attempt)
    if owner is not None:
        place = until_it_counts(place, owner)
    for folder in (place.parent.parent, place.parent, place):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise WorkspaceError(
                f"{folder} is no folder of its own; keep the bundle in another place"
            )
    if place.exists():
        raise AttemptJudged(
            f"attempt {attempt} was judged before: {place} exists",
            way_out="give this one its own number",
        )
    return place


def earlier_failures(bundles: Path, task_id: str, attempt: int) -> tuple[str, ...]:
    """How the attempts before failed, oldest first, as far as their bundles are there and whole."""
    folders = (bundle_folder(bundles, task_id, number) for number in range(1, attempt))
    return tuple(signature for folder in folders if (signature := _signature(folder)))


def _signature(folder: Path) -> str:
    try:
        if broken_files(folder):
            return ""
        return str(json.loads((folder / "judgement.json").read_bytes())["signature"])
    except (BundleBroken, OSError, ValueError, KeyError, TypeError):
        return ""


def links_to(evidence: EvidenceFacts, bundle: Path | None) -> dict[str, str]:
    """Where each artifact is: in the bundle, if it was there to be kept; else where the submission says."""
    links = {fact.name.value: fact.path for fact in evidence.artifacts}
    if bundle is None:
        return links
    for fact in evidence.artifacts:
        if _is_kept(fact):
            below = fact.path.removeprefix(f"{evidence.folder}/")
            links[fact.name.value] = f"{evidence.folder}/{bundle.name}/agent/{below}"
    return links


def _is_kept(fact: ArtifactFact) -> bool:
    """A file that says something, and any folder: an empty one is evidence that there is no more."""
    is_folder = fact.name is ArtifactName.EVIDENCE_DIR and fact.readable
    return fact.inside and fact.exists and bool(fact.size or is_folder)


def keep(
    judgement: Judgement,
    place: Path,
    collected: CollectedFacts,
    work: Path,
    papers: Papers,
) -> None:
    """Write the bundle. Raises WorkspaceError."""
    more = {
        "terms.json": terms_to_json(judgement.terms),
        "outcome.json": as_bytes(judgement.as_outcome()),
        "judgement.json": as_bytes(judgement.to_json()),
    }
    verdict = as_bytes(judgement.as_verdict())
    write_bundle(place, collected, work, replace(papers, verdict=verdict, more=more))
    evidence = collected.facts.evidence
    folder = evidence.artifact(ArtifactName.EVIDENCE_DIR)
    if folder is not None and _is_kept(folder):
        below = folder.path.removeprefix(f"{evidence.folder}/")
        (place / "agent" / below).mkdir(parents=True, exist_ok=True)


def sign(judgement: Judgement, place: Path, key: Path) -> None:
    """Sign the bundle. Needs the extra `attest`."""
    from accordance.workspace.attestation import sign_bundle

    sign_bundle(place, key, about(judgement))


def about(judgement: Judgement) -> dict[str, str]:
    """What a signature attests beside the hashes."""
    return {
        "task_id": judgement.task_id,
        "attempt": str(judgement.attempt),
        "outcome": judgement.outcome.value,
        "reason_code": judgement.verdict.reason_code or "",
        "base_commit": judgement.facts.base_commit,
        "tree": judgement.facts.tree,
        "evaluated_at": judgement.evaluated_at,
    }


def as_bytes(value: object) -> bytes:
    """JSON as it is kept."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode(
        "utf-8", "surrogatepass"
    )
