"""accordance.toml: every name in it is known, everything has the right type, and it is the user's own."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from accordance.cli.main import run
from accordance.errors import AccordanceError, InvalidSettings
from accordance.project.home import Home
from accordance.project.policy import SETTINGS
from accordance.project.settings import TABLES

WRONG = {
    "a table by another name": ('[[route]]\nexecutor = "x"', "unknown [[route]]; did you mean routes"),
    "a misspelt table": ("[fuse]\ncost_per_run = 20", "unknown [fuse]; did you mean fuses?"),
    "one role in the place of many": ("[role.engineer]\nmax_attempts = 1", "unknown [role]; did you mean roles"),
    "a letter left out of a table": ("[judg]\nseconds = 1", "unknown [judg]; did you mean judge?"),
    "a letter left out of a key": ('ledgr = "x.db"', "unknown ledgr; did you mean ledger?"),
    "a name like no other": ("[zzz]\na = 1", "unknown [zzz]; known: ledger, workspace, run, executors, routes,"),
    "research: one agent": ('[research]\nagent = "x"', "[research] has no key 'agent'; did you mean agents?"),
    "research: no text": ("[research]\nagents = 1", "[research] agents is a text, got 1"),
    "ledger: no text": ("ledger = 1", "ledger is a path or a URL"),
    "workspace: misspelt": ('[workspace]\nbas = "main"', "[workspace] has no key 'bas'; did you mean base?"),
    "workspace: no table": ('workspace = "."', "[workspace] is a table"),
    "judge: misspelt": ("[judge]\nsecond = 1", "[judge] has no key 'second'; did you mean seconds?"),
    "judge: tests are no list": ('[judge]\ntests = "make test"', "judge.tests holds texts"),
    "judge: an empty test": ('[judge]\ntests = [" "]', "judge.tests holds commands, got an empty text"),
    "judge: less isolation": ('[judge]\nisolation = "rlimit"', "a file cannot turn isolation off"),
    "roles: misspelt": ("[roles.engineer]\nmax_atempts = 1", "has no key 'max_atempts'; did you mean max_attempts?"),
    "roles: deeper": ('[roles.x.write]\nallow_path = ["a"]', "has no key 'allow_path'; did you mean allow_paths"),
    "tiers: no number": ('[tiers]\nours = "one"', "tiers.ours is a whole number"),
    "fuses: misspelt": ("[fuses]\ncost_per_runs = 1", "unknown fuse 'cost_per_runs'; did you mean cost_per_run"),
    "fuses: no number": ('[fuses]\nattempts = "3"', "attempts is a whole number"),
    "rubric: another": ("[rubric.nodes]\napprove_at = 1", "[rubric] has no 'nodes'; did you mean node?"),
    "rubric: misspelt": ("[rubric.node]\napprove = 1", "a rubric has no key 'approve'; did you mean approve_at?"),
    "rubric: no numbers": ('[rubric.node.maxima]\nA = "100"', "maxima are whole numbers"),
    "run: misspelt": ("[run]\nconcurency = 1", "[run] has no key 'concurency'; did you mean concurrency"),
    "executors: no table": ("executors = 1", "executors are tables"),
    "executors: misspelt": ('[executors.x]\nkind = "command"\ncomand = "true"', "unknown key 'comand'; did you mean command"),
    "executors: deeper": (
        '[executors.x]\nkind = "external"\n[executors.x.bounds.m]\nconcurency = 1',
        "unknown key 'bounds.m.concurency'; did you mean concurrency?",
    ),
    "executors: a wrong type": ('[executors.x]\nkind = "external"\nseconds = "9"', "seconds"),
    "routes: misspelt": ('[[routes]]\nexecuter = "x"', "route 1: unknown key 'executer'; did you mean executor?"),
    "routes: no list": ('[routes]\nexecutor = "x"', "routes are a list"),
    "no TOML": ("[judge", "Expected"),
    "too deep": (f"a = {'[' * 100_000}", "nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "says"), WRONG.values(), ids=WRONG)
def test_what_nobody_knows_is_an_error(tmp_path: Path, text: str, says: str) -> None:
    """Whatever the command at hand would have needed of it: one line, with the nearest name that is known."""
    (tmp_path / SETTINGS).write_text(text, "utf-8")
    with pytest.raises(AccordanceError) as refused:
        Home(tmp_path).settings()
    assert says in str(refused.value)


def test_every_table_can_be_said(tmp_path: Path) -> None:
    """One example of each, and nothing is missing from the list."""
    text = """
        ledger = "elsewhere.db"
        [workspace]
        repo = "."
        [run]
        concurrency = 2
        [executors.codex]
        [[routes]]
        executor = "codex"
        [fuses]
        attempts = 3
        [rubric.plan]
        approve_at = 95
        [review]
        own_work = false
        [research]
        agents = "agents.toml"
        [roles.engineer]
        max_attempts = 3
        [tiers]
        ours = 1
        [judge]
        tests = ["make test"]
    """
    (tmp_path / SETTINGS).write_text(text, "utf-8")
    assert Home(tmp_path).settings().keys() == TABLES.keys() == tomllib.loads(text).keys()


def test_settings_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They name programs that would be run and rules that would be judged by: refused in one line."""
    (tmp_path / SETTINGS).write_text("", "utf-8")
    os.chown(tmp_path / SETTINGS, os.getuid(), -1)
    owner = os.getuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1000)
    if owner == 0:  # what root owns may be trusted by anybody: take another's file
        os.chown(tmp_path / SETTINGS, 12345, -1)
        owner = 12345
    with pytest.raises(InvalidSettings, match=rf"belongs to another user \(uid {owner}; you are"):
        Home(tmp_path).settings()
    monkeypatch.setattr(os, "geteuid", lambda: owner)
    assert Home(tmp_path).settings() == {}


@pytest.mark.parametrize(("sudo", "is_trusted"), [("12345", True), ("54321", False), ("", False)])
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_root_trusts_whom_it_works_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    sudo: str,
    is_trusted: bool,
) -> None:
    """As git does: the user behind sudo, and nobody else."""
    (tmp_path / SETTINGS).write_text("", "utf-8")
    os.chown(tmp_path / SETTINGS, 12345, -1)
    monkeypatch.setenv("SUDO_UID", sudo)
    task = tmp_path / "task.json"
    task.write_text(
        '{"task_id": "72c84e9c-0975-4c1a-b9a5-864c2725dc8a", "goal": "x", "role": "engineer", '
        '"pins": {"allowed_paths": ["src/"]}}',
        "utf-8",
    )
    code = run(["pins", "explain", "src/a", "--task", str(task), "--home", str(tmp_path)])
    assert (code, "belongs to another user" in capsys.readouterr().err) == (
        (0, False) if is_trusted else (2, True)
    )
