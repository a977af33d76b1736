"""`agent_request_v1`: what a research agent is asked (seed 002, input schema)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from accordance.contracts.catalogue.identity import is_about_the_task
from accordance.contracts.contract import Contract
from accordance.contracts.fields import NotNull, Open, Score, Text, Uuid

_Budget: TypeAlias = Annotated[int, Field(ge=0)]
_Quality: TypeAlias = Literal["draft", "standard", "publication_ready"]


class RequestContext(Open):
    """Where in the research the question arises."""

    research_domain: Text
    stage: Literal["planning", "execution", "validation", "publication"]


class RequestConstraints(Open):
    """What the answer may cost."""

    time_budget: Annotated[_Budget | None, NotNull] = None
    context_budget: Annotated[_Budget | None, NotNull] = None
    quality_level: Annotated[_Quality | None, NotNull] = None


class Preferences(Open):
    """What the user prefers."""

    vs_novelty_dial: Annotated[Score | None, NotNull] = None
    language: Annotated[Literal["ko", "en"] | None, NotNull] = None


class AgentRequest(Open):
    """A question for a research agent."""

    schema_version: Annotated[Literal["agent_request_v1"] | None, NotNull] = None
    task_id: Uuid
    task_type: Literal[
        "research_question", "theory", "literature", "methods", "quality", "publication"
    ]
    user_query: Text
    context: RequestContext
    prior_agents: Annotated[list[str] | None, NotNull] = None
    constraints: Annotated[RequestConstraints | None, NotNull] = None
    user_preferences: Annotated[Preferences | None, NotNull] = None


_STRICT: Final = Contract(
    version="agent_request_v1",
    name="request",
    about=(
        "What a research agent is asked: question, domain, stage, budget, preferences."
    ),
    model=AgentRequest,
    rules=(is_about_the_task,),
)
REQUEST: Final = replace(_STRICT, profiles={"seed": _STRICT})
"""Both profiles are the same: the seed has no validator of its own for requests."""
