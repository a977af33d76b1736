"""What agents call their tools, and what a role calls them."""

from __future__ import annotations

import pytest

from accordance.domain.roles import ROLES
from accordance.domain.tools import KINDS, tools_used


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        pytest.param("WebFetch", {"network"}, id="claude fetches a page"),
        pytest.param("webfetch", {"network"}, id="opencode fetches a page"),
        pytest.param("web_search", {"network"}, id="codex searches the web"),
        pytest.param("web_search_call", {"network"}, id="an API searches the web"),
        pytest.param("mcp__fetch__get", {"network"}, id="an MCP server that fetches"),
        pytest.param("mcp__git__commit", {"git"}, id="an MCP server for git"),
        pytest.param("github.create_pull", {"git"}, id="a server with a dot"),
        pytest.param("Bash", {"shell"}, id="claude runs a command"),
        pytest.param("command_execution", {"shell"}, id="codex runs a command"),
        pytest.param("Read", set(), id="reading is no kind that a role denies"),
        pytest.param("mcp__accordance__submit", set(), id="our own tool"),
        pytest.param("prefetch_notes", set(), id="a word that only contains another"),
    ],
)
def test_a_tool_belongs_to_kinds(name: str, kinds: set[str]) -> None:
    """A kind follows from the name of the tool; the name itself is kept too."""
    assert tools_used([name]) == {name, *kinds}


@pytest.mark.parametrize(
    ("names", "used"),
    [
        pytest.param([], set(), id="no tool"),
        pytest.param([""], set(), id="a tool without a name"),
        pytest.param(["Read", "Read"], {"Read"}, id="the same tool twice"),
        pytest.param(["\ud800"], set(), id="a name that cannot be stored"),
        pytest.param(["x" * 101], set(), id="a name that is too long"),
        pytest.param(["web fetch\n"], {"network"}, id="an odd name hides no kind"),
    ],
)
def test_only_plain_names_are_kept(names: list[str], used: set[str]) -> None:
    """Names come from the agent's own output and are stored with the verdict."""
    assert tools_used(names) == used


def test_every_tool_that_a_shipped_role_denies_is_a_known_kind() -> None:
    """Otherwise the role would deny something that no agent can be seen to use."""
    denied = frozenset[str]().union(*(role.denied_tools for role in ROLES.values()))
    assert denied <= KINDS.keys()
