"""`agents.toml`: a registry as people write it. It has a contract like any message, and is linted before it is used."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from accordance.contracts.checking import Checker
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Closed, Score, Text
from accordance.contracts.phases import PHASES
from accordance.contracts.registry import Registry
from accordance.contracts.toml import NoToml, read_toml
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
    """Words by which something is recognised, in Korean and in English."""

    ko: list[Text] = Field(default_factory=list)
    en: list[Text] = Field(default_factory=list)

    def as_words(self) -> dict[str, tuple[str, ...]]:
        """As the registry keeps them."""
        return {"ko": tuple(self.ko), "en": tuple(self.en)}


class AgentEntry(Closed):
    """One agent."""

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


_FILE: Final = Contract(version="accordance.agents.v1", name="agents", model=AgentsFile)
_checker: Final = Checker(Registry((_FILE,)))


def read_agents(text: str) -> AgentRegistry:
    """A registry from its TOML, linted. Raises InvalidAgents with the first fault and how many there are."""
    registry = parse_agents(text)
    errors = [finding for finding in lint(registry) if finding.kind == "error"]
    if errors:
        more = (
            f" (and {len(errors) - 1} more; accordance research lint lists them)"
            if len(errors) > 1
            else ""
        )
        raise InvalidAgents(f"the agents do not hold together: {errors[0]}{more}")
    return registry


def parse_agents(text: str) -> AgentRegistry:
    """A registry from its TOML, not linted yet. Raises InvalidAgents for what cannot be read at all."""
    try:
        message = read_toml(text)
    except NoToml as error:
        raise InvalidAgents(f"the agents are no TOML: {error}") from None
    found = _checker.check_value(message, _FILE)
    if isinstance(found, Rejected):
        more = f" (and {found.total - 1} more)" if found.total > 1 else ""
        raise InvalidAgents(f"the agents do not fit: {found.violations[0]}{more}")
    written: AgentsFile = found.value
    topics = {name: words.as_words() for name, words in written.topics.items()}
    return AgentRegistry(map(_agent, written.agents), topics)


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
