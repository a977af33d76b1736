"""Files of a project for people and programs elsewhere: evidence, products, exports.

Nothing here takes a path from outside: files are named by their task and attempt, and
those of a bundle by a name that its listing has.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.errors import EvidenceGone, NoEvidence, NotFound
from accordance.executors.left_files import read_file_inside
from accordance.service.attempt_files import attempt_place
from accordance.service.plans import export
from accordance.service.project import Project
from accordance.service.views.downloads import EvidenceFileView, EvidenceView

LARGEST_FILE: Final = 256 << 20
_MOST_FILES: Final = 10_000
_SAME_TIME: Final = (1980, 1, 1, 0, 0, 0)  # the same files make the same archive


@dataclass(frozen=True, slots=True)
class Download:
    """A file to hand over."""

    name: str
    content: bytes
    media_type: str


def list_evidence(
    project: Project,
    task: str,
    attempt: int | None = None,
) -> EvidenceView:
    """Return which files an attempt has left. Raises NoEvidence, EvidenceGone."""
    place = attempt_place(project, task, attempt)
    files = tuple(
        EvidenceFileView(name=name, bytes=path.stat().st_size)
        for name, path in _files(Path(place.path))
    )
    return EvidenceView(
        task_id=place.task_id,
        attempt=place.attempt,
        kind=place.kind,
        files=files,
    )


def evidence_archive(
    project: Project,
    task: str,
    attempt: int | None = None,
) -> Download:
    """Return all files of an attempt as a ZIP archive. Raises NoEvidence."""
    place = attempt_place(project, task, attempt)
    base = Path(place.path)
    folder = base if base.is_dir() else base.parent
    contents = (
        (name, _content(folder, path.relative_to(folder).as_posix()))
        for name, path in _files(base)
    )
    name = f"evidence-{place.attempt}.zip"
    return Download(name, _archive(contents), "application/zip")


def evidence_file(
    project: Project,
    task: str,
    name: str,
    attempt: int | None = None,
) -> Download:
    """Return a file that the listing of an attempt names. Raises NotFound."""
    place = attempt_place(project, task, attempt)
    base = Path(place.path)
    listed = dict(_files(base))
    if name not in listed:
        raise NotFound("file", name, listed)
    folder = base if base.is_dir() else base.parent
    inside = listed[name].relative_to(folder).as_posix()
    return Download(
        listed[name].name, _content(folder, inside), "application/octet-stream"
    )


def evidence_folder(project: Project, task: str, attempt: int | None = None) -> Path:
    """Return the bundle of an attempt. Raises NoEvidence if it has a product only."""
    place = attempt_place(project, task, attempt)
    if place.kind != "evidence":
        raise NoEvidence(f"attempt {place.attempt} has a product, and no bundle")
    return Path(place.path)


def plan_archive(
    project: Project,
    plan: str | None,
    *,
    candidates: bool = False,
) -> Download:
    """Return the products of a plan with its manifest as a ZIP archive."""
    with tempfile.TemporaryDirectory(prefix="accordance-export-") as temporary:
        folder = Path(temporary)
        view = export(project, plan, folder, candidates=candidates)
        contents = ((name, path.read_bytes()) for name, path in _files(folder))
        content = _archive(contents)
    return Download(f"{view.plan_id}.zip", content, "application/zip")


def _files(base: Path) -> Iterator[tuple[str, Path]]:
    """Yield the regular files in a folder, by name; links are left out."""
    if base.is_file() and not base.is_symlink():
        yield base.name, base
        return
    count = 0
    for path in sorted(base.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        count += 1
        if count > _MOST_FILES:
            return
        yield path.relative_to(base).as_posix(), path


def _content(folder: Path, name: str) -> bytes:
    content = read_file_inside(folder, name, LARGEST_FILE)
    if content is None:
        raise EvidenceGone(f"{name} is not there any more, or is too large")
    return content


def _archive(contents: Iterator[tuple[str, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents:
            info = zipfile.ZipInfo(name, _SAME_TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return buffer.getvalue()
