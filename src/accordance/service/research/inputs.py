"""What research works on, read from text: agents, requests, answers.

Only `ledger_runs` needs a ledger; the rest of this package runs on a bare install.
"""

from __future__ import annotations

from typing import Final

from accordance.contracts.catalogue.answer import ANSWER, AgentAnswer
from accordance.contracts.catalogue.request import REQUEST, AgentRequest
from accordance.contracts.checking import Checker
from accordance.contracts.registry import Registry
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.research.agents import AgentRegistry, language_in, language_of
from accordance.domain.research.agents_file import read_agents
from accordance.domain.research.floors import ACKNOWLEDGEMENT, Acknowledgement
from accordance.rendering.words import Language
from accordance.shipped import AGENTS, shipped

__all__ = [
    "Acknowledgement",
    "AgentRegistry",
    "check_acknowledgement",
    "check_message",
    "check_request",
    "load_agents",
    "report_language",
]

_checker: Final = Checker(Registry())


def load_agents(text: str | None = None) -> AgentRegistry:
    """Return the agents of a file, or those that come with accordance.

    Raises InvalidAgents.
    """
    return read_agents(shipped(AGENTS) if text is None else text)


def check_request(raw: bytes) -> Accepted[AgentRequest] | Rejected:
    """Check a request against its contract."""
    return _checker.check(raw, REQUEST)


def check_message(raw: bytes) -> Accepted[AgentAnswer] | Rejected:
    """Check an answer against its contract alone."""
    return _checker.check(raw, ANSWER)


def check_acknowledgement(raw: bytes) -> Accepted[Acknowledgement] | Rejected:
    """Check an acknowledgement against its contract."""
    return _checker.check(raw, ACKNOWLEDGEMENT)


def report_language(
    wanted: Language | None,
    request: AgentRequest | None,
    words: str,
) -> Language:
    """Return the language of a report.

    That is the wanted language, or else the request's, or else that of the words that are
    reported on.
    """
    if wanted is not None:
        return wanted
    if request is not None:
        return language_of(request)
    return language_in(words)
