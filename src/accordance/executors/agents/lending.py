"""What an agent is lent of its model's endpoint: a few requests, for the model of its run. Everything else stays closed.

The key opens far more than an agent needs: files, batches, fine-tuning, the members of an organisation, dearer models. So the
requests of each agent are listed, and what is not on the list is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from accordance.executors.agents.request_filter import Refused

_Pairs: TypeAlias = list[tuple[str, object]]

_MODEL: Final = "model"
_FURTHER_MODELS: Final = frozenset(
    ("models", "fallbacks", "fallback_model", "fallback_models")
)
"""Keys by which some endpoints are told to turn to other models."""
_UNSEEN: Final = (
    "background"  # such an answer is made later, where nobody sees what it costs
)

_HEADERS: Final = frozenset(
    (
        "accept",
        "accept-language",
        "anthropic-beta",
        "anthropic-dangerous-direct-browser-access",
        "anthropic-version",
        "content-type",
        "conversation_id",
        "conversation-id",
        "openai-beta",
        "originator",
        "session_id",
        "session-id",
        "thread-id",
        "user-agent",
        "version",
        "x-app",
        "x-client-request-id",
    )
)
_HEADER_FAMILIES: Final = ("x-claude-code-", "x-codex-", "x-opencode-", "x-stainless-")
_NOT_FOR_AGENTS: Final = re.compile(
    r"set-cookie|.*(organi[sz]ation|project|workspace).*"
)


class Request(NamedTuple):
    """A request that an agent makes; its path is below the endpoint's own."""

    method: str
    path: str
    asks_model: bool = False  # the model speaks, and that costs money


@dataclass(frozen=True, slots=True)
class Lent:
    """The requests that one run of an agent may make, and the model it may ask."""

    requests: tuple[Request, ...]
    model: str
    is_same_model: Callable[[str, str], bool] = (
        str.__eq__
    )  # of the run's model and the one that is asked

    def find(self, base: str, method: str, target: str) -> Request:
        """The request on the list. Paths are compared as they are written: no spelling leads around. Raises Refused."""
        path = target.partition("?")[0]
        for request in self.requests:
            if (method, path) == (request.method, base + request.path):
                return request
        known = ", ".join(
            f"{request.method} {base}{request.path}" for request in self.requests
        )
        raise Refused(
            403, f"accordance lends no such request to this agent; it may make: {known}"
        )

    def must_ask_its_model(self, body: bytes) -> None:
        """Refuse a body that asks another model, or that some endpoint could read so. Raises Refused."""
        pairs = _top_level(body)
        models = [(key, value) for key, value in pairs if key.casefold() == _MODEL]
        if (
            len(models) != 1
            or models[0][0] != _MODEL
            or not isinstance(models[0][1], str)
        ):
            raise Refused(
                403, f"the body must name its model exactly once: {self.model}"
            )
        asked = models[0][1]
        if not self.is_same_model(self.model, asked):
            raise Refused(
                403, f"this run may ask {self.model} only, not {asked[:100]!r}"
            )
        for key, value in pairs:
            if key.casefold() in _FURTHER_MODELS:
                raise Refused(
                    403, f"this run may ask {self.model} only; {key!r} is not passed on"
                )
            if key.casefold() == _UNSEEN and value is not False:
                raise Refused(
                    403,
                    f"{key!r} is not passed on: nobody would see what the answer costs",
                )


def _top_level(body: bytes) -> _Pairs:
    """The pairs of the outermost object, repeated keys included. Raises Refused."""
    outermost: _Pairs = []

    def note(pairs: _Pairs) -> dict[str, object]:
        outermost[:] = (
            pairs  # objects end from the inside outwards: the outermost is the last
        )
        return dict(pairs)

    try:
        value = json.loads(body, object_pairs_hook=note)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Refused(
            400,
            "the body must be a JSON object, not packed, so that its model can be checked",
        )
    return outermost


def is_lent_header(name: str) -> bool:
    """Whether a header of an agent's request is passed on: none that says who pays, where to, or for what path."""
    plain = name.lower()
    return plain in _HEADERS or plain.startswith(_HEADER_FAMILIES)


def is_for_agents(name: str) -> bool:
    """Whether a header of an answer is given to the agent: none that is about the owner of the key."""
    return _NOT_FOR_AGENTS.fullmatch(name.lower()) is None
