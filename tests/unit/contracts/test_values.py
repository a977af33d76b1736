"""The small values: paths, excerpts, fixes, feedback, sentences, phases, T-scores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance import Fix, Notice, Rejected, Repair, Violation, apply_fixes, feedback
from accordance.contracts.jsonpath import is_exact, lies_within, lookup, parse, render
from accordance.contracts.limits import MAX_KEY
from accordance.contracts.phases import phase_completion
from accordance.contracts.sentences import count_sentences, count_words
from accordance.contracts.violation import excerpt
from accordance.domain.t_scores import t_class
from accordance.errors import InvalidPath, InvalidPhases, InvalidTScore

paths = st.lists(st.text(max_size=MAX_KEY) | st.integers(0, 10**6), max_size=5).map(
    tuple
)


@given(paths)
def test_a_path_can_be_read_back(path: tuple[str | int, ...]) -> None:
    """Whatever the keys, the text form is unambiguous."""
    assert parse(render(path)) == path


def test_paths_read_well() -> None:
    """Plain words stay plain; what steers a terminal is escaped, and can be read back."""
    assert render(("breakdown", 2, "we ird", "")) == '$.breakdown[2]["we ird"][""]'
    assert render(("a\x9b\u202eb",)) == '$["a\\u009b\\u202eb"]'
    assert parse('$["a\\u009b\\u202eb"]') == ("a\x9b\u202eb",)


def test_a_key_of_a_megabyte_gives_a_short_path() -> None:
    """It says where to look, and that it is no place for a fix."""
    long = ("a", "k" * 1_000_000)
    assert len(render(long)) < 2 * MAX_KEY
    assert parse(render(long))[0] == "a"
    assert not is_exact(long)
    assert is_exact(("a", 10**6, "k" * MAX_KEY))


def test_places_below_places() -> None:
    """A path lies within a place if it is that place or lies below it."""
    assert lies_within(("a", 1), {("b",), ("a",)})
    assert not lies_within(("a",), {("a", 1)})


@pytest.mark.parametrize("text", ["a.b", "$.", "$[x]", "$.a b", "$[-1]"])
def test_what_is_no_path(text: str) -> None:
    """A path that cannot be read is refused."""
    with pytest.raises(InvalidPath):
        parse(text)


def test_lookup() -> None:
    """Paths lead to values, or nowhere."""
    message = {"a": [{"b": None}]}
    assert lookup(message, ("a", 0, "b")) is None
    for path in (("a", 1), ("a", "b"), ("x",), ("a", 0, "b", "c")):
        with pytest.raises(InvalidPath, match="leads nowhere"):
            lookup(message, path)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (0.5, "0.5"),
        ("text", '"text"'),
        ("é\n", '"é\\n"'),
        ("x" * 500, '"' + "x" * 78 + "…"),
        ([], "[]"),
        ({}, "{}"),
        (["MODIFY"], '["MODIFY"]'),
        ({"a": 1}, '{"a": 1}'),
        ([[1]], "a list of 1 item"),
        ([1, 2, 3, 4], "a list of 4 items"),
        ({"a": {}}, "an object with 1 key"),
        ({"a": "x" * 30}, "an object with 1 key"),
        (10**400, "an integer of 1329 bits"),
    ],
)
def test_excerpts_are_bounded(value: object, shown: str) -> None:
    """A report never repeats the whole message."""
    assert excerpt(value) == shown


def test_the_sentence_is_made_last() -> None:
    """Values first; texts and JSON from them."""
    fixed = Violation("missing", "$.a", "a value", "nothing", Fix("$.a", 1))
    bare = Violation("not_json", "$", "a value", "'x'", None, 7)
    assert (
        str(fixed) == "$.a: expected a value, got nothing [missing]; fix: set $.a to 1"
    )
    assert str(bare) == "$: expected a value, got 'x' [not_json]"
    assert fixed.to_json()["fix"] == {"op": "set", "path": "$.a", "value": 1}
    assert bare.to_json()["offset"] == 7
    assert str(Fix("$.a", op="remove")) == "remove $.a"
    assert Fix("$.a", op="remove").to_json() == {"op": "remove", "path": "$.a"}
    assert str(Notice("n", "$", "hm")) == "$: hm [n]"
    assert Notice("n", "$", "hm").to_json() == {
        "code": "n",
        "path": "$",
        "message": "hm",
    }
    assert (
        str(Repair("rename", "$.id", "id", "task_id"))
        == '$.id: "id" -> "task_id" [rename]'
    )
    assert Repair("r", "$", 1, 2, 3).to_json() == {
        "rule": "r",
        "path": "$",
        "before": 1,
        "after": 2,
        "offset": 3,
    }
    assert "offset" not in Repair("r", "$", 1, 2).to_json()


def violations(*fixes: Fix) -> list[Violation]:
    return [Violation("c", fix.path, "e", "a", fix) for fix in fixes]


def test_applying_fixes() -> None:
    """Sets first, from the top down; then removals, backwards. The original stays as it was."""
    message = {"a": [0, 1, 2, 3], "b": {"c": 1, "d": 2}, "e": 1}
    edits = violations(
        Fix("$.a[1]", op="remove"),
        Fix("$.a[3]", op="remove"),
        Fix("$.b.d", op="remove"),
        Fix("$.b", {"c": 9, "d": 9}),
        Fix("$.b.c", 5),
        Fix("$.new", "x"),
        Fix("$.a[0]", "zero"),
    )
    assert apply_fixes(message, edits) == {
        "a": ["zero", 2],
        "b": {"c": 5},
        "e": 1,
        "new": "x",
    }
    assert message == {"a": [0, 1, 2, 3], "b": {"c": 1, "d": 2}, "e": 1}
    assert apply_fixes(message, violations(Fix("$", {"whole": True}))) == {
        "whole": True
    }
    assert apply_fixes(message, violations(Fix("$", []))) == {}
    assert apply_fixes(message, [Violation("c", "$", "e", "a")]) == message


@pytest.mark.parametrize("path", ["$.a[9]", "$.x.y", "$.e.f", "$.a.b"])
def test_a_fix_for_another_message(path: str) -> None:
    """A path that leads nowhere is an error, not a silent success."""
    with pytest.raises(InvalidPath):
        apply_fixes({"a": [1], "e": 1}, violations(Fix(path, 1)))


def test_feedback_says_everything_compactly() -> None:
    """All violations, the same fault told once, within the limit, never the message."""
    same = [
        Violation("missing", f"$.nodes[{at}].priority", "an integer", "nothing")
        for at in range(40)
    ]
    other = Violation("wrong_task", "$.task_id", '"a"', '"b"', Fix("$.task_id", "a"))
    text = feedback(Rejected((*same, other), 41, "PLAN_GEN"))
    assert text.splitlines() == [
        "Your message was rejected: 41 violations of PLAN_GEN.",
        "- $.nodes[0].priority (and 39 more like this, up to $.nodes[39].priority): expected an integer, got nothing [missing]",
        '- $.task_id: expected "a", got "b"; set $.task_id to "a" [wrong_task]',
        "Send the whole message again, corrected: exactly one JSON object and nothing else.",
    ]


@pytest.mark.parametrize("limit", [-1, 0, 1, 20, 100, 155, 200, 300])
def test_feedback_keeps_a_small_limit_too(limit: int) -> None:
    """Where there is no room for more, the beginning is all that is told."""
    found = tuple(
        Violation("missing", f"$.x{at}", "a text", "nothing") for at in range(3)
    )
    text = feedback(Rejected(found, 3, "PLAN_GEN"), limit)
    assert len(text.encode()) <= max(limit, 0)
    assert "Your message was rejected".startswith(text[:25])


def test_feedback_is_printable() -> None:
    """It is sent to a model and often printed on the way."""
    text = feedback(
        Rejected((Violation("rule_broken", "$", "no \x9b2J", "a\u202eb"),), 1)
    )
    assert all(line.isprintable() for line in text.split("\n"))
    assert "no \\u009b2J, got a\\u202eb" in text


@given(st.integers(1, 60), st.integers(300, 3000))
def test_feedback_keeps_its_limit(count: int, limit: int) -> None:
    """Within any limit that has room for a head and a tail; what does not fit is counted."""
    found = tuple(
        Violation(f"code{at}", f"$.x{at}", "e" * 70, "가" * 70) for at in range(count)
    )
    text = feedback(Rejected(found, count), limit)
    assert len(text.encode()) <= limit
    shown = text.count("[code")
    assert shown == count or f"- and {count - shown} more." in text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("One.", 1),
        ("No end", 1),
        ("One. Two! Three?", 3),
        ("Hello!!! World?! Yes.", 3),
        ('He said "no." Then left.', 2),
        ("(See Fig. 3.) It holds.", 2),
    ],
)
def test_sentences_end_at_marks(text: str, count: int) -> None:
    """A full stop, a question mark or an exclamation mark, with what closes after it; the last one may be missing."""
    assert count_sentences(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("A. B. C. D.", 4),
        ("U.S.", 1),
        ("J. R. R. Tolkien wrote it. It holds.", 2),
        ("J. Smith proposed it. Others followed. It holds.", 3),
        ("Dr. Kim agrees. So does Prof. Lee.", 2),
        ("St. Louis is far. It holds.", 2),
        ("Acme Inc. announced it. It holds.", 2),
        ("The U.S. led. The U.K. followed. It holds.", 3),
        ("He has a Ph.D. from there. It began at 5 p.m. sharp.", 2),
        ("It rose by 0.8 percent, e.g. in spring, as Kim et al. say.", 1),
        ("Smith et al. (2020) agree. It holds.", 2),
        ("Old vs. New is the question. It holds.", 2),
        ("Flour, salt, etc. are in the U.S. list.", 1),
        ("See p. 12 and No. 5. It holds.", 2),
        ("On Jan. 5 it began. It holds.", 2),
        ("Fig. 3 shows it. Figs. 4 and 5 do not.", 2),
        ("Is it so? No. It is not.", 3),
        ("It took 5 ms. Then it ended.", 2),
        ("It rose in 2020. 15 people came.", 2),
        ("Pi is 3.14. Version 2.0.1 works. Run app.py", 3),
        ("1. Do this. 2. Do that.", 2),
    ],
)
def test_abbreviations_and_numbers_end_nothing(text: str, count: int) -> None:
    """A full stop belongs to an initial, a title, a number; after a word it ends the sentence."""
    assert count_sentences(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("first. second. third. fourth. fifth.", 5),
        ("one. two. three. four. five.", 5),
        ("why? because. it is so.", 3),
        ("First. second. third. fourth. fifth.", 5),
        ("We keep temp. values. It holds.", 2),
        ("Wait... what?! Yes.", 2),
        ("Wait... What?! Yes.", 3),
        ("“Why?” he asked. Nobody knew.", 2),
    ],
)
def test_small_letters_begin_a_sentence_where_the_author_writes_so(
    text: str, count: int
) -> None:
    """Otherwise a short word before them is taken for an abbreviation."""
    assert count_sentences(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("이론이 맞다. 시험할 수 있다.", 2),
        ("이론이 맞다.시험할 수 있다.끝났어요.", 3),
        ("모델은 좋다. pytest가 통과했다. numpy도 썼다. 끝.", 4),
        ("저자는 “근거가 부족하다.”며 유보했다. 끝.", 2),
        ("'맞다.'고 했다. (표 2를 보았다.)에 따르면 그렇다.", 2),
        ("“왜?”라고 물었다. 답은 없다.", 2),
        ("가. 시험한다. 나. 비교한다.", 2),
        ("가. 나. 다. 라.", 4),
        ("这是一句。这是两句！", 2),
        ("第一句。第二句？第三句！第四句。", 4),
        ("他说：“好。”然后走了。", 1),
        ("“第一句。”“第二句。”", 2),
        ("これは一つ目｡これは二つ目．", 2),
    ],
)
def test_sentences_of_other_scripts(text: str, count: int) -> None:
    """Full-width marks end a sentence anywhere; a Korean verb does so even where no space follows, unless it is cited."""
    assert count_sentences(text) == count


def test_counting_sentences_is_linear() -> None:
    """A text without an end of a sentence is not read again at every abbreviation."""
    assert count_sentences("e.g. " * 20_000) == 1
    assert count_sentences("e.g. " + " " * 500_000 + "x") == 1


def test_words() -> None:
    """White space separates words."""
    assert count_words(" self-regulated,  이론을 세운다\n") == 3


@pytest.mark.seed("002-27", "002-29", "002-31", "002-33", "002-35", "002-37")
def test_phases() -> None:
    """Order and repeats do not matter; the harness asks Light for one more."""
    assert phase_completion("Full", [5, 4, 3, 2, 1, 0, 2]).passed
    report = phase_completion("Enhanced", [0, 1, 3])
    assert (report.missing, report.extra, report.score) == ((2, 4), (3,), 0.5)
    assert phase_completion("Light", [1, 4]).passed
    assert phase_completion("Light", [1, 4], "harness").missing == (0,)


@pytest.mark.parametrize(
    ("level", "phases", "fault"),
    [
        ("full", [1], "enum:vs_level"),
        ("Full", [0, True], "type:phase_executed[1]"),
        ("Full", ["0"], "type:phase_executed[0]"),
        ("Light", [1, 4, 9], "range:phase_executed[2]"),
    ],
)
def test_what_is_no_phase(level: str, phases: list[object], fault: str) -> None:
    """An unknown level, a value that is no phase: an error with its place, in either table."""
    for table in ("contract", "harness"):
        with pytest.raises(InvalidPhases) as caught:
            phase_completion(level, phases, table)
        assert str(caught.value).startswith(fault)


@pytest.mark.seed("002-40")
@pytest.mark.parametrize(
    ("score", "name"),
    [(1, "modal"), (0.8001, "modal"), (0.8, "established"), (0.5, "established"), (0.4999, "emerging"), (0.3, "emerging"), (0.2999, "creative"), (0, "creative")],
)  # fmt: skip
def test_t_classes(score: float, name: str) -> None:
    """On the raw number; a shared bound belongs to the higher class."""
    assert t_class(score) == name


@pytest.mark.parametrize(
    ("score", "fault"),
    [
        (True, "type"),
        ("0.5", "type"),
        (None, "type"),
        (1.01, "range"),
        (-1, "range"),
        (float("nan"), "range"),
    ],
)
def test_what_is_no_t_score(score: object, fault: str) -> None:
    """A T-score is a number from 0 to 1."""
    with pytest.raises(InvalidTScore, match=fault) as caught:
        t_class(score)
    assert caught.value.score is score
