"""T-score floors: how untypical a selection may be before a person must agree.

The floor is the highest of: the agent's floor for any topic, its floors for the topics
that the request touches, and the floor of the creativity that the user's novelty dial
asks for. A selection below it is not rejected for good: it waits for a person.
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
"""The novelty dial: the highest value of a step, its name, and its floor."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The lowest T-score a selection may have, and where that comes from."""

    least: float
    source: str

    def allows(self, score: float) -> bool:
        """Whether a score is on the floor or above it."""
        return score >= self.least


def creativity(dial: float) -> tuple[str, float]:
    """Return name and floor of the creativity that a novelty dial asks for.

    The dial goes from 0 (safe) to 1 (innovative).
    """
    return next((name, floor) for upto, name, floor in CREATIVITY if dial <= upto)


def floor_of(
    agent: ResearchAgent,
    registry: AgentRegistry,
    request: AgentRequest | None = None,
    words: str = "",
) -> Floor:
    """Return the floor of an agent's answer to a request, or to a task in words."""
    if request is None:
        topics = topics_in(words, registry)
    else:
        topics = topics_of(request, registry)

    general = agent.floors.get(ANY_TOPIC, 0.0)
    floors = [Floor(general, f"{agent.id}, any topic")]
    for topic in topics:
        if topic in agent.floors:
            source = f"{agent.id}, topic {topic}"
            floors.append(Floor(agent.floors[topic], source))

    preferences = request.user_preferences if request else None
    dial = preferences.vs_novelty_dial if preferences else None
    if dial is not None:
        name, least = creativity(dial)
        floors.append(Floor(least, f"novelty dial {dial:g}, {name}"))

    return max(floors, key=lambda floor: floor.least)


class Acknowledgement(Closed):
    """A person's statement that a selection below the floor is wanted.

    It is valid for this very selection and no other.
    """

    schema_version: Literal["accordance.acknowledgement.v1"]
    agent_id: Text
    task_id: Annotated[Text | None, NotNull] = None
    option: Text
    t_score: Score
    acknowledged_by: Text
    acknowledged_at: Time
    reason: Text

    def covers(
        self,
        agent: ResearchAgent,
        task_id: object,
        option: object,
        t_score: float,
    ) -> bool:
        """Whether it is about this selection; a new selection needs a new statement."""
        names = [plain(name) for name in agent.names]
        same_agent = plain(self.agent_id) in names
        same_task = self.task_id is None or self.task_id == task_id
        same_option = isinstance(option, str) and plain(self.option) == plain(option)
        same_score = abs(self.t_score - t_score) <= SAME_SCORE
        return same_agent and same_task and same_option and same_score


ACKNOWLEDGEMENT: Final = Contract(
    version="accordance.acknowledgement.v1",
    name="acknowledgement",
    about="A person's word that a selection below the T-score floor is wanted.",
    model=Acknowledgement,
)
