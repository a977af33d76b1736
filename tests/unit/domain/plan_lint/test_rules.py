"""What linting says about a plan: each rule with a plan that keeps it and one that does not."""

from __future__ import annotations

from typing import Any

import pytest

from accordance.api import check_value
from accordance.domain.executor_specs import spec_of
from accordance.domain.fuses import FUSES, Fuses
from accordance.domain.plan_lint import overlapping
from accordance.domain.plan_lint.case import LintCase
from accordance.domain.plan_lint.cost import CostAtMost, cost_at_most
from accordance.domain.plan_lint.overlapping import shared_path
from accordance.domain.plan_lint.rules import LINT_RULES, lint
from accordance.domain.routing import Route, Routing, routing_of
from accordance.domain.short_plans.formats import compile_file

PROGRAM = spec_of("command", {"kind": "command", "command": ["true"]})
MODEL = spec_of("llm", {"kind": "llm", "model": "gpt-5"})
TWO_MODELS = spec_of(
    "llm", {"kind": "llm", "model": "a", "tiers": {"a": 1, "b": 2}}
)  # fmt: skip
ANYBODY = routing_of({"worker": PROGRAM}, [])
CODE = {"allowed": "src/**", "tests": "make"}


def case(text: str, routing: Routing = ANYBODY, **settings: Any) -> LintCase:
    """A plan in YAML, and the settings it would run with."""
    document = compile_file(f"title: T\ntasks:\n{text}".encode(), "yaml").document
    result = check_value(document, "PLAN_GEN")
    assert result, result
    plan: Any = result.value
    return LintCase(plan=plan, routing=routing, fuses=FUSES, **settings)


def findings(text: str, routing: Routing = ANYBODY, **settings: Any) -> list[str]:
    """What linting says, in order."""
    return [
        f"{finding.severity} {finding.title}: {finding.message}"
        for finding in lint(case(text, routing, **settings))
    ]


def routed(*routes: Route, **executors: Any) -> Routing:
    """Executors with their routes."""
    return routing_of({"worker": PROGRAM, **executors}, routes)


ACTIONS_ONLY = routed(Route(kind="action", executor="worker"))
WRITERS_ONLY = routed(
    Route(kind="review", executor="worker"), Route(role="writer", executor="worker")
)
OF_A_MODEL = routing_of({"model": MODEL}, [])
NO_ROUTE = "error A: no executor for this task: no route in accordance.toml fits (action ACTION of worker)"


@pytest.mark.parametrize(
    ("text", "routing", "expected"),
    [
        pytest.param("- A\n- {title: B, needs: A, check: true}\n", ANYBODY, [], id="nothing to say"),
        pytest.param("- A\n", Routing(), ["warning None: no executor is configured: `accordance run` can do nothing, and tasks are taken up by hand"], id="no executor at all"),
        pytest.param("- A\n- {title: B, role: writer}\n", WRITERS_ONLY, [NO_ROUTE], id="a task that no route fits"),
        pytest.param("- {title: A, role: writer, allowed: src, tests: make, executor: claude, models: gpt-5}\n", WRITERS_ONLY, ["error A: no route leads to an executor it allows (claude)"], id="a task that allows another executor"),
        pytest.param("- {title: A, allowed: src, tests: make, executor: worker}\n", ANYBODY, [], id="a task that allows its executor"),
        pytest.param("- A\n", ACTIONS_ONLY, ['error A: it has no reviewer: no route of kind "review" fits'], id="a product that nobody reviews"),
        pytest.param("- {title: A, check: Look}\n", ACTIONS_ONLY, ['error Look: it has no reviewer: no route of kind "review" fits', 'error Look: never begins: it waits for "A", which cannot be done'], id="a check that nobody makes"),
        pytest.param("- A\n", OF_A_MODEL, ["error A: model would review its own product"], id="a model that reviews itself"),
        pytest.param("- A\n", routing_of({"model": TWO_MODELS}, []), [], id="an executor with another model"),
        pytest.param("- A\n", routed(Route(kind="review", executor="worker"), Route(executor="model"), model=MODEL), [], id="a model that a program reviews"),
        pytest.param("- A\n", routed(Route(kind="review", executor="model"), Route(executor="worker"), model=MODEL), [], id="a program that a model reviews"),
    ],
)  # fmt: skip
def test_who_does_what(text: str, routing: Routing, expected: list[str]) -> None:
    """Every task and every review has an executor, and nobody reviews themselves."""
    assert findings(text, routing) == expected


