"""A baseline: what a repository was before an agent began, kept out of its reach.

An agent that works in the repository can move a branch, a tag or HEAD; it cannot change
a commit's full id, nor a file outside the tree. A baseline holds the commit, its tree
and git's own settings, so that changes to those are seen too.
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
_MAX_BYTES: Final = 16 << 20
_WAY_OUT: Final = (
    "give the full id of the commit it began at, 40 or 64 hex digits, or the baseline "
    "that was recorded before it began"
)


class Baseline(BaseModel):
    """What was recorded before the agent began."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        defer_build=True,
    )

    schema_version: Literal["accordance.baseline.v1"] = "accordance.baseline.v1"
    commit: str
    tree: str  # git's id of the commit's files
    git_settings: dict[str, str]

    def changed_settings(self, repository: Path) -> tuple[str, ...]:
        """Return what has changed since in git's own settings."""
        return changed_settings(self.git_settings, git_settings(repository))


def record_baseline(repository: Path, commit: str | None = None) -> Baseline:
    """Return the baseline of a repository as it is now. Raises UnknownBase.

    Changes are counted from `commit`; without it, from HEAD.
    """
    commit = commit or resolve(repository, "HEAD")
    return Baseline(
        commit=commit,
        tree=_tree_of(repository, commit),
        git_settings=dict(git_settings(repository)),
    )


def already_changed(repository: Path, baseline: Baseline) -> tuple[str, ...]:
    """Return the paths that differ from the commit now.

    A judgement against the baseline counts them as the agent's.
    """
    with scratch() as folder:
        workspace = adopt(repository, folder / "ours", base=baseline.commit)
        changes = difference(
            base_snapshot(workspace),
            take_snapshot(repository),
            ignored=BaseRules(workspace),
            internals_known=False,
        )
    return tuple(sorted(changes.paths()))


def read_baseline(place: Path, repository: Path) -> Baseline:
    """Return a baseline that was recorded for this repository.

    Raises NotFound, InvalidBaseline.
    """
    must_be_out_of_reach(place, repository)
    baseline = _parsed(place)
    if _FULL_ID.fullmatch(baseline.commit) is None:
        raise InvalidBaseline(
            f"{place} is not a baseline: {baseline.commit!r} is not a commit id"
        )

    commit = resolve(repository, baseline.commit)
    if _tree_of(repository, commit) != baseline.tree:
        raise InvalidBaseline(
            f"{place} is not a baseline of {repository}: its commit and its tree "
            "disagree"
        )
    return baseline


def _parsed(place: Path) -> Baseline:
    try:
        with place.open("rb") as file:
            return Baseline.model_validate_json(file.read(_MAX_BYTES))
    except FileNotFoundError:
        raise NotFound("file", str(place)) from None
    except OSError as error:
        raise InvalidBaseline(
            f"{place}: cannot be read: {error.strerror or error}"
        ) from None
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in fault["loc"])
        reason = f"{field} {fault['msg']}".strip()
        raise InvalidBaseline(f"{place} is not a baseline: {reason}") from None


def must_be_out_of_reach(place: Path, repository: Path) -> None:
    """Refuse a baseline in the tree, or in git's own folder. Raises InvalidBaseline.

    The agent could have written it.
    """
    within_reach = [repository.resolve()]
    directory = git_directory(repository)
    if directory is not None:
        within_reach += [directory.resolve(), shared_directory(directory)]

    real_place = place.resolve()
    for folder in within_reach:
        if real_place.is_relative_to(folder):
            raise InvalidBaseline(
                f"{place} lies in the tree that is judged, where the agent can rewrite "
                "it; keep the baseline outside"
            )


def fixed_base(repository: Path, base: str | None) -> str:
    """Return the commit that a judgement counts from: a full id, which cannot move.

    Raises UnfixedBase, UnknownBase.
    """
    if base is not None and _FULL_ID.fullmatch(base):
        return resolve(repository, base)

    if base is None:
        text = "it is not known which commit the agent began at"
    else:
        text = f"{base!r} is a name that the agent can move"
    raise UnfixedBase(text, way_out=f"{_WAY_OUT}{_hint_at_head(repository)}")


def _hint_at_head(repository: Path) -> str:
    """Return where HEAD is; only the user can know whether it can be trusted."""
    try:
        head = resolve(repository, "HEAD")
    except UnknownBase:
        return ""
    return f"; HEAD is {head} now, which is right only if the agent has made no commit"


def _tree_of(repository: Path, commit: str) -> str:
    directory = git_directory(repository)
    if directory is None:  # resolve has refused it already
        return ""
    git = Git(directory)
    return git.text("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}")


def shared_directory(directory: Path) -> Path:
    """Return the folder that a linked working tree shares with others."""
    pointer = directory / "commondir"
    if not pointer.is_file():
        return directory.resolve()
    shared = pointer.read_text("utf-8", "surrogateescape").strip()
    return (directory / shared).resolve()
