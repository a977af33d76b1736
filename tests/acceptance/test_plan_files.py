"""Short plans on the command line: imported, shown, converted, linted, drawn; and refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.cli import accordance

PLAN = """title: Spring
tasks:
  - Collect
  - title: Write
    needs: Collect
"""
AGENTS = """
[executors.worker]
kind = "command"
command = ["true"]
[[routes]]
kind = "action"
executor = "worker"
"""


def test_a_short_plan_is_imported_as_it_is_shown(tmp_path: Path) -> None:
    """--show writes every default out and imports nothing; importing again changes nothing."""
    (tmp_path / "plan.yaml").write_text(PLAN)
    shown = accordance("plan", "import", "plan.yaml", "--show", cwd=tmp_path)
    assert [node["task_id"] for node in shown.json["nodes"]] == ["spring", "spring.collect", "spring.write"]  # fmt: skip
    assert not (tmp_path / ".accordance").exists()

    ran = accordance("plan", "import", "plan.yaml", cwd=tmp_path)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "spring  Spring: 3 nodes, IN_REVIEW",
        "  next: `accordance plan approve`, or `plan return --reason TEXT`",
    ]
    assert json.loads((tmp_path / "tasks/plan.json").read_text())["nodes"] == shown.json["nodes"]  # fmt: skip
    again = accordance("plan", "import", "-", "--from", "yaml", stdin=PLAN.encode(), cwd=tmp_path)  # fmt: skip
    assert (
        again.out.splitlines()[0] == "spring  Spring: 3 nodes, IN_REVIEW  (as before)"
    )
    assert accordance("verify", cwd=tmp_path).code == 0


def test_plans_are_converted_both_ways(tmp_path: Path) -> None:
    """By the name of the output, or by --to; as JSON with every default."""
    (tmp_path / "plan.yaml").write_text(PLAN)
    for name in ("plan.md", "plan.toml", "plan.json"):
        ran = accordance("plan", "convert", "plan.yaml", "-o", name, cwd=tmp_path)
        ending = name.partition(".")[2]
        assert (ran.code, ran.out) == (0, f"{name}: written as {ending}\n")
    markdown = (tmp_path / "plan.md").read_text()
    assert markdown == "# Spring\n\n- [ ] Collect\n- [ ] Write\n  - needs: Collect\n"

    back = accordance("plan", "convert", "plan.json", "--to", "yaml", "--json", cwd=tmp_path)  # fmt: skip
    assert back.json == {"format": "yaml", "output": None, "text": PLAN}
    whole = json.loads((tmp_path / "plan.json").read_text())
    for name in ("plan.md", "plan.toml"):
        assert accordance("plan", "convert", name, cwd=tmp_path).json == whole


def test_a_plan_is_not_converted_onto_itself(tmp_path: Path) -> None:
    """Its comments would be lost."""
    text = f"# mine\n{PLAN}"
    (tmp_path / "plan.yaml").write_text(text)
    words = ("plan", "convert", "plan.yaml", "-o", "./plan.yaml")
    ran = accordance(*words, cwd=tmp_path)
    assert (ran.code, ran.err) == (
        2,
        "accordance: plan.yaml is the plan itself; name another file with -o\n",
    )
    assert (tmp_path / "plan.yaml").read_text() == text


def test_what_cannot_be_converted_is_refused_by_name(tmp_path: Path) -> None:
    """Nothing is written."""
    (tmp_path / "plan.yaml").write_text(f"{PLAN}    further: {{tone: null}}\n")
    ran = accordance("plan", "convert", "plan.yaml", "-o", "plan.toml", cwd=tmp_path)
    assert (ran.code, ran.err) == (
        1,
        "accordance: further of 'Write' is null, which TOML cannot say; choose YAML or Markdown\n",
    )
    assert not (tmp_path / "plan.toml").exists()


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        pytest.param("p.yaml", "title: T\ntasks:\n  - title: A\n   needs: B\n", "p.yaml:4: the indentation does not fit the lines above; align the keys of a task in the same column, with spaces", id="a wrong indent"),
        pytest.param("p.toml", 'title = "T"\ntask = 1\n', "p.toml:2: a plan has no key 'task'; did you mean tasks?", id="an unknown key"),
        pytest.param("p.md", "", "p.md: the file is empty; write a title and a list of tasks", id="an empty file"),
        pytest.param("p.json", "", "p.json: the file is empty; write it as plan.yaml, plan.toml or plan.md (docs/plan-files.md)", id="an empty file of JSON"),
        pytest.param("p.json", '{"a": 1}', "p.json: this is JSON, but no plan: it has neither `plan` nor `nodes`; write it as plan.yaml, plan.toml or plan.md (docs/plan-files.md)", id="JSON that is no plan"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_plan(
    tmp_path: Path, name: str, text: str, error: str
) -> None:
    """One line, exit code 1, and nothing is kept."""
    (tmp_path / name).write_text(text)
    ran = accordance("plan", "import", name, cwd=tmp_path)
    assert (ran.code, ran.out, ran.err) == (1, "", f"accordance: {error}\n")
    assert not (tmp_path / ".accordance").exists()


@pytest.mark.parametrize("command", ["convert", "lint", "graph"])
def test_every_command_reads_plan_files_the_same_way(
    tmp_path: Path, command: str
) -> None:
    """A short plan is read, and one that is none is refused in one line."""
    (tmp_path / "plan.yaml").write_text(PLAN)
    assert accordance("plan", command, "plan.yaml", cwd=tmp_path).code == 0
    (tmp_path / "p.md").write_text("# T\n")
    ran = accordance("plan", command, "p.md", cwd=tmp_path)
    assert (ran.code, ran.err) == (1, "accordance: p.md:1: the plan has no tasks; list them under tasks\n")  # fmt: skip


def test_what_breaks_the_contract_has_the_line_of_the_short_plan(
    tmp_path: Path,
) -> None:
    """The contract speaks of the compiled plan; the line is that of the file. Prose is reported as before."""
    (tmp_path / "p.yaml").write_text(f"{PLAN}    allowed: ../x\n")
    ran = accordance("plan", "import", "p.yaml", cwd=tmp_path)
    assert ran.code == 1
    assert ran.out.startswith("p.yaml:4: $.nodes[2].task.pins.allowed_paths[0]: ")
    (tmp_path / "p.json").write_text("[1]")
    assert "expected" in accordance("plan", "import", "p.json", cwd=tmp_path).out


def test_linting_a_file_and_a_plan_of_the_ledger(tmp_path: Path) -> None:
    """Errors are exit code 1 and have the line of the file; warnings alone are 0."""
    (tmp_path / "plan.yaml").write_text(PLAN)
    by_hand = accordance("plan", "lint", "plan.yaml", cwd=tmp_path)
    assert by_hand.code == 0
    assert by_hand.out.splitlines()[1:] == [
        "Spring: 0 errors, 1 warning",
        "at most: 20 calls for 2 tasks, 3 d; no model is asked",
    ]

    (tmp_path / "accordance.toml").write_text(AGENTS)
    ran = accordance("plan", "lint", "plan.yaml", cwd=tmp_path)
    assert ran.code == 1
    assert ran.out.splitlines()[0] == (
        'error    line 3: Collect: it has no reviewer: no route of kind "review" fits'
    )
    accordance("plan", "import", "plan.yaml", cwd=tmp_path)
    stored = accordance("plan", "lint", "--json", cwd=tmp_path)
    assert stored.code == 1
    assert (stored.json["errors"], stored.json["warnings"]) == (2, 0)
    assert stored.json["findings"][0]["line"] is None


@pytest.mark.parametrize(
    ("fuses", "cost"),
    [
        pytest.param("", "3 d, 10,000,000 tokens, cost 20.00 (model)", id="the fuses of every plan"),
        pytest.param("[fuses]\ntokens_per_run = 500000", "500,000 tokens, cost 10.00 (model)", id="tokens and a price"),
    ],
)  # fmt: skip
def test_what_a_plan_costs_at_most(tmp_path: Path, fuses: str, cost: str) -> None:
    """By its fuses, and by the price of the models that the routes choose."""
    settings = f"""
[executors.model]
kind = "llm"
model = "m"
prices = {{ m = {{ input = 10.0, output = 20.0 }} }}
[review]
own_work = true
{fuses}
"""
    (tmp_path / "accordance.toml").write_text(settings)
    (tmp_path / "plan.yaml").write_text(PLAN)
    ran = accordance("plan", "lint", "plan.yaml", cwd=tmp_path)
    assert ran.out.splitlines()[-1].endswith(cost), ran.out
