"""The evidence bundle: one folder per attempt with everything the verdict rests on, and a manifest of hashes.

artifacts/{task_id}/attempt-{n}/
  manifest.json     sha256 and size of every other file; written last
  task.json         the task as it was asked, submit.json the submission as it came: bytes untouched
  facts.json        what accordance found out; tree-before.json and tree-after.json what it was made from
  terms.json        by which role, in which budget, after which history it was judged
  patch.diff        the real change; gateway.log what accordance did; runs/ the output of every test
  agent/            the agent's own report, log, patch and evidence, or what accordance made in their place
  verdict.json      the verdict (scc.verdict.v1), outcome.json the same as scc.outcome.v1, judgement.json all that was found
  attestation.json  where asked for, a signature over the manifest
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pydantic import TypeAdapter

from accordance.domain.facts import AttemptFacts, EntryKind, Snapshot, TreeEntry
from accordance.workspace.beneath import copy_below, opened
from accordance.workspace.collecting import CollectedFacts
from accordance.workspace.errors import BundleBroken, WorkspaceError
from accordance.workspace.evidence import evidence_folder
from accordance.workspace.names import name_of

MANIFEST: Final = "manifest.json"
VERSION: Final = "accordance.bundle.v1"
ATTESTATION: Final = "attestation.json"
_ATTEMPT: Final = "attempt-"
LARGEST_COPY: Final = (
    64 << 20
)  # of the agent's evidence in all; what does not fit is named in the tree, not kept


@cache
def _facts() -> TypeAdapter[AttemptFacts]:
    return TypeAdapter(AttemptFacts)


@cache
def _tree() -> TypeAdapter[Snapshot]:
    return TypeAdapter(Snapshot)


@dataclass(frozen=True, slots=True)
class Retention:
    """How long a bundle is kept, and what then; None is until somebody decides."""

    keep: timedelta | None
    then: str = "delete"


RETENTION: Final[Mapping[str, Retention]] = MappingProxyType(
    {
        "active": Retention(None),
        "done": Retention(timedelta(days=30), "archive"),
        "failed": Retention(timedelta(days=90)),
        "dead_letter": Retention(None),
        "high_impact": Retention(timedelta(days=180), "archive"),
    }
)


def due(
    state: str, age: timedelta, policy: Mapping[str, Retention] = RETENTION
) -> str | None:
    """What is to be done with a bundle of this age: archive, delete, or nothing."""
    rule = policy[state]
    return rule.then if rule.keep is not None and age > rule.keep else None


@dataclass(frozen=True, slots=True)
class Papers:
    """What goes into a bundle beside the facts, as bytes."""

    task: bytes
    verdict: bytes
    submit: bytes = b""
    log: str = ""
    more: Mapping[str, bytes] = field(default_factory=dict)
    made: Mapping[str, bytes] | None = (
        None  # the artifacts, where accordance made them and no agent did
    )


def bundle_folder(root: Path, task_id: str, attempt: int) -> Path:
    """Where the bundle of one attempt lies. Raises UnsafeName."""
    return root / evidence_folder(task_id) / f"{_ATTEMPT}{attempt}"


def until_it_counts(folder: Path, owner: str) -> Path:
    """Where one of several runs of the same attempt writes its bundle: beside the place it gets when it counts."""
    return folder.with_name(f"{folder.name}-run-{owner}")


def write_bundle(
    folder: Path, collected: CollectedFacts, work: Path, papers: Papers
) -> Path:
    """Write a bundle to the new folder `folder` and return its manifest's place. Raises WorkspaceError."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise WorkspaceError(
            f"{folder} exists already; a bundle is written once"
        ) from None
    contents: dict[str, bytes] = {
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
        contents["submit.json"] = papers.submit
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / "runs").mkdir()
    for log in collected.logs:
        if log.exists():
            shutil.copyfile(log, folder / "runs" / log.name)
    if papers.made is None:
        _keep_agents_evidence(work, collected, folder / "agent")
    else:
        _keep_made_evidence(papers.made, folder / "agent")
    return _write_manifest(folder)


