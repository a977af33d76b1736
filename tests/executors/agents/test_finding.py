"""Finding the programs of agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from accordance.domain.faults import Fault
from accordance.executors.agents.finding import FOLDER_VARIABLE, find_agent
from accordance.executors.protocol import RunLimits
from tests.executors.assignments import an_assignment, an_executor

NATIVE = {
    "codex": "@openai/codex-linux-x64/vendor/x86_64/bin/codex",
    "opencode": "opencode-linux-x64/bin/opencode",
    "claude": "@anthropic-ai/claude-code-linux-x64/claude",
}


def a_program(place: Path, content: bytes = b"\x7fELF...") -> Path:
    """A file that can be run."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    place.chmod(0o755)
    return place


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever is installed on this machine does not count."""
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))


@pytest.mark.parametrize("kind", NATIVE)
def test_the_native_program_is_found_wherever_the_package_is(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the project, in the folder of a variable, and behind a script on the search path."""
    assert find_agent(kind, None, tmp_path) is None
    modules = tmp_path / "global" / "node_modules"
    native = a_program(modules / NATIVE[kind])
    script = a_program(modules / "package" / "bin.js", b"#!/usr/bin/env node")
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / kind).symlink_to(script)
    found = find_agent(kind, None, tmp_path)
    assert found is not None
    assert (found.program, found.folder) == (native, modules)
    for folder in ("named", ".agents"):
        nearer = a_program(tmp_path / folder / "node_modules" / NATIVE[kind])
        if folder == "named":
            monkeypatch.chdir(modules)
            monkeypatch.setenv(
                FOLDER_VARIABLE, "../../named"
            )  # inside a sandbox that would lead nowhere
        else:
            monkeypatch.delenv(FOLDER_VARIABLE)
        found = find_agent(kind, None, tmp_path)
        assert found is not None
        assert found.program == nearer


def test_a_wish_is_a_path_or_a_name(tmp_path: Path) -> None:
    """A path is relative to the project; a script stands for itself where nothing native belongs to it."""
    script = a_program(tmp_path / "bin" / "mine", b"#!/bin/sh")
    found = find_agent("codex", "bin/mine", tmp_path)
    assert found is not None
    assert (found.program, found.folder) == (script, script.parent)
    assert find_agent("codex", "bin/none", tmp_path) is None
    assert find_agent("codex", "none", tmp_path) is None
    a_program(tmp_path / "other" / "node_modules" / NATIVE["codex"], b"#!/bin/sh")
    lone = a_program(tmp_path / "other" / "node_modules" / "x" / "codex", b"#!/bin/sh")
    found = find_agent("codex", str(lone), tmp_path)
    assert found is not None
    assert found.program == lone


@pytest.mark.parametrize("kind", NATIVE)
def test_a_missing_agent_is_said_with_the_way_to_install_it(
    kind: str, tmp_path: Path
) -> None:
    """By its package."""
    produced = an_executor(tmp_path, kind=kind, model="m").run(
        an_assignment(tmp_path), RunLimits()
    )
    assert (produced.fault, produced.code) == (
        Fault.NOT_INSTALLED,
        "DEPENDENCY_MISSING",
    )
    assert "npm install --prefix .agents" in produced.text
    named = an_executor(tmp_path, kind=kind, model="m", binary="bin/none")
    assert (
        "bin/none is not a program"
        in named.run(an_assignment(tmp_path), RunLimits()).text
    )


def test_an_agent_needs_a_model_and_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are named when they are missing."""
    a_program(tmp_path / ".agents" / "node_modules" / NATIVE["codex"])
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    produced = an_executor(tmp_path, kind="codex").run(
        an_assignment(tmp_path), RunLimits()
    )
    assert produced.fault is Fault.UNKNOWN_MODEL
    produced = an_executor(tmp_path, kind="codex", model="m").run(
        an_assignment(tmp_path), RunLimits()
    )
    assert (produced.fault, produced.code) == (Fault.KEY_MISSING, "PERMISSION_DENIED")
    assert "OPENAI_API_KEY is not set" in produced.text
