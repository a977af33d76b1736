"""`file_edits_v1`: a change of a repository by somebody who can only speak: a model that is asked directly.

It holds what `scc.submit.v1` leaves to the agent to say, and in place of claims about files the files themselves. Evidence and
tests are left out on purpose: who runs nothing has none to show.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from accordance.contracts.catalogue.identity import is_about_the_task
from accordance.contracts.catalogue.submit import (
    SPELLED_REASON,
    PathText,
    Question,
    ReasonCode,
    need_input_says_what,
)
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Closed, NotNull, Text
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.pins import is_gits_own, normal_path
from accordance.contracts.violation import Violation, excerpt


class Edit(Closed):
    """One file as it shall be: its whole content, or null where it shall be gone."""

    path: PathText
    content: str | None
    executable: Annotated[bool | None, NotNull] = (
        None  # as it was, where nothing is said
    )


class FileEdits(Closed):
    """A change, as one message."""

    schema_version: Literal["file_edits_v1"]
    task_id: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    status: Literal["DONE", "NEED_INPUT", "FAILED"]
    reason_code: Annotated[ReasonCode | None, NotNull] = None
    summary: Annotated[Text, StringConstraints(max_length=2000)]
    needs_input: Annotated[list[Question], Field(max_length=20)]
    edits: Annotated[list[Edit], Field(max_length=1000)]


def edits_stay_in_the_repository(
    message: JsonObject, _: Context
) -> Iterable[Violation]:
    """Every path is relative to the repository's root, leads nowhere else, and is none of git's own."""
    return [
        Violation(
            "unsafe_path",
            f"$.edits[{at}].path",
            "a path below the repository's root",
            excerpt(path),
        )
        for at, path in _paths(message)
        if path and ((normal := normal_path(path)) is None or is_gits_own(normal))
    ]


def each_file_is_edited_once(message: JsonObject, _: Context) -> Iterable[Violation]:
    """No two edits are about the same path: nobody could say which of them counts."""
    seen: set[str] = set()
    found = []
    for at, path in _paths(message):
        normal = normal_path(path) or path
        if normal in seen:
            found.append(
                Violation(
                    "path_twice",
                    f"$.edits[{at}].path",
                    "a path with one edit",
                    excerpt(path),
                )
            )
        seen.add(normal)
    return found


def _paths(message: JsonObject) -> list[tuple[int, str]]:
    """The paths that are texts, with their places; the types of the rest are reported elsewhere."""
    edits = message.get("edits")
    return [
        (at, edit["path"])
        for at, edit in enumerate(edits if isinstance(edits, list) else ())
        if isinstance(edit, dict) and isinstance(edit.get("path"), str)
    ]


EDITS: Final = Contract(
    version="file_edits_v1",
    name="edits",
    about="A change of a repository, said by a model that is asked directly: each file whole, or null to delete it.",
    model=FileEdits,
    rewrites=(SPELLED_REASON,),
    rules=(
        is_about_the_task,
        need_input_says_what,
        edits_stay_in_the_repository,
        each_file_is_edited_once,
    ),
)
