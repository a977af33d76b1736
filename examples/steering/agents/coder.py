"""A stand-in for a coding agent: writes the files that each change of the plan needs."""

from pathlib import Path

from desk import hand_in_change, read_assignment

ROUNDING = '''"""Prices end in 0 or 5 cents."""


def to_five(cents: int) -> int:
    """Return the nearest price that ends in 0 or 5."""
    return (cents + 2) // 5 * 5
'''
CURRENCY = '''"""The currency of the shop."""

CURRENCY = "EUR"
'''
LABELS = '''"""Prices as customers read them."""

from currency import CURRENCY


def label(cents: int) -> str:
    """Return a price with its currency."""
    return f"{cents // 100}.{cents % 100:02} {CURRENCY}"
'''
FILES = {
    "Round to five cents": {"rounding.py": ROUNDING},
    "Show the currency": {"currency.py": CURRENCY, "labels.py": LABELS},
}

assignment = read_assignment()
title = assignment["task"]["title"]
for name, text in FILES[title].items():
    Path(name).write_text(text)
hand_in_change(assignment, f"{title}: done.")
