"""Files from outside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.domain.uploads import plain_name, why_unfit


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("prices.csv", "prices.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\prices.csv", "prices.csv"),
        ("...", "upload"),
        ("", "upload"),
        (".hidden", "hidden"),
        ("a\nb\0c.txt", "a_b_c.txt"),
        ("Preise für März.csv", "Preise für März.csv"),
    ],
)
def test_a_name_is_no_path(name: str, plain: str) -> None:
    """Only its last part, without what could mean something to a system."""
    assert plain_name(name) == plain


@given(st.text())
def test_whatever_was_sent(name: str) -> None:
    """A plain name is short, stays in its folder, and is plain already."""
    plain = plain_name(name)
    assert 0 < len(plain) <= 120
    assert not set(plain) & set("/\\\0\n")
    assert not plain.startswith(".")
    assert plain_name(plain) == plain


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.csv", b"1,2", None),
        ("a.csv", b"1\0002", "a.csv is not the text that its name says"),
        ("a.pdf", b"%PDF-1.7", None),
        ("a.pdf", b"<html>", "a.pdf does not begin like a pdf file"),
        ("a.dat", b"\0\1", None),
        ("a.dat", b"\x7fELF", "a.dat is a program"),
    ],
)
def test_content_and_name(name: str, content: bytes, why: str | None) -> None:
    """What a name promises has to be there."""
    assert why_unfit(name, content) == why
