"""A real server on loopback, for tests: its projects, its keys, and how to ask it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn

from accordance.project.server_settings import ServerSettings
from accordance.server.app import Mount, make_state
from accordance.server.serving import bound_socket, uvicorn_config
from accordance.server.state import ServerState
from accordance.server.tenants import Tenant, Tenants
from accordance.service.keys import KeyRequest, Right, Role, make_key
from accordance.service.project import Project

LIMIT = 60.0
"""Seconds after which a request that hangs fails."""


@dataclass(frozen=True)
class Served:
    """A server that answers."""

    url: str
    state: ServerState

    def key(self, role: str = "admin", project: str | None = None, **more: Any) -> str:
        """Make a key of a role."""
        tenant = self.state.tenants.named(project)
        scopes = tuple(map(Right, more.pop("scopes", ())))
        name = more.pop("name", role)
        request = KeyRequest(name=name, role=Role(role), scopes=scopes, **more)
        return make_key(tenant.project, request, by="test").key

    def client(self, key: str | None = None) -> httpx.Client:
        """Return a client with a key, or without one."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(
            base_url=self.url, headers=headers, timeout=LIMIT, trust_env=False
        )


@contextlib.contextmanager
def serving(
    *projects: Project,
    settings: ServerSettings | None = None,
    mounts: Sequence[Mount] = (),
) -> Iterator[Served]:
    """Serve projects on a free port of the loopback."""
    with running(*projects, settings=settings, mounts=mounts) as (served, _):
        yield served


@contextlib.contextmanager
def running(
    *projects: Project,
    settings: ServerSettings | None = None,
    mounts: Sequence[Mount] = (),
    port: int = 0,
) -> Iterator[tuple[Served, uvicorn.Server]]:
    """The same, with the server itself, to be stopped by a test; 0 is a free port."""
    settings = settings or ServerSettings(requests_per_second=10_000, burst=10_000)
    names = ["one", "two", "three"]
    by_name = {
        name: Tenant(name, project, settings)
        for name, project in zip(names, projects, strict=False)
    }
    state = make_state(Tenants(by_name))
    root = projects[0].home.root
    server = uvicorn.Server(uvicorn_config(state, root, mounts))
    with contextlib.closing(bound_socket("127.0.0.1", port)) as listening:
        port = listening.getsockname()[1]
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listening]}, daemon=True
        )
        thread.start()
        url = f"http://127.0.0.1:{port}"
        _await(url)
        try:
            yield Served(url, state), server
        finally:
            server.should_exit = True
            state.stopping.set()
            thread.join(LIMIT)
            state.runs.close()
            assert not thread.is_alive()


def _await(url: str) -> None:
    transport = httpx.HTTPTransport(retries=50)
    with httpx.Client(transport=transport, trust_env=False, timeout=LIMIT) as client:
        assert client.get(f"{url}/livez").status_code == 200
