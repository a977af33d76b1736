"""What a new version of a test file asserts, beside the old one."""

from __future__ import annotations

from textwrap import dedent

import pytest

from accordance.domain.test_assertions import GONE, Loosening, loosened_tests

OLD = """
import pytest, unittest, contextlib

def check(value):
    assert value == 2
    assert value

def test_last():
    result = last([1, 2])
    assert result == 2
    assert result is not None

async def test_helped():
    check(last([1, 2]))

class TestLast(unittest.TestCase):
    size = 1

    def setUp(self):
        self.items = [1]

    def test_method(self):
        self.assertEqual(last(self.items), 1)
        with self.assertRaises(IndexError):
            last([])
"""


def changed(*replacements: tuple[str, str]) -> list[tuple[str, str]]:
    """What is said of a version in which something was replaced."""
    new = OLD
    for old_part, new_part in replacements:
        assert old_part in new
        new = new.replace(old_part, new_part)
    return [(loosening.test, loosening.how) for loosening in loosened_tests(OLD, new)]


LAST = "    assert result == 2\n"
NOT_NONE = "    assert result is not None\n"
METHOD = "        self.assertEqual(last(self.items), 1)\n"
TRUE = "assert what is always true"
LESS = "1 of 2 assertions left"
SKIPPED = "skipped now, or expected to fail"
SWALLOWS = "swallow every error"
EXACT = "compare less exactly"


@pytest.mark.parametrize(
    ("replaced", "by", "test", "hows"),
    [
        (LAST, "", "test_last", [LESS]),
        (LAST, "    assert True\n", "test_last", [LESS, TRUE]),
        (LAST, "    assert not 0\n", "test_last", [LESS, TRUE]),
        (LAST, "    assert result == 2 or True\n", "test_last", [LESS, TRUE]),
        (LAST, "    assert 1 and True\n", "test_last", [LESS, TRUE]),
        (LAST, "    assert (result == 3, 'wrong')\n", "test_last", [LESS, TRUE]),
        (LAST, "    assert result == result\n", "test_last", [LESS, TRUE]),
        (LAST, "    assert result\n", "test_last", [EXACT]),
        (LAST, "    assert result >= 2\n", "test_last", [EXACT]),
        (LAST, "    return\n" + LAST, "test_last", ["return before their end"]),
        (LAST, "    pytest.skip('later')\n" + LAST, "test_last", [SKIPPED]),
        (
            "def test_last",
            "@pytest.mark.xfail\ndef test_last",
            "test_last",
            [SKIPPED],
        ),
        (
            LAST,
            "    try:\n        assert result == 2\n    except Exception:\n        pass\n",
            "test_last",
            [SWALLOWS],
        ),
        (
            LAST,
            "    try:\n        assert result == 2\n    except:\n        pass\n",
            "test_last",
            [SWALLOWS],
        ),
        (
            LAST,
            (
                "    try:\n        assert result == 2\n"
                "    except (KeyError, AssertionError):\n        pass\n"
            ),
            "test_last",
            [SWALLOWS],
        ),
        (
            LAST,
            (
                "    with contextlib.suppress(AssertionError):\n"
                "        assert result == 2\n"
            ),
            "test_last",
            [SWALLOWS],
        ),
        ("    assert value\n", "", "test_helped", [LESS]),
        (METHOD, "", "TestLast.test_method", [LESS]),
        (
            METHOD,
            "        self.assertTrue(True)\n",
            "TestLast.test_method",
            [LESS, TRUE],
        ),
        (
            METHOD,
            "        self.assertEqual(1, 1)\n",
            "TestLast.test_method",
            [LESS, TRUE],
        ),
        (
            METHOD,
            "        self.assertTrue(last(self.items))\n",
            "TestLast.test_method",
            [EXACT],
        ),
        ("test_last", "last_test", "test_last", [GONE]),
        (
            "import pytest",
            "pytestmark = pytest.mark.skip\nimport pytest",
            "",
            [SKIPPED],
        ),
        ("class TestLast", "@unittest.skip('')\nclass TestLast", "", [SKIPPED]),
    ],
)
def test_a_test_that_asserts_less_is_named(
    replaced: str, by: str, test: str, hows: list[str]
) -> None:
    assert changed((replaced, by)) == [(test, how) for how in hows]


@pytest.mark.parametrize(
    ("replaced", "by"),
    [
        pytest.param(LAST, LAST, id="nothing"),
        pytest.param(LAST, "    assert result == 3\n", id="another value"),
        pytest.param(LAST, LAST + "    assert result > 1\n", id="more"),
        pytest.param(LAST + NOT_NONE, "    check(result)\n", id="by a helper"),
        pytest.param(
            LAST,
            "    try:\n        assert result == 2\n    except KeyError:\n        pass\n",
            id="a narrow handler",
        ),
        pytest.param(
            LAST,
            "    try:\n        assert result == 2\n    except Exception:\n        raise\n",
            id="a handler that raises",
        ),
        pytest.param(
            "class TestLast", "def test_new(): pass\nclass TestLast", id="new"
        ),
        pytest.param("import pytest", "import (", id="no Python"),
        pytest.param("last([1, 2])", "(lambda: last)()([1, 2])", id="a call of a call"),
    ],
)
def test_an_honest_change_is_not(replaced: str, by: str) -> None:
    assert changed((replaced, by)) == []


def test_helpers_that_call_each_other_end() -> None:
    circle = dedent(
        """
        def one(): two(); assert 1 == len("a")
        def two(): one()
        def test_it(): one()
        """
    )

    assert loosened_tests(circle, circle.replace("1 ==", "")) == (
        Loosening("test_it", EXACT),
    )


def test_a_named_error_may_be_suppressed() -> None:
    """Only an error of every kind hides that a test fails."""
    asserted = "    assert f() == 1\n"
    old = f"def test_a():\n{asserted}"
    named = f"def test_a():\n    with suppress(KeyError):\n        g()\n{asserted}"
    broad = named.replace("KeyError", "Exception")
    assert loosened_tests(old, named) == ()
    assert [one.how for one in loosened_tests(old, broad)] == ["swallow every error"]
