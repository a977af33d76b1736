"""The agent's evidence, looked at: which artifacts are there, what they show, and what they contradict."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from accordance.contracts.pins import normal_path
from accordance.domain.facts import (
    ArtifactFact,
    ArtifactName,
    ChangeSet,
    EntryKind,
    EvidenceFacts,
    PatchFacts,
    SelftestFacts,
    Snapshot,
)
from accordance.workspace.clone import Workspace
from accordance.workspace.names import folder_name
from accordance.workspace.patching import LARGEST_PATCH, ReadablePatch, compare_patch

LARGEST_LOG: Final = 16 << 20
_MOST_OTHERS: Final = 1_000  # named; the tree lists them all
_EXIT_CODE: Final = re.compile(r"EXIT_CODE=(-?\d{1,9})\s*\Z")
USUAL: Final = {
    ArtifactName.REPORT_MD: "report.md",
    ArtifactName.SELFTEST_LOG: "selftest.log",
    ArtifactName.PATCH_DIFF: "patch.diff",
    ArtifactName.SUBMIT_JSON: "submit.json",
    ArtifactName.EVIDENCE_DIR: "evidence",
}


def evidence_folder(task_id: str) -> str:
    """Where the evidence of a task lies, relative to the repository. Raises UnsafeName."""
    return f"artifacts/{folder_name(task_id)}"


@dataclass(frozen=True, slots=True)
class Said:
    """What is looked for: the evidence folder, the artifacts where the submission says they are, the task's tests."""

    folder: str
    places: Mapping[ArtifactName, str]
    tests: tuple[str, ...] = ()

    @classmethod
    def usually(cls, task_id: str, tests: Sequence[str] = ()) -> Said:
        """Where artifacts lie when no submission says so. Raises UnsafeName."""
        folder = evidence_folder(task_id)
        return cls(folder, {name: f"{folder}/{place}" for name, place in USUAL.items()}, tuple(tests))


def look_at_evidence(
    workspace: Workspace, said: Said, after: Snapshot, changes: ChangeSet, real: ReadablePatch
) -> EvidenceFacts:
    """Look at every artifact. Nothing outside the evidence folder is opened."""
    artifacts = tuple(
        _artifact(workspace.work, said.folder, name, said.places[name]) for name in ArtifactName
    )
    by_name = {fact.name: fact for fact in artifacts}
    return EvidenceFacts(
        said.folder,
        artifacts,
        _selftest(workspace.work, by_name[ArtifactName.SELFTEST_LOG], said.tests),
        _patch(workspace, by_name[ArtifactName.PATCH_DIFF], changes, real),
        tuple(islice(_others(said, after), _MOST_OTHERS)),
    )


def _artifact(work: Path, folder: str, name: ArtifactName, said: str) -> ArtifactFact:
    path = normal_path(said)
    if path is None or not f"{path}/".startswith(f"{folder}/") or not _stays_inside(work, folder, path):
        return ArtifactFact(name, said, inside=False, problem=f"not below {folder}/")
    place = work / path
    if name is ArtifactName.EVIDENCE_DIR:
        return _directory(place, said)
    if not place.is_file():
        return ArtifactFact(name, said, exists=place.exists(), problem="no such file")
    try:
        with place.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return ArtifactFact(name, said, exists=True, problem=error.strerror or "cannot be read")
    size = place.stat().st_size
    blank = size < LARGEST_LOG and not place.read_bytes().strip()
    return ArtifactFact(name, said, exists=True, readable=True, size=0 if blank else size, sha256=digest)


def _stays_inside(work: Path, folder: str, path: str) -> bool:
    """No link on the way: neither the artifact nor a folder above it leads elsewhere."""
    place = work
    for segment in path.split("/"):
        place /= segment
        if place.is_symlink():
            return False
    return (work / folder).resolve() == work.resolve() / folder


def _directory(place: Path, said: str) -> ArtifactFact:
    if not place.is_dir():
        return ArtifactFact(ArtifactName.EVIDENCE_DIR, said, exists=place.exists(), problem="no such folder")
    try:
        count = sum(1 for _ in place.iterdir())
    except OSError as error:
        return ArtifactFact(
            ArtifactName.EVIDENCE_DIR, said, exists=True, problem=error.strerror or "cannot be read"
        )
    return ArtifactFact(ArtifactName.EVIDENCE_DIR, said, exists=True, readable=True, size=count)


def _selftest(work: Path, fact: ArtifactFact, tests: Sequence[str]) -> SelftestFacts | None:
    raw = _content(work, fact, LARGEST_LOG + 1)
    if raw is None:
        return None
    text = raw.decode("utf-8", "replace")
    ending = _EXIT_CODE.search(text.rstrip().rpartition("\n")[2])
    return SelftestFacts(
        int(ending[1]) if ending else None,
        tuple(command for command in tests if command not in text),
        cut=len(raw) > LARGEST_LOG,
    )


def _patch(
    workspace: Workspace, fact: ArtifactFact, changes: ChangeSet, real: ReadablePatch
) -> PatchFacts | None:
    raw = _content(workspace.work, fact, LARGEST_PATCH + 1)
    return None if raw is None else compare_patch(workspace, changes, raw, real)


def _content(work: Path, fact: ArtifactFact, most: int) -> bytes | None:
    """The first bytes of an artifact, or None where there is nothing to read."""
    if not (fact.inside and fact.exists and fact.readable):
        return None
    with (work / (normal_path(fact.path) or "")).open("rb") as file:
        return file.read(most)


def _others(said: Said, after: Snapshot) -> Iterator[str]:
    """Entries of the folder that are none of the five, and no folders."""
    named = {normal_path(place) for place in said.places.values()}
    for path, entry in sorted(after.entries.items()):
        is_other = entry.kind is not EntryKind.DIRECTORY and path not in named
        if is_other and path.startswith(f"{said.folder}/"):
            yield path
