"""Step 1, the strict reader: exactly one JSON object, or one typed error with a place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.contracts.limits import Limits
from accordance.contracts.reading import free_parts_are_sound, read
from accordance.contracts.scanner import Scanner
from accordance.errors import Unparseable

REFUSED = [
    ("", "empty", "$", 0),
    (" \n\t ", "empty", "$", 4),
    ("null", "not_object", "$", 0),
    ("true", "not_object", "$", 0),
    ("95", "not_object", "$", 0),
    ('"text"', "not_object", "$", 0),
    ("[{}]", "not_object", "$", 0),
    ("[1", "not_object", "$", 0),
    ('"cut', "not_object", "$", 0),
    ("Here it is: {}", "text_around", "$", 0),
    ("```json\n{}\n```", "text_around", "$", 0),
    ("{} and so on", "text_around", "$", 3),
    ("\u00a0{}", "text_around", "$", 0),
    ("\u200b{}", "text_around", "$", 0),
    ("\ufeff{}", "byte_order_mark", "$", 0),
    ("{}{}", "second_value", "$", 2),
    ("{}\n[]", "second_value", "$", 3),
    ('{"a":1', "cut_short", "$", 6),
    ('{"a":"x', "cut_short", "$", 7),
    ('{"a":"\\u12', "cut_short", "$", 10),
    ('{"a":tru', "not_json", "$", 8),
    ('{"a":1,}', "not_json", "$", 7),
    ('{"a":[1,]}', "not_json", "$", 8),
    ("{'a':1}", "not_json", "$", 1),
    ("{a:1}", "not_json", "$", 1),
    ('{"a" 1}', "not_json", "$", 5),
    ('{"a":1 "b":2}', "not_json", "$", 7),
    ('{"a":[1 2]}', "not_json", "$", 8),
    ('{"a":1 // no\n}', "not_json", "$", 7),
    ('{"a":NaN}', "not_json", "$", 5),
    ('{"a":Infinity}', "not_json", "$", 5),
    ('{"a":nil}', "not_json", "$", 8),
    ('{"a":truth}', "not_json", "$", 10),
    ('{"a":nothing}', "not_json", "$", 12),
    ('{"a":-}', "not_json", "$", 6),
    ('{"a":01}', "not_json", "$", 7),
    ('{"a":1.}', "not_json", "$", 7),
    ('{"a":+1}', "not_json", "$", 5),
    ('{"a":.5}', "not_json", "$", 5),
    ('{"a":"line\nbreak"}', "not_json", "$", 10),
    ('{"a":"\\x"}', "not_json", "$", 7),
    ('{"a":"\\u12g4"}', "not_json", "$", 10),
    ('{"a":1,"a":1}', "duplicate_key", "$.a", 9),
    ('{"b":{"a":1,"\\u0061":2}}', "duplicate_key", "$.b.a", 19),
    ('{"b":[{"c":1e999}]}', "not_finite", "$.b[0].c", 16),
    ('{"a":-1e400}', "not_finite", "$.a", 11),
    ('{"a":"\\ud800"}', "lone_surrogate", "$.a", 12),
    ('{"a":"\\udc00"}', "lone_surrogate", "$.a", 11),
    ('{"a":"\\ud800x"}', "lone_surrogate", "$.a", 12),
    ('{"a":"\\ud800\\n"}', "lone_surrogate", "$.a", 13),
    ('{"a":"\\ud83d\\ud83d"}', "lone_surrogate", "$.a", 17),
    ('{"a":"\ud800"}', "lone_surrogate", "$.a", 6),
    ('{"\\ud800":1}', "lone_surrogate", "$", 8),
    ('{"a":1,"\\ud800":2}', "lone_surrogate", "$", 14),
    ('{"a":[0,{"b":1,"\udc00":2}]}', "lone_surrogate", "$.a[1]", 16),
    (f'{{"a":{"9" * 4301}}}', "number_too_long", "$.a", 4306),
    (f'{{"a":-{"9" * 9000}}}', "number_too_long", "$.a", 9006),
    (f'{{"a":{"[" * 64}{"]" * 64}}}', "too_deep", "$", 68),
    (f'{{"a":{"[" * 300}', "too_deep", "$", 68),
    ("[" * 100_000, "not_object", "$", 0),
    ('{"a":' * 100_000, "too_deep", "$", 320),
]


@pytest.mark.parametrize(("text", "code", "path", "offset"), REFUSED)
def test_refused(text: str, code: str, path: str, offset: int) -> None:
    """Each rule of the reader has its code, its path and its place."""
    with pytest.raises(Unparseable) as caught:
        read(text)
    assert (caught.value.code, caught.value.path, caught.value.offset) == (
        code,
        path,
        offset,
    )
    assert str(caught.value)


ACCEPTED = [
    ("{}", {}),
    (' \t\r\n{"a": [ ] , "b": { } } \n', {"a": [], "b": {}}),
    (
        '{"a":"\\ud83e\\udd50 \\u00e9 \\" \\\\ \\/ \\b\\f\\n\\r\\t"}',
        {"a": '🥐 é " \\ / \b\f\n\r\t'},
    ),
    (
        '{"a":-0.5e-3,"b":1E2,"c":true,"d":false,"e":null}',
        {"a": -0.0005, "b": 100.0, "c": True, "d": False, "e": None},
    ),
    (f'{{"a":{"9" * 4300}}}', {"a": int("9" * 4300)}),
    ('{"a":"{[\\"]}"}', {"a": '{["]}'}),
    ('{"":{"":1}}', {"": {"": 1}}),
]


@pytest.mark.parametrize(("text", "value"), ACCEPTED)
def test_accepted(text: str, value: object) -> None:
    """JSON is read as JSON, from text and from bytes."""
    assert read(text) == value
    assert read(text.encode()) == value


def test_sixty_four_levels_are_allowed_and_counted_from_the_root() -> None:
    """The root object is the first level."""
    assert read(f'{{"a":{"[" * 63}{"]" * 63}}}')


@pytest.mark.parametrize(
    "data", [b'{"a":"\xff"}', b"\xff\xfe{\x00}\x00", b'{"a":"\xed\xa0\x80"}']
)
def test_bytes_that_are_no_utf8(data: bytes) -> None:
    """Binary files and other encodings are named as such."""
    with pytest.raises(Unparseable) as caught:
        read(data)
    assert caught.value.code == "not_utf8"


def test_too_large() -> None:
    """The size is looked at before anything is parsed."""
    with pytest.raises(Unparseable) as caught:
        read('{"a":1}', Limits(max_bytes=6))
    assert caught.value.code == "too_large"


def test_the_parser_may_know_better_than_the_scanner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Should the two ever disagree, the message is still refused, with the parser's own words."""
    monkeypatch.setattr(Scanner, "end", lambda _: None)
    with pytest.raises(Unparseable) as caught:
        read("{")
    assert caught.value.code == "not_json"


