"""The prompt of a research agent, in Korean or English.

It follows verbalized sampling: the agent gives several candidates at once, each with
its typicality and, where it can tell, its probability, and names the obvious ones so
that it can leave them. The request goes in as data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from accordance.contracts.catalogue.answer import ANSWER
from accordance.contracts.catalogue.request import AgentRequest
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.phase_outputs import FIRST_PLACE, OUTPUTS
from accordance.contracts.phases import DEMANDS, PHASES
from accordance.contracts.serialising import dump
from accordance.domain.research.agents import (
    CANDIDATES,
    AgentRegistry,
    ResearchAgent,
    language_of,
)
from accordance.domain.research.floors import Floor, creativity, floor_of
from accordance.domain.research.prompt_words import PROMPT_WORDS, PromptWords
from accordance.domain.spending import BYTES_PER_TOKEN
from accordance.errors import ContextTooLarge

PromptLanguage: TypeAlias = Literal["ko", "en"]
_NAMED_OUTPUTS: Final[Mapping[int, tuple[str, object]]] = MappingProxyType(
    {
        0: (OUTPUTS[0], "…"),
        2: (OUTPUTS[2], ["…"]),
        5: (OUTPUTS[5], "…"),
    }
)
"""The outputs of phases that stand under their own name in an answer."""
TAIL: Final = 0.1
"""Candidates less probable than this lie in the tail, as in the paper's example."""


def build_prompt(
    agent: ResearchAgent,
    request: AgentRequest,
    registry: AgentRegistry,
    language: PromptLanguage | None = None,
) -> str:
    """Return everything an agent needs to answer a request as the contract demands.

    Raises ContextTooLarge if that is more than the request's context_budget: nothing
    in it can be left out.
    """
    chosen = language or language_of(request)
    words = PROMPT_WORDS[chosen]
    floor = floor_of(agent, registry, request)

    lines = _method(agent, floor, chosen, request)
    lines += [
        "",
        words.request,
        json.dumps(dump(request), ensure_ascii=False, indent=2),
        words.data_only,
        "",
    ]
    lines += _shape(agent, request.task_id, chosen)

    prompt = "\n".join(lines) + "\n"
    _check_budget(prompt, request)
    return prompt


def _check_budget(prompt: str, request: AgentRequest) -> None:
    tokens = request.constraints.context_budget if request.constraints else None
    if tokens is None:
        return

    size = len(prompt.encode())
    limit = tokens * BYTES_PER_TOKEN
    if size > limit:
        raise ContextTooLarge(size, limit)


def instructions(
    agent: ResearchAgent,
    task_id: str,
    floor: Floor,
    language: PromptLanguage,
    request: AgentRequest | None = None,
) -> str:
    """Return the same for a task of a plan, whose subject stands elsewhere."""
    method = _method(agent, floor, language, request)
    shape = _shape(agent, task_id, language)
    return "\n".join([*method, "", *shape])


def _method(
    agent: ResearchAgent,
    floor: Floor,
    language: PromptLanguage,
    request: AgentRequest | None = None,
) -> list[str]:
    """Return who the agent is, and how it gets to its answer."""
    words = PROMPT_WORDS[language]
    title, about = agent.title[language], agent.about[language]
    phases = sorted(DEMANDS["contract"][agent.level] | set(agent.phases))

    lines = [
        words.you_are.format(
            id=agent.id,
            title=title,
            about=about,
        ),
        "",
    ]

    lines.append(words.phases.format(level=agent.level))
    lines += [_phase(phase, words) for phase in phases]
    lines.append("")

    lines.append(words.candidates.format(count=CANDIDATES[agent.level]))
    lines.append(words.typicality)
    lines.append(words.probability.format(tail=TAIL))
    if request is not None:
        lines += _wishes(request, words)
    lines.append(words.floor.format(least=floor.least))
    if agent.level == "Full":
        lines.append(words.critique)

    return lines


def _phase(phase: int, words: PromptWords) -> str:
    """Return a phase, and what it leaves in the answer."""
    place = FIRST_PLACE[phase].removeprefix("$.")
    output = words.output.format(name=OUTPUTS[phase], place=place)
    return f"{phase}. {PHASES[phase]}: {words.phase_texts[phase]} {output}."


def _wishes(request: AgentRequest, words: PromptWords) -> list[str]:
    """Return what the request says about novelty, time and quality."""
    lines = []

    preferences = request.user_preferences
    if preferences is not None and preferences.vs_novelty_dial is not None:
        dial = preferences.vs_novelty_dial
        name, _ = creativity(dial)
        lines.append(words.novelty.format(dial=dial, name=name))

    constraints = request.constraints
    if constraints is not None and constraints.time_budget is not None:
        lines.append(words.time.format(seconds=constraints.time_budget))
    if constraints is not None and constraints.quality_level is not None:
        lines.append(words.quality[constraints.quality_level])

    return lines


def _shape(agent: ResearchAgent, task_id: str, language: PromptLanguage) -> list[str]:
    shape = json.dumps(skeleton(agent, task_id), ensure_ascii=False, indent=2)
    return [PROMPT_WORDS[language].answer, shape]


def skeleton(agent: ResearchAgent, task_id: str) -> JsonObject:
    """Return the shape of the answer, with what is known already filled in."""
    outputs = agent.outputs or (OUTPUTS[4],)
    shape: JsonObject = {
        "schema_version": ANSWER.version,
        "task_id": task_id,
        "agent_id": agent.id,
        "vs_level": agent.level,
        "execution_timestamp": "YYYY-MM-DDThh:mm:ssZ",
        "vs_metadata": _metadata_skeleton(agent),
        "content": {
            "summary": "…",
            "main_output": dict.fromkeys(outputs, "…"),
            "confidence": 0.0,
        },
        "provenance": {
            "sources": ["…"],
            "reasoning_trace": ["…"],
            "assumptions": [],
        },
    }
    if agent.level == "Full":
        shape["self_critique"] = {
            "strengths": ["…", "…"],
            "weaknesses": ["…", "…"],
            "improvement_suggestions": ["…"],
            "alternative_perspectives": ["…"],
        }
    return shape


def _metadata_skeleton(agent: ResearchAgent) -> JsonObject:
    option = {
        "option": "…",
        "score": 0.0,
        "rationale": "…",
        "probability": 0.0,
    }
    metadata: JsonObject = {
        "phase_executed": sorted(agent.phases),
        "modal_identified": ["…"],
        "t_scores": [option],
        "final_selection": {
            "option": "…",
            "t_score": 0.0,
            "justification": "…",
        },
    }
    for phase, (name, placeholder) in _NAMED_OUTPUTS.items():
        if phase in agent.phases:
            metadata[name] = placeholder
    return metadata
