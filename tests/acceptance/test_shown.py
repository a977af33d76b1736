"""What agents say reaches people's terminals and CI logs as text and as nothing else, whichever command shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from accordance.cli.judgement_output import FORMATS
from accordance.cli.main import run
from accordance.cli.showing import as_json_text, shown, without_passwords
from accordance.domain.escalation import LadderPosition
from accordance.domain.facts import WITH_FAILURES_TOLD, ChangeSet, CommandRun
from accordance.domain.judging import History
from accordance.domain.roles import ROLES
from accordance.domain.terms import Terms, case_under
from accordance.domain.test_results import TestOutcome, TestReport, TestResult
from accordance.gates.running import verdict_on
from accordance.judging.judgement import Judgement
from accordance.project.home import Home
from accordance.service.judgements import render
from accordance.store.opening import open_ledger
from tests.messages import edge, node, plan
from tests.unit.cases import FACTS, a_case, a_submit, a_task, some_changes

EVIL = (
    "::error::begin \x1b[2J\x1b]0;title\x07 \x9b31m \u202etxt.exe\u202c %0A ##[error]v1 <script>alert(1)</script>\r\n"
    "::error file=x::forged\n\u2028::warning::too"
)
TEXT_FORMATS = ("text", "github", "junit", "markdown")


def is_harmless(text: str, *, ours: tuple[str, ...] = ()) -> None:
    """Nothing that steers a terminal; no line that a CI runner would take for a command, but our own."""
    bad = [sign for sign in text if sign != "\n" and not sign.isprintable()]
    assert not bad, sorted(set(bad))
    for line in text.splitlines():
        assert line.startswith(ours) if ours else not line.lstrip().startswith("::"), (
            line
        )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "an honest title: 5 :: 3, naïve, 表, #[x]",
            "an honest title: 5 :: 3, naïve, 表, #[x]",
        ),
        ("::error::x", "\\::error::x"),
        ("  ::error::x", "  \\::error::x"),
        ("a\n::error::x", "a\\n::error::x"),
        ("a ##[group]x", "a #\\#[group]x"),
        ("\x1b[31m\x9b\u202e", "\\u001b[31m\\u009b\\u202e"),
    ],
)
def test_one_line(text: str, line: str) -> None:
    """Honest texts stay as they are; shown twice is shown once."""
    assert shown(text) == line
    assert shown(line) == line


def test_json_keeps_its_value() -> None:
    """Whatever is escaped for the terminal is read again as it was."""
    written = as_json_text({"title": EVIL, "more": ["\u200b", "é"]})
    is_harmless(written)
    assert json.loads(written) == {"title": EVIL, "more": ["\u200b", "é"]}


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("postgresql://me:s3cret@host/db", "postgresql://me:***@host/db"),
        (
            "postgresql://host/db?user=me&password=s3cret&x=1 broke",
            "postgresql://host/db?user=me&password=***&x=1 broke",
        ),
        (
            "postgresql+psycopg://host/db?sslpassword=s3cret",
            "postgresql+psycopg://host/db?sslpassword=***",
        ),
        (
            "https://example.org:443/a@b?pass=no secret",
            "https://example.org:443/a@b?pass=no secret",
        ),
    ],
)
def test_no_url_shows_its_password(text: str, without: str) -> None:
    """Before the host, or in the query."""
    assert without_passwords(text) == without


def test_a_ledger_that_cannot_be_opened_keeps_the_password(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The line that says so is read by others."""
    for url in (
        "mysql://u:s3cret@localhost/x?password=s3cret",
        "postgresql://localhost:1/x?password=s3cret",
    ):
        assert run(["plan", "list", "--ledger", url]) != 0
        assert "s3cret" not in capsys.readouterr().err


@pytest.fixture(scope="module")
def judgement(tmp_path_factory: pytest.TempPathFactory) -> Judgement:
    """A verdict in which everything an agent can word is hostile."""
    bundle = tmp_path_factory.mktemp("kept") / "::error::forged\x1b[2J"
    (bundle / "runs").mkdir(parents=True)
    (bundle / "runs" / "02.log").write_text(EVIL, "utf-8")
    task = a_task(allowedTests=[])
    said = a_submit(
        status="FAILED", exit_code=1, reason_code=EVIL, summary=EVIL, changed_files=[f"src/{EVIL}", EVIL],
        tests={"commands": [EVIL], "passed": True, "summary": EVIL},
    )  # fmt: skip
    facts = replace(
        FACTS,
        changes=ChangeSet(some_changes(f"src/{EVIL}", "src/app.py")),
        runs=(CommandRun(EVIL, 1, report=_hostile_report()), CommandRun("make", 1)),
        version=WITH_FAILURES_TOLD,
        git_programs=(f"hook {EVIL}",),
    )
    terms = Terms(
        role=ROLES["engineer"], history=History(LadderPosition(max_attempts=3))
    )
    case = case_under(terms, task, a_case(task=task, submit=said).submission, facts)
    return Judgement(
        verdict=verdict_on(case, terms.history),
        case=case,
        terms=terms,
        submitted_at="2026-01-01T00:00:00Z",
        evaluated_at="2026-01-01T00:00:00Z",
        links={"report_md": EVIL},
        bundle=bundle,
    )


