"""The way back: JSON, short, JSON gives the same plan, and what cannot be said is refused by name."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordance.api import check_value
from accordance.contracts.violation import Accepted
from accordance.domain.short_plans.compiling import compile_plan
from accordance.domain.short_plans.durations import duration_text
from accordance.domain.short_plans.file_names import ShortFormat
from accordance.domain.short_plans.formats import (
    compile_file,
    read_short_plan,
    write_short_plan,
)
from accordance.domain.short_plans.model import ShortInput, ShortPlan, ShortTask
from accordance.domain.short_plans.shortening import shorten
from accordance.errors import NotExpressible
from tests.unit.domain.short_plans.test_compiling import WHOLE

ROOT = Path(__file__).parents[4]
SHORT_FORMS: tuple[ShortFormat, ...] = ("yaml", "toml", "md")
EXAMPLES = ("examples/plan/plan.json", "examples/quickstart/plan.json")


def accepted(document: Any) -> dict[str, Any]:
    """A plan as its contract reads it."""
    result = check_value(document, "PLAN_GEN")
    assert isinstance(result, Accepted), result
    dumped: dict[str, Any] = result.value.model_dump(
        mode="json", by_alias=True, exclude_unset=True
    )
    return dumped


def meaning(document: Any) -> dict[str, Any]:
    """What a plan says: with every default, without the ids of edges and the order of its lists."""
    result = check_value(document, "PLAN_GEN")
    assert isinstance(result, Accepted), result
    plan = result.value.model_dump(mode="json", by_alias=True)
    nodes = {node["task_id"]: node for node in plan["nodes"]}
    for node in nodes.values():
        for pins in [node["task"]["pins"]] if "task" in node else []:
            pins.setdefault("forbidden_paths", [])
            pins.setdefault("read_paths", [])
    edges = set()
    for edge in plan["edges"]:
        metadata = edge["metadata"] or {}
        combine = None
        if edge["edge_type"] == "DECOMPOSE":
            combine = metadata.get("and_or") or "AND"
        ends = (edge["from_task_id"], edge["to_task_id"], edge["edge_type"])
        edges.add((*ends, combine, metadata.get("group_id")))
    needs = {need["requirement_id"]: need for need in plan["requirements"]}
    return {"plan": plan["plan"], "nodes": nodes, "edges": edges, "inputs": needs}


@pytest.mark.parametrize("form", SHORT_FORMS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_go_there_and_back(name: str, form: ShortFormat) -> None:
    """The plan is the same after JSON, the short form, and JSON again."""
    document = json.loads((ROOT / name).read_text())
    text = write_short_plan(shorten(accepted(document)), form)
    assert meaning(compile_file(text.encode(), form).document) == meaning(document)


@pytest.mark.parametrize("form", SHORT_FORMS)
def test_a_short_plan_in_every_form(form: ShortFormat) -> None:
    """With every key; and shortened again it is the same plan."""
    plan = read_short_plan(WHOLE.encode(), "yaml")
    document = compile_plan(plan).document
    assert (
        compile_file(write_short_plan(plan, form).encode(), form).document == document
    )
    assert meaning(compile_plan(shorten(accepted(document))).document) == meaning(document)  # fmt: skip


def test_edges_that_are_there_twice_are_kept_once() -> None:
    """They say nothing new; a root of its own title and type is kept as it is."""
    document = changed(lambda plan: plan["edges"].extend(plan["edges"][:]))
    document["edges"] = [
        {**repeated, "edge_id": f"e{number}"}
        for number, repeated in enumerate(document["edges"])
    ]
    document["nodes"][0].update(title="All of it", node_type="ACTION")
    for form in SHORT_FORMS:
        text = write_short_plan(shorten(document), form)
        assert meaning(compile_file(text.encode(), form).document) == meaning(document)


AWKWARD = ["no", "on", "0755", "2026-01-02", "1e5", "null", "~", "- a", "# b", "a: b", "`c`", '"d"', "[e", "{f", "g*h", "i\nj", " k ", "l\u2028m", "n\x85o", "\x7f", "'p'", "q #r", "&s", "!t", "%u", "@v", "|", ">"]  # fmt: skip
"""Texts that a format might take for something else."""
TEXTS = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(min_size=1, max_size=12).filter(lambda text: bool(text.strip())),
)  # fmt: skip
VALUES = st.recursive(
    st.one_of(TEXTS, st.booleans(), st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(TEXTS, inner, max_size=2)),
    max_leaves=4,
)  # fmt: skip


@pytest.mark.parametrize("form", SHORT_FORMS)
def test_awkward_texts_stay_what_they_are(form: ShortFormat) -> None:
    """As titles, as texts of keys, and where anything may stand."""
    tasks = [
        ShortTask(
            title=text,
            id=f"task-{number}",
            goal=text,
            accept=(text, text),
            further={"tone": text},
        )
        for number, text in enumerate(AWKWARD)
    ]
    root = ShortTask(title="`T`", type="GOAL", goal="i\nj", parts=tuple(tasks))
    plan = ShortPlan(title="`T`", root=root)
    text = write_short_plan(plan, form)
    assert compile_file(text.encode(), form).document == compile_plan(plan).document


def tasks(depth: int) -> st.SearchStrategy[ShortTask]:
    """Tasks of any shape; each is named by its place afterwards."""
    parts = (
        st.just(()) if not depth else st.lists(tasks(depth - 1), max_size=2).map(tuple)
    )
    return st.builds(
        ShortTask,
        title=TEXTS,
        goal=st.none() | TEXTS,
        role=st.none() | TEXTS,
        priority=st.integers(-5, 5),
        tags=st.lists(TEXTS, max_size=2).map(tuple),
        accept=st.none() | st.lists(TEXTS, max_size=2).map(tuple),
        deliver=st.none() | VALUES,
        timeout=st.none() | st.integers(1, 10_000_000),
        allowed=st.none() | st.just(("src/**",)),
        inputs=st.lists(st.builds(ShortInput, name=TEXTS, types=st.lists(TEXTS, max_size=1).map(tuple)), max_size=1).map(tuple),
        combine=st.sampled_from(["AND", "OR"]),
        alternative=st.none() | TEXTS,
        further=st.dictionaries(st.just("tone"), VALUES, max_size=1),
        parts=parts,
    )  # fmt: skip


def with_own_ids(task: ShortTask, place: str) -> ShortTask:
    """The same task with ids of its own, and with needs that point backwards only."""
    parts = tuple(
        with_own_ids(part, f"{place}.{number}")
        for number, part in enumerate(task.parts)
    )
    allowed = None if parts else task.allowed
    needs = tuple((part.id or "", 0) for part in parts[:1])
    if len(parts) > 1:
        parts = (parts[0], replace(parts[1], needs=needs))
    return replace(task, id=place, parts=parts, allowed=allowed)


@settings(max_examples=25, deadline=None)
@given(st.lists(tasks(1), min_size=1, max_size=3), TEXTS, st.sampled_from(SHORT_FORMS))
def test_any_plan_goes_there_and_back(
    parts: list[ShortTask], title: str, form: ShortFormat
) -> None:
    """Whatever its texts are: short, JSON, short, JSON."""
    own = tuple(
        with_own_ids(part, f"task-{number}") for number, part in enumerate(parts)
    )
    root = ShortTask(title=title, type="GOAL", parts=own)
    plan = ShortPlan(title=title, root=root)
    document = compile_plan(plan).document
    short = shorten(json.loads(json.dumps(document)))
    text = write_short_plan(short, form)
    again = compile_file(text.encode(), form).document
    assert again["nodes"] == document["nodes"]
    assert again == document


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The example with something that a short plan cannot say."""
    document = accepted(json.loads((ROOT / EXAMPLES[0]).read_text()))
    copied = copy.deepcopy(document)
    change(copied)
    return copied


