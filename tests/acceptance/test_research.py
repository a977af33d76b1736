"""`accordance research`, as a process: what each command says, writes and exits with."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from accordance.shipped import AGENTS, shipped
from tests.acceptance.cli import Ran, accordance
from tests.messages import ANSWER, Message, changed
from tests.unit.research import EXAMPLES, example

REQUEST = EXAMPLES / "request.json"
AGENT = f"{sys.executable} {EXAMPLES / 'agent.py'}"


def research(*args: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> Ran:
    return accordance("research", *args, stdin=stdin, cwd=cwd)


def written(folder: Path, message: Message, name: str = "message.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(message, ensure_ascii=False), encoding="utf-8")
    return file


def test_agents() -> None:
    """All of them, one by any name, as JSON; an unknown one offers its neighbours."""
    assert len(research("agents").out.splitlines()) == 14
    assert "이론 틀 설계자" in research("agents", "TA", "-l", "ko").out
    rows = research("agents", "--json").json
    assert {row["id"] for row in rows} >= {"theory-architect", "journal-matcher"}
    ran = research("agents", "theory-architekt")
    assert ran.code == 5
    assert ran.err.startswith(
        "accordance: unknown agent 'theory-architekt'; did you mean theory-architect or"
    )


def test_own_agents_are_linted_before_they_are_used(tmp_path: Path) -> None:
    """Lint lists everything; every other command says the first thing in one line."""
    broken = shipped(AGENTS).replace(
        'requires = ["theory-architect"]', 'requires = ["theory-architekt"]'
    )
    file = tmp_path / "agents.toml"
    file.write_text(broken, encoding="utf-8")
    ran = research("lint", file)
    assert ran.code == 1
    assert ran.out.count("dangling_id") == 2
    assert research("lint", file, "--json").json[0]["code"] == "dangling_id"
    ran = research("agents", "--agents", file)
    assert ran.code == 1
    assert ran.err.startswith(
        f"accordance: {file}: the agents file is inconsistent: construct-mapper: requires names"
    )
    file.write_bytes(b"\xff")
    assert (
        research("agents", "--agents", file).err
        == f"accordance: {file}: is not UTF-8 from byte 0 on\n"
    )
    ran = research("lint", "-", stdin=b"x")
    assert ran.code == 1
    assert ran.err.startswith("accordance: -: the agents file is not valid TOML")
    assert research("lint", "--json").json == []


def test_route(tmp_path: Path) -> None:
    """Proposals with reasons; none is exit code 5; a bad request is one line."""
    (first, *_) = research("route", "--request", REQUEST, "--json").json
    assert first["agent_id"] == "theory-architect"
    assert first["reasons"][0] == {"kind": "task_type", "detail": "theory", "weight": 4}
    assert "can start now" in research("route", "--request", REQUEST, "-l", "en").out
    lonely = tmp_path / "agents.toml"
    head, entry = shipped(AGENTS).split("[[agents]]")[:2]
    alone = entry.replace('parallel_with = ["scope-warden"]', "")
    lonely.write_text(f"{head}[[agents]]{alone}", encoding="utf-8")
    ran = research("route", "--request", REQUEST, "--agents", lonely)
    assert (ran.code, ran.out) == (5, "맞는 에이전트가 없다\n")
    assert (
        research("route", "--request", REQUEST, "--agents", lonely, "--json").json == []
    )
    bad = written(
        tmp_path, changed(changed(example("request"), "task_id", "x"), "user_query", "")
    )
    ran = research("route", "--request", bad)
    assert ran.code == 1
    assert ran.err.startswith(f"accordance: {bad}: $.task_id: expected")
    assert "(and 1 more: accordance check -c request" in ran.err
    unknown = written(
        tmp_path, {**example("request"), "prior_agents": ["question-shapr"]}
    )
    assert research("route", "--request", unknown).code == 5
    assert research("route", "--request", tmp_path / "nothing.json").code == 5


def test_prompt() -> None:
    """For people and programs, in the language that is asked for."""
    text = research("prompt", "--agent", "ta", "--request", REQUEST).out
    assert text.startswith("당신은 연구 에이전트 theory-architect")
    told = research(
        "prompt", "--agent", "ta", "--request", REQUEST, "-l", "en", "--json"
    ).json
    assert told["agent_id"] == "theory-architect"
    assert told["prompt"].startswith("You are")


def test_check(tmp_path: Path) -> None:
    """0 accepted, 1 rejected, 3 waiting for a person; the seed's messages on request."""
    assert research("check", EXAMPLES / "answer-1.json", "--agent", "ta").code == 0
    ran = research(
        "check", EXAMPLES / "answer-low.json", "--request", REQUEST, "--json"
    )
    assert ran.code == 3
    assert ran.json["results"][0]["violations"][0]["code"] == "below_floor"
    other = written(tmp_path, changed(example("answer-1"), "task_id", "another"))
    ran = research("check", other, EXAMPLES / "answer-low.json", "--request", REQUEST)
    assert ran.code == 1
    assert "wrong_task" in ran.out
    bare = written(tmp_path, {"vs_metadata": {"t_scores": [{"score": 2}]}})
    assert "Invalid T-score: 2" in research("check", bare, "--profile", "seed").out
    assert research("check", EXAMPLES / "answer-1.json", "--agent", "nobody").code == 5


