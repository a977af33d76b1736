"""The agent's evidence: which artifacts exist, what they show, and what contradicts."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from accordance.contracts.pins import normal_path
from accordance.domain.facts import (
    ArtifactFact,
    ArtifactName,
    ChangeSet,
    EntryKind,
    EvidenceFacts,
    SelftestFacts,
    Snapshot,
)
from accordance.workspace.beneath import FOLDER, file_below, open_below, opened
from accordance.workspace.clone import Workspace
from accordance.workspace.names import folder_name
from accordance.workspace.patching import LARGEST_PATCH, ReadablePatch, compare_patch

LARGEST_LOG: Final = 16 << 20
_LARGEST_ARTIFACT: Final = 256 << 20
_CHUNK: Final = 1 << 20
_MAX_OTHERS: Final = 1_000  # named as facts; the tree lists them all
_EXIT_CODE: Final = re.compile(r"EXIT_CODE=(-?\d{1,9})\s*\Z")
_MISSING: Final = (errno.ENOENT, errno.ENOTDIR)
_WRONG_KIND: Final = (errno.EINVAL, errno.ENOENT, errno.ENOTDIR)
USUAL: Final = {
    ArtifactName.REPORT_MD: "report.md",
    ArtifactName.SELFTEST_LOG: "selftest.log",
    ArtifactName.PATCH_DIFF: "patch.diff",
    ArtifactName.SUBMIT_JSON: "submit.json",
    ArtifactName.EVIDENCE_DIR: "evidence",
}


def evidence_folder(task_id: str) -> str:
    """Return the folder of a task's evidence, relative to the repository.

    Raises UnsafeName.
    """
    return f"artifacts/{folder_name(task_id)}"


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """What to look for: the evidence folder, the artifacts in it, the task's tests."""

    folder: str
    places: Mapping[ArtifactName, str]
    tests: tuple[str, ...] = ()

    @classmethod
    def usually(cls, task_id: str, tests: Sequence[str] = ()) -> EvidenceRequest:
        """Return the usual places, for where no submission names others.

        Raises UnsafeName.
        """
        folder = evidence_folder(task_id)
        places = {name: f"{folder}/{path}" for name, path in USUAL.items()}
        return cls(folder, places, tuple(tests))


class _Artifact(NamedTuple):
    """An artifact, and its first bytes where it is a readable file."""

    fact: ArtifactFact
    content: bytes | None = None


def look_at_evidence(
    workspace: Workspace,
    request: EvidenceRequest,
    after: Snapshot,
    changes: ChangeSet,
    real: ReadablePatch,
) -> EvidenceFacts:
    """Look at every artifact.

    Nothing outside the evidence folder is opened, and no link is followed.
    """
    artifacts = {}
    with opened(workspace.work) as root:
        for name in ArtifactName:
            place = request.places[name]
            artifacts[name] = _artifact(root, request.folder, name, place)

    patch_facts = None
    patch = artifacts[ArtifactName.PATCH_DIFF].content
    if patch is not None:
        patch_facts = compare_patch(workspace, changes, patch, real)

    log = artifacts[ArtifactName.SELFTEST_LOG].content
    return EvidenceFacts(
        request.folder,
        tuple(artifact.fact for artifact in artifacts.values()),
        _selftest(log, request.tests),
        patch_facts,
        tuple(islice(_other_files(request, after), _MAX_OTHERS)),
    )


def _artifact(root: int, folder: str, name: ArtifactName, place: str) -> _Artifact:
    path = normal_path(place)
    if path is None or not f"{path}/".startswith(f"{folder}/"):
        return _outside(name, place, folder)

    try:
        if name is ArtifactName.EVIDENCE_DIR:
            return _directory(root, path, place)
        return _file(root, path, name, place)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return _outside(name, place, folder)
        return _not_opened(root, path, name, place, error)


def _outside(name: ArtifactName, place: str, folder: str) -> _Artifact:
    problem = f"not below {folder}/"
    return _Artifact(ArtifactFact(name, place, inside=False, problem=problem))


def _not_opened(
    root: int,
    path: str,
    name: ArtifactName,
    place: str,
    error: OSError,
) -> _Artifact:
    """Describe an artifact that is missing, of the wrong kind, or not readable."""
    if error.errno not in _WRONG_KIND:
        problem = error.strerror or "cannot be read"
    elif name is ArtifactName.EVIDENCE_DIR:
        problem = "no such folder"
    else:
        problem = "no such file"

    exists = error.errno not in _MISSING or _exists(root, path)
    return _Artifact(ArtifactFact(name, place, exists=exists, problem=problem))


def _exists(root: int, path: str) -> bool:
    """Whether anything stands at the path, of whatever kind."""
    try:
        os.close(open_below(root, path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _file(root: int, path: str, name: ArtifactName, place: str) -> _Artifact:
    with file_below(root, path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > _LARGEST_ARTIFACT:  # perhaps only a hole, and hashing takes hours
            problem = f"larger than {_LARGEST_ARTIFACT:,} bytes"
            fact = ArtifactFact(
                name,
                place,
                exists=True,
                size=size,
                problem=problem,
            )
            return _Artifact(fact)

        content = file.read(LARGEST_PATCH + 1)
        digest = hashlib.sha256(content)
        size = len(content)
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)

    is_blank = size < LARGEST_LOG and not content.strip()
    fact = ArtifactFact(
        name,
        place,
        exists=True,
        readable=True,
        size=0 if is_blank else size,
        sha256=digest.hexdigest(),
    )
    return _Artifact(fact, content)


def _directory(root: int, path: str, place: str) -> _Artifact:
    descriptor = open_below(root, path, FOLDER)
    try:
        count = len(os.listdir(descriptor))  # noqa: PTH208 - a descriptor
    finally:
        os.close(descriptor)

    name = ArtifactName.EVIDENCE_DIR
    return _Artifact(
        ArtifactFact(
            name,
            place,
            exists=True,
            readable=True,
            size=count,
        )
    )


def _selftest(raw: bytes | None, tests: Sequence[str]) -> SelftestFacts | None:
    """Return what the agent's own test log shows; None where there is none."""
    if raw is None:
        return None

    text = raw[: LARGEST_LOG + 1].decode("utf-8", "replace")
    last_line = text.rstrip().rpartition("\n")[2]
    ending = _EXIT_CODE.search(last_line)
    exit_code = int(ending[1]) if ending else None
    missing = tuple(command for command in tests if command not in text)
    return SelftestFacts(exit_code, missing, cut=len(raw) > LARGEST_LOG)


def _other_files(request: EvidenceRequest, after: Snapshot) -> Iterator[str]:
    """Yield the files in the evidence folder that are none of the artifacts."""
    prefix = f"{request.folder}/"
    artifacts = {normal_path(place) for place in request.places.values()}
    for path, entry in sorted(after.entries.items()):
        if not path.startswith(prefix) or path in artifacts:
            continue
        if entry.kind is not EntryKind.DIRECTORY:
            yield path
