"""Scope: what a task may touch.

That is its pins, narrowed by what its role may write, wherever links lead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from accordance.contracts.pins import (
    GIT_FILES,
    Explanation,
    Pins,
    Ruling,
    is_git_file,
    normal_path,
)

ScopeRule: TypeAlias = Ruling | Literal["role_deny", "role_not_allowed"]

MAX_HOPS: Final = 40  # as many links as Linux follows in a path
_BY_ROLE: Final[Mapping[Ruling, ScopeRule]] = MappingProxyType(
    {
        "allowed": "allowed",
        "forbidden": "role_deny",
        "not_allowed": "role_not_allowed",
        "empty_allowed": "role_not_allowed",
        "unsafe_path": "unsafe_path",
    }
)
_NO_LINKS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PathScope:
    """The pins of the task and, where it has limits, of the role.

    Both must allow a path.
    """

    pins: Pins
    role: Pins | None = None

    def rule(self, path: str, links: Mapping[str, str] = _NO_LINKS) -> ScopeRule:
        """Return the rule that decides about a path.

        Where links lead elsewhere, both ends are judged.
        """
        rule = self._rule_without_links(path)
        if rule != "allowed" or not links:
            return rule
        real = real_path(path, links)
        if real is None:
            return "unsafe_path"
        return self._rule_without_links(real)

    def forbidding_rule(self, path: str) -> ScopeRule | None:
        """Return the rule that forbids a path; None where it is merely not allowed.

        For paths that are not taken over, and so need no permission.
        """
        normal = normal_path(path)
        if normal is None:
            return None
        if self.pins.rule_of_normal(normal) == "forbidden":
            return "forbidden"
        if self.role is not None and self.role.rule_of_normal(normal) == "forbidden":
            return "role_deny"
        return None

    def explain(self, path: str, links: Mapping[str, str] = _NO_LINKS) -> Explanation:
        """Return the rule that decides about a path, and its first pattern."""
        rule = self.rule(path, links)
        if rule == "unsafe_path":
            return Explanation(path, rule)

        end = path
        if self._rule_without_links(path) == "allowed":
            end = real_path(path, links) or path

        by_pins = self.pins.explain(end)
        if by_pins.rule != "allowed" or rule == "allowed":
            return Explanation(path, rule, by_pins.pattern)
        if self.role is None or is_git_file(end):
            return Explanation(path, rule, GIT_FILES)
        return Explanation(path, rule, self.role.explain(end).pattern)

    def _rule_without_links(self, path: str) -> ScopeRule:
        normal = normal_path(path)
        if normal is None:
            return "unsafe_path"
        by_pins = self.pins.rule_of_normal(normal)
        if by_pins != "allowed":
            return by_pins
        if is_git_file(normal):
            return "forbidden"
        if self.role is None:
            return "allowed"
        return _BY_ROLE[self.role.rule_of_normal(normal)]


def real_path(path: str, links: Mapping[str, str]) -> str | None:
    """Return where a path leads when every link on the way is followed.

    None if that is outside the tree, or nowhere.
    """
    names_left = path.split("/")[::-1]
    resolved: list[str] = []
    hops = 0
    while names_left:
        name = names_left.pop()
        if name in ("", "."):
            continue
        if name == "..":
            if not resolved:
                return None
            resolved.pop()
            continue

        target = links.get("/".join((*resolved, name)))
        if target is None:
            resolved.append(name)
            continue
        hops += 1
        if target.startswith("/") or hops > MAX_HOPS:
            return None
        names_left += target.split("/")[::-1]
    return normal_path("/".join(resolved))
