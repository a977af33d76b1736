"""What an agent may use of its model's endpoint: a few requests, for its own model.

The key opens far more than an agent needs: files, batches, fine-tuning, members of an
organisation, dearer models. So the requests of each agent are listed, and any other
request is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from accordance.executors.agents.request_filter import RequestRefused

_Pairs: TypeAlias = list[tuple[str, object]]

_MODEL: Final = "model"
_FURTHER_MODELS: Final = frozenset(
    ("models", "fallbacks", "fallback_model", "fallback_models")
)
"""Keys that make some endpoints use other models."""

_DEFERRED: Final = "background"  # such an answer is made later, out of our sight

_REQUEST_HEADERS: Final = frozenset(
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
_REQUEST_HEADER_FAMILIES: Final = (
    "x-claude-code-",
    "x-codex-",
    "x-opencode-",
    "x-stainless-",
)
_OWNER_HEADERS: Final = re.compile(
    r"set-cookie|.*(organi[sz]ation|project|workspace).*"
)


class Request(NamedTuple):
    """A request that an agent makes; its path is relative to the endpoint's."""

    method: str
    path: str
    asks_model: bool = False  # the model answers, and that costs money


@dataclass(frozen=True, slots=True)
class Grant:
    """The requests that a run of an agent may make, and the model it may ask."""

    requests: tuple[Request, ...]
    model: str
    is_same_model: Callable[[str, str], bool] = str.__eq__
    """Compares the model of the run with the requested model."""

    def find(self, base: str, method: str, target: str) -> Request:
        """Return the listed request for a method and a target. Raises RequestRefused.

        Paths are compared as they are written, so no alternative spelling gets through.
        """
        path = target.partition("?")[0]
        for request in self.requests:
            if (method, path) == (request.method, base + request.path):
                return request

        allowed = [
            f"{request.method} {base}{request.path}" for request in self.requests
        ]
        raise RequestRefused(
            403,
            "accordance does not pass this request on; this agent may use: "
            + ", ".join(allowed),
        )

    def require_own_model(self, body: bytes) -> None:
        """Refuse a body that names another model, or that could be read that way.

        Raises RequestRefused.
        """
        pairs = _outermost_pairs(body)

        requested = self._requested_model(pairs)
        if not self.is_same_model(self.model, requested):
            raise RequestRefused(
                403, f"this run may use {self.model} only, not {requested[:100]!r}"
            )

        for key, value in pairs:
            folded = key.casefold()
            if folded in _FURTHER_MODELS:
                raise RequestRefused(
                    403,
                    f"this run may use {self.model} only; {key!r} is not allowed",
                )
            if folded == _DEFERRED and value is not False:
                raise RequestRefused(
                    403,
                    f"{key!r} is not allowed: the cost of the answer would be unknown",
                )

    def _requested_model(self, pairs: _Pairs) -> str:
        """Return the model that a body names exactly once. Raises RequestRefused."""
        models = [(key, value) for key, value in pairs if key.casefold() == _MODEL]
        if len(models) == 1:
            key, value = models[0]
            if key == _MODEL and isinstance(value, str):
                return value
        raise RequestRefused(
            403, f"the body must name its model exactly once: {self.model}"
        )


def _outermost_pairs(body: bytes) -> _Pairs:
    """Return the pairs of the outermost object, repeated keys included.

    Raises RequestRefused.
    """
    outermost: _Pairs = []

    def note(pairs: _Pairs) -> dict[str, object]:
        outermost[:] = pairs  # inner objects end first, so the outermost is the last
        return dict(pairs)

    try:
        value = json.loads(body, object_pairs_hook=note)
    except (ValueError, RecursionError):
        value = None

    if not isinstance(value, dict):
        raise RequestRefused(
            400,
            "the body must be an uncompressed JSON object, so that its model can be"
            " checked",
        )
    return outermost


def may_forward_header(name: str) -> bool:
    """Whether a request header is passed on to the endpoint.

    Headers that say who pays, where to, or for which path are not.
    """
    lowered = name.lower()
    if lowered in _REQUEST_HEADERS:
        return True
    return lowered.startswith(_REQUEST_HEADER_FAMILIES)


def may_return_header(name: str) -> bool:
    """Whether a response header reaches the agent; the owner's details do not."""
    return _OWNER_HEADERS.fullmatch(name.lower()) is None
