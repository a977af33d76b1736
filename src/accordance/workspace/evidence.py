"""The agent's evidence, looked at: which artifacts are there, what they show, and what they contradict."""

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
_PIECE: Final = 1 << 20
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
class EvidenceRequest:
    """What is looked for: the evidence folder, the artifacts where the submission says they are, the task's tests."""

    folder: str
    places: Mapping[ArtifactName, str]
    tests: tuple[str, ...] = ()

    @classmethod
    def usually(cls, task_id: str, tests: Sequence[str] = ()) -> EvidenceRequest:
        """Where artifacts lie when no submission says so. Raises UnsafeName."""
        folder = evidence_folder(task_id)
        return cls(
            folder,
            {name: f"{folder}/{place}" for name, place in USUAL.items()},
            tuple(tests),
        )


class _Looked(NamedTuple):
    """An artifact, and its first bytes where it is a file that can be read."""

    fact: ArtifactFact
    content: bytes | None = None


def look_at_evidence(
    workspace: Workspace,
    said: EvidenceRequest,
    after: Snapshot,
    changes: ChangeSet,
    real: ReadablePatch,
) -> EvidenceFacts:
    """Look at every artifact. Nothing outside the evidence folder is opened, and no link is followed."""
    with opened(workspace.work) as root:
        looked = {
            name: _artifact(root, said.folder, name, said.places[name])
            for name in ArtifactName
        }
    patch = looked[ArtifactName.PATCH_DIFF].content
    return EvidenceFacts(
        said.folder,
        tuple(artifact.fact for artifact in looked.values()),
        _selftest(looked[ArtifactName.SELFTEST_LOG].content, said.tests),
        None if patch is None else compare_patch(workspace, changes, patch, real),
        tuple(islice(_others(said, after), _MOST_OTHERS)),
    )


def _artifact(root: int, folder: str, name: ArtifactName, said: str) -> _Looked:
    path = normal_path(said)
    if path is None or not f"{path}/".startswith(f"{folder}/"):
        return _Looked(_outside(name, said, folder))
    is_folder = name is ArtifactName.EVIDENCE_DIR
    try:
        return (
            _directory(root, path, said) if is_folder else _file(root, path, name, said)
        )
    except OSError as error:
        if error.errno == errno.ELOOP:
            return _Looked(_outside(name, said, folder))
        is_there = error.errno not in (errno.ENOENT, errno.ENOTDIR) or _is_there(
            root, path
        )
        other_kind = error.errno in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR)
        problem = "no such folder" if is_folder else "no such file"
        if not other_kind:
            problem = error.strerror or "cannot be read"
        return _Looked(ArtifactFact(name, said, exists=is_there, problem=problem))


def _outside(name: ArtifactName, said: str, folder: str) -> ArtifactFact:
    return ArtifactFact(name, said, inside=False, problem=f"not below {folder}/")


def _is_there(root: int, path: str) -> bool:
    """Whether anything stands at the path, of whatever kind."""
    try:
        os.close(open_below(root, path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _file(root: int, path: str, name: ArtifactName, said: str) -> _Looked:
    with file_below(root, path) as file:
        content = file.read(LARGEST_PATCH + 1)
        digest = hashlib.sha256(content)
        size = len(content)
        while piece := file.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    told = 0 if size < LARGEST_LOG and not content.strip() else size
    fact = ArtifactFact(
        name, said, exists=True, readable=True, size=told, sha256=digest.hexdigest()
    )
    return _Looked(fact, content)


def _directory(root: int, path: str, said: str) -> _Looked:
    folder = open_below(root, path, FOLDER)
    try:
        count = len(os.listdir(folder))  # noqa: PTH208 - a descriptor
    finally:
        os.close(folder)
    return _Looked(
        ArtifactFact(
            ArtifactName.EVIDENCE_DIR, said, exists=True, readable=True, size=count
        )
    )


def _selftest(raw: bytes | None, tests: Sequence[str]) -> SelftestFacts | None:
    if raw is None:
        return None
    text = raw[: LARGEST_LOG + 1].decode("utf-8", "replace")
    ending = _EXIT_CODE.search(text.rstrip().rpartition("\n")[2])
    return SelftestFacts(
        int(ending[1]) if ending else None,
        tuple(command for command in tests if command not in text),
        cut=len(raw) > LARGEST_LOG,
    )


def _others(said: EvidenceRequest, after: Snapshot) -> Iterator[str]:
    """Entries of the folder that are none of the five, and no folders."""
    named = {normal_path(place) for place in said.places.values()}
    for path, entry in sorted(after.entries.items()):
        is_other = entry.kind is not EntryKind.DIRECTORY and path not in named
        if is_other and path.startswith(f"{said.folder}/"):
            yield path
