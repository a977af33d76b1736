"""File names: whatever an agent calls its product, the name is safe everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.domain.naming import MAX_BYTES, folder_name, safe_name, versioned


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        pytest.param("price list", "price list", id="plain"),
        pytest.param("a/b\\c", "a_b_c", id="separators"),
        pytest.param("../../etc/passwd", "_.._etc_passwd", id="a way out"),
        pytest.param("..", "unnamed", id="the folder above"),
        pytest.param(".hidden.", "hidden", id="dots at the ends"),
        pytest.param("a\0b\nc", "abc", id="NUL and a new line"),
        pytest.param("abc\u202egpj.exe", "abcgpj.exe", id="a direction mark"),
        pytest.param("a\ud800b", "ab", id="half a character"),
        pytest.param("a\u2028b", "ab", id="a line separator"),
        pytest.param("con", "_con", id="a reserved word"),
        pytest.param("LPT1.txt", "_LPT1.txt", id="a reserved word with a suffix"),
        pytest.param("console", "console", id="a word that only begins like one"),
        pytest.param("cafe\u0301", "café", id="one spelling of an accent"),
        pytest.param(" \t ", "unnamed", id="nothing"),
    ],
)
def test_safe_names(name: str, safe: str) -> None:
    """The rule, case by case."""
    assert safe_name(name) == safe


def test_long_names_are_cut_and_told_apart() -> None:
    """At a whole character, with room for the version, and by a part of the hash."""
    one, other = safe_name("ü" * 300), safe_name("ü" * 299 + "x")
    assert one != other
    assert one.startswith("üüü")
    assert len(versioned("ü" * 300, "html", 999_999).encode()) <= MAX_BYTES


@pytest.mark.parametrize(
    ("name", "kind", "version", "file_name"),
    [
        ("report", "md", 2, "report.v2.md"),
        ("index.html", "html", 1, "index.v1.html"),
        ("report.md", "html", 1, "report.md.v1.html"),
        (".md", "md", 1, "md.v1.md"),
    ],
)
def test_versions(name: str, kind: str, version: int, file_name: str) -> None:
    """A suffix that says the format is not said twice; versions never share a name."""
    assert versioned(name, kind, version) == file_name


@given(st.text(st.characters(), max_size=400))
def test_every_name_is_safe(name: str) -> None:
    """Whatever the name: one plain, short, printable part of a path, and safe again it is the same."""
    safe = safe_name(name)
    assert safe
    assert not set(safe) & set('/\\:*?"<>|\0\n\r')
    assert safe.strip(" .") == safe
    assert len(safe.encode()) <= MAX_BYTES
    assert safe_name(safe) == safe


@given(
    st.lists(
        st.text(st.characters(), min_size=1, max_size=300),
        min_size=2,
        max_size=2,
        unique=True,
    )
)
def test_folders_are_told_apart(names: list[str]) -> None:
    """Two tasks never share a folder, even where their safe names are the same."""
    one, other = map(folder_name, names)
    assert one != other
    assert len(one.encode()) <= MAX_BYTES
    assert folder_name("a/b") != folder_name("a_b") == "a_b"
