"""The card of accordance as an agent: what it can do, where, and with which key."""

from __future__ import annotations

from typing import Any, Final

from a2a.types.a2a_pb2 import AgentCard

from accordance._version import __version__
from accordance.a2a.skills import Skill
from accordance.a2a.wire import filled
from accordance.domain.access import Identity, Right
from accordance.service.contracts import list_contracts

PATH: Final = "/a2a"
CARD_PATH: Final = "/.well-known/agent-card.json"
_SCHEME: Final = "key"
_JSON: Final = "application/json"
_PLANS: Final = (_JSON, "application/yaml", "application/toml", "text/markdown")

_NEEDS: Final = {
    Skill.CHECK: Right.CHECK,
    Skill.PLAN: Right.PLAN,
    Skill.WORK: Right.WORK,
}
_SKILLS: Final[dict[Skill, dict[str, Any]]] = {
    Skill.PLAN: {
        "name": "Carry out a plan, or a goal in words",
        "description": (
            "Send a goal as text, or a plan as plan_json_v1, YAML, TOML or Markdown."
            " The task stands for the whole plan: its questions ask for input, its"
            " approved products and verdicts are artifacts. metadata.review says"
            " whether the plan is reviewed first, metadata.run whether this server"
            " carries it out."
        ),
        "tags": ["plan", "delegate", "verify"],
        "examples": ["Write the release notes for version 2.1"],
        "inputModes": ["text/plain", *_PLANS],
        "outputModes": ["text/plain", "text/markdown", _JSON],
    },
    Skill.WORK: {
        "name": "Take up a task, and hand in its message",
        "description": (
            'With metadata {"skill": "work"} you get the next task: the artifact'
            " `assignment` has its goal, contract and context. Your next message on"
            " the task is handed in and judged. metadata.skill may also be ask, extend"
            " or release."
        ),
        "tags": ["work", "submit", "verdict"],
        "examples": ['{"metadata": {"skill": "work"}}'],
        "inputModes": ["text/plain", _JSON],
        "outputModes": [_JSON],
    },
    Skill.CHECK: {
        "name": "Check a message against a contract",
        "description": (
            'With metadata {"skill": "check", "contract": "..."} the message is checked,'
            " and every violation is named with its fix. Nothing is kept."
        ),
        "tags": ["check", "contract", "validate"],
        "examples": [
            '{"metadata": {"skill": "check", "contract": "xiaobo_action_v1"}}'
        ],
        "inputModes": ["text/plain", _JSON],
        "outputModes": [_JSON],
    },
}


def card_at(base: str) -> AgentCard:
    """Return the card that everybody may see."""
    return filled(AgentCard(), _content(base, list(_SKILLS)))


def extended_card_at(base: str, identity: Identity) -> AgentCard:
    """Return the card for a caller: the skills their key allows, and the contracts."""
    skills = [skill for skill in _SKILLS if identity.may(_NEEDS[skill])]
    content = _content(base, skills)
    versions = [entry.version for entry in list_contracts().items]
    contracts = ", ".join(versions)
    for skill in content["skills"]:
        if skill["id"] == Skill.CHECK:
            skill["description"] += f" The contracts: {contracts}."
    return filled(AgentCard(), content)


def _content(base: str, skills: list[Skill]) -> dict[str, Any]:
    needs_key: dict[str, Any] = {"schemes": {_SCHEME: {"list": []}}}
    return {
        "name": "accordance",
        "description": (
            "Carries out plans of tasks with agents, judges what they hand in by"
            " contracts and facts, and says what it rests on."
        ),
        "version": __version__,
        "supportedInterfaces": [
            {
                "url": f"{base}{PATH}",
                "protocolBinding": "JSONRPC",
                "protocolVersion": "1.0",
            }
        ],
        "capabilities": {
            "streaming": True,
            "pushNotifications": True,
            "extendedAgentCard": True,
        },
        "securitySchemes": {
            _SCHEME: {
                "httpAuthSecurityScheme": {
                    "scheme": "Bearer",
                    "description": "A key of the project: `accordance key make`.",
                }
            }
        },
        "securityRequirements": [needs_key],
        "defaultInputModes": ["text/plain", _JSON],
        "defaultOutputModes": ["text/plain", _JSON],
        "skills": [{"id": skill.value, **_SKILLS[skill]} for skill in skills],
    }
