"""Plans as SVG: nothing overlaps, arrows run in the open, every title stays a title."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise

import pytest

from accordance.domain.lifecycle import State
from accordance.domain.plan import PlanGraph, PlanNode
from accordance.domain.progress import begin
from accordance.rendering.picture import draw_svg
from accordance.rendering.plans.folding import MAX_SHOWN, Arrow, Tie, outline_of
from accordance.rendering.plans.frames import MAX_WIDTH
from accordance.rendering.plans.layout import Box, PlanLayout, layout_of
from accordance.rendering.plans.rows import ranked
from accordance.rendering.plans.themes import THEMES, ThemeName
from accordance.rendering.plans.titles import fitted
from accordance.rendering.plots import columns
from tests.messages import edge, node, plan
from tests.unit.domain.test_progress import graph
from tests.unit.rendering.test_drawing import LABELS, example

TAG = "{http://www.w3.org/2000/svg}"


def a_plan(goals: int, tasks: int, seed: int = 1) -> PlanGraph:
    """A plan of so many goals with so many tasks each, tied together at random."""
    dice = random.Random(seed)
    nodes, edges = [node("root", "GOAL")], []
    earlier: list[str] = []
    for number in range(goals):
        goal = f"g{number}"
        nodes.append(node(goal, "GOAL"))
        edges.append(edge("root", goal))
        for index in range(tasks):
            task = f"{goal}-{index}"
            nodes.append(node(task))
            edges.append(edge(goal, task))
            if earlier and dice.random() < 0.6:
                edges.append(edge(dice.choice(earlier[-20:]), task, "DEPENDS_ON"))
            earlier.append(task)
    return graph(plan(nodes, edges))


def names(of: PlanGraph) -> dict[str, str]:
    """Every task is called by its id."""
    return {task: task for task in of}


SIZES = {
    "the example": graph(example()),
    "a single goal": graph(
        plan([node("root", "GOAL"), node("a")], [edge("root", "a")])
    ),
    "sixty tasks": a_plan(8, 7),
    "three hundred tasks": a_plan(24, 12),
    "a goal of two hundred tasks": a_plan(1, 200),
}


@pytest.mark.parametrize("drawn", SIZES.values(), ids=SIZES)
def test_every_layout(drawn: PlanGraph) -> None:
    """Boxes apart, parts in their frames, arrows from box to box and behind none."""
    outline = outline_of(drawn)
    layout = layout_of(outline)
    boxes = layout.boxes
    assert list(boxes) == list(outline)
    assert layout.width <= MAX_WIDTH + 200
    for task, goal in outline.home.items():
        assert _is_inside(boxes[task], boxes[goal])
    for siblings in (outline.top, *outline.parts.values()):
        for first, second in combinations(siblings, 2):
            assert not _overlap(boxes[first], boxes[second])
    for box in boxes.values():
        assert box.right <= layout.width
        assert box.bottom <= layout.height
    _arrows_connect(layout)
    _arrows_run_in_the_open(layout)


def _is_inside(box: Box, frame: Box) -> bool:
    is_below = frame.y < box.y and box.bottom < frame.bottom
    return is_below and frame.x < box.x and box.right < frame.right


def _overlap(box: Box, other: Box) -> bool:
    is_beside = box.right < other.x or other.right < box.x
    is_above = box.bottom < other.y or other.bottom < box.y
    return not is_beside and not is_above


def _arrows_connect(layout: PlanLayout) -> None:
    for route in layout.routes:
        source = layout.boxes[route.arrow.source]
        target = layout.boxes[route.arrow.target]
        assert route.points[0] == (source.middle, source.bottom)
        assert route.points[-1] == (target.middle, target.y)
        assert route.points[-2].y < target.y, "it comes from above"
        for start, end in pairwise(route.points):
            assert start.x == end.x or start.y == end.y
            assert start != end


def _arrows_run_in_the_open(layout: PlanLayout) -> None:
    plain = [box for box in layout.boxes.values() if not box.is_frame]
    for route in layout.routes:
        for start, end in pairwise(route.points):
            left, right = sorted((start.x, end.x))
            top, bottom = sorted((start.y, end.y))
            for box in plain:
                is_beside = right <= box.x or left >= box.right
                is_above = bottom <= box.y or top >= box.bottom
                assert is_beside or is_above, (route.arrow, box.task)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("has_states", [True, False], ids=["states", "no states"])
def test_the_picture(theme: ThemeName, has_states: bool) -> None:
    """Well-formed, the same bytes each time, with arrowheads and a legend."""
    whole = graph(example())
    states = {task: at.state for task, at in begin(whole).at.items()}
    given = states if has_states else None
    drawn = draw_svg(whole, LABELS, given, theme=theme)
    assert drawn == draw_svg(whole, LABELS, given, theme=theme)
    tree = ET.fromstring(drawn)
    assert tree.get("role") == "img"
    assert tree.findtext(f"{TAG}title") == "All"
    assert (tree.findtext(f"{TAG}desc") or "").startswith("A plan of 6 tasks")
    assert ("prefers-color-scheme" in drawn) == (theme == "auto")

    arrows = [path for path in tree.findall(f"{TAG}path") if path.get("marker-end")]
    tips = {f"url(#{marker.get('id')})" for marker in tree.findall(f"{TAG}marker")}
    assert {arrow.get("marker-end") for arrow in arrows} == tips
    assert len(tips) == 3, "before, checks, part"

    texts = {text.text for text in tree.iter(f"{TAG}text")}
    assert {"must be done before", "is checked by", "has this part, too"} <= texts
    assert "alternative, tried in order" in texts
    assert ("– abandoned" in texts) == has_states
    marked = "– abandoned · alt. 2/2" if has_states else "alt. 2/2"
    assert marked in texts


HOSTILE = {
    "markup": "<b>&\"'</text></svg><script>alert(1)</script>",
    "control characters": "a\0\x1b[2J\uffff\u202eb",
    "Chinese": "收集面粉价格并核对供应商的报价单" * 4,
    "Korean": "밀가루 가격을 모으고 공급업체의 견적을 확인하세요 그리고 다시",
    "from right to left": "اجمع أسعار الطحين وتحقق من عروض الموردين مرة أخرى",
    "three hundred characters": "abcdefghij" * 30,
    "nothing visible": "\u200b",
    "combining marks": "e" + "\u0301" * 100,
}


@pytest.mark.parametrize("title", HOSTILE.values(), ids=HOSTILE)
def test_any_title_can_be_drawn(title: str) -> None:
    """It stays a title, in full where a pointer rests on the box."""
    whole = graph(example())
    labels = dict.fromkeys(whole, title)
    tree = ET.fromstring(draw_svg(whole, labels))
    assert not list(tree.iter(f"{TAG}script"))
    full = "".join(char for char in title if char.isprintable())
    groups = [group for group in tree.iter(f"{TAG}g") if group.find(f"{TAG}title")]
    assert all(
        (group.findtext(f"{TAG}title") or "").startswith(full) for group in groups
    )
    for text in tree.iter(f"{TAG}text"):
        assert columns(text.text or "") <= 160


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("short", ("short",)),
        ("", ("",)),
        ("two words here", ("two words", "here")),
        ("one two three four five", ("one two", "three fou…")),
        ("abcdefghijklmnop", ("abcdefghij", "klmnop")),
        ("abcdefghijklmnopqrstuvwxyz", ("abcdefghij", "klmnopqrs…")),
        ("价格价格价格价格", ("价格价格价", "格价格")),
        ("a 价格", ("a 价格",)),
    ],
)
def test_titles_are_wrapped_and_cut(title: str, lines: tuple[str, ...]) -> None:
    """Two lines of ten columns; wide characters take two, and may be parted."""
    assert fitted(title, 10, 2) == lines


def test_folding() -> None:
    """What is folded is counted in its goal, and edges lead to the goal."""
    whole = graph(example())
    folded = outline_of(whole, fold=["g"])
    assert folded.folded == {"g": ("a", "b")}
    assert Arrow("g", "c", Tie.CHECKS) in folded.arrows
    assert "a" not in list(folded)
    flat = outline_of(whole, depth=0)
    assert list(flat) == ["root"]
    assert flat.arrows == ()
    states = dict.fromkeys(whole, State.DONE)
    tree = ET.fromstring(draw_svg(whole, LABELS, states, fold=["g"]))
    texts = [text.text for text in tree.iter(f"{TAG}text")]
    assert "● done · ▸ 2 folded" in texts
    bars = [rect for rect in tree.iter(f"{TAG}rect") if rect.get("class") == "DONE bar"]
    assert bars
    assert "2 of them are folded" in (tree.findtext(f"{TAG}desc") or "")
    assert "DONE bar" not in draw_svg(whole, LABELS, fold=["g"]).split("</style>")[
        1
    ].replace('<rect class="DONE bar" x', "", 1), "only the legend has one"


def test_a_goal_is_unfolded_in_a_shallow_picture() -> None:
    """It is open at any depth, unless it is to be folded too."""
    whole = graph(example())
    [goal] = [task for task in whole if whole[task].parts and whole[task].parents]
    shallow = outline_of(whole, depth=1)
    opened = outline_of(whole, depth=1, unfold=[goal])
    assert goal in shallow.folded
    assert opened.parts[goal] == ("a", "b")
    assert goal not in opened.folded
    assert {opened.shown_as[task] for task in whole} == set(whole)
    assert goal in outline_of(whole, fold=[goal], depth=1, unfold=[goal]).folded


def test_a_large_plan_is_folded_by_itself() -> None:
    """Ten thousand nodes are a picture that can be read; all levels are there if asked."""
    large = _large_plan(100, 100)
    layout = layout_of(outline_of(large))
    assert len(layout.boxes) == 101
    assert len(layout.boxes) <= MAX_SHOWN
    whole = layout_of(outline_of(large, depth=2))
    assert len(whole.boxes) == len(large) == 10_101
    assert whole.width <= MAX_WIDTH + 200


def _large_plan(goals: int, tasks: int) -> PlanGraph:
    """As it is after its contract was checked, which takes longer than drawing it."""
    nodes = {"root": PlanNode(task_id="root", kind="GOAL", parts=_names("g", goals))}
    for goal in _names("g", goals):
        parts = _names(f"{goal}-", tasks)
        nodes[goal] = PlanNode(
            task_id=goal, kind="GOAL", parts=parts, parents=("root",)
        )
        for task, following in zip(parts, (*parts[1:], None), strict=True):
            dependents = () if following is None else (following,)
            nodes[task] = PlanNode(
                task_id=task, kind="ACTION", parents=(goal,), dependents=dependents
            )
    return PlanGraph("root", nodes)


def _names(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in range(count))


def test_the_legend_explains_what_occurs_and_nothing_else() -> None:
    """A picture of a single box needs no more than a word on folding."""
    small = graph(plan([node("root", "GOAL"), node("a")], [edge("root", "a")]))
    tree = ET.fromstring(draw_svg(small, names(small), depth=0))
    texts = [text.text for text in tree.iter(f"{TAG}text")]
    assert texts == ["root", "▸ 1 folded", "folded goal; the bar shows its parts"]


def test_a_deep_plan_is_folded_by_itself() -> None:
    """No recursion, whatever the depth."""
    goals = [f"g{number}" for number in range(1500)]
    edges = [edge("root", goals[0]), *(edge(*pair) for pair in pairwise(goals))]
    nodes = [node("root", "GOAL"), *(node(goal, "GOAL") for goal in goals)]
    deep = graph(plan(nodes, edges))
    assert len(layout_of(outline_of(deep)).boxes) == 9
    assert len(layout_of(outline_of(deep, depth=5000)).boxes) == 1501


def test_goals_that_wait_for_each_other() -> None:
    """By different parts of theirs: the order of the plan decides who stands above."""
    nodes = [node("root", "GOAL"), node("g", "GOAL"), node("h", "GOAL")]
    nodes += [node(task) for task in ("g1", "g2", "h1", "h2")]
    edges = [edge("root", "g"), edge("root", "h")]
    edges += [edge(task[0], task) for task in ("g1", "g2", "h1", "h2")]
    edges += [edge("g1", "h1", "DEPENDS_ON"), edge("h2", "g2", "DEPENDS_ON")]
    layout = layout_of(outline_of(graph(plan(nodes, edges))))
    _arrows_connect(layout)
    _arrows_run_in_the_open(layout)
    assert ranked(["x", "y"], [("x", "y"), ("y", "x")]) == [["x"], ["y"]]
    assert ranked("abc", [("a", "b"), ("b", "c"), ("a", "c")]) == [["a"], ["b"], ["c"]]


def test_what_belongs_to_no_goal_stands_beside_the_root() -> None:
    """And arrows lead there, too."""
    nodes = [node("root", "GOAL"), node("buy"), node("prices")]
    edges = [edge("root", "buy", and_or="OR"), edge("prices", "buy", "DEPENDS_ON")]
    outline = outline_of(graph(plan(nodes, edges)))
    assert outline.top == ("root", "prices")
    layout = layout_of(outline)
    assert layout.boxes["prices"].bottom < layout.boxes["root"].y
    _arrows_connect(layout)
