"""Agents: the registry, its file, its lint, routing, floors and prompts."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.contracts.phase_outputs import OUTPUTS
from accordance.contracts.phases import DEMANDS, LEVELS
from accordance.domain.research.agents import (
    CANDIDATES,
    TaskType,
    language_in,
    language_of,
)
from accordance.domain.research.agents_file import parse_agents, read_agents
from accordance.domain.research.floors import creativity, floor_of
from accordance.domain.research.lint import lint
from accordance.domain.research.prompts import build_prompt, instructions, skeleton
from accordance.domain.research.routing import route, topics_of, words_in
from accordance.errors import ContextTooLarge, InvalidAgents, UnknownAgent
from accordance.shipped import AGENTS, shipped
from tests.unit.research import REGISTRY, agent, registry, request


def test_the_agents_that_come_along() -> None:
    """At least ten, over all task types and levels, in both languages, with nothing to complain of."""
    assert len(REGISTRY) >= 10
    assert {kind for one in REGISTRY for kind in one.task_types} == set(
        get_args(TaskType)
    )
    assert {one.level for one in REGISTRY} == set(LEVELS)
    for one in REGISTRY:
        assert one.triggers["ko"]
        assert one.triggers["en"]
        assert "any" in one.floors
    assert lint(REGISTRY) == ()


def test_agents_are_found_by_any_name() -> None:
    """Id or alias, whatever the letter case; an unknown name offers its neighbours."""
    for name in ("theory-architect", "TA", "02-Theoretical-Framework-Architect"):
        assert REGISTRY.get(name).id == "theory-architect"
    assert REGISTRY.find(7) is None
    with pytest.raises(UnknownAgent, match="did you mean theory-architect") as caught:
        REGISTRY.get("theory-architekt")
    assert caught.value.near[0] == "theory-architect"


def test_a_name_belongs_to_one_agent() -> None:
    """Ids and aliases share one space of names."""
    with pytest.raises(InvalidAgents, match="'ONE' names both one and two"):
        registry(agent("one"), agent("two", aliases=("ONE",)))
    with pytest.raises(InvalidAgents):
        registry(agent("one"), agent("one"))


FAULTS: list[tuple[str, list[Any], list[str]]] = [
    ("nothing to say", [agent("a"), agent("b", requires=("a",))], []),
    ("who is required exists", [agent("alpha"), agent("b", requires=("alhpa",))], ["error dangling_id b: requires names alhpa, which is not registered; did you mean alpha?"]),
    ("so does who is parallel", [agent("b", parallel_with=("§",))], ["error dangling_id b: parallel_with names §, which is not registered"]),
    ("nobody requires itself", [agent("a", requires=("a",))], ["error own_id a: requires names the agent itself"]),
    ("nor is parallel to itself", [agent("a", parallel_with=("a",))], ["error own_id a: parallel_with names the agent itself"]),
    ("a ring is named once", [agent("a", requires=("b",)), agent("b", requires=("c", "d")), agent("c", requires=("a",)), agent("d")], ["error cycle a: requires itself: a <- b <- c <- a"]),
    ("parallel ones do not require each other", [agent("a", parallel_with=("c",)), agent("b", requires=("a",)), agent("c", requires=("b",), parallel_with=("a",))], ["error contradictory_pair a: parallel_with names c, but `requires` puts them in sequence", "error contradictory_pair c: parallel_with names a, but `requires` puts them in sequence"]),
    ("a pair is said by both", [agent("a", parallel_with=("b",)), agent("b")], ["warning one_sided_pair a: parallel_with names b, which does not name it in return"]),
    ("aliases count as names", [agent("a", parallel_with=("B1",)), agent("b", aliases=("B1",), parallel_with=("a",))], []),
    ("the level demands its phases", [agent("a", level="Enhanced", phases=(1, 4))], ["error level_phases a: level Enhanced also demands the phases 0, 2"]),
    ("more phases are fine", [agent("a", phases=(0, 1, 4))], []),
    ("floors are for known topics", [agent("a", floors={"any": 0.1, "cats": 0.2})], ["error unknown_topic a: floors names the topic cats; known: any, ethics"]),
    ("inputs come from somewhere", [agent("a", outputs=("x",)), agent("b", requires=("a",), inputs=("x", "user_query", "y"))], ["warning input_without_source b: needs y, which neither a request nor an agent it requires provides"]),
    ("triggers tell agents apart", [agent("a", triggers={"en": ("Cat", "cat")}), agent("b", triggers={"ko": ("CAT",)})], ["warning shared_trigger b: the trigger 'cat' already belongs to a"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("_", "agents", "expected"), FAULTS, ids=[row[0] for row in FAULTS]
)
def test_lint(_: str, agents: list[Any], expected: list[str]) -> None:
    """Each fault is named with its agent; errors come first."""
    found = lint(registry(*agents, ethics={"en": ("irb",)}))
    assert [
        f"{one.kind} {one.code} {one.agent}: {one.message}" for one in found
    ] == expected
    assert all(str(one).endswith(f"[{one.code}]") for one in found)


def test_errors_come_before_warnings() -> None:
    """Whatever question found them."""
    found = lint(registry(agent("a", parallel_with=("b",)), agent("b", level="Full")))
    assert [one.kind for one in found] == ["error", "warning"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        pytest.param(("[[agents]]", "[[agents"), "the agents file is not valid TOML", id="what is no TOML"),
        pytest.param(('level = "Full"', 'level = "full"'), "is invalid: .*level.*[(]and 4 more", id="an unknown level"),
        pytest.param(("tier =", "teir ="), "is invalid", id="a misspelt key"),
        pytest.param(('["question-shaper"]', '["question-shapr"]'), "is inconsistent: .*dangling_id.*more", id="a dangling id"),
        pytest.param(('phases = [1, 4]\ntier = "LOW"\ninputs = ["user_query"', 'phases = [1]\ntier = "LOW"\ninputs = ["user_query"'), "scope-warden: level Light also demands the phases 4 \\[level_phases\\]$", id="a single fault"),
        pytest.param(('schema_version = "accordance.agents.v1"', "schema_version = 2026-01-01"), "is invalid", id="a date where a text must be"),
        pytest.param(("floors = { any = 0.2, ethics = 0.5 }", "floors = { any = inf }"), "is invalid", id="an infinite floor"),
    ],
)  # fmt: skip
def test_files_that_do_not_hold(change: tuple[str, str], complaint: str) -> None:
    """One line with the first fault and how many more there are."""
    text = shipped(AGENTS)
    assert change[0] in text
    with pytest.raises(InvalidAgents, match=complaint):
        read_agents(text.replace(*change))


def test_a_single_misspelt_field() -> None:
    """No count where there is nothing to count."""
    with pytest.raises(InvalidAgents, match=r"\[missing\]$"):
        parse_agents('schema_version = "accordance.agents.v1"\n')


def routed(**changes: Any) -> list[str]:
    return [
        f"{one.agent.id} {one.score}" for one in route(request(**changes), REGISTRY)
    ]


def test_routing_follows_task_type_stage_and_triggers() -> None:
    """The best comes first; what it requires and has not run comes with it."""
    found = route(request(), REGISTRY)
    assert [one.agent.id for one in found] == [
        "theory-architect",
        "construct-mapper",
        "question-shaper",
    ]
    best, _, needed = found
    assert [(one.kind, one.detail) for one in best.reasons] == [
        ("task_type", "theory"),
        ("trigger", "이론적 틀"),
        ("trigger", "어떤 이론"),
        ("stage", "planning"),
        ("required_by", "construct-mapper"),
    ]
    assert best.score == 4 + 3 + 3 + 2 + 1
    assert not best.ready
    assert best.waits_for == ("question-shaper",)
    assert needed.ready
    assert {one.kind for one in needed.reasons} == {"required_by"}


def test_what_has_run_is_not_proposed_again() -> None:
    """prior_agents may use any name of an agent, and must name one."""
    assert routed(prior_agents=["QS"]) == ["theory-architect 13", "construct-mapper 6"]
    with pytest.raises(UnknownAgent, match="did you mean question-shaper"):
        routed(prior_agents=["question-shapper"])


def test_a_trigger_alone_is_a_reason_and_a_stage_alone_is_none() -> None:
    """Another task type can be meant; a stage everybody shares says nothing."""
    found = routed(
        user_query="Where should we submit to?",
        task_type="quality",
        context={"research_domain": "x", "stage": "publication"},
    )
    assert found[0] == "reproducibility-clerk 6"
    assert "journal-matcher 5" in found
    assert routed(
        user_query="…",
        task_type="theory",
        context={"research_domain": "x", "stage": "publication"},
    )
    alone = registry(agent("a", task_types=("methods",)))
    assert route(request(), alone) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(
            "Our IRB says no",
            ["irb"],
            id="whole words in Latin script, whatever the case",
        ),
        pytest.param("the airbag", [], id="not parts of words"),
        pytest.param(
            "연구윤리위원회에서", ["윤리"], id="in Hangul also parts of words"
        ),
        pytest.param("ＩＲＢ", ["irb"], id="compatibility forms"),
    ],
)
def test_words_in_texts(text: str, found: list[str]) -> None:
    """How triggers and topics are recognised."""
    assert list(words_in(text, {"en": ("irb",), "ko": ("윤리",)})) == found


def test_topics() -> None:
    """From the question and from its domain."""
    assert topics_of(request(), REGISTRY) == ("theory",)
    asked = request(
        user_query="…",
        context={"research_domain": "research ethics", "stage": "planning"},
    )
    assert topics_of(asked, REGISTRY) == ("ethics",)


@pytest.mark.parametrize(
    ("name", "changes", "least", "source"),
    [
        ("theory-architect", None, 0.2, "any topic"),
        ("theory-architect", {"user_query": "…"}, 0.2, "any topic"),
        ("theory-architect", {}, 0.3, "topic theory"),
        (
            "theory-architect",
            {"user_query": "an IRB and a theory"},
            0.7,
            "topic ethics",
        ),
        (
            "theory-architect",
            {"user_preferences": {"vs_novelty_dial": 0.0}},
            0.5,
            "novelty dial 0, conservative",
        ),
        (
            "theory-architect",
            {"user_preferences": {"language": "ko"}},
            0.3,
            "topic theory",
        ),
        (
            "theory-architect",
            {"user_preferences": {"vs_novelty_dial": 1.0}},
            0.3,
            "topic theory",
        ),
    ],
)
def test_floors(
    name: str, changes: dict[str, Any] | None, least: float, source: str
) -> None:
    """The highest of the agent's floors for what is asked, and of the dial's."""
    asked = None if changes is None else request(**{"user_preferences": {}, **changes})
    floor = floor_of(REGISTRY.get(name), REGISTRY, asked)
    assert floor.least == least
    assert floor.source.endswith(source)
    assert floor.allows(least)
    assert not floor.allows(least - 0.001)


@pytest.mark.parametrize(
    ("words", "least"),
    [("", 0.2), ("Which theory fits?", 0.3), ("동의서를 쓴다", 0.7)],
    ids=str,
)
def test_the_floor_of_a_task(words: str, least: float) -> None:
    """A task of a plan has topics as a request has; nobody turns a dial there."""
    assert (
        floor_of(REGISTRY.get("theory-architect"), REGISTRY, words=words).least == least
    )


@given(st.floats(0, 1))
def test_every_dial_has_a_creativity(dial: float) -> None:
    """And turning it up never raises the floor."""
    name, floor = creativity(dial)
    assert name
    assert floor >= creativity(1.0)[1]
    assert floor <= creativity(0.0)[1]


@pytest.mark.parametrize(
    ("changes", "language"),
    [
        ({"user_preferences": {"language": "en"}}, "en"),
        ({"user_preferences": {}}, "ko"),
        ({"user_preferences": {}, "user_query": "Which theory?"}, "en"),
        ({"user_preferences": {}, "user_query": "가"}, "ko"),
        ({"user_preferences": {}, "user_query": "힣"}, "ko"),
        ({"user_preferences": {}, "user_query": "理論"}, "en"),
    ],
)
def test_the_language_of_a_request(changes: dict[str, Any], language: str) -> None:
    """As it says; else by its letters."""
    assert language_of(request(**changes)) == language


@pytest.mark.seed("002-30", "002-34", "002-36")
@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("level", LEVELS)
def test_prompts_ask_for_what_the_level_demands(language: Any, level: str) -> None:
    """Phases, candidates with typicality and probability, the request as data, the shape of the answer."""
    asked = next(one for one in REGISTRY if one.level == level)
    text = build_prompt(asked, request(), REGISTRY, language)
    for phase in range(6):
        assert (f"\n{phase}. " in text) == (phase in DEMANDS["contract"][level])
        assert (OUTPUTS[phase] in text) == (phase in DEMANDS["contract"][level])
    assert str(CANDIDATES[level]) in text
    assert asked.about[language] in text
    assert request().user_query in text
    assert "0.6 (innovative)" in text
    assert ('"self_critique"' in text) == (level == "Full")
    assert '"probability"' in text
    assert text == build_prompt(asked, request(), REGISTRY, language)


def test_prompts_speak_the_language_of_the_request() -> None:
    """And do not speak of a dial nobody turned."""
    asked = request(user_query="Which theory?", user_preferences={})
    text = build_prompt(REGISTRY.get("ta"), asked, REGISTRY)
    assert text.startswith("You are the research agent theory-architect")
    assert "dial" not in text
    assert skeleton(REGISTRY.get("ta"), asked.task_id)["task_id"] == asked.task_id


def test_an_agent_in_a_plan_is_told_the_same_without_a_request() -> None:
    """Its own words, its phases, its floor, the shape; the task is told elsewhere."""
    agent = REGISTRY.get("ta")
    floor = floor_of(agent, REGISTRY, words="Which theory?")
    text = instructions(agent, "t7", floor, language_in("Which theory?"))
    assert text.startswith("You are the research agent theory-architect")
    assert "T-score below 0.3 is only accepted" in text
    assert "Request:" not in text
    assert '"task_id": "t7"' in text


WISHES: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({}, [], ["seconds", "Quality level"]),
    ({"time_budget": 90}, ["You have 90 seconds."], ["Quality level"]),
    ({"quality_level": "draft"}, ["a draft will do"], ["seconds"]),
    (
        {"quality_level": "publication_ready"},
        ["name at least one of the limitations"],
        [],
    ),
]


@pytest.mark.parametrize(
    ("constraints", "told", "untold"), WISHES, ids=["none", "time", "draft", "ready"]
)
def test_an_agent_is_told_what_binds_it(
    constraints: dict[str, Any], told: list[str], untold: list[str]
) -> None:
    """In a prompt of its own and in a task of a plan alike; what nobody asked for is not told."""
    agent, asked = REGISTRY.get("ta"), request(constraints=constraints)
    floor = floor_of(agent, REGISTRY, asked)
    in_a_plan = instructions(agent, "t7", floor, "en", asked)
    assert "0.6 (innovative)" in in_a_plan
    for text in (build_prompt(agent, asked, REGISTRY, "en"), in_a_plan):
        assert all(words in text for words in told)
        assert not any(words in text for words in untold)


def test_a_prompt_keeps_to_its_context_budget() -> None:
    """Four bytes are a token. Nothing in a prompt can be left out, so one that is too long is refused, in one line."""
    agent = REGISTRY.get("ta")
    size = len(
        build_prompt(
            agent, request(constraints={"context_budget": 9_999}), REGISTRY
        ).encode()
    )
    assert build_prompt(
        agent, request(constraints={"context_budget": size // 4 + 1}), REGISTRY
    )
    with pytest.raises(ContextTooLarge):
        build_prompt(
            agent, request(constraints={"context_budget": size // 4 - 1}), REGISTRY
        )
    with pytest.raises(ContextTooLarge, match="bytes, but only 40 are allowed"):
        build_prompt(agent, request(constraints={"context_budget": 10}), REGISTRY)


def test_an_agent_without_named_outputs_still_leaves_its_work() -> None:
    """The seed's own name for it stands in the shape."""
    content = skeleton(agent("a"), "t7")["content"]
    assert content == {
        "summary": "…",
        "main_output": {"main_content": "…"},
        "confidence": 0.0,
    }
