"""Runs: which belong together, how they are counted, whether they collapse."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.domain.research.collapse import (
    Tally,
    collapse,
    diversity,
    selection_of,
    tally_answers,
)
from accordance.domain.research.names import plain
from accordance.domain.research.runs import (
    Group,
    StoredRun,
    collapse_by_group,
    in_utc,
    request_digest,
    stored_answer,
)
from accordance.errors import InvalidRun
from tests.messages import changed
from tests.unit.research import REGISTRY, example, request, typed


def tally(*selected: str, offered: tuple[str, ...] = ()) -> Tally:
    found = Tally()
    for one in selected:
        found.add(one, offered)
    return found


@pytest.mark.parametrize(
    ("selected", "offered", "status"),
    [
        pytest.param("", (), "insufficient_runs", id="no runs"),
        pytest.param("A", (), "insufficient_runs", id="one run says nothing"),
        pytest.param("AA", (), "collapsed", id="twice the same"),
        pytest.param("AB", (), "diverse", id="two answers"),
        pytest.param("AAAAAAAAAB", (), "collapsed", id="nine to one: the top share shows it"),
        pytest.param("AAAAB", (), "collapsed", id="four to one: a share of exactly 0.8 is most"),
        pytest.param("AAAB", (), "diverse", id="three to one"),
        pytest.param("AAAB" * 8, tuple("ABCDEFGHIJKLMNOP"), "collapsed", id="two of sixteen: the diversity shows it"),
        pytest.param("Aa ａ", (), "collapsed", id="spelling is no diversity"),
    ],
)  # fmt: skip
def test_collapse(selected: str, offered: tuple[str, ...], status: str) -> None:
    """Low diversity over the pool, or one answer with most of the runs."""
    found = collapse(tally(*selected.replace(" ", ""), offered=offered))
    assert found.status == status
    assert found.to_json()["total_runs"] == len(selected.replace(" ", ""))


def test_options_that_were_never_selected_add_no_diversity() -> None:
    """A count of nothing is no share of the runs."""
    assert diversity([3, 0]) == diversity([3])


def test_names_are_shown_as_they_were_first_written() -> None:
    """Counting by the plain name, telling by the original."""
    found = collapse(tally("통제-가치 이론", "통제-가치  이론", "TAM"))
    assert found.most_common == (("통제-가치 이론", 2), ("TAM", 1))


@pytest.mark.parametrize(
    ("selected", "direction"),
    [
        ("ABCDAAAA", "narrowing"),
        ("AAAAABCD", "widening"),
        ("ABABABAB", "steady"),
        ("ABCDABC", None),
    ],
)
def test_trend(selected: str, direction: str | None) -> None:
    """The later half against the earlier one; nothing is said of fewer than eight runs."""
    trend = collapse(tally(*selected)).trend
    assert (trend and trend.direction) == direction
    told = collapse(tally(*selected)).to_json()["trend"]
    assert (told is None) == (direction is None)


@given(st.lists(st.sampled_from("ABCDEF"), min_size=2, max_size=60))
def test_the_numbers_stay_within_their_bounds(selected: list[str]) -> None:
    """Whatever was selected: diversity 0..1, effective options between one and the distinct ones."""
    found = collapse(tally(*selected))
    distinct = len(set(selected))
    assert -1e-9 <= found.diversity <= 1 + 1e-9
    assert 1 - 1e-9 <= found.effective_options <= distinct + 1e-9
    assert 1 / distinct - 1e-9 <= found.top_share <= 1
    assert collapse(tally(*map(str.lower, selected))).entropy_bits == found.entropy_bits


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8))
def test_entropy(counts: list[int]) -> None:
    """Even counts reach the logarithm; everything else stays below."""
    assert diversity(counts).entropy_bits <= math.log2(len(counts)) + 1e-9
    assert math.isclose(
        diversity([7] * len(counts)).entropy_bits, math.log2(len(counts)), abs_tol=1e-9
    )


@given(st.text())
def test_plain_names_are_stable(name: str) -> None:
    """Making a plain name plain changes nothing once spaces are single."""
    assert plain(f"  {name}\t") == plain(name)


@pytest.mark.parametrize(
    "broken",
    [{}, {"vs_metadata": None}, {"vs_metadata": {"final_selection": {"option": " "}}}],
)
def test_an_answer_that_selects_nothing_cannot_be_counted(broken: Any) -> None:
    """Said with the place that is missing."""
    with pytest.raises(InvalidRun, match="missing:vs_metadata"):
        selection_of(broken)


def test_choices() -> None:
    """What was selected, and from what; entries that are none are left out."""
    message = changed(
        example("answer-1"),
        "vs_metadata.t_scores",
        [{"option": "A"}, "B", {"option": 3}],
    )
    assert selection_of(message).offered == ("A",)
    assert selection_of(changed(message, "vs_metadata.t_scores", None)).offered == ()
    assert len(tally_answers([example("answer-1"), example("answer-2")]).pool) == 5


def test_one_question_is_one_group() -> None:
    """Ids, spaces, compatibility forms and the order of what ran before make no difference; anything else does."""
    same = request_digest(request(prior_agents=["b", "a"]))
    query = "  " + request().user_query.replace(" ", "   ")
    other_id = "00000000-0000-4000-8000-000000000000"
    assert same == request_digest(
        request(task_id=other_id, user_query=query, prior_agents=["a", "b"])
    )
    assert same == request_digest(
        typed({**example("request"), "prior_agents": ["a", "b"]}, "request")
    )
    context = example("request")["context"]
    assert len(context) > 1
    turned = dict(reversed(context.items()))
    further = {"b": 1, "a": 2}
    assert request_digest(request(context={**context, "notes": further})) == (
        request_digest(request(context={"notes": {"a": 2, "b": 1}, **turned}))
    )
    assert same != request_digest(request())
    assert same != request_digest(request(prior_agents=["b", "a"], task_type="methods"))


def test_the_digest_of_a_question_never_changes() -> None:
    """Stores keep it: a new one would begin a new group."""
    assert request_digest(request(user_query="質問")) == (
        "42876a6ab619b27e053bb12b052b39a1b3917e323e57d905a42ba6c7748d0678"
    )


@pytest.mark.parametrize(
    ("time", "utc"),
    [
        ("2026-03-04T09:15:00+09:00", "2026-03-04T00:15:00.000000Z"),
        ("2026-03-04t09:15:00.5z", "2026-03-04T09:15:00.500000Z"),
        ("2026-03-04 09:15:00", "2026-03-04T09:15:00.000000Z"),
    ],
)
def test_times_are_ordered_in_utc(time: str, utc: str) -> None:
    """Without an offset a time is taken for UTC."""
    assert in_utc(time) == utc


@pytest.mark.parametrize("time", ["yesterday", "0001-01-01T00:00:00+09:00"])
def test_times_that_cannot_be_ordered(time: str) -> None:
    """Said as such."""
    with pytest.raises(InvalidRun):
        in_utc(time)


def test_what_is_kept_of_an_answer() -> None:
    """The run and the message; the same message has the same bytes, whatever the order of its keys."""
    message = example("answer-1")
    kept, again = (
        stored_answer(typed(one, "answer"), REGISTRY.get("ta"), request())
        for one in (message, dict(reversed(message.items())))
    )
    assert kept.run.group == Group(
        "theory-architect", request_digest(request()), "agent_answer_v1"
    )
    assert (kept.run.at, kept.run.selected) == (
        "2026-03-04T00:15:00.000000Z",
        "통제-가치 이론",
    )
    assert kept.content == again.content
    assert kept.digest == again.digest


def test_runs_of_two_groups_do_not_mix() -> None:
    """A group is agent, request and contract."""
    one, other = Group("a", "r", "v1"), Group("a", "r", "v2")
    found = collapse_by_group(
        StoredRun(group, "t", name, ())
        for group, name in ((one, "A"), (other, "B"), (one, "A"))
    )
    assert {group.contract: report.total_runs for group, report in found.items()} == {
        "v1": 2,
        "v2": 1,
    }