def test_own_work_may_be_allowed() -> None:
    """By the settings."""
    assert findings("- A\n", OF_A_MODEL, own_work=True) == []


@pytest.mark.parametrize(
    ("text", "never"),
    [
        pytest.param("- A\n- {title: B, role: writer, needs: A}\n- {title: C, role: writer, needs: B}\n", ["B", "C"], id="who needs it, and who needs that"),
        pytest.param("- A\n- {title: B, role: writer}\n", [], id="who does not need it"),
        pytest.param("- {title: G, parts: [A]}\n- {title: B, role: writer, needs: G}\n", ["B"], id="who needs the goal it is a part of"),
        pytest.param("- {title: G, combine: OR, parts: [A, {title: X, role: writer}]}\n- {title: B, role: writer, needs: G}\n", [], id="a goal for which another part is enough"),
        pytest.param("- {title: G, combine: OR, parts: [A]}\n- {title: B, role: writer, needs: G}\n", ["B"], id="a goal whose every part is lost"),
        pytest.param("- {title: G, parts: [{title: A, alternative: g}, {title: X, role: writer, alternative: g}]}\n- {title: B, role: writer, needs: G}\n", [], id="a goal that has an alternative"),
        pytest.param("- {title: G, parts: [{title: A, alternative: g}, {title: X, alternative: g}]}\n- {title: B, role: writer, needs: G}\n", ["B"], id="a goal whose every alternative is lost"),
        pytest.param("- {title: A, alternative: g, check: Look}\n- {title: X, role: writer, alternative: g}\n- {title: B, role: writer, needs: A}\n", [], id="who needs what has an alternative, and its check"),
        pytest.param("- A\n- {title: G, needs: A, parts: [{title: B, role: writer}]}\n", ["B"], id="a part of a goal that needs it"),
        pytest.param("- A\n- {title: B, role: writer, needs: A}\n- {title: C, role: writer, needs: A}\n- {title: D, role: writer, needs: [B, C]}\n", ["B", "C", "D"], id="two ways to the same task"),
    ],
)  # fmt: skip
def test_what_never_begins(text: str, never: list[str]) -> None:
    """A has no executor; whatever waits for it in vain is named, with the cause."""
    rules = [
        finding
        for finding in lint(case(text, WRITERS_ONLY))
        if finding.rule == "every_task_can_begin"
    ]
    assert sorted(str(finding.title) for finding in rules) == never
    assert all("it waits for" in finding.message for finding in rules)


def test_a_part_of_two_goals_is_looked_at_once() -> None:
    """Its goals lie in the same goal again."""
    text = """
- {title: A, alternative: g}
- {title: X, role: writer, alternative: g}
- {title: G, parts: [{title: B, role: writer, needs: A}]}
- {title: H, parts: [{title: C, role: writer}]}
"""
    whole = case(text, WRITERS_ONLY)
    document = whole.plan.model_dump(mode="json")
    document["edges"].append(
        {
            **document["edges"][0],
            "edge_id": "again",
            "from_task_id": "t.h",
            "to_task_id": "t.b",
        }
    )
    result = check_value(document, "PLAN_GEN")
    assert result, result
    plan: Any = result.value
    twice = LintCase(plan=plan, routing=WRITERS_ONLY, fuses=FUSES)
    assert [finding.title for finding in lint(twice)] == ["A"]


@pytest.mark.parametrize(
    ("first", "second", "path"),
    [
        pytest.param("src/**", "src/a.py", "src/a.py", id="a folder and a file in it"),
        pytest.param("src/*.py", "src/t*", "src/t.py", id="two patterns"),
        pytest.param("src/**", "docs/**", None, id="two folders"),
        pytest.param("src/a.py", "src/b.py", None, id="two files"),
    ],
)
def test_pins_that_overlap(first: str, second: str, path: str | None) -> None:
    """A path that both allow is named."""
    path_in_both = shared_path({"allowed_paths": [first]}, {"allowed_paths": [second]})
    assert path_in_both == path
    forbidden = {"allowed_paths": [second], "forbidden_paths": [second]}
    assert shared_path({"allowed_paths": [first]}, forbidden) is None


def test_pins_that_cannot_be_compared_count_as_apart() -> None:
    """The judge looks at the real paths later."""
    assert shared_path({"allowed_paths": ["../x"]}, {"allowed_paths": ["x"]}) is None


