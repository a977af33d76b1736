"""Files that decide what agents and hooks do: an agent that changes them is noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.facts import (
    CURRENT_FACTS,
    WITH_FAILING_TESTS_AS_THEY_WERE,
    ChangeKind,
    SteeringFile,
)
from accordance.domain.findings import Gate
from accordance.domain.hooks.git_script import git_script, is_our_script
from accordance.domain.hooks.steering import steered_hooks
from accordance.gates.running import GATES
from accordance.workspace.steering import steering_files
from tests.unit.cases import FACTS, a_case, a_task
from tests.unit.workspace.test_steering import change


@pytest.mark.parametrize(
    ("path", "steers"),
    [
        (".claude/settings.json", "Claude Code"),
        (".Claude/hooks/stop.sh", "Claude Code"),
        (".codex/hooks.json", "codex"),
        (".opencode/plugins/accordance.js", "opencode"),
        ("packages/web/.opencode/plugins/x.ts", "opencode"),
        ("opencode.jsonc", "opencode"),
        (".husky/pre-commit", "git hooks"),
        (".pre-commit-config.yaml", "pre-commit"),
        ("src/claude.py", ""),
        ("claude/settings.json", ""),
        ("docs/.codex.md", ""),
    ],
)
def test_whose_hooks_a_file_steers(path: str, steers: str) -> None:
    """In any folder and letter case."""
    assert steered_hooks(path) == steers


@pytest.mark.parametrize("kind", [ChangeKind.MODIFIED, ChangeKind.DELETED])
def test_it_is_a_fact_of_its_own(kind: ChangeKind) -> None:
    """Also if the file is removed. Facts of earlier versions do not know it."""
    changes = change(".claude/settings.json", kind)
    assert steering_files(changes) == (
        SteeringFile(".claude/settings.json", "Claude Code", kind),
    )
    assert steering_files(changes, WITH_FAILING_TESTS_AS_THEY_WERE) == ()


@pytest.mark.parametrize(
    ("pins", "codes"),
    [
        pytest.param([".claude/**"], ["HOOKS_CHANGED"], id="only a pattern allows it"),
        pytest.param([".claude/settings.json"], [], id="the task names it"),
    ],
)
def test_only_a_task_that_names_the_file_may_have_it_changed(
    pins: list[str], codes: list[str]
) -> None:
    """An agent does not switch off the hook that has its work judged."""
    path = ".claude/settings.json"
    case = a_case(
        task=a_task(pins={"allowed_paths": pins, "forbidden_paths": []}),
        facts=replace(
            FACTS,
            steering=(SteeringFile(path, "Claude Code"),),
            version=CURRENT_FACTS,
        ),
    )
    findings = GATES[Gate.TESTS](case).findings
    assert [f.code for f in findings if f.code != "TESTS_NOT_RUN"] == codes


def test_the_script_is_known_again_wherever_accordance_is() -> None:
    """So that it is replaced, and nothing else is."""
    assert is_our_script(git_script("'/opt/a b/accordance'").encode())
    assert not is_our_script(b"#!/bin/sh\nexec accordance judge\n")
