"""A sloppy agent: first it chats, then it does not run the tests, and only when it is told what failed does it do the work."""

from pathlib import Path

from desk import assignment, change

WRONG = '''"""Rounding of prices."""


def to_five(cents: int) -> int:
    """The nearest multiple of five."""
    return cents // 5 * 5
'''
RIGHT = WRONG.replace("cents // 5 * 5", "(cents + 2) // 5 * 5")

told = assignment()
place = Path("parcels/rounding.py")
if told["attempt"] == 1:
    print("Sure! I have rounded everything nicely, all tests should be green now. Anything else?")
elif told["attempt"] == 2:
    place.write_text(WRONG)
    change(told, "Prices are rounded to five cents.", passed=True)
else:
    place.write_text(RIGHT)
    change(told, "Prices are rounded to the nearest five cents.")
