"""What a short plan is compiled to: the contract's plan, with every default written out."""

from __future__ import annotations

from typing import Any

import pytest
from tools.plan_files_page import plan_json_example

from accordance.api import check_value
from accordance.domain.short_plans.compiling import Compiled
from accordance.domain.short_plans.formats import compile_file
from accordance.domain.short_plans.naming import code_task_id, slug, task_id

WHOLE = """
title: Spring catalogue
goal: Customers can order from it.
combine: or
constraints: {language: German}
root: {role: ann, inputs: the budget}
tasks:
  - Collect the prices
  - title: Write
    goal: Pages that sell
    why: Spring comes
    role: writer
    priority: 5
    tags: text
    needs: [Collect the prices, collect the prices]
    accept: names a price
    deliver: {format: md}
    timeout: 90
    further: {tone: warm}
    check: {title: Proofread, accept: no typos, needs: Collect the prices}
    inputs:
      - name: price list
        kind: file
        required: false
        count: 2
        types: csv
        source: user
        keywords: [price]
  - title: Round half up
    allowed: src/**
    forbidden: src/old/**
    read: docs/**
    max_files: 3
    max_loc: 40
    tests: [make test]
    executor: claude
    models: gpt-5
    policy: engineer
    code: {keeps_behaviour: true}
    check: true
  - title: Pages
    parts:
      - {title: Print, alternative: medium, check: Check the print}
      - {title: Web, alternative: medium, check: false}
"""


def compiled(text: str) -> Compiled:
    """A plan in YAML, compiled."""
    return compile_file(text.encode(), "yaml")


def node(plan: Compiled, title: str) -> dict[str, Any]:
    """The node of a title."""
    nodes: Any = plan.document["nodes"]
    (match,) = [node for node in nodes if node["title"] == title]
    found: dict[str, Any] = match
    return found


def edges(plan: Compiled, kind: str) -> list[tuple[str, str, Any]]:
    """The edges of a kind, by the titles of their ends."""
    document: Any = plan.document
    titles = {node["task_id"]: node["title"] for node in document["nodes"]}
    return [
        (titles[edge["from_task_id"]], titles[edge["to_task_id"]], edge["metadata"])
        for edge in document["edges"]
        if edge["edge_type"] == kind
    ]


def test_the_contract_accepts_it() -> None:
    """With the warnings for keys that the contract does not name, and nothing else."""
    result = check_value(compiled(WHOLE).document, "PLAN_GEN")
    assert result
    assert not result.repairs
    assert {notice.code for notice in result.warnings} == {"unknown_key"}


def test_every_default_is_written_out() -> None:
    """A task that is only a title has everything that the contract asks for."""
    plan = compiled("title: T\ntasks: [A]\n")
    assert plan.document == {
        "schema_version": "plan_json_v1",
        "plan": {
            "plan_id": "t",
            "title": "T",
            "root_task_id": "t",
            "created_at": "1970-01-01T00:00:00Z",
            "owner_agent_id": "planner",
            "constraints": None,
        },
        "nodes": [
            {
                "task_id": "t",
                "plan_id": "t",
                "node_type": "GOAL",
                "title": "T",
                "owner_agent_id": "planner",
                "priority": 0,
                "tags": [],
            },
            {
                "task_id": "t.a",
                "plan_id": "t",
                "node_type": "ACTION",
                "title": "A",
                "owner_agent_id": "worker",
                "priority": 0,
                "tags": [],
            },
        ],
        "edges": [
            {
                "edge_id": "decompose:t:t.a",
                "plan_id": "t",
                "from_task_id": "t",
                "to_task_id": "t.a",
                "edge_type": "DECOMPOSE",
                "metadata": {"and_or": "AND"},
            }
        ],
        "requirements": [],
    }


def test_a_task_with_everything() -> None:
    """Each key has its place in the node."""
    assert node(compiled(WHOLE), "Write") == {
        "task_id": "spring-catalogue.write",
        "plan_id": "spring-catalogue",
        "node_type": "ACTION",
        "title": "Write",
        "owner_agent_id": "writer",
        "priority": 5,
        "tags": ["text"],
        "goal_statement": "Pages that sell",
        "rationale": "Spring comes",
        "acceptance_criteria": ["names a price"],
        "deliverable_spec": {"format": "md"},
        "timeoutMs": 90_000,
        "tone": "warm",
    }


def test_a_task_that_changes_code() -> None:
    """It has a UUID that is always the same, the tag, and its task with its pins."""
    change = node(compiled(WHOLE), "Round half up")
    assert change["task_id"] == code_task_id("spring-catalogue", "Round half up")
    assert (change["tags"], change["owner_agent_id"]) == (["code"], "engineer")
    assert change["task"] == {
        "role": "engineer",
        "pins": {
            "allowed_paths": ["src/**"],
            "forbidden_paths": ["src/old/**"],
            "read_paths": ["docs/**"],
            "max_files": 3,
            "max_loc": 40,
        },
        "allowedTests": ["make test"],
        "allowedExecutors": ["claude"],
        "allowedModels": ["gpt-5"],
        "keeps_behaviour": True,
    }


