"""The tolerant reader: recovers what was surely meant, records every repair, refuses to guess."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.contracts.limits import Limits
from accordance.contracts.tolerant import REPAIRS, read_tolerant
from accordance.errors import Unparseable

RECOVERED = [
    pytest.param('{"a": 1}', {"a": 1}, [], id="nothing to repair"),
    pytest.param('```json\n{"a": 1}\n```', {"a": 1}, ["code_fence", "code_fence"], id="a fence"),
    pytest.param('Here:\n```\n{"a": 1}\n```\nDone.', {"a": 1}, ["text_around", "code_fence", "code_fence", "text_around"], id="a fence in prose"),
    pytest.param('Sure! {"a": 1} Anything else?', {"a": 1}, ["text_around", "text_around"], id="prose"),
    pytest.param('Use {curly} and {{x}} here: {"a": 1}', {"a": 1}, ["text_around"], id="braces in prose"),
    pytest.param('<think>maybe {"a": 2}?</think>{"a": 1}', {"a": 1}, ["think_block"], id="a think block"),
    pytest.param('<Thinking>x</THINKING>\n{"a": 1}', {"a": 1}, ["think_block"], id="another think block"),
    pytest.param('\ufeff{"a": 1}', {"a": 1}, ["byte_order_mark"], id="a byte order mark"),
    pytest.param('{"a": 1,}', {"a": 1}, ["trailing_comma"], id="a comma before }"),
    pytest.param('{"a": [1, 2, ], }', {"a": [1, 2]}, ["trailing_comma", "trailing_comma"], id="commas before ] and }"),
    pytest.param("{'a': 'it is', 'b': 'x\\'y'}", {"a": "it is", "b": "x'y"}, ["quotes"] * 4, id="single quotes"),
    pytest.param("{“a”: “x”}", {"a": "x"}, ["quotes", "quotes"], id="typographic quotes"),
    pytest.param("{a: 1, $b_2: 2}", {"a": 1, "$b_2": 2}, ["bare_key", "bare_key"], id="bare keys"),
    pytest.param('{"a": True, "b": False, "c": None}', {"a": True, "b": False, "c": None}, ["python_literal"] * 3, id="Python"),
    pytest.param('{"a": 1 // one\n, /* two */ "b": 2 # three\n}', {"a": 1, "b": 2}, ["comment"] * 3, id="comments"),
    pytest.param('{ /* first */ "a": 1}', {"a": 1}, ["comment"], id="a comment first"),
    pytest.param('{"a": "x\n\ty"}', {"a": "x\n\ty"}, ["control_character", "control_character"], id="raw line break and tab"),
    pytest.param('{"a": 1}\n{"a": 1}', {"a": 1}, ["repeated_object"], id="the same object twice"),
    pytest.param('As of [1], {"a": 1}', {"a": 1}, ["text_around"], id="closed brackets in prose"),
    pytest.param('[INFO] see [docs](x): {"a": 1} [end', {"a": 1}, ["text_around", "text_around"], id="brackets that hold no object"),
    pytest.param('{"a": 1, // a glob is src/*/ or ..\n "b": "..."}', {"a": 1, "b": "..."}, ["comment"], id="two dots, and an ellipsis in a text"),
    pytest.param('I thought... {"a": 1} ...', {"a": 1}, ["text_around", "text_around"], id="an ellipsis in prose"),
    pytest.param('{ /* {"a": 1 // x\n, "b": 2} */ // tail\n "c": 3}', {"c": 3}, ["comment", "comment"], id="an object in a comment"),
    pytest.param('{"a": /*/ 1 */ 2}', {"a": 2}, ["comment"], id="a comment that begins with a slash"),
    pytest.param('{"a": "/* x */ // y", "b": 1,}', {"a": "/* x */ // y", "b": 1}, ["trailing_comma"], id="comments in a text"),
    pytest.param("{\n}\n.", {}, ["text_around"], id="an empty object alone"),
    pytest.param('x {"a":[1,2.5,-3]}', {"a": [1, 2.5, -3]}, ["text_around"], id="a compact list"),
    pytest.param("{a:1,b:2}", {"a": 1, "b": 2}, ["bare_key", "bare_key"], id="compact bare keys"),
    pytest.param('{"a":5/*x*/,}', {"a": 5}, ["comment", "trailing_comma"], id="a comment right after a number"),
    pytest.param('{"a":"it\\\'s"}', {"a": "it's"}, ["needless_escape"], id="an escaped apostrophe"),
    pytest.param('{"a":1\u00a0}', {"a": 1}, ["odd_space"], id="a no-break space"),
    pytest.param("{'a': true, 'b': null}", {"a": True, "b": None}, ["quotes", "quotes"], id="plain literals beside a slip"),
    pytest.param("{'a': -1.5e3, 'b': 0, 'c': {'d': []}}", {"a": -1500.0, "b": 0, "c": {"d": []}}, ["quotes"] * 4, id="numbers and nesting"),
    pytest.param("{'a': '\\ud83e\\udd50\\u00e9\\n'}", {"a": "🥐é\n"}, ["quotes", "quotes"], id="escapes"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "rules"), RECOVERED)
def test_recovered(text: str, value: object, rules: list[str]) -> None:
    """The value that was meant, and one record per repair."""
    found, repairs = read_tolerant(text)
    assert found == value
    assert [repair.rule for repair in repairs] == rules
    assert set(rules) <= set(REPAIRS)
    assert all(repair.offset is not None for repair in repairs)
    assert read_tolerant(text.encode())[0] == value


REFUSED = [
    ('{"a": 1} {"a": 2}', "second_value"),
    ('{"passed": 1} {"passed": true}', "second_value"),
    ('{"passed": 1} {"passed": 1.0}', "second_value"),
    ('{"a": 1, "b": ...}', "not_json"),
    ('{"a": [1, ...]}', "not_json"),
    ('{"a": "cut', "cut_short"),
    ('{"a": 1', "cut_short"),
    ('{"a"', "cut_short"),
    ("{", "cut_short"),
    ('x {"a": 1, "a": 2}', "duplicate_key"),
    ("{'a': 1, \"a\": 1}", "duplicate_key"),
    ('<think>hm {"a": 1}', "cut_short"),
    ('{"a": 1 "b": 2}', "not_json"),
    ('{"a": 1 "b"', "not_json"),
    ("{'a' 1}", "not_json"),
    ("{'a': 1, : 2}", "not_json"),
    ("{'a': 92%}", "not_json"),
    ("{'a': 92/100}", "not_json"),
    ("{'a': 1,000}", "not_json"),
    ("{'a': 1.}", "not_json"),
    ("{'a': NaN}", "not_json"),
    ("{'a': undefined}", "not_json"),
    ("{'a': 1e999}", "not_finite"),
    (f"{{'a': {'9' * 5000}}}", "number_too_long"),
    ("{'a': 'C:\\new\\dir'}", "not_json"),
    ("{'a': 'x\x01y'}", "not_json"),
    ("{'a': '\\ud800'}", "lone_surrogate"),
    ("{'a': '\\ud800\\u0041'}", "lone_surrogate"),
    ("{'a': '\\udc00'}", "lone_surrogate"),
    ("{'a': '\\u12'}", "not_json"),
    ("{'a': '\ud800'}", "not_json"),
    ("no object at all", "text_around"),
    ('"{\\"a\\": 1}"', "text_around"),
    ("", "text_around"),
    ('[{"a": 1}]', "not_object"),
    ('[{"a": 1}, {"a": 1}]', "not_object"),
    ('{"a": 1}, {"a": 1}', "not_object"),
    ("{'a': " + "[" * 70 + "]" * 70 + "}", "too_deep"),
    ("{} {'a': 1}", "second_value"),
    ('{"a": 1} then {}', "second_value"),
    ('["note", {"a": 1}', "not_object"),
    ('["note", {"a": 1}, ', "not_object"),
    ('Result: [1, [2], {"a": 1} and no more', "not_object"),
    ('[\n```json\n{"a": 1}\n```', "not_object"),
    ('{"a": [1 /* ... 8 more edges */]}', "not_json"),
    ('{"a": [1, // ... rest omitted\n]}', "not_json"),
    ('{"a": 1 # …\n}', "not_json"),
    ('{"a": 1, /* . . . */}', "not_json"),
    ('{ /* {"a": 1 // x\n, "b": 2} */ // tail\n , "c": 3}', "not_json"),
    ('{ /* {"a": 1} ', "cut_short"),
    ('{"a": 1 /* {"a": 1} ', "cut_short"),
    ('{ // {"a": 1}', "cut_short"),
    ("{'a': it's}", "not_json"),
    ("{'a': 'it's'}", "not_json"),
]


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_refused(text: str, code: str) -> None:
    """Two objects, a cut value, an ellipsis, a key twice: never guessed."""
    with pytest.raises(Unparseable) as caught:
        read_tolerant(text)
    assert caught.value.code == code


def test_limits() -> None:
    """The tolerant reader is no way round the limits."""
    for text, limits in (
        ('{"a": 1}', Limits(max_bytes=5)),
        ("\ud800 {x", Limits(max_bytes=6)),
    ):
        with pytest.raises(Unparseable) as caught:
            read_tolerant(text + "       ", limits)
        assert caught.value.code == "too_large"
    with pytest.raises(Unparseable, match="not_utf8"):
        read_tolerant(b"\xff")


@pytest.mark.large
@pytest.mark.parametrize(
    "text",
    [
        "{" * 75_000,
        "{x " * 50_000,
        '{"a": ' * 50_000,
        "<think>" * 25_000,
        "```" * 50_000,
        "{/*" * 25_000,
        "{" + "//\n" * 75_000,
        "{'" + "x" * 500_000,
        "{'a':[" + "1," * 75_000,
        "{" + " " * 500_000,
        "{/*" * 25_000 + "*/ x",
        "{#" * 50_000,
        'x{"a":[' + "1" * 50_000 + "%]}",
        "{//\n" * 50_000,
        "{" + "//{\n" * 25_000 + "x",
        "{" + "/*{*/" * 25_000 + "x",
        "{" + "//{/*\n*/" * 12_500 + "x",
        "[" * 125_000 + "{x",
    ],
    ids=lambda text: f"{text[:8]!r} {len(text)}",
)
def test_work_is_linear(text: str) -> None:
    """Texts made to be read again and again are not."""
    with pytest.raises(Unparseable):
        read_tolerant(text)


@given(st.text(alphabet="{}[]:,'\"`<>/*#\\ab1 \n", max_size=60))
def test_never_anything_but_unparseable(text: str) -> None:
    """Whatever comes, it is a value or one typed error."""
    try:
        value, _ = read_tolerant(text)
    except Unparseable:
        return
    assert isinstance(value, dict)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.text(alphabet="ab/*#'\"\\{}[],:\n.…", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b//", "/*c", "#d"]), inner)
    ),
    max_leaves=6,
)
messages = st.dictionaries(
    st.sampled_from(["a", "b", "*/", "//c", "{d"]), json_values, min_size=1, max_size=4
)
remarks = st.text(alphabet="ab/*#'\"{}[]:, .", max_size=10).filter(
    lambda text: "..." not in text and ". . ." not in text
)
gaps = st.lists(
    st.sampled_from([" ", "\n", ""])
    | remarks.map(lambda text: f"//{text}\n")
    | remarks.map(lambda text: f"#{text}\n")
    | remarks.filter(lambda text: "*/" not in f"{text}*/"[:-2]).map(
        lambda text: f"/*{text}*/"
    ),
    max_size=2,
)


def spread(value: object, gap: Callable[[], str]) -> str:
    """The value as JSON, with something between any two of its tokens."""
    if isinstance(value, dict):
        members = [
            f"{gap()}{json.dumps(key)}{gap()}:{gap()}{spread(item, gap)}{gap()}"
            for key, item in value.items()
        ]
        return f"{{{','.join(members)}}}"
    if isinstance(value, list):
        return f"[{','.join(f'{gap()}{spread(item, gap)}{gap()}' for item in value)}]"
    return json.dumps(value)


@given(messages, st.data())
def test_comments_never_change_what_is_read(
    message: dict[str, object], data: st.DataObject
) -> None:
    """Whatever they hold: objects, quotes, other comments. Each is recorded, and nothing else is."""
    comments: list[str] = []

    def gap() -> str:
        pieces = data.draw(gaps)
        comments.extend(piece for piece in pieces if piece.strip())
        return "".join(pieces)

    text = spread(message, gap)
    found, repairs = read_tolerant(text)
    assert found == message
    assert [repair.before for repair in repairs] == [
        comment.strip() for comment in comments
    ]
    for end in range(len(text)):
        with pytest.raises(Unparseable):
            read_tolerant(text[:end])


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text(), max_size=4))
def test_plain_json_is_left_alone(message: dict[str, object]) -> None:
    """Where nothing is wrong nothing is repaired."""
    assert read_tolerant(json.dumps(message)) == (message, ())
