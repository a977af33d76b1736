"""`accordance check`: what people and programs see, and what the shell is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from accordance.cli import main
from accordance.cli.exits import Failure
from accordance.cli.reading import read_bounded
from tests.acceptance.cli import accordance
from tests.messages import ACTION, ANSWER, REVIEW, SUBMIT, TASK, TASK_INPUT, changed


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.json"
    path.write_text(json.dumps(ACTION), encoding="utf-8")
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.json"
    broken = changed(changed(REVIEW, "total_score", 95), "suggestions.0.steps", "open")
    path.write_text(json.dumps(broken, indent=2), encoding="utf-8")
    return path


def test_accepted(good: Path) -> None:
    """One line and exit code 0."""
    ran = accordance("check", good)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"✓ {good}  xiaobo_action_v1\n"


def test_rejected(bad: Path) -> None:
    """Path, line, what was expected, what came, the fix; exit code 1."""
    ran = accordance("check", bad)
    assert ran.code == 1
    assert ran.out == (
        f"✗ {bad}  xiaojing_review_v1\n"
        "  $.action_required  line 6  score_contradicts_action\n"
        "    expected  APPROVE with a total_score of 95, or a total_score below 90 with MODIFY\n"
        "    got       MODIFY\n"
        "  $.suggestions[0].steps  line 28  wrong_type\n"
        "    expected  a list\n"
        '    got       "open"\n'
        '    fix       set it to ["open"]\n'
    )


def test_many_files_and_a_count(good: Path, bad: Path, tmp_path: Path) -> None:
    """All are checked, also when one cannot be read; the worst decides."""
    ran = accordance("check", good, tmp_path / "nix.json", bad)
    assert ran.code == 5
    assert ran.err == f"accordance: {tmp_path / 'nix.json'}: no such file\n"
    assert ran.out.endswith("\n2 messages: 1 accepted, 1 rejected\n")


def test_standard_input() -> None:
    """- is standard input."""
    ran = accordance(
        "check", "--scope", "TASK_ACTION", "-", stdin=json.dumps(ACTION).encode()
    )
    assert (ran.code, ran.out) == (0, "✓ -  TASK_ACTION\n")


def test_tolerant(tmp_path: Path) -> None:
    """Off by default; when asked for, every repair is listed."""
    path = tmp_path / "chatty.txt"
    path.write_text(f"Sure!\n```json\n{json.dumps(ACTION)}\n```", encoding="utf-8")
    strict = accordance("check", path)
    assert strict.code == 1
    assert "text_around" in strict.out
    tolerant = accordance("check", "--tolerant", "--json", path)
    assert tolerant.code == 0
    assert [repair["rule"] for repair in tolerant.json["results"][0]["repairs"]] == [
        "text_around",
        "code_fence",
        "code_fence",
    ]


def test_json(good: Path, bad: Path) -> None:
    """One document with everything in it."""
    ran = accordance("check", "--json", good, bad)
    assert ran.code == 1
    report = ran.json
    assert (report["accepted"], report["rejected"]) == (1, 1)
    first, second = report["results"]
    assert first["message"] == ACTION
    assert (first["file"], first["contract"], first["warnings"]) == (
        str(good),
        "xiaobo_action_v1",
        [],
    )
    assert second["total"] == 2
    by_path = {one["path"]: one for one in second["violations"]}
    steps = by_path["$.suggestions[0].steps"]
    assert (steps["code"], steps["line"], steps["column"]) == ("wrong_type", 28, 16)
    assert steps["fix"] == {
        "op": "set",
        "path": "$.suggestions[0].steps",
        "value": ["open"],
    }


def test_github(bad: Path, tmp_path: Path) -> None:
    """Annotations that land on the right line."""
    noted = tmp_path / "noted.json"
    noted.write_text(json.dumps({**ACTION, "mood": "50%,\nfine"}), encoding="utf-8")
    ran = accordance("check", "--output-format", "github", bad, noted)
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert (
        f"::error file={bad},line=28,col=16,title=accordance wrong_type::"
        in "".join(lines)
    )
    assert lines[-1].startswith(f"::warning file={noted},line=1,")


def test_sarif(bad: Path, good: Path) -> None:
    """Rules with their pages, results with their places."""
    ran = accordance("check", "--output-format", "sarif", bad, good)
    assert ran.code == 1
    (run,) = ran.json["runs"]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {
        "wrong_type",
        "score_contradicts_action",
    }
    regions = [
        result["locations"][0]["physicalLocation"]["region"]
        for result in run["results"]
    ]
    assert {"startLine": 28, "startColumn": 16} in regions


def test_aliases_are_found_on_their_line(tmp_path: Path) -> None:
    """A field that was renamed is pointed to where it stands, under the name it has there."""
    path = tmp_path / "alias.json"
    path.write_text(
        '{"schema_version": "plan_json_v1",\n"plan": {},\n"tasks": [\n{"id": 7}\n], "edges": []}'
    )
    report = accordance("check", "--json", path).json
    lines = {one["path"]: one["line"] for one in report["results"][0]["violations"]}
    assert lines["$.nodes[0].task_id"] == 4


@pytest.mark.parametrize(
    ("context", "code"),
    [
        ({"task_id": TASK}, 0),
        ({"task_id": "other"}, 1),
        ({"task": TASK_INPUT}, 0),
        ({"task": {**TASK_INPUT, "pins": {"allowed_paths": ["docs/"]}}}, 1),
        ({"pins": {"allowed_paths": ["src/"]}}, 1),
        (
            {
                "pins": {"allowed_paths": ["src/", "tests/"]},
                "allowed_tests": ["pytest -q"],
            },
            0,
        ),
    ],
)
def test_context(context: dict[str, object], code: int, tmp_path: Path) -> None:
    """What the task says is held against the message."""
    message, file = tmp_path / "submit.json", tmp_path / "context.json"
    message.write_text(json.dumps(SUBMIT))
    file.write_text(json.dumps(context))
    assert accordance("check", "--context", file, message).code == code


def test_profile(tmp_path: Path) -> None:
    """The seed's own validator, on request."""
    message, file = tmp_path / "answer.json", tmp_path / "context.json"
    message.write_text(json.dumps(changed(ANSWER, "self_critique", ...)))
    file.write_text('{"profile": "seed"}')
    assert accordance("check", "-c", "answer", message).code == 1
    seed = accordance("check", "-c", "answer", "--context", file, message)
    assert seed.code == 0
    assert "Full VS agent should include self_critique" in seed.out