@pytest.mark.parametrize(
    ("second", "overlaps"),
    [
        pytest.param("- {title: B, allowed: src, tests: make}\n", True, id="tasks that can run at once"),
        pytest.param("- {title: B, allowed: src, tests: make, needs: A}\n", False, id="the second needs the first"),
        pytest.param("- {title: G, needs: A, parts: [{title: B, allowed: src, tests: make}]}\n", False, id="its goal needs the other"),
        pytest.param("- {title: G, needs: H, parts: [{title: B, allowed: src, tests: make}]}\n- {title: H, needs: A, parts: [X]}\n- {title: I, needs: [A, H]}\n", False, id="it needs a goal that needs the other"),
    ],
)  # fmt: skip
def test_only_tasks_that_can_run_at_once_overlap(second: str, overlaps: bool) -> None:
    """Tasks that follow each other may change the same files."""
    said = findings(f"- {{title: A, allowed: src, tests: make}}\n{second}")
    text = 'warning A: can run at the same time as "B", and both may change src'
    assert said == ([text] if overlaps else [])


def test_alternatives_do_not_overlap() -> None:
    """Only one of them is worked on at a time."""
    text = "- {title: A, alternative: g, allowed: src, tests: make}\n- {title: B, alternative: g, allowed: src, tests: make}\n"
    assert findings(text) == []


def test_too_many_pairs_are_not_all_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """And that is said."""
    monkeypatch.setattr(overlapping, "MAX_PAIRS", 1)
    text = "".join(f"- {{title: {name}, allowed: {name}, tests: make}}\n" for name in "ABC")  # fmt: skip
    assert findings(text) == ["warning None: only the first 1 pairs of tasks were compared"]  # fmt: skip


def test_code_without_tests() -> None:
    """A test command of the task or of the settings, or hidden tests."""
    text = "- {title: A, allowed: src}\n- {title: B, allowed: docs, code: {hidden_tests: {folder: b}}}\n- C\n"
    said = "warning A: changes code, and no test command is named in the task or in [judge]"
    assert findings(text) == [said]
    assert findings(text, has_own_tests=True) == []


def test_inputs_that_are_waited_for() -> None:
    """Only required ones."""
    text = "- {title: A, inputs: [x, {name: y, source: USER, kind: CONFIRMATION}, {name: z, required: false}]}\n"
    assert findings(text) == [
        'warning A: waits until a person or an agent supplies the file "x"',
        'warning A: waits until a person supplies the confirmation "y"',
    ]


def test_errors_come_first() -> None:
    """Then warnings, each in the order of the rules."""
    severities = [
        finding.severity
        for finding in lint(case("- {title: A, inputs: x}\n- B\n", ACTIONS_ONLY))
    ]
    assert severities == ["error", "error", "warning"]
    assert all(rule.__doc__ for rule in LINT_RULES)


@pytest.mark.parametrize(
    ("fuses", "price", "limits"),
    [
        pytest.param(Fuses(calls_per_task=None), None, (None, None, None, None), id="nothing limits it"),
        pytest.param(Fuses(), None, (20, None, None, None), id="by default: calls of each task"),
        pytest.param(Fuses(calls_per_run=15, run_seconds=60), None, (15, None, 60, None), id="the tighter one of both"),
        pytest.param(Fuses(tokens_per_task=1_000_000, cost_per_run=5), None, (20, 2_000_000, None, 5), id="tokens and money"),
        pytest.param(Fuses(tokens_per_task=1_000_000, cost_per_run=5), 1.5, (20, 2_000_000, None, 3.0), id="a price that is lower than the fuse"),
        pytest.param(Fuses(tokens_per_run=1_000_000), 10.0, (20, 1_000_000, None, 10.0), id="a price without a fuse"),
        pytest.param(Fuses(), 10.0, (20, None, None, None), id="a price without tokens says nothing"),
    ],
)  # fmt: skip
def test_what_a_plan_costs_at_most(
    fuses: Fuses, price: float | None, limits: tuple[object, ...]
) -> None:
    """For two tasks: calls, tokens, seconds, money."""
    calls, tokens, seconds, money = limits
    assert cost_at_most(fuses, 2, price) == CostAtMost(
        tasks=2,
        calls=calls,  # type: ignore[arg-type]
        tokens=tokens,  # type: ignore[arg-type]
        seconds=seconds,  # type: ignore[arg-type]
        money=money,  # type: ignore[arg-type]
    )


def test_a_remote_that_cannot_be_used_is_an_error() -> None:
    """It is tried by whoever lints; here it is only reported."""
    problem = "the repository https://git.example/app: it cannot be reached"
    text = "- {title: A, allowed: src/**, tests: make}\n"
    assert findings(text, repository_problem=problem) == [f"error None: {problem}"]
    assert findings(text) == []
