"""The grammar of filters: what is read, and what is refused with which way out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.domain.filters import (
    MEANINGS,
    MOST_CHARACTERS,
    MOST_TERMS,
    VALUES,
    WORDS,
    Filter,
    InvalidFilter,
    Subject,
    Term,
    Word,
    make_term,
    parse_filter,
)

READ = [
    ("", ()),
    ("  \t\n ", ()),
    ("state:failed", (Term(Word.STATE, "FAILED"),)),
    ("STATE:ready-to-check", (Term(Word.STATE, "READY_TO_CHECK"),)),
    ("-tag:docs", (Term(Word.TAG, "docs", is_wanted=False),)),
    ("plan:P-1", (Term(Word.PLAN, "P-1"),)),
    ("agent:codex", (Term(Word.AGENT, "codex"),)),
    ("kind:check", (Term(Word.KIND, "CHECK"),)),
    ("prices", (Term(Word.TEXT, "prices"),)),
    ("text:prices", (Term(Word.TEXT, "prices"),)),
    ('"two words"', (Term(Word.TEXT, "two words"),)),
    ('tag:"a b"', (Term(Word.TAG, "a b"),)),
    ('-"a:b"', (Term(Word.TEXT, "a:b", is_wanted=False),)),
    (r'"a \"quote\" and \\"', (Term(Word.TEXT, 'a "quote" and \\'),)),
    ("12:30", (Term(Word.TEXT, "12:30"),)),
    ("目录 tag:数据", (Term(Word.TEXT, "目录"), Term(Word.TAG, "数据"))),
    ("--x", (Term(Word.TEXT, "-x", is_wanted=False),)),
    ("since:2026-01-31", (Term(Word.SINCE, "2026-01-31T00:00:00.000000Z"),)),
    (
        "before:2026-01-31T12:00+02:00",
        (Term(Word.BEFORE, "2026-01-31T10:00:00.000000Z"),),
    ),
    ("a b a", tuple(Term(Word.TEXT, value) for value in "aba")),
]


@pytest.mark.parametrize(("text", "terms"), READ)
def test_what_is_read(text: str, terms: tuple[Term, ...]) -> None:
    """And written, it reads as the same filter."""
    wanted = parse_filter(text, Subject.TASKS)
    assert wanted == Filter(Subject.TASKS, terms)
    assert parse_filter(str(wanted), Subject.TASKS) == wanted


REFUSED = [
    ("stat:failed", "tasks have no word stat:; did you mean state: ?"),
    ("zzz:1", "tasks have no word zzz:; the words are state, kind, task, tag, plan"),
    ("http://host", 'a text with a colon goes in "quotes"'),
    ("state:faild", "tasks have no state 'faild'; did you mean FAILED? known: PENDING"),
    ("state:xyzzy", "tasks have no state 'xyzzy'; known: PENDING, READY"),
    ("kind:note", "tasks have no kind 'note'; known: GOAL, ACTION, CHECK"),
    ("state:", "'state:' has no value; write it as state:VALUE"),
    ('tag:""', "has no value; write it as tag:VALUE"),
    ("-", "'-' has no value"),
    ('"open', "cannot be read from character 1 on; close every quote"),
    ('a tag:x"y', "cannot be read from character 3 on"),
    ('"a"b', "cannot be read from character 1 on"),
    ("since:yesterday", "since:yesterday is no date; write it as since:2026-01-31"),
    ("before:2026-13-01", "before:2026-13-01 is no date"),
    ("since:0001-01-01T00:00+14:00", "is no date"),
    ("since:2026-01-01 since:2026-01-02", "since: is there 2 times"),
    ("-since:2026-01-01", "-since: has no meaning; write before:2026-01-01"),
    ("-before:2026-01-01", "-before: has no meaning; write since:2026-01-01"),
    ("x" * (MOST_CHARACTERS + 1), "the filter has 2001 characters; 2000 are allowed"),
    ("x " * (MOST_TERMS + 1), "the filter has 51 terms; 50 are allowed"),
    (f"state:{'x' * 900}", "x..."),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_is_refused(text: str, reason: str) -> None:
    """With the nearest name, or the list of all, in a line that stays short."""
    with pytest.raises(InvalidFilter) as caught:
        parse_filter(text, Subject.TASKS)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", ["x" * MOST_CHARACTERS, "x " * MOST_TERMS])
def test_a_filter_may_be_as_long_as_the_bounds_say(text: str) -> None:
    """They are the last length that is allowed."""
    assert parse_filter(text, Subject.TASKS).terms


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        (Subject.PLANS, "task:a"),
        (Subject.PLANS, "tag:x"),
        (Subject.EVENTS, "state:done"),
        (Subject.DEAD_LETTERS, "state:done"),
    ],
)
def test_a_word_that_another_list_has(subject: Subject, text: str) -> None:
    """Is refused where it would mean nothing."""
    with pytest.raises(InvalidFilter, match=f"{subject} have no word"):
        parse_filter(text, subject)


def test_every_word_has_a_meaning_and_a_list() -> None:
    """So that the documentation can name them all."""
    assert set(MEANINGS) == set(Word)
    assert {word for words in WORDS.values() for word in words} == set(Word)
    assert all(word in WORDS[subject] for subject, word in VALUES)


def test_kinds_of_events_are_open() -> None:
    """New kinds come with new versions; they are written in capitals."""
    wanted = parse_filter("kind:claimed -kind:ran", Subject.EVENTS)
    assert (wanted.wanted(Word.KIND), wanted.unwanted(Word.KIND)) == (
        ("CLAIMED",),
        ("RAN",),
    )


def test_a_filter_answers_questions() -> None:
    """About its words, and about the one plan that it may be held to."""
    wanted = parse_filter("plan:a", Subject.TASKS)
    assert (wanted.only_plan, wanted.has(Word.PLAN)) == ("a", True)
    both = wanted.plus(make_term(Subject.TASKS, Word.PLAN, "b"))
    assert (both.only_plan, both.wanted(Word.PLAN)) == (None, ("a", "b"))
    assert not both.has(Word.TAG)
    assert wanted.listing != both.listing
    grouped = replace(wanted, first_of_cause=True)
    assert wanted.listing != grouped.listing
    assert wanted.listing != replace(wanted, leaves_out_archived=True).listing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plan:a", True, id="a plan"),
        pytest.param("task:a", True, id="a task, which has a plan"),
        pytest.param("-plan:a", False, id="every plan but one"),
        pytest.param("a", False, id="a text"),
    ],
)
def test_filters_that_name_their_plans(text: str, expected: bool) -> None:
    """Such a filter also shows what is archived."""
    assert parse_filter(text, Subject.TASKS).names_plans is expected


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing else can happen, and what is read is written back."""
    for subject in Subject:
        try:
            wanted = parse_filter(text, subject)
        except InvalidFilter:
            continue
        assert parse_filter(str(wanted), subject) == wanted