BAD_INPUT = [
    pytest.param(b"", "empty", id="an empty file"),
    pytest.param(bytes(range(256)) * 40, "not_utf8", id="a binary file"),
    pytest.param(b'{"a": "\xc3\x28"}', "not_utf8", id="invalid UTF-8"),
    pytest.param(
        b"[" * 100_000, "not_object", id="a hundred thousand opening brackets"
    ),
    pytest.param(
        b'{"a":' * 100_000, "too_deep", id="a hundred thousand opening objects"
    ),
    pytest.param(
        b'{"a": "' + b"x" * 100_000_000, "too_large", id="a hundred megabytes"
    ),
    pytest.param(b"\x00" * 1000, "text_around", id="zeros"),
]


@pytest.mark.parametrize("option", ["strict", "tolerant"])
@pytest.mark.parametrize(("data", "code"), BAD_INPUT)
def test_bad_files_are_rejected_messages(
    data: bytes, code: str, option: str, tmp_path: Path
) -> None:
    """Exit code 1, one violation, in bounded time and memory, also for the tolerant reader."""
    path = tmp_path / "bad"
    path.write_bytes(data)
    ran = accordance(
        "check", *(["--tolerant"] if option == "tolerant" else []), "--json", path
    )
    assert ran.code == 1
    (violation,) = ran.json["results"][0]["violations"]
    assert violation["code"] == code or option == "tolerant"
    assert len(ran.out) < 2000


@pytest.mark.parametrize(("data", "code"), BAD_INPUT)
def test_bad_files_are_told_in_one_line(data: bytes, code: str, tmp_path: Path) -> None:
    """For people: what was expected, what came, where."""
    path = tmp_path / "bad"
    path.write_bytes(data[:100_000])
    ran = accordance("check", path)
    assert ran.out.count("\n") == 1
    assert code in ran.out or code == "too_large"


def test_a_file_name_with_a_line_break(tmp_path: Path) -> None:
    """Still one line."""
    ran = accordance("check", tmp_path / "a\nb.json")
    assert (ran.code, ran.err.count("\n")) == (5, 1)


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak is read from /proc"
)
def test_memory_is_bounded(tmp_path: Path) -> None:
    """Of a file of 100 MB not much more than the limit is ever held."""
    path = tmp_path / "large.json"
    with path.open("wb") as stream:
        stream.truncate(100_000_000)
    probe = (
        "import sys; from accordance.cli.main import run; code = run(['check', '--json', sys.argv[1]]); "
        "peak = [line for line in open('/proc/self/status') if line.startswith('VmHWM')][0]; "
        "print(int(peak.split()[1]) // 1024, code, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, str(path)],
        capture_output=True,
        check=True,
        text=True,
    )
    megabytes, code = map(int, done.stderr.split())
    assert code == 1
    assert megabytes < 200


