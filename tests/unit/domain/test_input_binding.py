"""Which file answers which requirement."""

from __future__ import annotations

import pytest

from accordance.domain.input_binding import FileNeed, InputFile, bind, score, stale

SHEET = FileNeed(
    requirement_id="r1",
    name="supplier_sheet",
    allowed_types=("xlsx", ".CSV"),
    keywords=("supplier", "price"),
)
HOURS = FileNeed(
    requirement_id="r2", name="opening_hours", keywords=("hours",), source="AGENT"
)

ASKED = FileNeed(requirement_id="r4", name="the plan", path="x/plan.pdf")
FOLDER = FileNeed(requirement_id="r5", name="the plan", path="y/")


@pytest.mark.parametrize(
    ("path", "need", "points"),
    [
        pytest.param(
            "supplier_sheet/a.xlsx",
            SHEET,
            120,
            id="its folder, its type, from the user",
        ),
        pytest.param(
            "Supplier_Sheet/deep/a.csv",
            SHEET,
            120,
            id="any letter case, any depth, a dotted type",
        ),
        pytest.param("supplier_prices.xlsx", SHEET, 100, id="two keywords"),
        pytest.param("supplier_sheet/a.md", SHEET, 0, id="a wrong type never counts"),
        pytest.param(
            "supplier_sheet/noext", SHEET, 0, id="no type at all is a wrong type"
        ),
        pytest.param("notes.xlsx", SHEET, 20, id="neither folder nor keyword"),
        pytest.param("opening_hours/x", HOURS, 100, id="any type, not from the user"),
        pytest.param("hours.txt", HOURS, 40, id="one keyword alone"),
        pytest.param("x/plan.pdf", ASKED, 110, id="where it was asked to be put"),
        pytest.param(
            "x/other.pdf", ASKED, 10, id="beside where it was asked to be put"
        ),
        pytest.param(
            "y/deep/any.pdf", FOLDER, 110, id="in the folder that was asked for"
        ),
        pytest.param("yy/any.pdf", FOLDER, 10, id="in one that only begins like it"),
    ],
)
def test_score(path: str, need: FileNeed, points: int) -> None:
    """The rule, line by line."""
    assert score(InputFile(path, "x"), need) == points


def test_keywords_are_capped() -> None:
    """A name full of keywords is not worth more than two folders."""
    many = FileNeed(
        requirement_id="r", name="n", keywords=tuple("abcdefg"), source="AGENT"
    )
    assert score(InputFile("abcdefg.txt", "x"), many) == 200


def test_binding() -> None:
    """Best match wins, ties are for a person, the rest stays free."""
    twin = FileNeed(
        requirement_id="r3",
        name="other",
        allowed_types=("xlsx",),
        keywords=("supplier", "price"),
    )
    files = [
        InputFile(path, path)
        for path in ("supplier_sheet/a.xlsx", "supplier_prices.xlsx", "readme.md")
    ]
    found = bind(files, [SHEET, HOURS, twin])
    assert [(file.path, need.requirement_id) for file, need in found.bound] == [
        ("supplier_sheet/a.xlsx", "r1")
    ]
    assert [
        (file.path, [need.requirement_id for need in needs])
        for file, needs in found.ties
    ] == [("supplier_prices.xlsx", ["r1", "r3"])]
    assert [file.path for file in found.unbound] == ["readme.md"]


def test_stale() -> None:
    """Changed or gone: no longer evidence."""
    same, changed, gone = InputFile("a", "1"), InputFile("b", "1"), InputFile("c", "1")
    assert stale([same, changed, gone], [same, InputFile("b", "2")]) == (changed, gone)