def test_acknowledge(tmp_path: Path) -> None:
    """A person's word that check takes; blank names and days that do not exist are none."""
    said = research(
        "acknowledge",
        EXAMPLES / "answer-low.json",
        "--by",
        "Kim",
        "--reason",
        "why not",
        "--json",
    )
    assert said.code == 0
    file = written(tmp_path, said.json)
    low = EXAMPLES / "answer-low.json"
    assert (
        research("check", low, "--request", REQUEST, "--acknowledgement", file).code
        == 0
    )
    for options in (
        ("--by", " ", "--reason", "x"),
        ("--by", "x", "--reason", "x", "--at", "2026-02-30T00:00:00Z"),
    ):
        ran = research("acknowledge", low, *options)
        assert ran.code == 1
        assert ran.err.startswith("accordance: the acknowledgement: $.acknowledged_")
    assert (
        research("check", low, "--acknowledgement", EXAMPLES / "answer-low.json").code
        == 1
    )
    untied = written(tmp_path, changed(example("answer-low"), "task_id", ...))
    assert (
        "task_id"
        not in research("acknowledge", untied, "--by", "Kim", "--reason", "x").json
    )


@pytest.mark.parametrize("language", ["ko", "en", "zh"])
@pytest.mark.parametrize("kind", ["run", "t-scores", "self-critique", "validation"])
def test_reports(kind: str, language: str) -> None:
    """Every kind in every language, as Markdown and as HTML."""
    ran = research("report", EXAMPLES / "answer-1.json", "--kind", kind, "-l", language)
    assert (ran.code, ran.err) == (0, "")
    page = research(
        "report",
        EXAMPLES / "answer-1.json",
        "--kind",
        kind,
        "-l",
        language,
        "--format",
        "html",
        "--json",
    )
    assert page.json["text"].startswith("<!doctype html>")
    assert f'lang="{language}"' in page.json["text"]


def test_reports_on_what_is_not_there(tmp_path: Path) -> None:
    """A rejected answer has a validation report and exit code 1; any other report of it is refused in one line."""
    broken = written(tmp_path, changed(example("answer-1"), "vs_metadata", None))
    ran = research("report", broken, "--kind", "validation", "-l", "en")
    assert ran.code == 1
    assert "| wrong_type | $.vs_metadata |" in ran.out
    assert research("report", broken).code == 1
    message = changed(example("answer-1"), "self_critique", ...)
    light = written(
        tmp_path, {**message, "vs_level": "Light", "agent_id": "scope-warden"}
    )
    ran = research("report", light, "--kind", "self-critique")
    assert (ran.code, ran.err) == (
        5,
        "accordance: the answer has no self_critique to report\n",
    )


def test_plot() -> None:
    """Text, SVG, and the numbers."""
    assert "◀ selected" in research("plot", EXAMPLES / "answer-1.json", "-l", "en").out
    ET.fromstring(research("plot", EXAMPLES / "answer-1.json", "--format", "svg").out)
    assert (
        research("plot", EXAMPLES / "answer-1.json", "--json").json["selected"]
        == "통제-가치 이론"
    )


def english(tmp_path: Path) -> tuple[Path, Path]:
    """An English request and an English answer to it."""
    asked = changed(example("request"), "user_preferences", {})
    said = ANSWER | {"self_critique": example("answer-1")["self_critique"]}
    return (
        written(
            tmp_path, changed(asked, "user_query", "Which theory fits?"), "request.json"
        ),
        written(tmp_path, said, "answer.json"),
    )


