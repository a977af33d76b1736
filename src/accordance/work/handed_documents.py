"""Files that a person hands in as an answer, each put where it was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from accordance.domain.naming import safe_name
from accordance.domain.records import RequirementRecord
from accordance.work.inputs import takes_kind
from accordance.work.person_answers import UnfitAnswer, Upload


class PlacedUpload(NamedTuple):
    """A file, and its place below the inputs."""

    place: str
    upload: Upload


def placed_uploads(
    uploads: Sequence[Upload], needs: Sequence[RequirementRecord]
) -> list[PlacedUpload]:
    """Return where the files of an answer go: none takes the place of another.

    A file answers the document that it is handed in as; else the first of its type that
    no other file of the answer answers. Raises UnfitAnswer.
    """
    placed: dict[str, Upload] = {}
    for upload, need in _answered(uploads, needs):
        place = next(
            (place for place in _places(need, upload.name) if place not in placed), None
        )
        if place is None:
            raise UnfitAnswer(
                f"two files are called {upload.name}", way_out="give them other names"
            )
        placed[place] = upload
    return [PlacedUpload(place, upload) for place, upload in placed.items()]


def _answered(
    uploads: Sequence[Upload], needs: Sequence[RequirementRecord]
) -> Iterator[tuple[Upload, RequirementRecord | None]]:
    taken: set[str] = set()
    in_order = sorted(uploads, key=lambda upload: upload.document is None)
    for upload in in_order:
        fitting = _fitting(upload, needs)
        free = [need for need in fitting if need.requirement_id not in taken]
        chosen = next(iter(free or fitting), None)
        if chosen is not None:
            taken.add(chosen.requirement_id)
        yield upload, chosen


def _fitting(
    upload: Upload, needs: Sequence[RequirementRecord]
) -> list[RequirementRecord]:
    """Return the requirements that a file can answer. Raises UnfitAnswer."""
    wanted = list(needs)
    if upload.document is not None:
        wanted = [need for need in needs if need.name == upload.document]
        if not wanted:
            names = ", ".join(need.name for need in needs) or "none"
            raise UnfitAnswer(
                f"no document {upload.document!r} is asked for",
                way_out=f"the documents: {names}",
            )
    kind = Path(upload.name).suffix.lstrip(".").casefold()
    fitting = [need for need in wanted if takes_kind(need, kind)]
    if wanted and not fitting:
        kinds = sorted({name for need in wanted for name in need.allowed_types})
        raise UnfitAnswer(
            f"{upload.name} is none of the wanted types ({', '.join(kinds)})"
        )
    return fitting


def _places(need: RequirementRecord | None, name: str) -> Iterator[str]:
    """Yield where a file of that name answers a requirement, below the inputs."""
    if need is None:
        yield f"answers/{name}"
        return
    suggested = need.suggested_path
    if not suggested:
        yield f"{safe_name(need.name)}/{name}"
        return
    folder, _, file_name = suggested.rpartition("/")
    is_same_kind = Path(file_name).suffix == Path(name).suffix
    if file_name and is_same_kind:
        yield suggested
    yield f"{folder}/{name}".lstrip("/")
