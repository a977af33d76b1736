"""The other commands: contract, schema, explain, completion; help and version."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from accordance import __version__, contract_summary, registry
from accordance.cli.main import COMMANDS, app, run
from accordance.contracts.codes import CODES
from accordance.domain.fail_codes import FAIL_CODES
from accordance.domain.vocabulary import WORDS
from tests.acceptance.cli import accordance


def test_version() -> None:
    """And nothing heavy is loaded for it."""
    assert accordance("--version").out == f"accordance, version {__version__}\n"
    probe = "import sys; from accordance.cli.main import run; run(['--version']); print(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    for heavy in ("pydantic", "jiter", "rich", "sqlalchemy", "fastapi"):
        assert f"'{heavy}'" not in done.stderr


def test_reading_a_ledger_loads_little(tmp_path: Path) -> None:
    """These commands are called all day: what only work or checking needs stays out."""
    heavy = (
        "accordance.api",
        "accordance.cli.plan_graph",
        "accordance.cli.task_files",
        "accordance.contracts.catalogue.answer",
        "accordance.contracts.catalogue.builtin",
        "accordance.contracts.catalogue.review",
        "accordance.contracts.catalogue.submit",
        "accordance.contracts.checking",
        "accordance.domain.facts",
        "accordance.domain.ruling",
        "accordance.rendering.plots",
        "accordance.work.assignment",
        "accordance.workspace",
        "accordance.telemetry.exporting",
        "alembic",
        "opentelemetry",
        "rich",
        "sqlalchemy.dialects.postgresql",
        "sqlalchemy.orm",
    )
    plan = Path("examples/plan/plan.json").read_text(encoding="utf-8")
    (tmp_path / "plan.json").write_text(plan, encoding="utf-8")
    home = ("--home", str(tmp_path))
    accordance("plan", "import", str(tmp_path / "plan.json"), *home)
    task = json.loads(plan)["nodes"][0]["task_id"]

    commands = [
        ["plan", "list", *home],
        ["plan", "show", *home],
        ["task", "list", *home],
        ["task", "show", task, *home],
        ["inbox", "list", *home],
        ["dlq", "list", *home],
        ["events", *home],
    ]
    probe = (
        "import sys; from accordance.cli.main import run\n"
        f"print([int(run(command)) for command in {commands!r}], file=sys.stderr)\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    assert done.stderr == "[0, 0, 0, 0, 3, 0, 0]\n[]\n"


def test_checking_a_message_loads_little() -> None:
    """It runs once for each message of a pipeline: no ledger, and nothing that draws."""
    heavy = (
        "accordance.contracts.catalogue.action",  # nor any other than that of the message
        "accordance.contracts.catalogue.plan",
        "accordance.contracts.comparing",
        "accordance.contracts.context_file",
        "accordance.contracts.schemas",
        "accordance.contracts.stream",
        "accordance.contracts.tolerant",
        "accordance.domain",
        "accordance.telemetry",
        "opentelemetry",
        "rich",
        "sqlalchemy",
    )
    probe = (
        "import sys; from accordance.cli.main import run\n"
        "run(['check', 'examples/messages/review-contradicts-itself.json'])\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    assert "✗ examples/messages/review-contradicts-itself.json" in done.stdout
    assert done.stdout.endswith("\n[]\n")


def test_import_loads_no_terminal_library() -> None:
    """`import accordance` and a check load neither click nor rich."""
    probe = "import sys, accordance; accordance.check('{}'); print([m for m in ('click', 'rich') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_help_names_every_command() -> None:
    """With its one line, and each can be loaded."""
    ran = accordance("--help")
    assert ran.code == 0
    for name, (_, text) in COMMANDS.items():
        assert name in ran.out
        command = app.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        assert text in ran.out


def test_contract_list() -> None:
    """Every contract with its other names."""
    assert "also: review, PLAN_REVIEW, TASK_CHECK" in accordance("contract", "list").out
    rows = accordance("contract", "list", "--json").json
    assert [row["version"] for row in rows] == [
        contract.version for contract in registry
    ]


@pytest.mark.parametrize("version", registry.versions())
def test_contract_show(version: str) -> None:
    """Fields, rules, aliases: for people and for programs."""
    text = accordance("contract", "show", version)
    assert text.code == 0
    assert "required" in text.out
    details = accordance("contract", "show", version, "--json").json
    assert details["fields"]
    assert all(rule["text"] for rule in details["rules"])


@pytest.mark.seed("001-2")
def test_contract_summary() -> None:
    """The same as the library's, which is the one in the documentation."""
    printed = accordance("contract", "summary").json
    assert printed == contract_summary()
    assert printed["TASK_ACTION"] == {
        "schema_version": "xiaobo_action_v1",
        "required_keys": ["schema_version", "task_id", "result_type"],
        "enums": {
            "result_type": ["ARTIFACT", "NEEDS_INPUT", "NOOP", "ERROR"],
            "artifact.format": ["md", "txt", "json", "html", "css", "js"],
        },
    }
    assert {"PLAN_REVIEW", "TASK_CHECK", "PLAN_GEN"} <= printed.keys()


