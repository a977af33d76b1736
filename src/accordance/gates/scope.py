"""Whether anything was touched outside the pins, or is said to have been. Asked of the real change first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from accordance.contracts.pins import normal_path
from accordance.domain.case import Case
from accordance.domain.facts import ChangeSet, EntryKind, PathChange, beyond_caches
from accordance.domain.findings import MAX_NAMED, Finding, Gate, Result, listed
from accordance.domain.patch import Patch
from accordance.domain.scope import PathScope, ScopeRule

_TEXTS: Final[Mapping[ScopeRule, str]] = MappingProxyType(
    {
        "forbidden": "forbidden by the pins, or git's own",
        "not_allowed": "outside the allowed paths",
        "empty_allowed": "changed, but the pins allow nothing",
        "unsafe_path": "no path inside the workspace, or a link that leaves it",
        "role_deny": "denied to the role",
        "role_not_allowed": "outside what the role may write",
    }
)
_BY_ROLE: Final = frozenset(("role_deny", "role_not_allowed"))
_NO_LINKS: Final[Mapping[str, str]] = MappingProxyType({})
_SET_ID: Final = 0o6000
_REFUSALS: Final = frozenset(("forbidden", "unsafe_path", "role_deny"))


def scope(case: Case) -> Result:
    """Every path of the change is in scope, and nothing about the change is hidden from view."""
    changes = case.facts.changes
    return Result(
        Gate.SCOPE,
        (
            *case.noticed(Gate.SCOPE),
            *_out_of_scope(case, changes),
            *_declared_out_of_scope(case, changes),
            *_not_judgeable(changes),
        ),
    )


def _out_of_scope(case: Case, changes: ChangeSet) -> Iterator[Finding]:
    judged = (*changes.changes, *beyond_caches(changes.ignored))
    broken = out_of_scope(case.scope, judged, case.links)
    for change in (
        changes.directories
    ):  # no content: it matters only where anything inside would be refused
        for path in change.paths:
            if (rule := case.scope.rule(f"{path}/x")) in _REFUSALS:
                broken.setdefault(rule, set()).add(path)
    yield from _told(broken, "")


def _declared_out_of_scope(case: Case, changes: ChangeSet) -> Iterator[Finding]:
    """A path that a submission declares is in scope as well, changed or not; evidence is no part of a change."""
    if case.claim is None:
        return
    told = {
        path for change in (*changes.changes, *changes.ignored) for path in change.paths
    }
    evidence = f"{case.facts.evidence.folder}/" if case.facts.evidence.folder else "\0"
    broken: dict[ScopeRule, set[str]] = {}
    for path in (*case.claim.changed_files, *case.claim.new_files):
        if path in told or (normal_path(path) or "").startswith(evidence):
            continue
        if (rule := case.scope.rule(path, case.links)) != "allowed":
            broken.setdefault(rule, set()).add(path)
    yield from _told(broken, "declared and not changed, and ")


def _told(broken: Mapping[ScopeRule, set[str]], before: str) -> Iterator[Finding]:
    for rule, text in _TEXTS.items():
        if paths := sorted(broken.get(rule, ())):
            code = "ROLE_POLICY_VIOLATION" if rule in _BY_ROLE else "SCOPE_CONFLICT"
            yield _finding(code, paths, before + text)


def out_of_scope(
    scope: PathScope, changes: Iterable[PathChange], links: Mapping[str, str]
) -> dict[ScopeRule, set[str]]:
    """The changed paths that are not allowed, by the rule that says so; a link is judged where it leads, too."""
    changes = tuple(changes)
    new = {
        one.path: one.after.target
        for one in changes
        if one.after and one.after.kind is EntryKind.SYMLINK
    }
    leading = {**links, **new}
    broken: dict[ScopeRule, set[str]] = {}
    for change in changes:
        for path in change.paths:
            rule = scope.rule(path, leading if change.after else links)
            if rule != "allowed":
                broken.setdefault(rule, set()).add(path)
    return broken


def patch_is_in_scope(
    scope: PathScope, patch: Patch, links: Mapping[str, str] = _NO_LINKS
) -> bool:
    """Whether everything a patch would touch is in scope; never, if it cannot be read for certain."""
    leading = {**links, **patch.links}
    return not patch.problem and all(
        scope.rule(path, leading) == "allowed" for path in patch.touched
    )


def _not_judgeable(changes: ChangeSet) -> Iterator[Finding]:
    hidden: tuple[tuple[str, Iterable[str]], ...] = (
        (
            "files by which git is steered",
            (path for one in changes.internals for path in one.paths),
        ),
        (
            "links that leave the workspace",
            (f"{one.path} -> {one.target}" for one in changes.escaping_links),
        ),
        ("neither files nor links", changes.special),
        ("not readable, so nobody can say what changed", changes.unreadable),
        (
            "other spellings of a path that exists: one and the same file on some disks",
            changes.twins,
        ),
        ("repositories inside the repository", changes.nested_added),
        ("set to run with the rights of their owner or group", _given_rights(changes)),
    )
    for text, things in hidden:
        if found := sorted(set(things)):
            yield _finding("SCOPE_CONFLICT", found, text)
    if changes.incomplete:
        message = f"the change could not be seen as a whole: {changes.incomplete}"
        yield Finding(Gate.SCOPE, "SCOPE_CONFLICT", message)


def _given_rights(changes: ChangeSet) -> Iterator[str]:
    """Files that got a set-user-id or set-group-id bit."""
    for change in (*changes.changes, *beyond_caches(changes.ignored)):
        earlier = change.before.mode if change.before else 0
        if (
            change.after
            and change.after.kind is EntryKind.FILE
            and change.after.mode & ~earlier & _SET_ID
        ):
            yield change.path


def _finding(code: str, paths: list[str], text: str) -> Finding:
    noun = "1 path is" if len(paths) == 1 else f"{len(paths)} paths are"
    return Finding(
        Gate.SCOPE, code, f"{noun} {text}: {listed(paths)}", tuple(paths[:MAX_NAMED])
    )
