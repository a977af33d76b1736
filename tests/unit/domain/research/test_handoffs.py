"""Handoffs: claims recomputed, chains in a legal order, constraints carried, a plan in the end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance import Accepted, Rejected, check
from accordance.contracts.catalogue.handoff import Handoff
from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.serialising import dump
from accordance.contracts.violation import Violation
from accordance.domain.plan import plan_graph
from accordance.domain.research.agents import AgentRegistry
from accordance.domain.research.briefs import read_briefs, with_budgets
from accordance.domain.research.chains import Passing, chain_faults, in_order
from accordance.domain.research.constraints import merged
from accordance.domain.research.handoffs import (
    KnownFacts,
    answers_by_agent,
    check_handoff,
    computed_checks,
    is_taken,
)
from accordance.domain.research.workflow import Workflow, build_workflow
from accordance.domain.research.workflow_plan import plan_of
from accordance.errors import UnknownAgent
from tests.messages import Message, changed
from tests.unit.research import (
    REGISTRY,
    agent,
    example,
    handoff,
    registry,
    request,
    typed,
)

ANSWERS = answers_by_agent([example("answer-question"), example("answer-1")], REGISTRY)
KNOWN = KnownFacts(REGISTRY, ANSWERS)
AT = "2026-03-04T10:00:00Z"


def found(message: Message, known: KnownFacts = KNOWN) -> list[str]:
    result = check_handoff(json.dumps(message), known)
    if isinstance(result, Rejected):
        return [f"{one.code} {one.path}" for one in result.violations]
    return [one.code for one in result.warnings]


CASES: list[tuple[str, str, str, Any, list[str]]] = [
    ("as it is", "handoff-1", "handoff_type", "sequential", []),
    ("a condition that holds", "handoff-2", "condition.expect", ">= 0.78", []),
    ("one that does not", "handoff-2", "condition.expect", "> 0.78", ["handoff_not_taken"]),
    ("one that leads nowhere", "handoff-2", "condition.path", "$.x", ["handoff_not_taken"]),
    ("no condition is a person's decision", "handoff-2", "condition", ..., ["no_condition"]),
    ("a comparison nobody knows", "handoff-2", "condition.expect", "much", ["bad_condition $.condition"]),
    ("a path that cannot be read", "handoff-2", "condition.path", "confidence", ["bad_condition $.condition"]),
    ("a condition that is none", "handoff-2", "condition", "x", ["wrong_type $.condition"]),
    ("a condition without a path", "handoff-2", "condition", {"expect": "> 1"}, ["missing $.condition.path"]),
    ("an unknown receiver", "handoff-1", "to_agent", "theory-architekt", ["unknown_agent $.to_agent"]),
    ("a receiver nobody resembles", "handoff-1", "to_agent", "§", ["unknown_agent $.to_agent"]),
    ("a receiver that is no text", "handoff-1", "to_agent", 7, ["wrong_type $.to_agent"]),
    ("an unknown sender has no claims to check", "handoff-1", "from_agent", "§", ["unknown_agent $.from_agent"]),
    ("to itself", "handoff-1", "to_agent", "question-shaper", ["self_handoff $.to_agent"]),
    ("to itself under another name", "handoff-1", "to_agent", "QS", ["self_handoff $.to_agent"]),
    ("without the answer nothing can be verified", "handoff-1", "from_agent", "design-smith", ["answer_missing $.from_agent"]),
    ("no validation at all", "handoff-1", "validation", None, ["wrong_type $.validation"]),
    ("an honest no", "handoff-1", "validation.schema_compliance", False, ["handoff_blocked"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("_", "name", "place", "value", "expected"), CASES, ids=[row[0] for row in CASES]
)
def test_handoffs(
    _: str, name: str, place: str, value: Any, expected: list[str]
) -> None:
    """One change, and everything it breaks."""
    assert found(changed(example(name), place, value)) == expected


CLAIMS: list[tuple[str, Any, list[str]]] = [
    ("provenance", ..., ["required_fields_check"]),
    ("content.confidence", 2, ["schema_compliance"]),
    ("vs_metadata.phase_executed", [0, 1], ["vs_phase_completion"]),
    ("vs_level", "full", ["schema_compliance", "vs_phase_completion"]),
    ("vs_level", ["Full"], ["schema_compliance", "vs_phase_completion"]),
    ("vs_metadata", None, ["schema_compliance"]),
    (
        "vs_metadata.t_scores",
        ["x"] * 60,
        ["required_fields_check", "schema_compliance", "vs_phase_completion"],
    ),
    ("vs_metadata.final_selection.option", "…", []),
]


@pytest.mark.parametrize(("place", "value", "false"), CLAIMS)
def test_false_claims(place: str, value: Any, false: list[str]) -> None:
    """Each claim is recomputed from the answer; too many faults to list are no pass for any."""
    broken = KnownFacts(
        REGISTRY, {"question-shaper": changed(example("answer-question"), place, value)}
    )
    assert found(example("handoff-1"), broken) == [
        f"false_claim $.validation.{check}" for check in false
    ]
    honest = changed(
        example("handoff-1"),
        "validation",
        computed_checks(broken.answers["question-shaper"]),
    )
    assert found(honest, broken) == ["handoff_blocked"] * len(false)


def test_answers_must_come_from_agents() -> None:
    """An answer of nobody cannot vouch for anything."""
    with pytest.raises(UnknownAgent):
        answers_by_agent([{"agent_id": "nobody"}], REGISTRY)
    assert KNOWN.answer_of("nobody") is None


def test_a_condition_without_an_answer_does_not_hold() -> None:
    """What cannot be evaluated is not taken."""
    assert not is_taken(example("handoff-2"), KnownFacts(REGISTRY))
    assert is_taken(
        changed(example("handoff-2"), "condition", ...), KnownFacts(REGISTRY)
    )
    assert is_taken(example("handoff-1"), KnownFacts(REGISTRY))


FAULTS: list[tuple[str, list[str], dict[str, list[str]], list[str], list[str]]] = [
    ("a line", ["a>b", "b>c"], {"c": ["a"]}, [], []),
    ("nothing handed over", [], {"a": ["b"]}, [], []),
    ("to itself", ["a>a"], {}, [], ["cycle"]),
    ("a ring behind a line", ["a>b", "b>c", "c>d", "d>b", "d>e"], {}, [], ["cycle"]),
    ("twice the same handoff is no ring", ["a>b", "a>b"], {}, [], []),
    (
        "who is required did not run",
        ["a>b"],
        {"b": ["x"]},
        [],
        ["requires_missing:b<-x"],
    ),
    ("or ran before", ["a>b"], {"b": ["x"]}, ["x"], []),
    ("who is required comes later", ["a>b"], {"a": ["b"]}, [], ["unordered:a<-b"]),
    ("side by side is not after", ["r>a", "r>b"], {"b": ["a"]}, [], ["unordered:b<-a"]),
    (
        "in parallel it is worse",
        ["r=a", "r=b"],
        {"b": ["x"], "x": ["a"]},
        ["x"],
        ["parallel_dependent:b<-a"],
    ),
    ("parallel ones of two senders", ["r=a", "s=b"], {"b": ["a"]}, ["a"], []),
]


@pytest.mark.parametrize(
    ("_", "told", "requires", "prior", "expected"),
    FAULTS,
    ids=[row[0] for row in FAULTS],
)
def test_chains(
    _: str,
    told: list[str],
    requires: dict[str, list[str]],
    prior: list[str],
    expected: list[str],
) -> None:
    """`a>b` hands over, `a=b` does so in parallel."""
    passings = [Passing(one[0], one[2], one[1] == "=") for one in told]
    assert [str(fault) for fault in chain_faults(passings, requires, prior)] == expected


def test_a_ring_is_named() -> None:
    """In the order of its handoffs."""
    (fault,) = chain_faults(
        [Passing("a", "b"), Passing("b", "c"), Passing("c", "b")], {}
    )
    assert fault.cycle in (("b", "c", "b"), ("c", "b", "c"))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=40))
def test_rings_are_found_exactly(pairs: list[tuple[int, int]]) -> None:
    """Handoffs without a ring, and only those, can be put into an order that respects them all."""
    passings = [Passing(str(one), str(other)) for one, other in pairs]
    order = in_order(passings)
    everybody = {end for one in passings for end in one[:2]}
    has_ring = any(fault.code == "cycle" for fault in chain_faults(passings, {}))
    assert has_ring == (set(order) != everybody)
    if not has_ring:
        assert all(
            order.index(one.sender) < order.index(one.receiver) for one in passings
        )


def build(
    *handoffs: Handoff, known: KnownFacts = KNOWN, **asked: Any
) -> Workflow | tuple[Violation, ...]:
    return build_workflow(request(**asked), handoffs, known)


def example_workflow() -> Workflow:
    found = build(
        handoff("question-shaper", "theory-architect"),
        handoff("ta", "ds", **{key: example("handoff-2")[key] for key in ("handoff_type", "condition", "context_transfer")}),
    )  # fmt: skip
    assert isinstance(found, Workflow)
    return found


def test_constraints_are_carried_and_merged() -> None:
    """What one handoff leaves out is carried on and mentioned; of two budgets the smaller counts."""
    workflow = example_workflow()
    assert workflow.constraints["design-smith"] == (
        {"time_budget": 600},
        {"quality_level": "standard"},
        "대학생 참여자만",
        "한 학기 안에 끝낸다",
    )
    assert [(one.code, one.path) for one in workflow.notices] == [
        ("constraint_dropped", "$[1].context_transfer.constraints_inherited")
    ]


def test_a_request_without_constraints_adds_none() -> None:
    """Only those of the handoff are inherited."""
    message = {**example("request")}
    message.pop("constraints", None)
    plain_request = typed(message, "request")
    workflow = build_workflow(
        plain_request, [handoff("question-shaper", "theory-architect")], KNOWN
    )
    assert isinstance(workflow, Workflow)
    assert workflow.constraints["question-shaper"] == ()


@pytest.mark.parametrize(
    ("constraints", "expected"),
    [
        ([], []),
        (["A  b", "a b"], ["A  b"]),
        ([{"time_budget": 9}, {"time_budget": 7}, {"time_budget": 8}], [{"time_budget": 7}]),
        ([{"time_budget": "soon"}, {"time_budget": 7}], [{"time_budget": 7}]),
        ([{"quality_level": "draft"}, {"quality_level": "publication_ready"}], [{"quality_level": "publication_ready"}]),
        ([{"quality_level": "?"}, {"quality_level": "draft"}], [{"quality_level": "draft"}]),
        ([{"x": 1, "y": 2}, {"y": 2, "x": 1}, 7, 7, [1], {}], [{"x": 1, "y": 2}, 7, [1], {}]),
    ],
)  # fmt: skip
def test_merging(constraints: Sequence[object], expected: list[object]) -> None:
    """No repetition; the tighter of two."""
    assert merged(constraints) == expected


def made(
    workflow: Workflow | tuple[Violation, ...], agents: AgentRegistry = REGISTRY
) -> Plan:
    """The plan of a workflow. The contract takes it without a word."""
    assert isinstance(workflow, Workflow), workflow
    plan = plan_of(workflow, agents, AT)
    result = check(json.dumps(plan), "PLAN_GEN")
    assert isinstance(result, Accepted), result
    assert (result.repairs, result.warnings) == ((), ())
    assert plan == plan_of(workflow, agents, AT)
    value: Plan = result.value
    return value


def waits_for(plan: Plan) -> dict[str, list[str]]:
    """Whom each agent waits for."""
    graph = plan_graph(plan)
    owner = {node.task_id: node.owner_agent_id for node in plan.nodes}
    return {
        owner[task]: [owner[earlier] for earlier in graph[task].prerequisites]
        for task in graph
    }


def test_a_chain_becomes_a_plan() -> None:
    """Nobody has answered yet: one task per agent under the goal, each after the one that hands to it."""
    plan = made(
        build(
            handoff("question-shaper", "theory-architect"),
            handoff("ta", "ds"),
            known=KnownFacts(REGISTRY),
        )
    )
    assert waits_for(plan) == {
        "research": [],
        "question-shaper": [],
        "theory-architect": ["question-shaper"],
        "design-smith": ["theory-architect"],
    }
    titled = plan_of(example_workflow(), REGISTRY, AT, "Another")
    assert titled["plan"]["title"] == "Another"  # type: ignore[index]


def test_who_has_answered_has_no_task() -> None:
    """The plan begins with those who have still to answer; what was answered goes along with their task."""
    plan = made(example_workflow())
    assert waits_for(plan) == {"research": [], "design-smith": []}
    (task,) = (node.task_id for node in plan.nodes if node.node_type == "ACTION")
    briefs = read_briefs(plan.plan.constraints)
    assert isinstance(briefs, dict)
    assert briefs[task].answers == {"theory-architect": example("answer-1")}
    half = KnownFacts(REGISTRY, {"question-shaper": ANSWERS["question-shaper"]})
    later = made(build(handoff("qs", "ta"), handoff("ta", "ds"), known=half))
    assert waits_for(later) == {
        "research": [],
        "theory-architect": [],
        "design-smith": ["theory-architect"],
    }
    owners = {node.task_id: node.owner_agent_id for node in later.nodes}
    found = read_briefs(later.plan.constraints)
    assert isinstance(found, dict)
    assert {owners[task]: list(brief.answers) for task, brief in found.items()} == {
        "theory-architect": ["question-shaper"],
        "design-smith": [],
    }


@pytest.mark.seed("002-46", "002-48")
def test_a_receiver_is_told_all_that_was_handed_over() -> None:
    """Summary, decisions, constraints, domain, stage and novelty dial stand in its goal, open questions in its rationale."""
    (task,) = (
        node for node in made(example_workflow()).nodes if node.node_type == "ACTION"
    )
    assert task.goal_statement == "\n".join(
        (
            example("handoff-2")["context_transfer"]["summary"],
            "이미 결정된 것:",
            "- 통제감을 매개변수로 둔다",
            "지켜야 할 제약:",
            '- {"time_budget": 600}',
            '- {"quality_level": "standard"}',
            "- 대학생 참여자만",
            "- 한 학기 안에 끝낸다",
            "학문 분야: 교육심리학, 단계: planning",
            "새로움 다이얼: 0.6 (0 안전, 1 혁신)",
        )
    )
    assert task.rationale == "불안을 언제 잴 것인가"


def test_a_request_that_says_little_is_told_in_few_words() -> None:
    """In English, without a dial, without constraints: nothing is made up."""
    bare = {
        "summary": "Go on.",
        "key_decisions": [],
        "open_questions": [],
        "constraints_inherited": [],
    }
    english = {"constraints": {}, "user_preferences": {}, "user_query": "Which theory?"}
    plan = made(
        build(
            handoff("qs", "ta", context_transfer=bare),
            known=KnownFacts(REGISTRY),
            **english,
        )
    )
    told = {
        node.owner_agent_id: (node.goal_statement, node.rationale)
        for node in plan.nodes
    }
    where = "Research domain: 교육심리학, stage: planning"
    assert told["question-shaper"] == (where, None)
    assert told["theory-architect"] == (f"Go on.\n{where}", None)


def test_open_questions_are_told_once_as_they_are_written() -> None:
    """Those that are no text as JSON, in any script."""
    transfer = {
        "summary": "Go on.",
        "key_decisions": [],
        "open_questions": ["언제?", {"질문": "누가?"}, "언제?"],
        "constraints_inherited": [],
    }
    plan = made(
        build(
            handoff("qs", "ta", context_transfer=transfer), known=KnownFacts(REGISTRY)
        )
    )
    rationales = {node.owner_agent_id: node.rationale for node in plan.nodes}
    assert rationales["theory-architect"] == '언제?\n{"질문": "누가?"}'


SIDE_BY_SIDE = registry(agent("a"), agent("b"), agent("c"), agent("d"))
KINDS: list[tuple[str, list[Handoff], dict[str, list[str]]]] = [
    (
        "sequential: one after the other",
        [handoff("a", "b"), handoff("a", "c"), handoff("a", "d")],
        {"b": [], "c": ["b"], "d": ["c"]},
    ),
    (
        "parallel: side by side",
        [handoff("a", one, handoff_type="parallel") for one in "bcd"],
        {"b": [], "c": [], "d": []},
    ),
    (
        "conditional: as the condition has it, beside the others",
        [
            handoff("a", "b"),
            handoff(
                "a",
                "c",
                handoff_type="conditional",
                condition={"path": "$.x", "expect": ">= 1"},
            ),
            handoff(
                "a",
                "d",
                handoff_type="conditional",
                condition={"path": "$.x", "expect": "> 1"},
            ),
        ],
        {"b": [], "c": []},
    ),
    (
        "sequential never runs against another handoff",
        [handoff("a", "b"), handoff("a", "c"), handoff("c", "b")],
        {"c": [], "b": ["c"]},
    ),
]


@pytest.mark.seed("002-44")
@pytest.mark.parametrize(
    ("_", "handoffs", "expected"), KINDS, ids=[row[0] for row in KINDS]
)
def test_the_type_of_a_handoff_shapes_the_plan(
    _: str, handoffs: list[Handoff], expected: dict[str, list[str]]
) -> None:
    """The sender has answered; its receivers are what is left to do."""
    plan = made(
        build(
            *handoffs, known=KnownFacts(SIDE_BY_SIDE, {"a": {"x": 1}}), constraints={}
        ),
        SIDE_BY_SIDE,
    )
    assert waits_for(plan) == {"research": [], **expected}


def test_plans_of_other_handoffs_have_other_ids() -> None:
    """The same agents in sequence and in parallel are two plans."""
    known = KnownFacts(SIDE_BY_SIDE, {"a": {"x": 1}})
    first, second = (
        made(build(*KINDS[at][1], known=known, constraints={}), SIDE_BY_SIDE)
        for at in (0, 1)
    )
    assert first.plan.plan_id != second.plan.plan_id


def test_a_handoff_on_a_condition_nobody_wrote_waits_for_a_person() -> None:
    """As the seed has it: conditional, and no word on when. Its receiver asks for a yes before it begins, once."""
    unsaid = handoff("theory-architect", "design-smith", handoff_type="conditional")
    (need,) = made(build(handoff("qs", "ta"), unsaid, unsaid)).requirements
    assert (need.kind, need.required) == ("CONFIRMATION", True)
    assert need.name == "theory-architect에서 design-smith(으)로 넘긴다"
    answered = made(build(handoff("qs", "ta", handoff_type="conditional"), unsaid))
    assert (
        len(answered.requirements) == 1
    )  # the theory-architect has answered: nothing to decide there


UNFIT: list[tuple[str, dict[str, Any], dict[str, Any], list[str]]] = [
    ("an answer to another request", {"task_id": "x"}, {}, ["wrong_task $[0]"]),
    ("an answer that does not say which", {"task_id": None}, {}, []),
    ("no time at all", {}, {"constraints": {"time_budget": 0}}, ["out_of_range $[0].context_transfer.constraints_inherited"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("_", "changes", "asked", "expected"), UNFIT, ids=[row[0] for row in UNFIT]
)
def test_handoffs_that_make_no_plan(
    _: str, changes: dict[str, Any], asked: dict[str, Any], expected: list[str]
) -> None:
    """What is taken for given answers this request, and there is time for what is left."""
    known = KnownFacts(
        REGISTRY, {"question-shaper": {**example("answer-question"), **changes}}
    )
    built = build(handoff("qs", "ta"), known=known, **asked)
    faults = (
        []
        if isinstance(built, Workflow)
        else [f"{fault.code} {fault.path}" for fault in built]
    )
    assert faults == expected


def test_nothing_is_left_to_do() -> None:
    """Everybody has answered: nothing is wrong, and nobody has a task."""
    built = build(handoff("question-shaper", "theory-architect"))
    assert isinstance(built, Workflow)
    assert built.open_agents == ()


@pytest.mark.seed("002-8", "002-9", "002-10")
@pytest.mark.parametrize(
    ("constraints", "expected"),
    [
        pytest.param([], None, id="none"),
        pytest.param([{"time_budget": 7}, "in one term", {"context_budget": 900}], {"time_budget": 7, "context_budget": 900}, id="budgets among others"),
        pytest.param([{"time_budget": 0}], {"time_budget": 0}, id="a budget of nothing"),
        pytest.param([{"quality_level": "draft"}, {"cost": 3}], {"quality_level": "draft"}, id="a quality level"),
        pytest.param([{"time_budget": "soon"}, {"time_budget": True}, {"time_budget": -1}], None, id="what is no budget is only told"),
        pytest.param([{"quality_level": "good"}, {"time_budget": 1, "cost": 2}], None, id="words nobody knows"),
    ],
)  # fmt: skip
def test_a_task_has_the_budgets_it_inherits(
    constraints: list[object], expected: dict[str, object] | None
) -> None:
    """Those of its way through the handoffs, in the place of the request's own."""
    budgets = with_budgets(request(), constraints).constraints
    assert (dump(budgets) if budgets else None) == expected


