"""`agents.toml`: a registry as people write it.

It has a contract like any message, and is linted before it is used.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from accordance.contracts.checking import Checker
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Closed, Score, Text
from accordance.contracts.phases import PHASES
from accordance.contracts.registry import Registry
from accordance.contracts.toml import InvalidToml, read_toml
from accordance.contracts.violation import Rejected
from accordance.domain.research.agents import (
    AgentRegistry,
    Level,
    ResearchAgent,
    Stage,
    TaskType,
    Tier,
)
from accordance.domain.research.lint import lint
from accordance.errors import InvalidAgents


class BothLanguages(Closed):
    """A text in Korean and in English."""

    ko: Text
    en: Text


class WordLists(Closed):
    """Words by which a topic or an agent is recognised, in Korean and in English."""

    ko: list[Text] = Field(default_factory=list)
    en: list[Text] = Field(default_factory=list)

    def as_words(self) -> dict[str, tuple[str, ...]]:
        """Return them as the registry keeps them."""
        return {"ko": tuple(self.ko), "en": tuple(self.en)}


class AgentEntry(Closed):
    """An agent."""

    id: Text
    aliases: list[Text] = Field(default_factory=list)
    title: BothLanguages
    about: BothLanguages
    task_types: Annotated[list[TaskType], Field(min_length=1)]
    stages: Annotated[list[Stage], Field(min_length=1)]
    level: Level
    phases: list[Annotated[int, Field(ge=0, le=max(PHASES))]]
    tier: Tier
    inputs: list[Text] = Field(default_factory=list)
    outputs: list[Text] = Field(default_factory=list)
    requires: list[Text] = Field(default_factory=list)
    parallel_with: list[Text] = Field(default_factory=list)
    triggers: WordLists = WordLists()
    floors: dict[str, Score] = Field(default_factory=dict)


class AgentsFile(Closed):
    """The whole file."""

    schema_version: Literal["accordance.agents.v1"]
    topics: dict[str, WordLists] = Field(default_factory=dict)
    agents: Annotated[list[AgentEntry], Field(min_length=1)]


_FILE: Final = Contract(
    version="accordance.agents.v1",
    name="agents",
    model=AgentsFile,
)
_checker: Final = Checker(Registry((_FILE,)))


def read_agents(text: str) -> AgentRegistry:
    """Read a registry and lint it.

    Raises InvalidAgents with the first error and the number of the others.
    """
    registry = parse_agents(text)
    errors = [fault for fault in lint(registry) if fault.kind == "error"]
    if not errors:
        return registry

    rest = ""
    if len(errors) > 1:
        rest = f" (and {len(errors) - 1} more; accordance research lint lists them)"
    raise InvalidAgents(f"the agents file is inconsistent: {errors[0]}{rest}")


def parse_agents(text: str) -> AgentRegistry:
    """Read a registry without linting it.

    Raises InvalidAgents if the text is not TOML or violates the contract.
    """
    try:
        message = read_toml(text)
    except InvalidToml as error:
        raise InvalidAgents(f"the agents file is not valid TOML: {error}") from None

    result = _checker.check_value(message, _FILE)
    if isinstance(result, Rejected):
        rest = ""
        if result.total > 1:
            rest = f" (and {result.total - 1} more)"
        violation = result.violations[0]
        raise InvalidAgents(f"the agents file is invalid: {violation}{rest}")

    file: AgentsFile = result.value
    agents = [_agent(entry) for entry in file.agents]
    topics = {name: words.as_words() for name, words in file.topics.items()}
    return AgentRegistry(agents, topics)


def _agent(entry: AgentEntry) -> ResearchAgent:
    return ResearchAgent(
        id=entry.id,
        aliases=tuple(entry.aliases),
        title={"ko": entry.title.ko, "en": entry.title.en},
        about={"ko": entry.about.ko, "en": entry.about.en},
        task_types=tuple(entry.task_types),
        stages=tuple(entry.stages),
        level=entry.level,
        phases=tuple(entry.phases),
        tier=entry.tier,
        inputs=tuple(entry.inputs),
        outputs=tuple(entry.outputs),
        requires=tuple(entry.requires),
        parallel_with=tuple(entry.parallel_with),
        triggers=entry.triggers.as_words(),
        floors=entry.floors,
    )
