"""The routes of the API, a module for each kind of thing."""

from __future__ import annotations

from fastapi import APIRouter


def all_routers() -> list[APIRouter]:
    """Return the routers of every module."""
    from accordance.server.routes import (
        contracts,
        dead_letters,
        events,
        evidence,
        health,
        inbox,
        keys,
        metadata,
        plan_acts,
        plan_pictures,
        plans,
        research,
        runs,
        session,
        statistics,
        task_acts,
        task_pages,
        tasks,
        webhooks,
    )

    modules = (
        health,
        contracts,
        plans,
        plan_pictures,
        plan_acts,
        tasks,
        task_pages,
        task_acts,
        evidence,
        inbox,
        dead_letters,
        events,
        research,
        statistics,
        runs,
        keys,
        webhooks,
        session,
        metadata,
    )
    return [module.router for module in modules]