@pytest.mark.parametrize(
    ("constraints", "faults"),
    [
        pytest.param(None, 0, id="no constraints"),
        pytest.param({"research": "none of it on animals"}, 0, id="a word of the planner's own"),
        pytest.param({"research": {"ethics": True}}, 0, id="an object of the planner's own"),
        pytest.param({"research": {"schema_version": "accordance.research_briefs.v1"}}, 1, id="briefs that are none"),
    ],
)  # fmt: skip
def test_briefs_of_a_plan(constraints: object, faults: int) -> None:
    """What calls itself briefs is held to that; anything else is not ours."""
    found = read_briefs(constraints)
    assert len(found) == faults
    assert isinstance(found, tuple) == bool(faults)


def test_parallel_handoffs_meet_again() -> None:
    """Two receivers at once, one who waits for both: handed to twice, told twice."""
    agents = registry(
        agent("a"), agent("b", requires=("a",)), agent("c", requires=("a",)), agent("d")
    )
    known = KnownFacts(agents)
    workflow = build(
        handoff("a", "b", handoff_type="parallel"),
        handoff("a", "c", handoff_type="parallel"),
        handoff("b", "d"),
        handoff("c", "d"),
        handoff("c", "d"),
        known=known,
        constraints={},
    )
    assert isinstance(workflow, Workflow)
    plan = check(json.dumps(plan_of(workflow, agents, AT)), "PLAN_GEN").value  # type: ignore[union-attr]
    waits = {node.task_id: node.owner_agent_id for node in plan.nodes}
    ends = {
        (waits[one.from_task_id], waits[one.to_task_id])
        for one in plan.edges
        if one.edge_type == "DEPENDS_ON"
    }
    assert ends == {("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")}


