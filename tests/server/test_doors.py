"""The doors for agents beside the API: where they are, and what happens without their extra."""

from __future__ import annotations

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from accordance.cli.doors import Door, open_doors
from accordance.domain.access import Right
from accordance.server.app import Mount
from accordance.service.project import Project
from tests.server.stage import serving


async def say_path(scope: Scope, receive: Receive, send: Send) -> None:
    """An app of another face: it answers with the caller's name."""
    identity = scope.get("accordance.identity")
    name = identity.name if identity else "a stranger"
    await PlainTextResponse(f"{name} at {scope['path']}")(scope, receive, send)


def door_that_lacks(package: str) -> Door:
    """A door that imports a package which is not installed."""

    def mounts() -> tuple[Mount, ...]:
        raise ModuleNotFoundError(f"no {package}", name=f"{package}.server")

    return Door("/shut", "agents", ("lacking",), mounts)


def test_a_door_is_at_its_path_and_below(project: Project) -> None:
    """And a request without a key does not come through, unless everybody may."""
    mounts = (Mount("/door", say_path, Right.WORK), Mount("/open", say_path, None))
    with serving(project, mounts=mounts) as served:
        with served.client(served.key("agent")) as agent:
            assert agent.get("/door").text == "agent at /door"
            assert agent.delete("/door/below").text == "agent at /door/below"
            assert agent.get("/doors").json()["code"] == "no-such-route"
        with served.client(served.key("viewer")) as viewer:
            assert viewer.post("/door").json()["code"] == "not-allowed"
        with served.client() as stranger:
            assert stranger.post("/door").json()["code"] == "not-authenticated"
            assert stranger.post("/open").text == "a stranger at /open"


def test_a_door_whose_extra_is_missing_stays_shut() -> None:
    """The others open, and a line says what to install."""
    lines: list[str] = []
    mount = Mount("/door", say_path)
    opening = Door("/door", "door", (), lambda: (mount,))
    doors = [door_that_lacks("lacking"), opening]
    assert open_doors(lines.append, doors) == (mount,)
    assert lines == [
        "/shut is off: it needs the extra agents (pip install 'accordance[agents]')"
    ]


def test_a_fault_of_a_door_is_not_hidden() -> None:
    """A module that no extra brings is missing: that is no reason to go on."""
    with pytest.raises(ModuleNotFoundError, match="no mistyped"):
        open_doors(lambda _: None, [door_that_lacks("mistyped")])
