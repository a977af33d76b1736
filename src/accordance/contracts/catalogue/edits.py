"""`file_edits_v1`: a change of a repository by a model that is asked directly.

Such a model can only answer with text. So a message holds what `scc.submit.v1` leaves
to the agent to say, and the files themselves instead of claims about them. Evidence and
tests are left out on purpose: a model that runs nothing has none to show.
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
from accordance.contracts.pins import is_git_file, normal_path
from accordance.contracts.violation import Violation, excerpt


class Edit(Closed):
    """A file as it shall be: its whole content, or null to delete it."""

    path: PathText
    content: str | None
    executable: Annotated[bool | None, NotNull] = None
    """Whether the file can be run; unchanged unless given."""


class FileEdits(Closed):
    """A change, as a message."""

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
    """Every path is relative to the repository's root, below it and not in .git."""
    violations: list[Violation] = []
    for index, path in _paths(message):
        if path and not _is_in_the_repository(path):
            violations.append(
                Violation(
                    "unsafe_path",
                    path=f"$.edits[{index}].path",
                    expected="a path below the repository's root",
                    actual=excerpt(path),
                )
            )
    return violations


def _is_in_the_repository(path: str) -> bool:
    normal = normal_path(path)
    return normal is not None and not is_git_file(normal)


def each_file_is_edited_once(message: JsonObject, _: Context) -> Iterable[Violation]:
    """No two edits have the same path: it would be unclear which of them counts."""
    violations: list[Violation] = []
    seen: set[str] = set()
    for index, path in _paths(message):
        normal = normal_path(path) or path
        if normal in seen:
            violations.append(
                Violation(
                    "path_twice",
                    path=f"$.edits[{index}].path",
                    expected="a path with one edit",
                    actual=excerpt(path),
                )
            )
        seen.add(normal)
    return violations


def _paths(message: JsonObject) -> list[tuple[int, str]]:
    """Return the paths that are texts, with their places in the list of edits."""
    edits = message.get("edits")
    if not isinstance(edits, list):
        return []

    paths: list[tuple[int, str]] = []
    for index, edit in enumerate(edits):
        path = edit.get("path") if isinstance(edit, dict) else None
        if isinstance(path, str):
            paths.append((index, path))
    return paths


EDITS: Final = Contract(
    version="file_edits_v1",
    name="edits",
    about=(
        "A change of a repository by a model that is asked directly: each file "
        "whole, or null to delete it."
    ),
    model=FileEdits,
    rewrites=(SPELLED_REASON,),
    rules=(
        is_about_the_task,
        need_input_says_what,
        edits_stay_in_the_repository,
        each_file_is_edited_once,
    ),
)
