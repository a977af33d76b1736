"""The evidence bundle: a folder per attempt with everything the verdict rests on.

artifacts/{task_id}/attempt-{n}/
  manifest.json     sha256 and size of every other file; written last
  task.json         the task, byte for byte
  submit.json       the submission, byte for byte
  facts.json        what accordance saw itself
  tree-before.json  the tree the facts were made from, as it was before
  tree-after.json   and after the attempt
  terms.json        the role, the budget and the history that the verdict was reached by
  patch.diff        the real change
  gateway.log       what accordance did
  runs/             the output of every test
  agent/            the agent's report, log, patch and evidence, or what accordance made
                    in their place
  verdict.json      the verdict as scc.verdict.v1
  outcome.json      the verdict as scc.outcome.v1
  judgement.json    the verdict with all its findings
  attestation.json  a signature over the manifest, if there is a key to sign with
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import TypeAdapter

from accordance.domain.facts import AttemptFacts, EntryKind, Snapshot, TreeEntry
from accordance.workspace.beneath import copy_below, file_below, opened
from accordance.workspace.collecting import CollectedFacts
from accordance.workspace.entries import sha256_of
from accordance.workspace.errors import BundleBroken, WorkspaceError
from accordance.workspace.evidence import evidence_folder
from accordance.workspace.names import name_of

MANIFEST: Final = "manifest.json"
VERSION: Final = "accordance.bundle.v1"
ATTESTATION: Final = "attestation.json"
_ATTEMPT: Final = "attempt-"
_NOT_LISTED: Final = (MANIFEST, ATTESTATION)
_LARGEST_MANIFEST: Final = 64 << 20
_LARGEST_DOCUMENT: Final = 512 << 20
_LARGEST_BUNDLE: Final = 2 << 30
_UNREADABLE: Final = (OSError, ValueError, RecursionError)
"""What reading a document raises that an agent has planted."""
LARGEST_COPY: Final = 64 << 20
"""Bytes of the agent's evidence that are kept; the tree names what does not fit."""


@cache
def _facts() -> TypeAdapter[AttemptFacts]:
    return TypeAdapter(AttemptFacts)


@cache
def _tree() -> TypeAdapter[Snapshot]:
    return TypeAdapter(Snapshot)


@dataclass(frozen=True, slots=True)
class Papers:
    """What goes into a bundle beside the facts, as bytes."""

    task: bytes
    verdict: bytes
    submit: bytes = b""
    log: str = ""
    more: Mapping[str, bytes] = field(default_factory=dict)
    made: Mapping[str, bytes] | None = None
    """The artifacts, where accordance made them all in an agent's place."""
    added: Mapping[str, bytes] = field(default_factory=dict)
    """The artifacts that accordance made because the agent left them out."""


def bundle_folder(root: Path, task_id: str, attempt: int) -> Path:
    """Return the folder of an attempt's bundle. Raises UnsafeName."""
    return root / evidence_folder(task_id) / f"{_ATTEMPT}{attempt}"


def until_it_counts(folder: Path, owner: str) -> Path:
    """Return where a run of an attempt writes its bundle, if there are several.

    It lies beside the place that the bundle gets when it counts.
    """
    return folder.with_name(f"{folder.name}-run-{owner}")


