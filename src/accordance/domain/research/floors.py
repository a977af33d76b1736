"""T-score floors: how untypical a selection may be before a person must say yes.

The floor is the highest of: the agent's floor for any topic, its floors for the topics the request touches, and the floor
of the creativity the user's novelty dial asks for. Below it nothing is rejected in silence: it waits for a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from accordance.contracts.catalogue.answer import SAME_SCORE
from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.contract import Contract
from accordance.contracts.fields import Closed, NotNull, Score, Text, Time
from accordance.domain.research.agents import ANY_TOPIC, AgentRegistry, ResearchAgent
from accordance.domain.research.names import plain
from accordance.domain.research.routing import topics_in, topics_of

LOW_TYPICALITY: Final = 0.3

CREATIVITY: Final[tuple[tuple[float, str, float], ...]] = (
    (0.25, "conservative", 0.5),
    (0.5, "balanced", 0.3),
    (0.75, "innovative", 0.2),
    (1.0, "extreme", 0.0),
)
"""The novelty dial: up to which value, the name of that creativity, its floor."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The least T-score a selection may have, and where that comes from."""

    least: float
    source: str

    def allows(self, score: float) -> bool:
        """A score on the floor is allowed."""
        return score >= self.least


def creativity(dial: float) -> tuple[str, float]:
    """The creativity a novelty dial (0 safe, 1 innovative) asks for, and its floor."""
    return next((name, floor) for upto, name, floor in CREATIVITY if dial <= upto)


def floor_of(
    agent: ResearchAgent,
    registry: AgentRegistry,
    request: AgentRequest | None = None,
    words: str = "",
) -> Floor:
    """The floor that holds for an agent's answer to a request, or to a task in these words."""
    topics = (
        topics_in(words, registry) if request is None else topics_of(request, registry)
    )
    floors = [Floor(agent.floors.get(ANY_TOPIC, 0.0), f"{agent.id}, any topic")]
    floors += [
        Floor(agent.floors[topic], f"{agent.id}, topic {topic}")
        for topic in topics
        if topic in agent.floors
    ]
    dial = (
        request.user_preferences.vs_novelty_dial
        if request and request.user_preferences
        else None
    )
    if dial is not None:
        name, least = creativity(dial)
        floors.append(Floor(least, f"novelty dial {dial:g}, {name}"))
    return max(floors, key=lambda floor: floor.least)


class Acknowledgement(Closed):
    """A person's word that a selection below the floor is wanted. It is for this very selection and no other."""

    schema_version: Literal["accordance.acknowledgement.v1"]
    agent_id: Text
    task_id: Annotated[Text | None, NotNull] = None
    option: Text
    t_score: Score
    acknowledged_by: Text
    acknowledged_at: Time
    reason: Text

    def covers(
        self, agent: ResearchAgent, task_id: object, option: object, t_score: float
    ) -> bool:
        """Whether it speaks of this selection as it stands: a changed one needs a new word."""
        return (
            plain(self.agent_id) in map(plain, agent.names)
            and self.task_id in (None, task_id)
            and isinstance(option, str)
            and plain(self.option) == plain(option)
            and abs(self.t_score - t_score) <= SAME_SCORE
        )


ACKNOWLEDGEMENT: Final = Contract(
    version="accordance.acknowledgement.v1",
    name="acknowledgement",
    about="A person's word that a selection below the T-score floor is wanted.",
    model=Acknowledgement,
)
