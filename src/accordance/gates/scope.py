"""Whether anything outside the pins was touched, or is declared to have been.

The real change is judged first: what the agent declares is only a claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from accordance.contracts.pins import normal_path
from accordance.domain.case import Case
from accordance.domain.facts import (
    WITH_LEFT_OUT,
    AttemptFacts,
    EntryKind,
    PathChange,
    beyond_caches,
)
from accordance.domain.findings import MAX_NAMED, Finding, Gate, Result, listed
from accordance.domain.scope import PathScope, ScopeRule

_Broken: TypeAlias = dict[ScopeRule, set[str]]
"""The paths that are out of scope, by the rule they break."""

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
_TWINS: Final = (
    "other spellings of a path that exists: one and the same file on some disks"
)
_RULES_OF_ROLES: Final = frozenset(("role_deny", "role_not_allowed"))
_REFUSALS: Final = frozenset(("forbidden", "unsafe_path", "role_deny"))
_SET_ID: Final = 0o6000  # the set-user-id and set-group-id bits of a mode


def scope(case: Case) -> Result:
    """Every path of the change is in scope, and no part of the change is hidden."""
    findings = (
        *case.noticed(Gate.SCOPE),
        *_findings(_changed_out_of_scope(case), ""),
        *_findings(_declared_out_of_scope(case), "declared and not changed, and "),
        *_hidden(case.facts),
    )
    return Result(Gate.SCOPE, findings)


def _findings(broken: _Broken, prefix: str) -> Iterator[Finding]:
    """Yield a finding for each broken rule, in the order of the table of texts."""
    for rule, text in _TEXTS.items():
        if rule not in broken:
            continue
        paths = sorted(broken[rule])
        is_role = rule in _RULES_OF_ROLES
        code = "ROLE_POLICY_VIOLATION" if is_role else "SCOPE_CONFLICT"
        yield _finding(code, paths, prefix + text)


def _finding(code: str, paths: list[str], text: str) -> Finding:
    subject = "1 path is" if len(paths) == 1 else f"{len(paths)} paths are"
    return Finding(
        Gate.SCOPE,
        code,
        message=f"{subject} {text}: {listed(paths)}",
        about=tuple(paths[:MAX_NAMED]),
    )


# Paths


def _changed_out_of_scope(case: Case) -> _Broken:
    changes = case.facts.changes
    files = _judged_files(case.facts)
    broken = _files_out_of_scope(case.scope, files, case.links)
    for path, judged_as in _paths_left_out(case.facts):
        forbidding = case.scope.forbidding_rule(judged_as)
        if forbidding is not None:
            broken.setdefault(forbidding, set()).add(path)

    # A directory has no content of its own: it counts only if anything in it would be
    # refused.
    for directory in changes.directories:
        for path in directory.paths:
            rule = case.scope.rule(f"{path}/x")
            if rule in _REFUSALS:
                broken.setdefault(rule, set()).add(path)
    return broken


def _judged_files(facts: AttemptFacts) -> tuple[PathChange, ...]:
    """Return the files that must be in scope.

    Earlier versions judged what the base ignores like any other file.
    """
    changes = facts.changes
    if facts.version >= WITH_LEFT_OUT:
        return changes.changes
    return (*changes.changes, *beyond_caches(changes.ignored))


def _paths_left_out(facts: AttemptFacts) -> Iterator[tuple[str, str]]:
    """Yield the paths that are no part of the change, and may still be forbidden.

    Beside each path stands the path it is judged as: a folder is judged by what it
    could hold. The content of caches is not looked at: tools name it, not agents.
    """
    if facts.version < WITH_LEFT_OUT:
        return
    for change in beyond_caches(facts.changes.ignored):
        for path in change.paths:
            yield path, path
    for item in facts.changes.left_out:
        judged_as = f"{item.path}/x" if item.is_folder else item.path
        yield item.path, judged_as
        for path in item.files:
            yield path, path


def _files_out_of_scope(
    scope: PathScope,
    files: tuple[PathChange, ...],
    links: Mapping[str, str],
) -> _Broken:
    """Return the changed paths that are not allowed; links are followed."""
    links_after = dict(links)
    for change in files:
        if change.after and change.after.kind is EntryKind.SYMLINK:
            links_after[change.path] = change.after.target

    broken: _Broken = {}
    for change in files:
        links_then = links_after if change.after else links
        for path in change.paths:
            rule = scope.rule(path, links_then)
            if rule != "allowed":
                broken.setdefault(rule, set()).add(path)
    return broken


def _declared_out_of_scope(case: Case) -> _Broken:
    """Return the paths that are declared, did not change, and are not allowed.

    Evidence is no part of a change, so its folder may be declared.
    """
    broken: _Broken = {}
    claim = case.claim
    if claim is None:
        return broken

    changes = case.facts.changes
    changed: set[str] = set()
    for change in (*changes.changes, *changes.ignored):
        changed.update(change.paths)

    for path in (*claim.changed_files, *claim.new_files):
        is_left_out = any(item.covers(path) for item in changes.left_out)
        is_judged = path in changed or is_left_out
        if is_judged or _is_evidence(case, path):
            continue
        rule = case.scope.rule(path, case.links)
        if rule != "allowed":
            broken.setdefault(rule, set()).add(path)
    return broken


def _is_evidence(case: Case, path: str) -> bool:
    folder = case.facts.evidence.folder
    normal = normal_path(path)
    if not folder or normal is None:
        return False
    return normal.startswith(f"{folder}/")


# What hides a change


def _hidden(facts: AttemptFacts) -> Iterator[Finding]:
    """Yield what hides a part of the change, or lets it do more than it shows."""
    changes = facts.changes
    internals: list[str] = []
    for change in changes.internals:
        internals += change.paths
    links = [f"{link.path} -> {link.target}" for link in changes.escaping_links]
    hidden: tuple[tuple[str, Iterable[str]], ...] = (
        ("files by which git is steered", internals),
        ("links that leave the workspace", links),
        ("neither files nor links", changes.special),
        ("not readable, so it is unknown what changed", changes.unreadable),
        (_TWINS, changes.twins),
        ("repositories inside the repository", changes.nested_added),
        ("set to run with the rights of their owner or group", _set_id_files(facts)),
    )
    for text, paths in hidden:
        ordered = sorted(set(paths))
        if ordered:
            yield _finding("SCOPE_CONFLICT", ordered, text)

    if changes.incomplete:
        text = f"the change could not be seen as a whole: {changes.incomplete}"
        yield Finding(
            Gate.SCOPE,
            "SCOPE_CONFLICT",
            message=text,
        )


def _set_id_files(facts: AttemptFacts) -> Iterator[str]:
    """Yield the files that got a set-user-id or set-group-id bit."""
    for change in _judged_files(facts):
        after = change.after
        if after is None or after.kind is not EntryKind.FILE:
            continue
        mode_before = change.before.mode if change.before else 0
        added_bits = after.mode & ~mode_before
        if added_bits & _SET_ID:
            yield change.path