def test_reports_speak_the_language_of_the_request(tmp_path: Path) -> None:
    """As -l says, else as the request is written, else as the answers are."""
    asked, said = english(tmp_path)
    assert "◀ selected" in research("plot", said).out
    assert "◀ 선택" in research("plot", said, "--request", REQUEST).out
    assert "◀ 선택" in research("plot", EXAMPLES / "answer-1.json").out
    assert (
        "◀ selected"
        in research("plot", EXAMPLES / "answer-1.json", "--request", asked).out
    )
    assert research("report", said).out.startswith("# Run report\n")
    assert (
        "**Verdict**: accepted" in research("report", said, "--kind", "validation").out
    )
    prose = tmp_path / "prose"
    prose.write_text("Sure! Here it is", encoding="utf-8")
    assert (
        "**Verdict**: rejected" in research("report", prose, "--kind", "validation").out
    )
    assert research("record", said, "--request", asked, cwd=tmp_path).code == 0
    assert research("collapse", cwd=tmp_path).out.startswith("# Mode collapse report\n")
    assert research("collapse", "-l", "ko", cwd=tmp_path).out.startswith(
        "# 모드 붕괴 보고서\n"
    )


def test_record_and_collapse(tmp_path: Path) -> None:
    """What is refused is not kept, nor what stands beside it; a collapsed group is exit code 1."""
    ledger = tmp_path / ".accordance" / "ledger.db"
    asked = ("--request", REQUEST)
    ran = research(
        "record",
        EXAMPLES / "answer-1.json",
        EXAMPLES / "answer-low.json",
        *asked,
        cwd=tmp_path,
    )
    assert ran.code == 3
    other = written(tmp_path, changed(example("answer-1"), "task_id", "another"))
    assert research("record", other, *asked, "--json", cwd=tmp_path).code == 1
    assert not ledger.exists()
    ran = research("collapse", cwd=tmp_path)
    assert ran.code == 5
    assert ran.err.startswith(
        f"accordance: no ledger at {ledger} (`accordance plan import` and `accordance"
    )
    rows = research(
        "record",
        EXAMPLES / "answer-1.json",
        EXAMPLES / "answer-3.json",
        *asked,
        "--json",
        cwd=tmp_path,
    ).json
    assert len({row["request"] for row in rows}) == 1
    ran = research("collapse", "--json", "--home", tmp_path)
    assert ran.code == 1
    assert (ran.json[0]["status"], ran.json[0]["total_runs"]) == ("collapsed", 2)
    research(
        "record",
        EXAMPLES / "answer-1.json",
        EXAMPLES / "answer-2.json",
        *asked,
        "--ledger",
        ledger,
    )
    ran = research(
        "collapse", "--ledger", ledger, "--agent", "ta", *asked, "--format", "html"
    )
    assert ran.code == 0
    assert "<td>3</td>" in ran.out
    assert (
        research(
            "collapse", "--ledger", ledger, "--agent", "question-shaper", "--json"
        ).json
        == []
    )
    assert research("collapse", "--ledger", ledger, "--agent", "nobody").code == 5


def test_ledgers_that_cannot_be_used(tmp_path: Path) -> None:
    """One line each, with the way out."""
    with_answer = ("record", EXAMPLES / "answer-1.json", "--request", REQUEST)
    prose = tmp_path / "prose"
    prose.write_text("no database " * 100, encoding="utf-8")
    for ledger, said in (
        (tmp_path, "the folder is missing or may not be written"),
        (prose, "the file is something else"),
    ):
        for words in (with_answer, ("collapse",)):
            ran = research(*words, "--ledger", ledger)
            assert ran.code == 2
            assert said in ran.err
            assert ran.err.count("\n") == 1


def test_answers_in_postgresql(postgresql_url: str) -> None:
    """The same commands, by a URL."""
    place = ("--ledger", postgresql_url)
    answers = [EXAMPLES / f"answer-{at}.json" for at in (1, 2, 3)]
    assert research("record", *answers, "--request", REQUEST, *place).code == 0
    ran = research("collapse", "--json", *place)
    assert (ran.code, ran.json[0]["total_runs"]) == (0, 3)


HANDOFFS = (
    EXAMPLES / "handoff-1.json",
    EXAMPLES / "handoff-2.json",
    "--request",
    REQUEST,
)
ANSWERS = (
    "--answer",
    EXAMPLES / "answer-question.json",
    "--answer",
    EXAMPLES / "answer-1.json",
)


