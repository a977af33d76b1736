"""What agents over MCP leave in the ledger: reports, and workers with names of their own."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from accordance.cli.doors import open_doors
from accordance.service import verification
from accordance.service.project import Project
from accordance.service.task_records import show_task
from tests.server.mcp_agent import approval, connected, product, running
from tests.server.stage import Served, serving
from tests.server.test_mcp_door import refuse


def test_a_ledger_of_named_workers_holds(project: Project) -> None:
    """Reports and names with a slash are recomputed as all else; a report that was changed is seen."""

    async def act(door: Served) -> None:
        named = {"Accordance-Worker": "left"}
        async with connected(
            door.url, door.key("agent", name="anna"), **named
        ) as maker:
            await maker("next_task")
            await maker("progress", report="half of it")
            await maker("submit", message=product("a"))
        async with connected(
            door.url, door.key("agent", name="bert"), **named
        ) as critic:
            await critic("next_task")
            await critic("progress", report="read it")
            await critic("submit", message=approval("a"))

    with serving(project, mounts=open_doors(refuse)) as door:
        running(lambda: act(door))
    history = show_task(project, "a").events
    reports = [event.model_dump() for event in history if event.event == "REPORTED"]
    assert [each["by"] for each in reports] == ["anna/left", "bert/left"]
    assert faults_of(project) == []

    with closing(sqlite3.connect(project.place)) as ledger, ledger:
        ledger.execute(
            "UPDATE task_events SET payload = replace(payload, 'half', 'all')"
            " WHERE kind = 'REPORTED'"
        )
    (fault,) = faults_of(project)
    assert "(REPORTED) is not what was written" in fault


def faults_of(project: Project) -> list[str]:
    """What does not hold when the whole ledger is recomputed."""
    faults: list[str] = []
    for findings in verification.verify(project).findings:
        faults += [*findings.integrity, *findings.completeness]
    return faults
