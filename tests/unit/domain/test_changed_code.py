"""Changed lines of Python, the statements they belong to, and what was run of them."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

from accordance.domain.changed_code import changed_statements, lines_run, never_run

NEW = dedent(
    '''\
    """About the module."""
    import os


    @decorated
    def last(items: list[int]) -> int:
        """About the function."""
        # a comment
        global seen
        kind: str
        if not items:
            raise ValueError(
                "empty",
            )
        else:
            match items:
                case [only]:
                    return only
        return items[-1]


    class Empty:
        pass
    '''
)


def lines_of(number: int) -> tuple[int, int] | None:
    """The statement of a line of the new version, where all of it is new."""
    statement = changed_statements("", NEW).get(number)
    return None if statement is None else (statement.first, statement.last)


@pytest.mark.parametrize(
    ("number", "statement"),
    [
        pytest.param(1, None, id="the docstring of the module"),
        pytest.param(2, (2, 2), id="an import"),
        pytest.param(3, None, id="an empty line"),
        pytest.param(5, (5, 6), id="a decorator"),
        pytest.param(6, (5, 6), id="the head of a function"),
        pytest.param(7, None, id="a docstring"),
        pytest.param(8, None, id="a comment"),
        pytest.param(9, None, id="global"),
        pytest.param(10, None, id="an annotation"),
        pytest.param(11, (11, 11), id="if"),
        pytest.param(13, (12, 14), id="the middle of a statement"),
        pytest.param(15, None, id="else"),
        pytest.param(16, (16, 16), id="match"),
        pytest.param(18, (18, 18), id="in a case"),
        pytest.param(19, (19, 19), id="return"),
        pytest.param(22, (22, 22), id="a class"),
        pytest.param(23, (23, 23), id="pass"),
    ],
)
def test_a_line_counts_with_its_statement(
    number: int, statement: tuple[int, int] | None
) -> None:
    assert lines_of(number) == statement


def test_only_what_is_new_was_changed() -> None:
    old = NEW.replace("return items[-1]", "return items[0]").replace("import os\n", "")

    assert sorted(changed_statements(old, NEW)) == [2, 19]
    assert changed_statements(NEW, NEW) == {}
    assert changed_statements("", "def broken(") == {}
    assert changed_statements("", "# nothing\n") == {}


def test_a_line_was_run_if_any_of_its_statement_was() -> None:
    changed = changed_statements("", NEW)

    assert never_run(changed, {2, 6, 11, 14, 16, 18, 22, 23}) == (19,)


def test_the_lines_that_were_run_are_read_from_the_events_of_the_tracer() -> None:
    events = [
        {"event": "begin"},
        {"event": "line", "file": "src/app.py", "line": 3},
        {"event": "line", "file": "src/app.py", "line": 4},
        {"event": "line", "file": 1, "line": 4},
        {"event": "line", "file": "src/app.py", "line": "5"},
        ["line"],
    ]
    stream = [json.dumps(event).encode() for event in events]

    assert lines_run([*stream, b"no json"]) == {"src/app.py": {3, 4}}
    assert lines_run([*stream, b'{"event": "untraced"}']) is None