def test_what_is_not_taken_is_no_task() -> None:
    """A condition that does not hold takes its receiver out of the plan, and says so."""
    condition = {"path": "$.content.confidence", "expect": "> 0.9"}
    workflow = build(
        handoff("question-shaper", "theory-architect"),
        handoff(
            "theory-architect",
            "design-smith",
            handoff_type="conditional",
            condition=condition,
        ),
    )
    assert isinstance(workflow, Workflow)
    assert [one.receiver for one in workflow.passings] == ["theory-architect"]
    assert [(one.code, one.path) for one in workflow.notices] == [
        ("handoff_not_taken", "$[1]")
    ]
    forgetful = {
        "context_transfer": {
            **example("handoff-1")["context_transfer"],
            "constraints_inherited": [],
        }
    }
    longer = build(
        handoff(
            "question-shaper",
            "literature-scout",
            handoff_type="conditional",
            condition=condition,
        ),
        handoff("question-shaper", "theory-architect"),
        handoff("theory-architect", "design-smith", **forgetful),
    )
    assert isinstance(longer, Workflow)
    assert [one.path for one in longer.notices] == [
        "$[0]",
        *["$[2].context_transfer.constraints_inherited"] * 2,
    ]


@pytest.mark.parametrize(
    ("pairs", "asked", "expected"),
    [
        pytest.param([("theory-architect", "question-shaper"), ("question-shaper", "theory-architect")], {}, ["cycle $[0]"], id="a ring"),
        pytest.param([("question-shaper", "theory-architect"), ("theory-architect", "design-smith"), ("design-smith", "question-shaper")], {}, ["cycle $[0]"], id="a longer ring"),
        pytest.param([("theory-architect", "design-smith")], {}, ["requires_missing $[0]"], id="a requirement nobody met"),
        pytest.param([("theory-architect", "design-smith")], {"prior_agents": ["qs"]}, [], id="one that ran before"),
        pytest.param([("design-smith", "theory-architect")], {"prior_agents": ["qs"]}, ["unordered $[0]"], id="the wrong way round"),
    ],
)  # fmt: skip
def test_chains_that_do_not_fit(
    pairs: list[tuple[str, str]], asked: dict[str, Any], expected: list[str]
) -> None:
    """The violations name the handoff at fault."""
    built = build(*(handoff(*pair) for pair in pairs), **asked)
    assert (
        expected == []
        if isinstance(built, Workflow)
        else [f"{one.code} {one.path}" for one in built] == expected
    )


def test_parallel_ones_that_depend_on_each_other() -> None:
    """Named as such, beside the missing order."""
    built = build(
        handoff("question-shaper", "theory-architect", handoff_type="parallel"),
        handoff("question-shaper", "design-smith", handoff_type="parallel"),
    )
    assert not isinstance(built, Workflow)
    assert [one.code for one in built] == ["unordered", "parallel_dependent"]


def test_a_blocked_handoff_makes_no_plan() -> None:
    """Where the sender's own check says no, the work does not go on."""
    claims = {
        "required_fields_check": True,
        "schema_compliance": False,
        "vs_phase_completion": True,
    }
    built = build(handoff("question-shaper", "theory-architect", validation=claims))
    assert not isinstance(built, Workflow)
    assert [(one.code, one.path) for one in built] == [
        ("handoff_refused", "$[0].validation.schema_compliance")
    ]