def test_free_parts() -> None:
    """Only the named places are looked at, and their own depth counts."""
    deep: object = 1
    for _ in range(63):
        deep = [deep]
    assert free_parts_are_sound({"a": deep, "b": {"c": deep}}, (("a",), ("x", "y")), 64)
    assert not free_parts_are_sound({"a": {"b": deep}}, (("a", "b"),), 64)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' + "1," * 400_000,
        '{"a":"' + "x" * 4_000_000,
        '{"a":"' + "\\n" * 1_000_000,
        '{"a":[' + '"x",' * 300_000,
        "{" * 1_000_000,
        '{"a":1' + "0" * 3_000_000,
        '{"a":' + "t" * 3_000_000,
    ],
    ids=lambda text: f"{text[:9]}… {len(text)}",
)
def test_bad_texts_of_any_size_end_in_bounded_time(text: str) -> None:
    """No rule looks at a text more often than a constant number of times."""
    with pytest.raises(Unparseable):
        read(text)


@given(st.text(alphabet='{}[]:,"\\u0123d8e+-.tfn \n', max_size=40))
def test_reader_and_scanner_agree(text: str) -> None:
    """What the parser takes the scanner lets pass, and the other way round, on anything that looks like JSON."""
    scanner = Scanner()
    scanner.feed(text)
    flaw = scanner.end()
    refused = refusal(text)
    assert (refused is None) == (flaw is None)
    assert refused is None or flaw is None or refused.code in (flaw.code, "not_object")


def refusal(text: str) -> Unparseable | None:
    try:
        read(text)
    except Unparseable as error:
        return error
    return None