def test_contract_diff() -> None:
    """What changed, and whether it breaks; the exit code says so."""
    same = accordance("contract", "diff", "action", "TASK_ACTION")
    assert (same.code, same.out) == (0, "no difference\n")
    other = accordance("contract", "diff", "verdict", "outcome")
    assert other.code == 1
    assert "breaking  $.verdict  was one of PASS, FAIL; now one of DONE" in other.out
    assert {"path", "change", "breaking"} == set(
        accordance("contract", "diff", "verdict", "outcome", "--json").json[0]
    )


PLAN_FILE = "examples/messages/plan-from-another-planner.json"


def test_plan_graph() -> None:
    """A plan as people would rather look at it, with what could begin at once."""
    ran = accordance("plan", "graph", PLAN_FILE)
    assert ran.code == 0
    assert ran.out == (
        "· Catalogue published  GOAL, all of\n"
        "├─ ○ Collect prices  ACTION\n"
        "├─ · Lay out the pages  ACTION, after Collect prices\n"
        "└─ · Proofread  CHECK, checks Lay out the pages\n"
    )
    assert accordance("plan", "graph", PLAN_FILE, "--format", "mermaid").out.startswith(
        "flowchart TD\n"
    )
    assert accordance("plan", "graph", PLAN_FILE, "--format", "dot").out.startswith(
        "digraph plan {\n"
    )
    folded = accordance(
        *("plan", "graph", PLAN_FILE, "--format", "svg", "--theme", "dark"),
        *("--fold", "Catalogue published"),
    )
    assert "▸ 3 folded" in folded.out
    assert "prefers-color-scheme" not in folded.out
    unknown = accordance("plan", "graph", PLAN_FILE, "--format", "svg", "--fold", "x")
    assert (unknown.code, "no goal 'x'" in unknown.err) == (5, True)
    misused = accordance("plan", "graph", PLAN_FILE, "--depth", "1")
    assert (misused.code, "need --format svg" in misused.err) == (2, True)
    whole = accordance("plan", "graph", PLAN_FILE, "--json").json
    assert [one["state"] for one in whole["nodes"]] == [
        "PENDING",
        "READY",
        "PENDING",
        "PENDING",
    ]


def test_plan_graph_of_what_is_no_plan() -> None:
    """Reported as check would."""
    ran = accordance("plan", "graph", "examples/messages/submit-done.json")
    assert ran.code == 1
    assert "version_mismatch" in ran.out
    assert accordance("plan", "graph", "nowhere.json").code == 5


def test_schema() -> None:
    """The schema on standard output, the losses on standard error."""
    whole = accordance("schema", "submit")
    assert whole.json["$id"] == "urn:accordance:contract:scc.submit.v1"
    assert whole.err == ""
    lossy = accordance("schema", "submit", "--for", "openai")
    assert lossy.json["additionalProperties"] is False
    assert "$.changed_files: maxItems 1000" in lossy.err
    both = accordance("schema", "submit", "--for", "gemini", "--json").json
    assert "$.changed_files: maxItems 1000" not in both["dropped"]
    assert any("rules across fields" in loss for loss in both["dropped"])


