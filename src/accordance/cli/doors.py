"""The doors for agents that `accordance serve` offers beside its API.

Each is a face of its own, mounted at its path. A door whose extra is not installed stays
shut, and the server says so in a line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from accordance.server.app import Mount


@dataclass(frozen=True, slots=True)
class Door:
    """A way in for agents: where it is, which extra it needs, and what is mounted."""

    path: str
    extra: str
    packages: tuple[str, ...]  # that the extra brings
    mounts: Callable[[], tuple[Mount, ...]]


def _mcp() -> tuple[Mount, ...]:
    from accordance.domain.access import Right
    from accordance.mcp.over_http import McpDoor
    from accordance.server.app import Mount

    door = McpDoor()
    return (Mount("/mcp", door, Right.WORK, door.lifespan),)


def _a2a() -> tuple[Mount, ...]:
    """The door for agents that speak A2A; everybody may see the card."""
    from accordance.a2a.app import AgentApp, card_app
    from accordance.a2a.cards import CARD_PATH, PATH
    from accordance.domain.access import Right
    from accordance.server.app import Mount

    return (
        Mount(PATH, AgentApp(), Right.CHECK),
        Mount(CARD_PATH, card_app, None),
    )


DOORS: Final[Sequence[Door]] = (
    Door("/mcp", "mcp", ("mcp", "mcp_types", "anyio"), _mcp),
    Door("/a2a", "a2a", ("a2a", "google", "sse_starlette"), _a2a),
)


def open_doors(
    tell: Callable[[str], None], doors: Sequence[Door] = DOORS
) -> tuple[Mount, ...]:
    """Return what is mounted for each door; tell about those that stay shut."""
    mounts: list[Mount] = []
    for door in doors:
        try:
            mounts.extend(door.mounts())
        except ModuleNotFoundError as error:
            missing = (error.name or "").partition(".")[0]
            if missing not in door.packages:
                raise
            tell(
                f"{door.path} is off: it needs the extra {door.extra}"
                f" (pip install 'accordance[{door.extra}]')"
            )
    return tuple(mounts)
