"""Each cause outside has a probe: it sees the cause, and sees that it is gone."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from accordance.domain.executor_specs import LlmSpec
from accordance.domain.faults import FAULTS, Fault
from accordance.domain.outside_causes import OutsideCause
from accordance.executors.endpoints import (
    endpoint_of,
    is_reachable,
    lacking_endpoint,
)
from accordance.project.home import Home
from accordance.runtime.attempt_runner import ProjectAttempts
from accordance.runtime.obstacles import Obstacles
from accordance.work.project_routes import routing_for
from tests.runtime.stage import Stage, lanes

COMMAND = '[executors.c]\nkind = "command"\ncommand = ["{}"]\n'
MODEL = '[executors.m]\nkind = "llm"\nmodel = "small"\nkey_env = "A_TEST_KEY"\n'
AGENT = (
    '[executors.codex]\nbinary = "bin/agent"\nmodel = "small"\nkey_env = "A_TEST_KEY"\n'
)
ROUTED = COMMAND.format("true") + '[[routes]]\n{}executor = "c"\n'


def obstacle(on: Stage, settings: str, cause: OutsideCause, **more: bool) -> str | None:
    """What keeps the first task from beginning, under some settings."""
    (on.home.root / "accordance.toml").write_text(settings)
    home = Home(on.home.root)
    attempts = ProjectAttempts(on.ledger, home, routing_for(home))
    with on.ledger.read() as tx:
        task = tx.task("n0000")
        of_review = more.get("of_review", False)
        return Obstacles(attempts).obstacle(tx, task, cause, of_review=of_review)


class Case(NamedTuple):
    """Settings in which a cause is there, and what a person changes."""

    cause: OutsideCause
    settings: str
    says: str
    mend: Callable[[Path, pytest.MonkeyPatch], str]  # returns the settings then


def _set_key(_: Path, patch: pytest.MonkeyPatch) -> str:
    patch.setenv("A_TEST_KEY", "secret-secret")
    return MODEL


def _other_route(_: Path, __: pytest.MonkeyPatch) -> str:
    return COMMAND.format("true")


def _install(root: Path, _: pytest.MonkeyPatch) -> str:
    (root / "made-up-tool").write_text("#!/bin/sh\n")
    return COMMAND.format("made-up-tool")


def _install_agent(root: Path, patch: pytest.MonkeyPatch) -> str:
    program = root / "bin/agent"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    patch.setenv("A_TEST_KEY", "secret-secret")
    return AGENT


def _fitting_route(_: Path, __: pytest.MonkeyPatch) -> str:
    return ROUTED.format("")


CASES = {
    "a key that is set later": Case(
        OutsideCause(Fault.KEY_MISSING, "A_TEST_KEY"),
        MODEL,
        "the environment variable A_TEST_KEY is not set",
        _set_key,
    ),
    "a key that is no longer needed": Case(
        OutsideCause(Fault.KEY_MISSING, "A_TEST_KEY"),
        MODEL,
        "A_TEST_KEY",
        _other_route,
    ),
    "a program that is installed later": Case(
        OutsideCause(Fault.NOT_INSTALLED, "made-up-tool"),
        COMMAND.format("made-up-tool"),
        "made-up-tool is not installed",
        _install,
    ),
    "an agent that is installed later": Case(
        OutsideCause(Fault.NOT_INSTALLED, "bin/agent"),
        AGENT,
        "bin/agent is not a program",
        _install_agent,
    ),
    "a route that is added later": Case(
        OutsideCause(Fault.NO_EXECUTOR, "no executor for this task"),
        ROUTED.format('kind = "review"\n'),
        "no route in accordance.toml fits",
        _fitting_route,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_probe_sees_its_cause(
    on: Stage, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """While it is there, and that it is gone."""
    on.brings(lanes(1))
    case = CASES[name]
    monkeypatch.delenv("A_TEST_KEY", raising=False)
    assert case.says in str(obstacle(on, case.settings, case.cause))
    mended = case.mend(on.home.root, monkeypatch)
    assert obstacle(on, mended, case.cause) is None


def test_an_endpoint_that_is_away_and_comes_back(on: Stage) -> None:
    """It is enough that something answers there."""
    on.brings(lanes(1))
    settings = COMMAND.format("true")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        cause = OutsideCause(Fault.UNAVAILABLE, address)
        assert obstacle(on, settings, cause) is None
    assert obstacle(on, settings, cause) == f"nothing answers at {address}"


def test_a_disk_with_and_without_room(
    on: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk of the project counts."""
    on.brings(lanes(1))
    cause = OutsideCause(Fault.NO_SPACE, "space on the disk")
    settings = COMMAND.format("true")
    assert obstacle(on, settings, cause) is None
    full = shutil._ntuple_diskusage(10, 10, 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    assert obstacle(on, settings, cause) == "only 0 bytes are free on the disk"


def test_what_could_not_be_prepared(on: Stage) -> None:
    """Is prepared again, as far as that costs nothing."""
    on.brings(lanes(1))
    cause = OutsideCause(Fault.UNPREPARED, "something")
    assert obstacle(on, COMMAND.format("true"), cause) is None


def test_a_reviewer_is_looked_for_where_a_review_failed(on: Stage) -> None:
    """The routes of reviews count, not those of actions."""
    on.brings(lanes(1))
    cause = OutsideCause(Fault.NO_EXECUTOR, "no executor for this task")
    settings = ROUTED.format('kind = "action"\n')
    assert obstacle(on, settings, cause) is None
    assert obstacle(on, settings, cause, of_review=True) is not None


def test_every_cause_outside_has_a_probe(on: Stage) -> None:
    """Whatever a fault says how to mend can be looked for."""
    on.brings(lanes(1))
    for fault, page in FAULTS.items():
        if page.mend:
            obstacle(on, COMMAND.format("true"), OutsideCause(fault, "127.0.0.1:9"))


# -- addresses


@pytest.mark.parametrize(
    ("fault", "url", "lacks"),
    [
        (Fault.UNAVAILABLE, "http://user:secret@host:81/v1", "host:81"),
        (Fault.UNAVAILABLE, "https://host/v1", "host:443"),
        (Fault.UNAVAILABLE, "http://host/v1", "host:80"),
        (Fault.UNAVAILABLE, "http://host:port", ""),
        (Fault.UNAVAILABLE, "", ""),
        (Fault.CUT, "http://host", ""),
        (None, "http://host", ""),
    ],
)
def test_which_server_was_away(fault: Fault | None, url: str, lacks: str) -> None:
    """Its host and port, without a name or a password."""
    assert lacking_endpoint(fault, url) == lacks


def test_addresses_of_models() -> None:
    """The provider's own, unless the settings name another."""
    spec = LlmSpec(kind="llm", model="small")
    assert endpoint_of(spec).startswith("https://")
    elsewhere = spec.model_copy(update={"base_url": "http://here"})
    assert endpoint_of(elsewhere) == "http://here"
    local = spec.model_copy(update={"provider": "local"})
    assert endpoint_of(local) == ""


@pytest.mark.parametrize("address", ["", "nonsense", "127.0.0.1:x", "127.0.0.1:99999"])
def test_an_address_that_is_none(address: str) -> None:
    """Nothing answers there, and nothing is raised."""
    assert is_reachable(address) is False
