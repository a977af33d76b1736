"""Keys of the server."""

from __future__ import annotations

from accordance.domain.access import Identity
from accordance.service.views.base import View


class KeyView(View):
    """A key, without the key itself, which was shown once."""

    key_id: str
    name: str
    role: str
    rights: tuple[str, ...]
    tasks: tuple[str, ...]
    contracts: tuple[str, ...]
    prefix: str  # what the key begins with
    made_by: str
    made_at: str
    expires_at: str | None
    revoked_at: str | None


class KeyListView(View):
    """All keys of a project."""

    items: tuple[KeyView, ...]


class NewKeyView(KeyView):
    """A key that was just made."""

    key: str  # shown this once


class CallerView(View):
    """Who asks, and what they may do."""

    name: str
    role: str
    rights: tuple[str, ...]
    tasks: tuple[str, ...]
    contracts: tuple[str, ...]
    project: str


class LoginWaysView(View):
    """How people log in to a server."""

    key: bool
    provider: bool  # of OpenID Connect


def caller_view(identity: Identity, project: str) -> CallerView:
    """Show who asks."""
    return CallerView(
        name=identity.name,
        role=identity.role.value,
        rights=tuple(sorted(right.value for right in identity.rights)),
        tasks=identity.tasks,
        contracts=identity.contracts,
        project=project,
    )