@pytest.mark.parametrize(
    ("written", "task"),
    [
        pytest.param("", code_task_id("t", "A"), id="none: made from the title"),
        pytest.param("id: x", code_task_id("t", "x"), id="a word: made from it"),
        pytest.param(
            "id: 3f1c9a52-7d0e-4b7a-9d55-1f6a0c2e8b01",
            "3f1c9a52-7d0e-4b7a-9d55-1f6a0c2e8b01",
            id="a UUID: itself",
        ),
    ],
)
def test_the_id_of_a_task_that_changes_code(written: str, task: str) -> None:
    """It is a UUID, and may be needed by the id that was written."""
    plan = compiled(
        f"title: T\ntasks:\n  - title: A\n    allowed: src\n    tags: [code]\n    {written}\n"
    )
    assert node(plan, "A")["task_id"] == task
    assert node(plan, "A")["tags"] == ["code"]


def test_needs_point_from_the_prerequisite_to_the_dependent() -> None:
    """Each once; a check needs what it checks."""
    assert edges(compiled(WHOLE), "DEPENDS_ON") == [
        ("Collect the prices", "Write", {}),
        ("Write", "Proofread", {}),
        ("Collect the prices", "Proofread", {}),
        ("Round half up", "Check: Round half up", {}),
        ("Print", "Check the print", {}),
    ]


def test_parts_and_alternatives() -> None:
    """A check lies beside what it checks; an alternative is a part as well."""
    plan = compiled(WHOLE)
    any_of = {"and_or": "OR"}
    all_of = {"and_or": "AND"}
    assert edges(plan, "DECOMPOSE") == [
        ("Spring catalogue", "Collect the prices", any_of),
        ("Spring catalogue", "Write", any_of),
        ("Spring catalogue", "Proofread", any_of),
        ("Spring catalogue", "Round half up", any_of),
        ("Spring catalogue", "Check: Round half up", any_of),
        ("Spring catalogue", "Pages", any_of),
        ("Pages", "Print", all_of),
        ("Pages", "Check the print", all_of),
        ("Pages", "Web", all_of),
    ]
    medium = {"group_id": "medium"}
    assert edges(plan, "ALTERNATIVE") == [("Pages", "Print", medium), ("Pages", "Web", medium)]  # fmt: skip
    assert node(plan, "Proofread")["owner_agent_id"] == "reviewer"


def test_inputs() -> None:
    """With every default; the root may have some too."""
    assert compiled(WHOLE).document["requirements"] == [
        {
            "requirement_id": "spring-catalogue.the-budget",
            "task_id": "spring-catalogue",
            "name": "the budget",
            "kind": "FILE",
            "required": True,
            "min_count": 1,
            "allowed_types": [],
            "source": "ANY",
        },
        {
            "requirement_id": "spring-catalogue.write.price-list",
            "task_id": "spring-catalogue.write",
            "name": "price list",
            "kind": "FILE",
            "required": False,
            "min_count": 2,
            "allowed_types": ["csv"],
            "source": "USER",
            "validation": {"filename_keywords": ["price"]},
        },
    ]


def test_tasks_are_needed_by_title_or_id() -> None:
    """An id that was written, the id in the ledger, and the words of the title; a task may have the title of the plan."""
    plan = compiled(
        "title: A\ntasks:\n  - {title: A, id: x}\n  - B\n  - {title: C, needs: [x, a.b, a]}\n"
    )
    assert edges(plan, "DEPENDS_ON") == [("A", "C", {}), ("B", "C", {})]


def test_a_diamond_is_no_circle() -> None:
    """Two ways to the same task are fine."""
    plan = compiled(
        "title: T\ntasks:\n  - A\n  - {title: B, needs: A}\n  - {title: C, needs: A}\n  - {title: D, needs: [B, C]}\n"
    )
    assert len(edges(plan, "DEPENDS_ON")) == 4


def test_lines_of_the_parts_of_a_plan() -> None:
    """A violation of the contract has the line of the nearest part that has one."""
    plan = compiled("title: T\ntasks:\n  - A\n  - title: B\n    needs: A\n")
    assert plan.line_of("$.nodes[2].task.pins.allowed_paths[0]") == 4
    assert plan.line_of("$.edges[2]") == 5
    assert plan.line_of("$.plan.title") == 0


@pytest.mark.parametrize(
    ("title", "name"),
    [
        pytest.param("Write the text!", "write-the-text", id="words"),
        pytest.param("Größe_prüfen", "grösse-prüfen", id="letters of any language"),
        pytest.param("!!!", "e84c538e", id="no word at all"),
        pytest.param("x" * 61, f"{'x' * 51}-c508e75f", id="too many letters"),
    ],
)
def test_ids_are_made_from_titles(title: str, name: str) -> None:
    """The same title always gives the same id."""
    assert slug(title) == name
    assert task_id("plan", title) == f"plan.{name}"


def test_the_annotated_example_of_the_reference_is_a_plan() -> None:
    """docs/plan-files.md shows plan.json with remarks; without them the contract accepts it as it is."""
    result = check_value(plan_json_example(), "PLAN_GEN")
    assert result
    assert not result.repairs
