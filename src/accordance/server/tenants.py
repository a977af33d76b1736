"""The projects that a server serves. Each has its own ledger and its own keys."""

from __future__ import annotations

import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from accordance.domain.access import Identity
from accordance.errors import NotAllowed, NotAuthenticated, NotFound
from accordance.project.server_settings import ServerSettings
from accordance.service import keys
from accordance.service.project import Project

_KNOWN_SECONDS: Final = 2.0
"""A revoked key is refused after so long at the latest, by every process."""
_MOST_KNOWN: Final = 10_000


@dataclass(frozen=True, slots=True)
class Tenant:
    """A project that is served, and what it is called here."""

    name: str
    project: Project
    settings: ServerSettings


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request, and to which project."""

    identity: Identity
    tenant: Tenant

    @property
    def project(self) -> Project:
        """The project that the request is about."""
        return self.tenant.project

    @property
    def name(self) -> str:
        """What the chain of events calls them."""
        return self.identity.name


@dataclass(frozen=True, slots=True)
class OneOffToken:
    """The token that is printed at the start. It ends with the process."""

    key: str
    identity: Identity


@dataclass(slots=True)
class Tenants:
    """All projects of a server, and who has which key."""

    by_name: Mapping[str, Tenant]
    one_off: OneOffToken | None = None
    _known: dict[str, tuple[float, Caller]] = field(default_factory=dict)

    @property
    def first(self) -> Tenant:
        """The project of a caller who names none, and whose key has none."""
        return next(iter(self.by_name.values()))

    def recall(self, key: str, wanted: str | None) -> Caller | None:
        """Return who has a key, if that was asked a moment ago."""
        if self.one_off is not None and _is_same(self.one_off.key, key):
            return Caller(self.one_off.identity, self.named(wanted))
        known = self._known.get(key)
        if known is None or known[0] < time.monotonic():
            return None
        return in_project(known[1], wanted)

    def look_up(self, key: str, wanted: str | None) -> Caller:
        """Return who has a key, by the ledgers. Raises NotAuthenticated."""
        for tenant in self.by_name.values():
            identity = keys.identify(tenant.project, key)
            if identity is not None:
                caller = Caller(identity, tenant)
                self._remember(key, caller)
                return in_project(caller, wanted)
        raise NotAuthenticated("the key is unknown", way_out="ask an admin for a key")

    def forget(self, key: str) -> None:
        """Ask the ledger about a key the next time."""
        self._known.pop(key, None)

    def forget_all(self) -> None:
        """Ask the ledger about every key the next time."""
        self._known.clear()

    def named(self, name: str | None) -> Tenant:
        """Return a project by its name, the first where no name is given. Raises NotFound."""
        if name is None:
            return self.first
        tenant = self.by_name.get(name)
        if tenant is None:
            raise NotFound("project", name, self.by_name)
        return tenant

    def _remember(self, key: str, caller: Caller) -> None:
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[key] = time.monotonic() + _KNOWN_SECONDS, caller


def _is_same(key: str, sent: str) -> bool:
    """Compare keys in constant time; what was sent may hold any character."""
    return hmac.compare_digest(key.encode(), sent.encode("utf-8", "surrogatepass"))


def in_project(caller: Caller, wanted: str | None) -> Caller:
    """A key opens the project it was made in, and no other."""
    if wanted not in (None, caller.tenant.name):
        raise NotAllowed(f"the key belongs to another project than {wanted!r}")
    return caller
