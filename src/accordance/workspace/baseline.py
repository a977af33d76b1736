"""A baseline: what a repository was before an agent began, kept where the agent cannot reach it.

A branch, a tag or HEAD belongs to whoever works in the repository; a commit's full id does not, and neither does a file
outside the tree. A baseline holds the commit, its tree and git's own settings, so that what was done to those is seen too.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from accordance.errors import NotFound
from accordance.workspace.clone import adopt, scratch
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.difference import difference
from accordance.workspace.errors import InvalidBaseline, UnfixedBase, UnknownBase
from accordance.workspace.git import Git, git_directory, resolve
from accordance.workspace.git_settings import changed_settings, git_settings
from accordance.workspace.ignoring import BaseRules
from accordance.workspace.snapshot import take_snapshot

_FULL_ID: Final = re.compile(r"[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?")
_LARGEST: Final = 16 << 20
_WAY_OUT: Final = "give the full id of the commit it began at, 40 or 64 hex digits, or the baseline that was recorded before it began"


class Baseline(BaseModel):
    """What was recorded before the agent began."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, defer_build=True
    )

    schema_version: Literal["accordance.baseline.v1"] = "accordance.baseline.v1"
    commit: str
    tree: str  # git's id of the commit's files
    git_settings: dict[str, str]

    def changed_settings(self, repository: Path) -> tuple[str, ...]:
        """What has changed since in git's own settings."""
        return changed_settings(self.git_settings, git_settings(repository))


def record_baseline(repository: Path) -> Baseline:
    """The baseline of a repository as it stands now. Raises UnknownBase."""
    commit = resolve(repository, "HEAD")
    return Baseline(
        commit=commit,
        tree=_tree_of(repository, commit),
        git_settings=dict(git_settings(repository)),
    )


def already_changed(repository: Path, baseline: Baseline) -> tuple[str, ...]:
    """The paths that differ from the commit now; a judgement against it counts them as the agent's."""
    with scratch() as folder:
        workspace = adopt(repository, folder / "ours", base=baseline.commit)
        before, now = base_snapshot(workspace), take_snapshot(repository)
        changes = difference(
            before, now, ignored=BaseRules(workspace), internals_known=False
        )
    return tuple(sorted(changes.paths()))


def read_baseline(place: Path, repository: Path) -> Baseline:
    """A baseline that was recorded for this repository. Raises NotFound, InvalidBaseline."""
    must_be_out_of_reach(place, repository)
    try:
        with place.open("rb") as file:
            baseline = Baseline.model_validate_json(file.read(_LARGEST))
    except FileNotFoundError:
        raise NotFound("file", str(place)) from None
    except OSError as error:
        raise InvalidBaseline(
            f"{place}: cannot be read: {error.strerror or error}"
        ) from None
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise InvalidBaseline(
            f"{place} is no baseline: {where} {fault['msg']}".rstrip()
        ) from None
    if _FULL_ID.fullmatch(baseline.commit) is None:
        raise InvalidBaseline(
            f"{place} is no baseline: {baseline.commit!r} is no commit id"
        )
    commit = resolve(repository, baseline.commit)
    if _tree_of(repository, commit) != baseline.tree:
        raise InvalidBaseline(
            f"{place} is no baseline of {repository}: its commit and its tree do not agree"
        )
    return baseline


def must_be_out_of_reach(place: Path, repository: Path) -> None:
    """A baseline in the tree, or in git's own folder, could have been written by the agent. Raises InvalidBaseline."""
    directory = git_directory(repository)
    within = [repository.resolve()]
    if directory is not None:
        within += [directory.resolve(), _shared(directory)]
    if any(place.resolve().is_relative_to(folder) for folder in within):
        raise InvalidBaseline(
            f"{place} lies in the tree that is judged, where the agent can rewrite it; keep the baseline outside"
        )


def fixed_base(repository: Path, base: str | None) -> str:
    """The commit a judgement counts from: a full id, which nobody can move. Raises UnfixedBase, UnknownBase."""
    if base is not None and _FULL_ID.fullmatch(base):
        return resolve(repository, base)
    told = (
        "it is not known which commit the agent began at"
        if base is None
        else f"{base!r} is a name that the agent can move"
    )
    raise UnfixedBase(told, way_out=f"{_WAY_OUT}{_current(repository)}")


def _current(repository: Path) -> str:
    """Where HEAD stands; a help for the person, who has to know whether it can be trusted."""
    try:
        head = resolve(repository, "HEAD")
    except UnknownBase:
        return ""
    return f"; HEAD is {head} now, which is right only if the agent has made no commit"


def _tree_of(repository: Path, commit: str) -> str:
    directory = git_directory(repository)
    if directory is None:  # resolve has refused it
        return ""
    return Git(directory).text(
        "rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}"
    )


def _shared(directory: Path) -> Path:
    """The folder that a linked working tree shares with others."""
    pointer = directory / "commondir"
    if not pointer.is_file():
        return directory.resolve()
    return (directory / pointer.read_text("utf-8", "surrogateescape").strip()).resolve()