def test_explain() -> None:
    """Every code has a page."""
    page = accordance("explain", "cycle")
    assert page.out.startswith("cycle (violation): Cycle\n")
    assert "Way out:" in page.out
    assert "(warning)" in accordance("explain", "sum_differs").out
    every = len(CODES) + len(FAIL_CODES) + len(WORDS)
    assert len(accordance("explain").out.splitlines()) == every
    assert len(accordance("explain", "--json").json) == every


def test_explain_knows_fail_codes() -> None:
    """However they are written; a name that is both is the warning when small, the fail code when large."""
    page = accordance("explain", "evidence_missing").out
    assert page.startswith(
        "ARTIFACT_MISSING (fail code, medium, a matter of the agent): "
    )
    assert accordance("explain", "CI_SKIPPED", "--json").json[0]["kind"] == "fail"
    assert accordance("explain", "ci_skipped", "--json").json[0]["kind"] == "warning"
    unknown = accordance("explain", "SCOPE_CONFLIKT")
    assert (unknown.code, "did you mean SCOPE_CONFLICT" in unknown.err) == (5, True)


def test_explain_knows_every_word_that_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """States, events, outcomes, reasons, gates; tests/unit/domain/test_vocabulary.py collects them."""
    for word in WORDS:
        assert run(["explain", word.word]) == 0
        assert f"{word.word} ({word.kind}): {word.meaning}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        pytest.param("READY_TO_CHECK", ["state of a task"], id="a state"),
        pytest.param("DONE", ["state of a task", "outcome"], id="two meanings"),
        pytest.param("REPEATED_ERROR", ["reason"], id="a reason"),
        pytest.param("REVIEWER_BAD_OUTPUT", ["reason"], id="of an older ledger"),
        pytest.param("MAX_ATTEMPTS_EXCEEDED", ["fail"], id="a fail code"),
        pytest.param("scope", ["gate"], id="a gate"),
    ],
)
def test_explain_gives_every_meaning(word: str, kinds: list[str]) -> None:
    """The code first, where the word is one."""
    pages = accordance("explain", word, "--json").json
    assert [page["kind"] for page in pages] == kinds


def test_explain_names_the_nearest_word() -> None:
    """For a word that nobody knows."""
    unknown = accordance("explain", "READY_TO_CHEK")
    assert (unknown.code, "did you mean READY_TO_CHECK" in unknown.err) == (5, True)


@pytest.mark.parametrize(
    ("module", "command", "extra"),
    [
        pytest.param("anyio", "mcp", "accordance[mcp,runtime]", id="mcp"),
        pytest.param("sqlalchemy", "events", "accordance[runtime]", id="a ledger"),
        pytest.param("sqlalchemy", "doctor", "accordance[runtime]", id="doctor"),
    ],
)
def test_an_extra_that_is_not_installed(
    tmp_path: Path, module: str, command: str, extra: str
) -> None:
    """One line with the command that installs it."""
    probe = (
        "import sys\n"
        f"sys.modules[{module!r}] = None\n"
        "from accordance.cli.main import main\n"
        f"main([{command!r}, '--home', {str(tmp_path)!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert f"pip install '{extra}'" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    """A script for each shell."""
    assert "_ACCORDANCE_COMPLETE" in accordance("completion", shell).out


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("accordance ", "check"),
        ("accordance schema xiao", "xiaobo_action_v1"),
        ("accordance explain dup", "duplicate_key"),
    ],
)
def test_completion_knows_names(words: str, wanted: str) -> None:
    """Commands, contracts and codes are completed."""
    probe = "from accordance.cli.main import app; app.main(prog_name='accordance')"
    count = len(words.split()) - (0 if words.endswith(" ") else 1)
    environment = {
        "_ACCORDANCE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(count),
    }
    done = subprocess.run(
        [sys.executable, "-c", probe],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert wanted in done.stdout


def test_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C is one line."""
    from accordance.cli import check, main

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "read_bounded", interrupt)
    assert main.run(["check", "x"]) == 130
    assert capsys.readouterr().err.startswith("\naccordance: interrupted")


def test_the_examples_are_what_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    """`make run` shows both outcomes."""
    from pathlib import Path

    from accordance.cli.main import run

    files = sorted(str(path) for path in Path("examples/messages").glob("*.json"))
    assert run(["check", "--json", *files]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["accepted"], report["rejected"]) == (4, 3)