def write_bundle(
    folder: Path,
    collected: CollectedFacts,
    work: Path,
    papers: Papers,
) -> Path:
    """Write a bundle to a new folder and return its manifest. Raises WorkspaceError."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise WorkspaceError(
            f"{folder} exists already; a bundle is written once"
        ) from None

    for name, content in _documents(collected, papers).items():
        (folder / name).write_bytes(content)

    _keep_logs(collected, folder / "runs")
    if papers.made is None:
        _keep_agents_evidence(work, collected, folder / "agent")
        _keep_made_evidence(papers.added, folder / "agent")
    else:
        _keep_made_evidence(papers.made, folder / "agent")
    return _write_manifest(folder)


def _keep_logs(collected: CollectedFacts, runs: Path) -> None:
    """Copy the logs of all commands that have left a log."""
    runs.mkdir()
    targets = {log: log.name for log in collected.logs}
    targets |= {log: f"hidden-{log.name}" for log in collected.hidden_logs}
    for log, name in targets.items():
        if log.exists():
            shutil.copyfile(log, runs / name)


def _documents(collected: CollectedFacts, papers: Papers) -> dict[str, bytes]:
    """Return the files of a bundle that lie in no folder, by name."""
    documents = {
        "task.json": papers.task,
        "verdict.json": papers.verdict,
        "facts.json": _facts().dump_json(collected.facts, indent=1),
        "tree-before.json": _tree().dump_json(collected.before),
        "tree-after.json": _tree().dump_json(collected.after),
        "patch.diff": collected.patch.text,
        "gateway.log": papers.log.encode(),
        **papers.more,
    }
    if papers.submit:
        documents["submit.json"] = papers.submit
    return documents


def _keep_agents_evidence(work: Path, collected: CollectedFacts, target: Path) -> None:
    """Copy the evidence that the snapshot saw, as far as there is room for it."""
    target.mkdir()
    bytes_left = LARGEST_COPY
    with opened(work) as root:
        for inside, entry in _evidence_files(collected):
            if entry.size > bytes_left:
                continue
            bytes_left -= entry.size
            place = target / name_of(inside)
            place.parent.mkdir(parents=True, exist_ok=True)
            copy_below(root, entry, place)


def _evidence_files(collected: CollectedFacts) -> Iterator[tuple[str, TreeEntry]]:
    """Yield the files of the evidence folder by their path in it.

    Links and special files are left out, and so are earlier bundles.
    """
    prefix = f"{collected.facts.evidence.folder}/"
    for path, entry in sorted(collected.after.entries.items()):
        if not path.startswith(prefix) or entry.kind is not EntryKind.FILE:
            continue

        inside = path.removeprefix(prefix)
        first_folder, slash, _ = inside.partition("/")
        is_in_bundle = bool(slash) and first_folder.startswith(_ATTEMPT)
        if not is_in_bundle:
            yield inside, entry


def _keep_made_evidence(made: Mapping[str, bytes], target: Path) -> None:
    for path, content in made.items():
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


class BundleFile(NamedTuple):
    """A file of a bundle, as the manifest lists it."""

    path: str
    sha256: str
    size: int
    place: Path  # where it lies now


def _write_manifest(folder: Path) -> Path:
    files = {}
    for file in sorted(bundle_files(folder)):
        files[file.path] = {"sha256": file.sha256, "size": file.size}

    manifest = {"schema_version": VERSION, "files": files}
    place = folder / MANIFEST
    place.write_text(json.dumps(manifest, indent=1, sort_keys=True), "utf-8")
    return place


def bundle_files(folder: Path) -> Iterator[BundleFile]:
    """Yield every file but the manifest and its signature.

    Raises BundleBroken where something is neither a file nor a folder, and where there
    is more than we would ever write.
    """
    total_size = 0
    for directory, folders, files in os.walk(folder):
        for name in (*folders, *files):
            place = Path(directory, name)
            raw_path = os.fsencode(place.relative_to(folder).as_posix())
            path = raw_path.decode("utf-8", "backslashreplace")

            if _is_folder(folder, path, place) or path in _NOT_LISTED:
                continue
            size = place.stat().st_size
            total_size += size
            if total_size > _LARGEST_BUNDLE:
                raise BundleBroken(
                    f"{folder} is larger than any bundle: more than "
                    f"{_LARGEST_BUNDLE:,} bytes"
                )
            yield BundleFile(path, sha256_of(place), size, place)


def _is_folder(bundle: Path, path: str, place: Path) -> bool:
    """Whether a place in a bundle is a folder.

    Raises BundleBroken where it is no file either.
    """
    mode = place.lstat().st_mode
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise BundleBroken(
            f"{bundle} holds {path}, which is neither a file nor a folder"
        )
    return stat.S_ISDIR(mode)


def broken_files(folder: Path) -> tuple[str, ...]:
    """Return what disagrees with the manifest: changed, missing and additional files.

    Raises BundleBroken.
    """
    listed = _manifest(folder)
    present = {file.path: file.sha256 for file in bundle_files(folder)}

    faults = []
    for path in listed.keys() | present.keys():
        if path not in present:
            faults.append(f"{path}: missing")
        elif path not in listed:
            faults.append(f"{path}: not in the manifest")
        elif listed[path] != present[path]:
            faults.append(f"{path}: changed")
    return tuple(sorted(faults))


def _manifest(folder: Path) -> dict[str, str]:
    """Return the listed hashes by path. Raises BundleBroken."""
    try:
        _is_folder(folder, MANIFEST, folder / MANIFEST)
        manifest = json.loads(_content(folder / MANIFEST, _LARGEST_MANIFEST))
        version = manifest["schema_version"]
        if version != VERSION:
            raise BundleBroken(
                f"{folder} is a bundle of version {version!r}; "
                f"this accordance reads {VERSION}"
            )
        files = manifest["files"].items()
        return {path: str(about["sha256"]) for path, about in files}
    except (*_UNREADABLE, KeyError, TypeError, AttributeError):
        raise BundleBroken(
            f"{folder} is not an evidence bundle: it has no readable {MANIFEST}"
        ) from None


def _content(place: Path, largest: int = _LARGEST_DOCUMENT) -> bytes:
    """Return a file of a bundle. Raises OSError for a pipe, a link or a giant."""
    with opened(place.parent) as root, file_below(root, place.name) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), place.name)
    return content


def read_facts(folder: Path) -> AttemptFacts:
    """Return the facts of a bundle. Raises BundleBroken."""
    try:
        return _facts().validate_json(_content(folder / "facts.json"))
    except _UNREADABLE:
        raise BundleBroken(f"{folder} has no readable facts.json") from None


def read_tree(folder: Path, name: str) -> Snapshot:
    """Return a tree of a bundle, `tree-before.json` or `tree-after.json`.

    Raises BundleBroken.
    """
    try:
        return _tree().validate_json(_content(folder / name))
    except _UNREADABLE:
        raise BundleBroken(f"{folder} has no readable {name}") from None