def edge(source: str, target: str, kind: str, **metadata: str) -> dict[str, Any]:
    """An edge."""
    return {
        "edge_id": f"{kind}-{source}-{target}",
        "plan_id": "spring-catalogue",
        "from_task_id": source,
        "to_task_id": target,
        "edge_type": kind,
        "metadata": metadata,
    }


def without_parent(document: dict[str, Any]) -> None:
    """Take the task `photos` out of its goal."""
    document["edges"] = [
        edge
        for edge in document["edges"]
        if (edge["edge_type"], edge["to_task_id"]) != ("DECOMPOSE", "photos")
    ]


def nest_deeply(document: dict[str, Any]) -> None:
    """Thirty goals in each other."""
    above = "catalogue"
    for number in range(30):
        task = f"deep-{number}"
        document["nodes"].append(
            {**document["nodes"][1], "task_id": task, "title": task}
        )
        document["edges"].append(edge(above, task, "DECOMPOSE"))
        above = task


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param(lambda plan: plan.update(note=1), "the plan file has the key 'note'", id="a key of the file"),
        pytest.param(lambda plan: plan["plan"].update(note=1), "the plan has the key 'note'", id="a key of the plan"),
        pytest.param(lambda plan: plan["edges"][0].update(note=1), "the edge 'decompose:catalogue:prices' has the key 'note'", id="a key of an edge"),
        pytest.param(lambda plan: plan["edges"][0]["metadata"].update(note=1), "metadata has the key 'note'", id="a key of an edge's metadata"),
        pytest.param(lambda plan: plan["requirements"][0].update(note=1), "the input 'supplier_sheet' has the key 'note'", id="a key of an input"),
        pytest.param(lambda plan: plan["requirements"][0]["validation"].update(note=1), "the input 'supplier_sheet' has the key 'note'", id="a key of an input's validation"),
        pytest.param(lambda plan: plan["edges"].append(edge("prices", "photos", "DECOMPOSE")), "'Choose the photos' is a part of two goals", id="two parents"),
        pytest.param(without_parent, "'Choose the photos' is a part of no goal", id="no parent"),
        pytest.param(lambda plan: plan["edges"].append(edge("pages", "web", "ALTERNATIVE", group_id="other")), "'Pages for the web' is in two groups", id="two groups"),
        pytest.param(lambda plan: plan["edges"].append(edge("prices", "photos", "ALTERNATIVE", group_id="other")), "'Choose the photos' is an alternative under a goal that is not its own", id="a group elsewhere"),
        pytest.param(lambda plan: plan["edges"].append(edge("photos", "catalogue", "DEPENDS_ON")), "the root 'Spring catalogue' waits for a task or is a part", id="a root that waits"),
        pytest.param(nest_deeply, "lies more than 24 levels deep", id="thirty levels"),
    ],
)  # fmt: skip
def test_what_a_short_plan_cannot_say(
    change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    """It is refused by name; nothing is dropped."""
    with pytest.raises(NotExpressible) as caught:
        shorten(changed(change))
    assert reason in str(caught.value)
    assert str(caught.value).endswith("; keep the plan as JSON")


def test_pins_with_further_keys_cannot_be_said() -> None:
    """Pins are a closed list of keys."""
    document = compile_file(b"title: T\ntasks:\n- {title: A, allowed: src}\n", "yaml").document  # fmt: skip
    nodes: Any = document["nodes"]
    nodes[1]["task"]["pins"]["note"] = 1
    with pytest.raises(NotExpressible, match="the pins of 'A' has the key 'note'"):
        shorten(document)


@pytest.mark.parametrize(
    "further",
    [
        pytest.param({"acceptance_criteria": "a text"}, id="criteria that are no list"),
        pytest.param({"acceptance_criteria": [1]}, id="criteria that are no texts"),
        pytest.param({"timeoutMs": 1.5}, id="a limit that is no whole number"),
        pytest.param({"deliverable_spec": None}, id="a deliverable that is nothing"),
        pytest.param({"task": "a text"}, id="a task that is no object"),
        pytest.param({"task": {"pins": {}}}, id="a task without pins"),
    ],
)
def test_values_that_no_short_key_gives_back_stay_further_keys(
    further: dict[str, Any],
) -> None:
    """They are kept as they are."""
    document = compile_file(b"title: T\ntasks:\n- {title: A, tags: code}\n", "yaml").document  # fmt: skip
    nodes: Any = document["nodes"]
    nodes[1].update(further)
    assert shorten(document).root.parts[0].further == further


def test_what_toml_cannot_say() -> None:
    """TOML has no null, at any depth."""
    plan = read_short_plan(b"title: T\ntasks:\n- {title: A, further: {x: [null]}}\n", "yaml")  # fmt: skip
    with pytest.raises(NotExpressible, match="further of 'A' is null, which TOML"):
        write_short_plan(plan, "toml")


def test_a_text_that_would_say_another_plan_is_never_handed_out() -> None:
    """Nor one that could not be read again."""
    deep: Any = "x"
    for _ in range(70):
        deep = [deep]
    task = ShortTask(title="A", further={"tone": deep})
    plan = ShortPlan(title="T", root=ShortTask(title="T", type="GOAL", parts=(task,)))
    with pytest.raises(NotExpressible, match="cannot be written as yaml: nested too"):
        write_short_plan(plan, "yaml")

    spaced = ShortTask(title="A", further={1: "a key that is no text"})  # type: ignore[dict-item]
    plan = ShortPlan(title="T", root=ShortTask(title="T", type="GOAL", parts=(spaced,)))
    with pytest.raises(NotExpressible, match="as yaml without changing it"):
        write_short_plan(plan, "yaml")


def test_durations_are_written_in_the_largest_unit() -> None:
    """In whole numbers."""
    assert [duration_text(time) for time in (1500, 2000, 180_000, 7_200_000)] == ["1500ms", "2s", "3m", "2h"]  # fmt: skip


def test_a_small_plan_is_a_small_file() -> None:
    """Nothing is written that is the default anyway."""
    plan = read_short_plan(b"title: T\ntasks: [A, {title: B, needs: A}]\n", "yaml")
    assert write_short_plan(plan, "md") == "# T\n\n- [ ] A\n- [ ] B\n  - needs: A\n"
    assert write_short_plan(plan, "yaml") == "title: T\ntasks:\n  - A\n  - title: B\n    needs: A\n"  # fmt: skip