def test_a_chain_of_handoffs_ends_as_a_plan(tmp_path: Path) -> None:
    """Written where one likes; the plan's contract accepts it."""
    plan = tmp_path / "plan.json"
    ran = research("handoff", *HANDOFFS, *ANSWERS, "--plan", plan)
    assert ran.code == 0
    assert ran.out.startswith("✓ question-shaper → theory-architect\n")
    assert accordance("check", plan, "--scope", "PLAN_GEN").code == 0
    printed = research(
        "handoff", *HANDOFFS, *ANSWERS, "--plan", "-", "--at", "2026-01-01T00:00:00Z"
    ).json
    assert printed["plan"]["created_at"] == "2026-01-01T00:00:00Z"
    told = research("handoff", *HANDOFFS, *ANSWERS, "--json").json
    assert (told["accepted"], told["violations"]) == (True, [])
    assert [one["code"] for one in told["warnings"]] == ["constraint_dropped"]
    ran = research("handoff", *HANDOFFS, *ANSWERS, "--plan", tmp_path)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert ran.err.startswith(
        f"accordance: {tmp_path}: cannot be written (Is a directory); "
    )
    ran = research("handoff", *HANDOFFS, *ANSWERS, "--at", "soon")
    assert ran.code == 1
    assert "these handoffs make no plan: $.plan.created_at" in ran.err


def test_nothing_left_to_hand_over(tmp_path: Path) -> None:
    """Everybody has answered: nothing is wrong; whoever wants a plan hears that there is none."""
    plan = tmp_path / "plan.json"
    only = (EXAMPLES / "handoff-1.json", "--request", REQUEST, *ANSWERS)
    ran = research("handoff", *only)
    assert ran.code == 0
    assert ran.out.endswith("every agent has answered: there is nothing left to plan\n")
    assert research("handoff", *only, "--plan", plan).code == 5
    assert not plan.exists()


def test_handoffs_that_do_not_fit(tmp_path: Path) -> None:
    """A claim without an answer, a false claim, a missing requirement, no agent, no JSON."""
    ran = research("handoff", *HANDOFFS, "--json")
    assert ran.code == 1
    assert ran.json["results"][0]["violations"][0]["code"] == "answer_missing"
    broken = written(tmp_path, changed(example("answer-question"), "provenance", ...))
    ran = research(
        "handoff", EXAMPLES / "handoff-1.json", "--request", REQUEST, "--answer", broken
    )
    assert ran.code == 1
    assert "false_claim" in ran.out
    only = (EXAMPLES / "handoff-2.json", "--request", REQUEST, *ANSWERS)
    ran = research("handoff", *only)
    assert ran.code == 1
    assert ran.out.startswith(
        "✗ $[0]: expected question-shaper, which theory-architect requires"
    )
    assert (
        research("handoff", *only, "--json").json["violations"][0]["code"]
        == "requires_missing"
    )
    nobody = written(tmp_path, {"agent_id": "nobody"})
    assert research("handoff", *HANDOFFS, "--answer", nobody).code == 5
    prose = tmp_path / "prose"
    prose.write_text("Sure! Here it is", encoding="utf-8")
    ran = research("handoff", *HANDOFFS, "--answer", prose)
    assert ran.code == 1
    assert ran.err.startswith(f"accordance: {prose}: ")


CASE = "full-theory-anxiety-ko"


def test_golden_against_a_program(tmp_path: Path) -> None:
    """The whole set that comes along, against an agent that goes by the book; the report is kept and compared."""
    ran = research("golden", "--command", AGENT, "--format", "json")
    assert ran.code == 0
    assert set(ran.json["levels"]) == {"Full", "Enhanced", "Light"}
    assert all(level["rate"] == 1 for level in ran.json["levels"].values())
    before = tmp_path / "before.json"
    before.write_text(ran.out, encoding="utf-8")
    assert research("regress", before, before).out == "no difference\n"
    after = tmp_path / "after.json"
    after.write_text(
        research("golden", "--command", "true", "--json").out, encoding="utf-8"
    )
    ran = research("regress", before, after, "--json")
    assert ran.code == 1
    assert len(ran.json["broken"]) == 25
    assert research("regress", before, EXAMPLES / "request.json").code == 1


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        pytest.param("false", "false: ended with 1", id="a program that fails"),
        pytest.param("sh -c 'echo no key >&2; exit 3'", "sh: ended with 3: no key", id="one that says why"),
        pytest.param("no-such-program-here", "no-such-program-here: cannot be started: No such file or directory", id="one that is not there"),
        pytest.param("sleep 60", "sleep: no answer within 0.2 s", id="one that hangs"),
        pytest.param("sh -c 'sleep 60 & echo {}'", "sh: no answer within 0.2 s", id="one whose child keeps the line open"),
        pytest.param("sh -c 'exec >&- 2>&-; sleep 60'", "sh: no answer within 0.2 s", id="one that hangs up and stays"),
        pytest.param("sh -c 'yes no | head -c 9000000 >&2; exit 3'", f"sh: ended with 3: {'no ' * 67}"[:-1], id="one that complains at length"),
    ],
)  # fmt: skip
def test_programs_that_do_not_answer(command: str, reason: str) -> None:
    """The case is missing its answer, with the reason; it is never a pass."""
    timeout = "0.2" if "within" in reason else "60"
    ran = research(
        "golden", "--command", command, "--case", CASE, "--timeout", timeout, "--json"
    )
    assert ran.code == 1
    assert (ran.json["cases"][0]["status"], ran.json["cases"][0]["problems"]) == (
        "MISSING",
        [reason],
    )


