"""A stubborn agent: whatever it is told, it hands in the same work again, and it says that the tests pass."""

from pathlib import Path

from desk import assignment, change

Path("parcels/discount.py").write_text("def discounted(cents, parcels):\n    return cents / 2\n")
change(assignment(), "Half price, everybody is happy.", passed=True)
