"""Plans as pictures."""

from __future__ import annotations

from itertools import pairwise

from accordance.domain.lifecycle import State
from accordance.domain.progress import begin
from accordance.rendering.drawing import draw_dot, draw_mermaid, draw_text
from accordance.rendering.marks import MARKS
from tests.messages import edge, node, plan
from tests.unit.domain.test_progress import graph

LABELS = {
    "root": "All",
    "g": "Pages",
    "a": 'By "hand"',
    "b": "Printed",
    "shared": "Glue",
    "c": "Proof",
}


def example() -> dict[str, object]:
    nodes = [
        node("root", "GOAL"),
        node("g", "GOAL"),
        node("a"),
        node("b", priority=5),
        node("shared"),
        node("c", "CHECK"),
    ]
    edges = [edge("root", "g"), edge("root", "c"), edge("root", "shared")]
    edges += [edge("g", task, and_or="OR") for task in ("a", "b", "shared")]
    edges += [edge("g", task, "ALTERNATIVE", group_id="1") for task in ("a", "b")]
    edges += [edge("b", "c", "DEPENDS_ON"), edge("a", "shared", "DEPENDS_ON")]
    return plan(nodes, edges)


def test_text() -> None:
    """A tree; a part of two goals is drawn once."""
    assert draw_text(graph(example()), LABELS) == (
        "All  GOAL, all of\n"
        "├─ Pages  GOAL, any of\n"
        '│  ├─ By "hand"  ACTION, alternative 2 of 2\n'
        "│  ├─ Printed  ACTION, alternative 1 of 2\n"
        '│  └─ Glue  ACTION, after By "hand"\n'
        "├─ Proof  CHECK, checks Printed\n"
        '└─ Glue  ACTION, after By "hand"  (see above)\n'
    )


def test_what_belongs_to_no_goal_is_drawn_after_the_root() -> None:
    """A plan may wait for something that is no part of it."""
    nodes = [node("root", "GOAL"), node("buy"), node("prices")]
    edges = [edge("root", "buy", and_or="OR"), edge("prices", "buy", "DEPENDS_ON")]
    labels = {task: task for task in ("root", "buy", "prices")}
    assert draw_text(graph(plan(nodes, edges)), labels).splitlines() == [
        "root  GOAL, any of",
        "└─ buy  ACTION, after prices",
        "prices  ACTION",
    ]


def test_marks() -> None:
    """Every state has its mark, and they differ."""
    assert set(MARKS) == set(State)
    assert len(set(MARKS.values())) == len(MARKS)
    moving = begin(graph(example()))
    text = draw_text(
        moving.graph, LABELS, {task: at.state for task, at in moving.at.items()}
    )
    assert "○ Printed" in text
    assert '– By "hand"' in text


def test_mermaid_and_dot() -> None:
    """Quotes cannot break out of a label; every edge is there."""
    drawn = graph(example())
    states = {task: at.state for task, at in begin(drawn).at.items()}
    mermaid, dot = draw_mermaid(drawn, LABELS, states), draw_dot(drawn, LABELS)
    assert 'n2["By &quot;hand&quot; (ABANDONED, alternative 2 of 2)"]' in mermaid
    assert "n1 --> n2" in mermaid
    assert "n3 -.-> n5" in mermaid
    assert '"a" [label="By \\"hand\\" (alternative 2 of 2)", shape=box];' in dot
    hashed = draw_mermaid(drawn, {**LABELS, "c": "#quot;"})
    assert 'n5{{"#35;quot;"}}' in hashed
    assert '"b" -> "c" [style=dashed, constraint=false];' in dot


def test_deep_trees() -> None:
    """No recursion."""
    names = [f"g{at}" for at in range(3000)]
    edges = [edge("root", names[0])] + [
        edge(one, other) for one, other in pairwise(names)
    ]
    deep = graph(
        plan([node("root", "GOAL"), *(node(name, "GOAL") for name in names)], edges)
    )
    assert draw_text(deep, {task: task for task in deep}).count("\n") == 3001
