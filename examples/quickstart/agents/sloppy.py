"""A sloppy agent: first it chats, then it does not run the tests; it does the work only after it got the failures."""

from pathlib import Path

from desk import change, read_assignment

WRONG = '''"""Rounding of prices."""


def to_five(cents: int) -> int:
    """The nearest multiple of five."""
    return cents // 5 * 5
'''
RIGHT = WRONG.replace("cents // 5 * 5", "(cents + 2) // 5 * 5")

assignment = read_assignment()
place = Path("parcels/rounding.py")
if assignment["attempt"] == 1:
    print("Sure! I have rounded everything nicely, all tests should be green now. Anything else?")
elif assignment["attempt"] == 2:
    place.write_text(WRONG)
    change(assignment, "Prices are rounded to five cents.", passed=True)
else:
    place.write_text(RIGHT)
    change(assignment, "Prices are rounded to the nearest five cents.")
