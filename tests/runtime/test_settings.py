"""accordance.toml: every name in it is known, everything has the right type, and it is the user's own."""

from __future__ import annotations

import os
import tomllib
import typing
from pathlib import Path

import pytest
from pydantic import ValidationError

from accordance.cli.main import run
from accordance.domain.fuses import FuseSettings, fuses_from
from accordance.domain.records import Rules
from accordance.domain.setting_tables import SettingTable
from accordance.errors import InvalidSettings
from accordance.project.home import Home
from accordance.project.policy import JudgingPolicy, gateway_of
from accordance.project.settings import SETTINGS, Settings

WRONG = {
    "a table by another name": ('[[route]]\nexecutor = "x"', "unknown [[route]]; did you mean routes"),
    "a misspelt table": ("[fuse]\ncost_per_run = 20", "unknown [fuse]; did you mean fuses?"),
    "one role in the place of many": ("[role.engineer]\nmax_attempts = 1", "unknown [role]; did you mean roles"),
    "a letter left out of a table": ("[judg]\nseconds = 1", "unknown [judg]; did you mean judge?"),
    "a letter left out of a key": ('ledgr = "x.db"', "unknown ledgr; did you mean ledger?"),
    "a name like no other": ("[zzz]\na = 1", "unknown [zzz]; known: ledger, workspace, run, executors, routes,"),
    "research: one agent": ('[research]\nagent = "x"', "[research] has no key 'agent'; did you mean agents?"),
    "research: no text": ("[research]\nagents = 1", "[research] agents is a text, got 1"),
    "ledger: no text": ("ledger = 1", "ledger is a text, got 1"),
    "workspace: misspelt": ('[workspace]\nbas = "main"', "[workspace] has no key 'bas'; did you mean base?"),
    "workspace: no table": ('workspace = "."', "[workspace] is a table"),
    "judge: misspelt": ("[judge]\nsecond = 1", "[judge] has no key 'second'; did you mean seconds?"),
    "judge: tests are no list": ('[judge]\ntests = "make test"', "[judge] tests is a list of texts, got 'make test'"),
    "judge: an empty test": ('[judge]\ntests = [" "]', "[judge] tests: a command is empty"),
    "judge: less isolation": ('[judge]\nisolation = "rlimit"', "a file cannot turn isolation off"),
    "roles: misspelt": ("[roles.engineer]\nmax_atempts = 1", "has no key 'max_atempts'; did you mean max_attempts?"),
    "roles: deeper": ('[roles.x.write]\nallow_path = ["a"]', "has no key 'allow_path'; did you mean allow_paths"),
    "tiers: no number": ('[tiers]\nours = "one"', "[tiers] ours is a whole number from 1, got 'one'"),
    "fuses: misspelt": ("[fuses]\ncost_per_runs = 1", "[fuses] has no key 'cost_per_runs'; did you mean cost_per_run"),
    "fuses: no number": ('[fuses]\nattempts = "3"', "[fuses] attempts is a whole number from 1, got '3'"),
    "rubric: another": ("[rubric.nodes]\napprove_at = 1", "[rubric] has no key 'nodes'; did you mean node?"),
    "rubric: misspelt": ("[rubric.node]\napprove = 1", "[rubric.node] has no key 'approve'; did you mean approve_at?"),
    "rubric: no numbers": ('[rubric.node.maxima]\nA = "100"', "[rubric.node.maxima] A is a whole number, got '100'"),
    "run: misspelt": ("[run]\nconcurency = 1", "[run] has no key 'concurency'; did you mean concurrency"),
    "executors: no table": ("executors = 1", "[executors] is a table of tables, got 1"),
    "executors: misspelt": ('[executors.x]\nkind = "command"\ncomand = "true"', "[executors.x] has no key 'comand'; did you mean command"),
    "executors: deeper": (
        '[executors.x]\nkind = "external"\n[executors.x.bounds.m]\nconcurency = 1',
        "[executors.x.bounds.m] has no key 'concurency'; did you mean concurrency?",
    ),
    "executors: a wrong type": ('[executors.x]\nkind = "external"\nseconds = "9"', "[executors.x] seconds is a number above 0, got '9'"),
    "routes: misspelt": ('[[routes]]\nexecuter = "x"', "[[routes]] 1 has no key 'executer'; did you mean executor?"),
    "routes: no list": ('[routes]\nexecutor = "x"', "[[routes]] is a list of tables"),
    "executors: no kind": ("[executors.x]", "[executors.x] needs a kind: command, llm, codex, opencode, claude, external"),
    "executors: no such kind": ('[executors.x]\nkind = "lmm"', "[executors.x]: unknown kind 'lmm'; did you mean llm?"),
    "executors: no such provider": (
        '[executors.llm]\nmodel = "m"\nprovider = "opnai"',
        "[executors.llm] provider is one of openai, openai-responses, anthropic, google, local, got 'opnai'; did you mean openai",
    ),
    "executors: a price of something else": (
        '[executors.llm]\nmodel = "m"\nprices = { m = { inptu = 1.0 } }',
        "[executors.llm.prices.m] has no key 'inptu'; did you mean input",
    ),
    "executors: no command": ('[executors.x]\nkind = "command"\ncommand = 1', "command is a text or a list of texts, got 1"),
    "rubric: too few points": (
        "[rubric.node]\nmaxima = { A = 60 }",
        "[rubric.node]: the maxima must be positive and add up to 100",
    ),
    "rubric: too high a score": (
        "[rubric.node]\napprove_at = 101",
        "[rubric.node] approve_at is a whole number from 0 to 100, got 101",
    ),
    "roles: a path outside": ('[roles.x]\nread = ["../x"]', "[roles.x] read: '../x' is not a pattern"),
    "a long value": (f'[run]\nconcurrency = "{"9" * 1000}"', "got '999"),
    "no TOML": ("[judge", "Expected"),
    "too deep": (f"a = {'[' * 100_000}", "nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "says"), WRONG.values(), ids=WRONG)
def test_what_nobody_knows_is_an_error(tmp_path: Path, text: str, says: str) -> None:
    """Whatever the command at hand would have needed of it: one line, with the nearest name that is known."""
    (tmp_path / SETTINGS).write_text(text, "utf-8")
    with pytest.raises(InvalidSettings) as refused:
        Home(tmp_path).settings()
    line = str(refused.value)
    assert line.startswith(f"{tmp_path / SETTINGS}: ")
    assert says in line
    assert len(line.removeprefix(str(tmp_path))) < 250
    assert "\n" not in line


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
        [retention]
        evidence_days = 90
        [blobs]
        inline_bytes = 65536
        [server]
        port = 8080
        [telemetry]
        service = "worker"
        [logging]
        format = "json"
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
    assert (
        Home(tmp_path).settings().model_fields_set
        == set(Settings.model_fields)
        == tomllib.loads(text).keys()
    )


def test_every_key_is_explained() -> None:
    """By a sentence; and by an example, unless it is a table that is explained key by key."""
    without: list[str] = []
    models: list[type[SettingTable]] = [Settings, *_tables_in(Settings)]
    for model in models:
        for name, field in model.model_fields.items():
            is_explained = (field.description or "").endswith(".") and field.examples
            is_table = isinstance(field.annotation, type) and issubclass(
                field.annotation, SettingTable
            )
            is_table_or_tag = name == "kind" or model is Settings or is_table
            if not is_explained and not is_table_or_tag:
                without.append(f"{model.__name__}.{name}")
    assert not without
    assert all(table.__doc__ for table in _tables_in(Settings))


def _is_table(annotation: object) -> typing.TypeGuard[type[SettingTable]]:
    return isinstance(annotation, type) and issubclass(annotation, SettingTable)


def _tables_in(model: type[SettingTable]) -> set[type[SettingTable]]:
    """Every table the model refers to, at any depth."""
    annotations = [field.annotation for field in model.model_fields.values()]
    inner: set[type[SettingTable]] = set()
    while annotations:
        annotation = annotations.pop()
        annotations += typing.get_args(annotation)
        if _is_table(annotation):
            inner |= {annotation, *_tables_in(annotation)}
    return inner


def test_no_file_says_what_an_empty_one_says(tmp_path: Path) -> None:
    """The defaults, whether they were read or not."""
    without_file = Home(tmp_path).settings()
    (tmp_path / SETTINGS).write_text("", "utf-8")
    assert without_file == Home(tmp_path).settings() == Settings()
    assert gateway_of(without_file, tmp_path) == JudgingPolicy()
    fuses = fuses_from(FuseSettings().for_new_plan({}))
    assert without_file.rules() == Rules(fuses=fuses)


def test_the_same_settings_are_read_once(tmp_path: Path) -> None:
    """A server asks for them with every message; an edit counts at once."""
    home = Home(tmp_path)
    assert home.settings() is home.settings()
    (tmp_path / SETTINGS).write_text("[run]\nconcurrency = 2\n", "utf-8")
    first = home.settings()
    assert first.run.concurrency == 2
    assert home.settings() is first
    (tmp_path / SETTINGS).write_text("[run]\nconcurrency = 3\n", "utf-8")
    assert home.settings().run.concurrency == 3


def test_settings_cannot_be_changed(tmp_path: Path) -> None:
    """They are values."""
    with pytest.raises(ValidationError):
        Home(tmp_path).settings().review.own_work = True  # type: ignore[misc]


def test_settings_of_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They name programs that would be run and rules that would be judged by: refused in one line."""
    (tmp_path / SETTINGS).write_text("", "utf-8")
    os.chown(tmp_path / SETTINGS, os.getuid(), -1)
    owner = os.getuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1000)
    if owner == 0:  # what root owns may be trusted by anybody: take another's file
        os.chown(tmp_path / SETTINGS, 12345, -1)
        owner = 12345
    with pytest.raises(
        InvalidSettings, match=rf"belongs to another user \(uid {owner}; you are"
    ):
        Home(tmp_path).settings()
    monkeypatch.setattr(os, "geteuid", lambda: owner)
    assert Home(tmp_path).settings() == Settings()


@pytest.mark.parametrize(
    ("sudo", "is_trusted"), [("12345", True), ("54321", False), ("", False)]
)
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
    code = run(
        ["pins", "explain", "src/a", "--task", str(task), "--home", str(tmp_path)]
    )
    assert (code, "belongs to another user" in capsys.readouterr().err) == (
        (0, False) if is_trusted else (2, True)
    )
