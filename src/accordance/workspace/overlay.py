"""The tree that is judged where an agent was given only a part of the base: the base, with what the agent left on top.

What was withheld is still there, though no agent has seen it, so its absence is no deletion. What an agent has put in its place
counts: it is a change of that path, which no pin allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from accordance.domain.facts import EntryKind, Snapshot, TreeEntry
from accordance.workspace.clone import Workspace
from accordance.workspace.snapshot import StatCache, WalkLimits, take_snapshot


def whole_tree(
    workspace: Workspace,
    *,
    cache: StatCache | None = None,
    reach: WalkLimits | None = None,
) -> Snapshot:
    """The agent's tree as it is now, with what was withheld from it. Raises WorkspaceChanging."""
    seen = take_snapshot(workspace.work, cache=cache, reach=reach)
    if workspace.withheld is None:
        return seen
    return replace(seen, entries=laid_over(seen.entries, workspace.withheld.entries))


def laid_over(
    above: Mapping[str, TreeEntry], below: Mapping[str, TreeEntry]
) -> dict[str, TreeEntry]:
    """Two trees as one: at a path that both have, the upper one counts, a file in the way of a folder too."""
    folders = {
        path for path, entry in above.items() if entry.kind is EntryKind.DIRECTORY
    }
    solid = above.keys() - folders
    kept = {
        path: entry
        for path, entry in below.items()
        if not _is_hidden(path, solid)
        and not (path in folders and entry.kind is not EntryKind.DIRECTORY)
    }
    return {**kept, **above}


def _is_hidden(path: str, solid: set[str]) -> bool:
    """Whether something that is no folder stands at a path, or at a folder on the way to it."""
    return path in solid or any(
        path[:at] in solid for at, letter in enumerate(path) if letter == "/"
    )