def _keep_agents_evidence(work: Path, collected: CollectedFacts, target: Path) -> None:
    """The files the snapshot saw in the evidence folder: no links, nothing special, no earlier bundle, no end of bytes."""
    target.mkdir()
    folder, room = f"{collected.facts.evidence.folder}/", LARGEST_COPY
    kept: list[tuple[TreeEntry, Path]] = []
    for path, entry in sorted(collected.after.entries.items()):
        inside = path.removeprefix(folder)
        first, below, _ = inside.partition("/")
        is_bundle = bool(below) and first.startswith(_ATTEMPT)
        if (
            inside == path
            or entry.kind is not EntryKind.FILE
            or is_bundle
            or entry.size > room
        ):
            continue
        room -= entry.size
        kept.append((entry, target / name_of(inside)))
    with opened(work) as root:
        for entry, place in kept:
            place.parent.mkdir(parents=True, exist_ok=True)
            copy_below(root, entry, place)


def _keep_made_evidence(made: Mapping[str, bytes], target: Path) -> None:
    for path, content in made.items():
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def _write_manifest(folder: Path) -> Path:
    files = {
        path: {"sha256": digest, "size": size}
        for path, digest, size in sorted(_hashes(folder))
    }
    place = folder / MANIFEST
    place.write_text(
        json.dumps(
            {"schema_version": VERSION, "files": files}, indent=1, sort_keys=True
        ),
        "utf-8",
    )
    return place


def _hashes(folder: Path) -> Iterator[tuple[str, str, int]]:
    """Every file but the manifest and its signature. Raises BundleBroken where something is neither file nor folder."""
    for directory, folders, files in os.walk(folder):
        for name in (*folders, *files):
            place = Path(directory, name)
            path = os.fsencode(place.relative_to(folder).as_posix()).decode(
                "utf-8", "backslashreplace"
            )
            mode = place.lstat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise BundleBroken(
                    f"{folder} holds {path}, which is neither a file nor a folder"
                )
            if stat.S_ISREG(mode) and path not in (MANIFEST, ATTESTATION):
                with place.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                yield path, digest, place.stat().st_size


def broken_files(folder: Path) -> tuple[str, ...]:
    """What does not agree with the manifest: changed, missing and additional files. Raises BundleBroken."""
    listed = _manifest(folder)
    found = {path: digest for path, digest, _ in _hashes(folder)}
    faults = [f"{path}: missing" for path in listed.keys() - found.keys()]
    faults += [f"{path}: not in the manifest" for path in found.keys() - listed.keys()]
    faults += [
        f"{path}: changed"
        for path in listed.keys() & found.keys()
        if listed[path] != found[path]
    ]
    return tuple(sorted(faults))


def _manifest(folder: Path) -> dict[str, str]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        if manifest["schema_version"] != VERSION:
            raise BundleBroken(
                f"{folder} is a bundle of version {manifest['schema_version']!r}, known: {VERSION}"
            )
        return {path: str(about["sha256"]) for path, about in manifest["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise BundleBroken(
            f"{folder} has no readable {MANIFEST}; it is no evidence bundle"
        ) from None


def read_facts(folder: Path) -> AttemptFacts:
    """The facts of a bundle. Raises BundleBroken."""
    try:
        return _facts().validate_json((folder / "facts.json").read_bytes())
    except (OSError, ValueError):
        raise BundleBroken(f"{folder} has no readable facts.json") from None


def read_tree(folder: Path, name: str) -> Snapshot:
    """A tree of a bundle: `tree-before.json` or `tree-after.json`. Raises BundleBroken."""
    try:
        return _tree().validate_json((folder / name).read_bytes())
    except (OSError, ValueError):
        raise BundleBroken(f"{folder} has no readable {name}") from None