@pytest.mark.parametrize(
    ("args", "code", "line"),
    [
        (["check", "DIR"], 2, "is a directory; name its files, e.g. "),
        (["check", "nowhere.json"], 5, "nowhere.json: no such file"),
        (
            ["check", "-c", "xiaobo_aktion", "GOOD"],
            5,
            "unknown contract 'xiaobo_aktion'; did you mean xiaobo_action_v1",
        ),
        (
            ["check", "-c", "action", "-s", "TASK_ACTION", "GOOD"],
            2,
            "--contract and --scope name the same thing",
        ),
        (["check"], 2, "Missing argument"),
        (["check", "--output-format", "xml", "GOOD"], 2, "'xml' is not one of"),
        (
            ["check", "--context", "nowhere.json", "GOOD"],
            5,
            "nowhere.json: no such file",
        ),
        (
            ["check", "--context", "CONTEXT", "GOOD"],
            2,
            "the context does not fit: $.taskid: expected no such key",
        ),
        (
            ["check", "--context", "PINS", "GOOD"],
            2,
            "the context does not fit: '../x' is not a pattern",
        ),
        (
            ["check", "--context", "TASKLESS", "GOOD"],
            2,
            "the context's task does not fit: $.goal: expected a text",
        ),
        (
            ["check", "--context", "PROFILE", "GOOD"],
            5,
            "unknown profile 'seed'; known: strict",
        ),
        (["check", "a\x00b"], 2, "is not a file name"),
        (["chek", "GOOD"], 2, "unknown command 'chek'; did you mean check"),
        (["explain", "cycl"], 5, "unknown code 'cycl'; did you mean cycle?"),
        (["schema", "sumbit"], 5, "unknown contract 'sumbit'; did you mean submit"),
        (["contract", "show", "nix"], 5, "unknown contract 'nix'"),
        (["completion", "tcsh"], 2, "'tcsh' is not one of"),
    ],
)
def test_one_clear_line(
    args: list[str], code: int, line: str, good: Path, tmp_path: Path
) -> None:
    """A hurried person gets one line with the way out, and the right exit code."""
    files = {
        "CONTEXT": '{"taskid": "x"}',
        "PINS": '{"pins": {"allowed_paths": ["../x"]}}',
        "TASKLESS": json.dumps({"task": changed(TASK_INPUT, "goal", "")}),
        "PROFILE": '{"profile": "seed"}',
    }
    names = {"DIR": str(tmp_path), "GOOD": str(good)}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        names[name] = str(tmp_path / name)
    if "\x00" in "".join(args):  # no shell can pass such a name
        with pytest.raises(Failure, match=line):
            read_bounded(args[1])
        return
    ran = accordance(*(names.get(arg, arg) for arg in args))
    assert ran.code == code
    assert line in ran.err
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("accordance: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(good: Path) -> None:
    """Named, with the system's reason."""
    good.chmod(0)
    ran = accordance("check", good)
    assert ran.code == 2
    assert "cannot be read: Permission denied" in ran.err


def test_the_reader_may_leave(good: Path) -> None:
    """`| head` is no error."""
    script = f"{sys.executable} -m accordance.cli.main check {' '.join([str(good)] * 1000)} | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def test_an_internal_error_is_one_line_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the place is shown on request."""
    monkeypatch.setitem(main.COMMANDS, "check", ("accordance.nowhere", ""))
    assert main.run(["check", "x"]) == 70
    assert "internal error: ModuleNotFoundError" in capsys.readouterr().err
    monkeypatch.setenv("ACCORDANCE_DEBUG", "1")
    with pytest.raises(ModuleNotFoundError):
        main.run(["check", "x"])


def test_many_repairs_and_violations_are_summed_up(tmp_path: Path) -> None:
    """A person does not want to read hundreds of lines."""
    path = tmp_path / "plan.json"
    plan = {"plan": {}, "tasks": [{"id": str(at)} for at in range(30)], "edges": []}
    path.write_text(json.dumps(plan))
    out = accordance("check", "-c", "plan", path).out
    assert "~ and 26 more repairs" in out
    assert "more violations" in out


def test_many_warnings_are_summed_up_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first fifty, and how many there are."""
    path = tmp_path / "action.json"
    path.write_text(json.dumps(ACTION | {f"more_{at}": at for at in range(70)}))
    assert main.run(["check", str(path)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("unknown_key") == 50
    assert "and 20 more warnings" in shown
    main.run(["check", "--json", str(path)])
    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert (len(row["warnings"]), row["total_warnings"]) == (50, 70)


@pytest.mark.parametrize("output_format", ["text", "json", "github", "sarif"])
def test_nothing_from_a_message_steers_the_terminal(
    output_format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever stands in a message or in a file's name is shown, as an escape where it must be."""
    steering = "\x9b2J\u202e\x7f\u200b"
    path = tmp_path / f"a{steering}.json"
    broken = ACTION | {
        "result_type": f"NOOP{steering}",
        f"key{steering}": 1,
        "task_id": f" {steering}",
    }
    path.write_text(json.dumps(broken, ensure_ascii=False))
    assert main.run(["check", "--output-format", output_format, str(path)]) == 1
    out = capsys.readouterr().out
    assert "NOOP\\u009b2J\\u202e\\u007f\\u200b" in out.replace("\\\\", "\\")
    assert all(line.isprintable() for line in out.split("\n"))
