"""Serving projects over HTTP: the way into this face."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import uvicorn

from accordance.domain.access import RIGHTS, Identity, Role
from accordance.errors import AccordanceError, Category
from accordance.project.server_settings import ServerSettings
from accordance.server.app import Mount, make_app, make_state
from accordance.server.state import ServerState
from accordance.server.tenants import OneOffToken, Tenant, Tenants
from accordance.service.keys import new_key
from accordance.service.observing import LogFormat, observed
from accordance.service.project import Project, asking_as, open_project

__all__ = ["Mount", "ServeOptions", "serve"]

_BACKLOG: Final = 2048
_SECONDS_TO_END: Final = 5


class OpenToAll(AccordanceError):
    """The server would send keys in the clear, where others can read them."""

    code = "open-to-all"


class AddressTaken(AccordanceError):
    """The address to listen on is taken, or is none of this machine."""

    code = "address-taken"
    category = Category.UNAVAILABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What is served, and how, where it is not as the settings say."""

    homes: tuple[Path | None, ...] = (None,)
    ledger: str | None = None  # of the first project
    host: str | None = None
    port: int | None = None
    insists: bool = False  # on listening for others without TLS
    runs: bool = False  # carries plans out in this process
    has_token: bool = True  # prints a token for a single use
    log_format: LogFormat | None = None  # None: as the settings say
    opens: bool = False  # the dashboard in a browser, once it can answer
    mounts: tuple[Mount, ...] = field(default=())


def serve(options: ServeOptions, tell: Callable[[str], None]) -> None:
    """Serve until a signal comes. `tell` is called with the address, and the token.

    Raises OpenToAll and AddressTaken.
    """
    with contextlib.ExitStack() as stack:
        tenants = stack.enter_context(opened_tenants(options.homes, options.ledger))
        settings = tenants.first.settings
        home = tenants.first.project.home
        root = home.root
        stack.enter_context(observed(home, log_format=options.log_format))
        host = settings.host if options.host is None else options.host
        must_be_private(host, settings, insists=options.insists)
        if options.has_token:
            tenants.one_off = one_off_token()
        port = settings.port if options.port is None else options.port
        listening = stack.enter_context(contextlib.closing(bound_socket(host, port)))
        state = make_state(tenants, is_secure=_is_secure(settings))
        server = _Server(uvicorn_config(state, root, options.mounts))
        if options.runs:
            for tenant in tenants.by_name.values():
                state.runs.work_on(tenant.project)
        dashboard = _announce(tell, host, listening, settings, tenants)
        if options.opens:
            server.on_start = lambda: _open_in_browser(dashboard)
        try:
            server.run(sockets=[listening])
        finally:
            state.stopping.set()
            state.runs.close()


@contextlib.contextmanager
def opened_tenants(
    homes: Sequence[Path | None], ledger: str | None = None
) -> Iterator[Tenants]:
    """Open projects to be served. Each is called by the name of its folder."""
    with contextlib.ExitStack() as stack:
        by_name: dict[str, Tenant] = {}
        for number, home in enumerate(homes):
            place = ledger if number == 0 else None
            project = stack.enter_context(open_project(home, place, create=True))
            name = _name_of(project, by_name)
            settings = project.home.settings().server
            by_name[name] = Tenant(name, project, settings)
        yield Tenants(by_name)


def _name_of(project: Project, taken: dict[str, Tenant]) -> str:
    base = project.home.root.name or "project"
    name = base
    number = 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name


def one_off_token() -> OneOffToken:
    """Return a token for this process, with all rights of the user who started it."""
    identity = Identity(
        name=asking_as(None),
        role=Role.ADMIN,
        rights=RIGHTS[Role.ADMIN],
    )
    return OneOffToken(new_key()[1], identity)


def must_be_private(host: str, settings: ServerSettings, *, insists: bool) -> None:
    """Refuse to listen for others without TLS. Raises OpenToAll."""
    is_safe = settings.certificate or settings.trusted_proxies
    if insists or is_safe or _is_loopback(host):
        return
    raise OpenToAll(
        f"on {host or 'every address'} keys would travel in the clear",
        way_out=(
            "set [server] certificate and certificate_key, or trusted_proxies if a"
            " proxy ends TLS, or insist"
        ),
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_secure(settings: ServerSettings) -> bool:
    return bool(settings.certificate) or settings.public_url.startswith("https://")


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises AddressTaken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends without delay only where the protocol is named
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_BACKLOG)  # the address is printed next: it may be used
    except OSError as error:
        listening.close()
        raise AddressTaken(
            f"cannot listen on {host}:{port} ({error.strerror or error})",
            way_out="name another host or port",
        ) from None
    listening.set_inheritable(True)
    return listening


def uvicorn_config(
    state: ServerState,
    root: Path,
    mounts: Sequence[Mount] = (),
) -> uvicorn.Config:
    """Return how the app is run."""
    settings = state.settings
    proxies = list(settings.trusted_proxies)
    return uvicorn.Config(
        make_app(state, mounts),
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies or None,
        timeout_graceful_shutdown=_SECONDS_TO_END,
        ssl_certfile=root / settings.certificate if settings.certificate else None,
        ssl_keyfile=(
            root / settings.certificate_key if settings.certificate_key else None
        ),
    )


def _announce(
    tell: Callable[[str], None],
    host: str,
    listening: socket.socket,
    settings: ServerSettings,
    tenants: Tenants,
) -> str:
    scheme = "https" if settings.certificate else "http"
    shown_host = f"[{host}]" if ":" in host else host
    port = listening.getsockname()[1]
    base = f"{scheme}://{shown_host}:{port}"
    names = ", ".join(tenants.by_name)
    tell(f"{names}: {base}/v1")
    if tenants.one_off is not None:
        tell(f"key for this run: {tenants.one_off.key}")
    key = ""
    if tenants.one_off is not None:
        key = f"#key={tenants.one_off.key}"
    dashboard = f"{base}/{key}"  # what follows the # stays in the browser
    tell(f"dashboard: {dashboard}")
    return dashboard


class _Server(uvicorn.Server):
    """A server that says when it answers."""

    on_start: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        if self.on_start is not None and not self.should_exit:
            self.on_start()


def _open_in_browser(address: str) -> None:
    """Open the dashboard; a browser in the terminal does not hold the server up."""
    opening = threading.Thread(
        target=webbrowser.open,
        args=(address,),
        daemon=True,
    )
    opening.start()