def test_a_program_that_does_not_stop_talking() -> None:
    """It is ended at the size a reader takes; what it said is too large, and never a pass."""
    ran = research("golden", "--command", "yes", "--case", CASE, "--json")
    (case,) = ran.json["cases"]
    assert (ran.code, case["status"]) == (1, "FAILED")
    assert "too_large" in case["problems"][0]


def test_golden_against_files_and_kept_answers(tmp_path: Path) -> None:
    """A file per case, or the latest answer to the case's question whatever its task id."""
    request = tmp_path / "request.json"
    text = research(
        "golden", "--command", f"{sys.executable} {spy(tmp_path)}", "--case", CASE
    )
    assert text.code == 0
    answer = tmp_path / f"{CASE}.json"
    assert research("golden", "--answers", tmp_path, "--case", CASE).code == 0
    again = json.loads(request.read_text(encoding="utf-8"))
    again["task_id"] = "00000000-0000-4000-8000-000000000000"
    written(tmp_path, again, "request.json")
    written(
        tmp_path,
        {**json.loads(answer.read_text(encoding="utf-8")), "task_id": again["task_id"]},
        "kept.json",
    )
    home = ("--home", tmp_path)
    assert research("golden", "--store", *home).code == 5
    assert (
        research("record", tmp_path / "kept.json", "--request", request, *home).code
        == 0
    )
    assert research("golden", "--store", *home, "--case", CASE).code == 0
    other = ("--case", "light-journal-physics-en")
    ran = research(
        "golden", "--store", *home, "--case", CASE, *other, "--format", "junit"
    )
    assert ran.code == 1
    assert [one.text for one in ET.fromstring(ran.out).iter("failure")] == [
        "no answer is kept"
    ]
    assert (
        "? light"
        in research(
            "golden", "--answers", tmp_path, "--case", "light-journal-physics-en"
        ).out
    )


def spy(folder: Path) -> Path:
    """An agent that leaves what it was asked and what it said."""
    program = folder / "spy.py"
    program.write_text(
        "import os, subprocess, sys\n"
        f"folder = {os.fspath(folder)!r}\n"
        "open(folder + '/request.json', 'w').write(os.environ['ACCORDANCE_REQUEST'])\n"
        f"said = subprocess.run([sys.executable, {os.fspath(EXAMPLES / 'agent.py')!r}], stdout=subprocess.PIPE).stdout\n"
        f"open(folder + '/{CASE}.json', 'wb').write(said)\n"
        "sys.stdout.buffer.write(said)\n",
        encoding="utf-8",
    )
    return program


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        pytest.param((), 2, "give --answers DIR, --store or --command COMMAND", id="nobody to ask"),
        pytest.param(("--command", "a", "--store"), 2, "give --answers DIR, --store or --command", id="too many to ask"),
        pytest.param(("--command", "'"), 2, "--command: No closing quotation", id="a quote that does not end"),
        pytest.param(("--command", " "), 2, "--command: names no program", id="no program"),
        pytest.param(("--answers", "nowhere"), 5, "nowhere: no such folder", id="no folder"),
        pytest.param(("--command", "true", "--case", "x"), 1, "golden.toml: x: no such case in accordance", id="no such case"),
        pytest.param(("--command", "true", "--set", "nowhere"), 5, "nowhere: no such file", id="no such set"),
        pytest.param(("--command", "true", "--timeout", "0"), 2, "timeout", id="no time"),
    ],
)  # fmt: skip
def test_golden_asked_wrongly(
    options: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    """One line with the way out."""
    ran = research("golden", *options, cwd=tmp_path)
    assert ran.code == code
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_an_own_set(tmp_path: Path) -> None:
    """Checked when it is read, with its name."""
    own = tmp_path / "own.toml"
    own.write_text("x", encoding="utf-8")
    ran = research("golden", "--set", own, "--command", "true")
    assert ran.code == 1
    assert ran.err.startswith(f"accordance: {own}: the golden set is not valid TOML")


@pytest.mark.parametrize(
    "name", ["agents", "route", "check", "report", "handoff", "collapse", "golden"]
)
def test_every_command_has_help(name: str) -> None:
    """And says what --json does."""
    ran: Any = research(name, "--help")
    assert ran.code == 0
    assert "--json" in ran.out