def _hostile_report() -> TestReport:
    """Tests whose names and failures are worded by an enemy."""
    texts = (EVIL, f"E   {EVIL}\ntests/test_x.py:7: {EVIL}", "</pre></details>![x](x)")
    names = (EVIL, "tests/test_x.py::test_a", f"tests/test_x.py::{EVIL}")
    failed = [
        TestResult(name, TestOutcome.FAILED, 0.1, text)
        for name, text in zip(names, texts, strict=True)
    ]
    return TestReport("pytest", tuple(failed))


@pytest.mark.parametrize("name", FORMATS)
def test_a_judgement_in_every_format(judgement: Judgement, name: str) -> None:
    """Text, annotations, Markdown, XML and JSON."""
    written = render(judgement, name)
    ours = ("::error ", "::notice ") if name == "github" else ()
    is_harmless(written, ours=ours)
    assert "forged" in written
    if name == "junit":
        assert "<script>" not in written
        assert ET.fromstring(written.encode()).find(".//failure") is not None
    elif name == "markdown":
        assert "<script>" not in written.replace("\\<script>", "")
        assert written.count("</pre>") == written.count("<pre>")
    elif name not in TEXT_FORMATS:
        json.loads(written)


def test_what_the_next_attempt_is_told_stays_data(judgement: Judgement) -> None:
    """What tests print is fenced, harmless, and does not push the findings out."""
    retry = judgement.retry
    told = "" if retry is None else retry.tell
    is_harmless(told)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which a plan, its tasks, a message, a question and a review are worded by an enemy."""
    place = tmp_path_factory.mktemp("home")
    nodes = [node("root", "GOAL", title=EVIL)]
    nodes += [node(name, title=EVIL, goal_statement=EVIL) for name in "abc"]
    hostile = plan(nodes, [edge("root", name) for name in "abc"])
    hostile["plan"]["title"] = EVIL
    (place / "plan.json").write_text(json.dumps(hostile), "utf-8")
    where = ("--home", str(place))
    assert run(["plan", "import", str(place / "plan.json"), "--no-review", *where]) == 0
    needs = {
        "required_docs": [
            {
                "name": EVIL,
                "description": EVIL,
                "accepted_types": ["pdf"],
                "suggested_path": "workspace/inputs/x/",
            }
        ]
    }
    blocked = {"code": "INPUT_CONFLICT", "message": EVIL, "suggestion": EVIL}
    said = {
        "c": {"result_type": "ERROR", "error": blocked},
        "a": {"result_type": "NEEDS_INPUT", "needs_input": needs},
        "b": {
            "result_type": "ERROR",
            "error": {"code": f"NO_COFFEE{EVIL}", "message": EVIL, "suggestion": EVIL},
        },
    }
    for name, message in said.items():
        whole = {"schema_version": "xiaobo_action_v1", "task_id": name, **message}
        (place / "message.json").write_text(json.dumps(whole), "utf-8")
        run(["task", "submit", str(place / "message.json"), "--task", name, *where])
    ledger = open_ledger(Home(place).ledger)
    with ledger.read() as tx:
        [question] = [one for one in tx.open_questions() if one.task_id == "c"]
    ledger.close()
    assert run(["inbox", "answer", question.question_id, "--give-up", *where]) == 0
    return place


def commands() -> Iterator[list[str]]:
    """Every command that shows what a ledger holds."""
    for words in (
        "plan list", "plan show", "plan status --once", "plan graph", "plan graph --format mermaid", "plan graph --format dot",
        "task show a", "task show b", "task next --peek", "task next --any", "inbox list", "dlq list", "events", "verify",
    ):  # fmt: skip
        yield words.split()
        if "--format" not in words and "--any" not in words:
            yield [*words.split(), "--json"]


@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_what_a_ledger_shows(
    home: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """Titles, goals, questions, errors: text."""
    capsys.readouterr()
    run([*command, "--home", str(home)])
    out, err = capsys.readouterr()
    assert command[0] == "verify" or "forged" in out, "nothing hostile was shown at all"
    is_harmless(out)
    is_harmless(err)


def test_the_answer_to_a_hostile_message(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What came of it is told in one line each, and on the error stream in one line."""
    (tmp_path / "m.json").write_text(
        json.dumps({"schema_version": EVIL, "task_id": EVIL}), "utf-8"
    )
    for command in (
        [
            "task",
            "submit",
            str(tmp_path / "m.json"),
            "--task",
            "b",
            "--home",
            str(home),
        ],
        ["task", "show", EVIL, "--home", str(home)],
        ["check", str(tmp_path / "m.json"), "--format", "github"],
    ):
        run(command)
        out, err = capsys.readouterr()
        is_harmless(err)
        is_harmless(out, ours=("::error ",) if "github" in command else ())


def test_research_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A registry of agents is a file from anywhere, too."""
    (tmp_path / "agents.toml").write_text(
        f"[[agents]]\nid = {json.dumps(EVIL.replace(chr(0x9B), ''))}\n", "utf-8"
    )
    run(["research", "agents", "lint", "--agents", str(tmp_path / "agents.toml")])
    out, err = capsys.readouterr()
    is_harmless(out)
    is_harmless(err)
