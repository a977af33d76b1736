"""Answers of research agents that a ledger keeps."""

from __future__ import annotations

from typing import Any

from accordance.service.views.base import View


class ResearchRunView(View):
    """An answer, without its message."""

    agent_id: str
    request: str  # the digest of what was asked
    contract: str
    at: str
    selected: str
    offered: tuple[str, ...]


class ResearchRunListView(View):
    """Some answers, by agent and request."""

    items: tuple[ResearchRunView, ...]
    is_cut: bool  # there are more


class CollapseListView(View):
    """The report of every group of comparable runs."""

    items: tuple[dict[str, Any], ...]
    has_collapsed: bool
