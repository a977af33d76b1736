"""Which kinds of tools an agent has used, in the words of a role's `denied_tools`.

Agents name their tools as they like: WebFetch, web_search, mcp__fetch__get. A role
speaks of kinds such as `network`. It may also deny a tool by the agent's own name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

_PARTS: Final = re.compile(r"__|[.:/]")  # mcp__server__tool, server.tool
_NOT_IN_A_WORD: Final = re.compile(r"[\W_]+")
_PLAIN: Final = re.compile(r"[\w.:/-]{1,100}", re.ASCII)

KINDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "network": frozenset(
            (
                "browser",
                "fetch",
                "fetchurl",
                "googlewebsearch",
                "httprequest",
                "openurl",
                "playwright",
                "puppeteer",
                "urlfetch",
                "webfetch",
                "websearch",
                "websearchcall",
            )
        ),
        "git": frozenset(("git", "gitcommit", "gitpush", "github", "gitlab")),
        "shell": frozenset(
            (
                "bash",
                "commandexecution",
                "exec",
                "execcommand",
                "localshell",
                "powershell",
                "runshellcommand",
                "shell",
                "terminal",
            )
        ),
    }
)
"""The names of tools by kind: in small letters, without marks between the words."""


def tools_used(names: Iterable[str]) -> frozenset[str]:
    """Return the tools that these calls used: their kinds, and their own names.

    The names are claims of an agent and are stored with the verdict, so only plain
    names are kept.
    """
    used: set[str] = set()
    for name in names:
        used |= _kinds_of(name)
        if _PLAIN.fullmatch(name):
            used.add(name)
    return frozenset(used)


def _kinds_of(name: str) -> set[str]:
    """Return the kinds of a tool. A part of its name, such as its server, is enough."""
    parts = {_word(part) for part in _PARTS.split(name)}
    parts.add(_word(name))
    return {kind for kind, words in KINDS.items() if not words.isdisjoint(parts)}


def _word(text: str) -> str:
    return _NOT_IN_A_WORD.sub("", text).casefold()
