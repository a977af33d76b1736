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


class OptionView(View):
    """An option of an answer, and how typical it is."""

    option: str
    t_score: float
    t_class: str  # modal, established, emerging or creative
    rationale: str
    is_selected: bool


class TScorePlotView(View):
    """The options of an answer, the least typical first."""

    agent_id: str
    request: str  # the digest of what was asked
    at: str
    options: tuple[OptionView, ...]


class TScorePlotListView(View):
    """The T-scores of some answers, by agent and request."""

    bands: tuple[tuple[float, float, str], ...]  # from, to, class
    items: tuple[TScorePlotView, ...]
    is_cut: bool


class TrendPointView(View):
    """A run, and how varied the runs up to it are."""

    at: str
    selected: str
    entropy_bits: float  # of the last runs, this run included
    top_share: float


class TrendView(View):
    """Comparable runs in the order of time."""

    agent_id: str
    request: str
    contract: str
    runs: int
    points: tuple[TrendPointView, ...]  # the newest


class TrendListView(View):
    """How varied the answers of every group are, run by run."""

    window: int  # runs that a point looks back on
    items: tuple[TrendView, ...]


class HandoffNodeView(View):
    """A task made from a handoff: who answers, and whose answers it was handed."""

    task_id: str
    title: str
    agent_id: str
    state: str
    received_from: tuple[str, ...]  # agents


class HandoffChainView(View):
    """The handoffs of a plan: who goes on after whom."""

    plan_id: str
    nodes: tuple[HandoffNodeView, ...]
    edges: tuple[tuple[str, str], ...]  # tasks: the first hands over to the second
