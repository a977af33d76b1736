"""What a server says about itself."""

from __future__ import annotations

from accordance.service.views.base import View


class LifeView(View):
    """The process answers."""

    status: str


class ReadyView(View):
    """Requests can be carried out."""

    status: str
    projects: int


class ResourceView(View):
    """What RFC 9728 says about a protected resource."""

    resource: str
    authorization_servers: tuple[str, ...]
    bearer_methods_supported: tuple[str, ...]
    resource_name: str


class MetaView(View):
    """What a server is, and which project a caller sees."""

    version: str
    project: str
