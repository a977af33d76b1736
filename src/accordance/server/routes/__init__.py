"""The routes of the API, a module for each kind of thing."""

from __future__ import annotations

from fastapi import APIRouter


def all_routers() -> list[APIRouter]:
    """Return the routers of every module."""
    from accordance.server.routes import (
        health,
        keys,
    )

    modules = (health, keys)
    return [module.router for module in modules]
