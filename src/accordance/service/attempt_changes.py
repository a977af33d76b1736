"""The change of an attempt, file by file, and line by line as far as it is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from accordance.domain.patch_lines import FilePatch, PatchLine, files_in
from accordance.errors import NotFound
from accordance.service.attempt_files import attempt_bundle, attempt_patch
from accordance.service.project import Project
from accordance.service.views.stories import AttemptPatchView, ChangedPathView
from accordance.service.views.task_pages import (
    ChangedFileView,
    ChangeView,
    PatchLinesView,
)

MOST_LINES: Final = 5_000
_LONGEST_LINE: Final = 2_000
_MOST_PATHS: Final = 5_000


class LineWindow(NamedTuple):
    """Which lines of a file are wanted."""

    offset: int = 0
    limit: int = MOST_LINES


def attempt_change(
    project: Project,
    name: str,
    number: int | None = None,
    *,
    since_start: bool = False,
) -> ChangeView:
    """Return the files of a change. Raises NoEvidence, EvidenceGone."""
    patch = attempt_patch(project, name, number, since_start=since_start)
    scope = {path.path: path for path in patch.paths}
    reached = {} if since_start else _never_run(project, patch)
    files = files_in(patch.patch)[:_MOST_PATHS]
    return ChangeView(
        task_id=patch.task_id,
        attempt=patch.attempt,
        base=patch.base,
        since_start=since_start,
        files=tuple(_file(file, scope, reached) for file in files),
        is_cut=patch.is_cut,
    )


def _file(
    file: FilePatch,
    scope: Mapping[str, ChangedPathView],
    reached: Mapping[str, tuple[int, ...]],
) -> ChangedFileView:
    paths = [file.path]
    if file.old_path is not None:
        paths.append(file.old_path)
    ends = [scope[path] for path in paths if path in scope]
    outside = [end for end in ends if not end.is_allowed]
    deciding = outside or ends
    return ChangedFileView(
        path=file.path,
        old_path=file.old_path,
        added=file.added,
        removed=file.removed,
        lines=len(file.lines),
        is_binary=file.is_binary,
        is_allowed=not outside,
        why=deciding[0].why if deciding else "",
        never_run=reached.get(file.path),
    )


def change_lines(
    project: Project,
    name: str,
    path: str,
    number: int | None = None,
    *,
    since_start: bool = False,
    window: LineWindow | None = None,
) -> PatchLinesView:
    """Return some lines of a file's part of a change. Raises NotFound for the file."""
    patch = attempt_patch(project, name, number, since_start=since_start)
    files = {file.path: file for file in files_in(patch.patch)}
    if path not in files:
        raise NotFound("file", path, files)
    reached = {} if since_start else _never_run(project, patch)
    missed = frozenset(reached.get(path, ()))
    return _lines_view(path, files[path].lines, missed, window or LineWindow())


def _lines_view(
    path: str,
    lines: Sequence[PatchLine],
    missed: frozenset[int],
    window: LineWindow,
) -> PatchLinesView:
    offset = window.offset
    shown = lines[offset : offset + window.limit]
    behind = offset + len(shown)
    return PatchLinesView(
        path=path,
        total=len(lines),
        offset=offset,
        kinds="".join(line.kind for line in shown),
        old=tuple(line.old for line in shown),
        new=tuple(line.new for line in shown),
        text=tuple(line.text[:_LONGEST_LINE] for line in shown),
        never_run=tuple(line.kind == "+" and line.new in missed for line in shown),
        next=behind if behind < len(lines) else None,
    )


def _never_run(project: Project, patch: AttemptPatchView) -> dict[str, tuple[int, ...]]:
    """Return the changed lines that no test ran, by file, as the judge traced them."""
    if patch.evidence is None:
        return {}
    bundle = attempt_bundle(project, patch.task_id, patch.attempt)
    return bundle.never_run()
