"""A stubborn agent: it ignores feedback, hands in the same work again, and claims that the tests pass."""

from pathlib import Path

from desk import change, read_assignment

Path("parcels/discount.py").write_text("def discounted(cents, parcels):\n    return cents / 2\n")
change(read_assignment(), "Half price, everybody is happy.", passed=True)
