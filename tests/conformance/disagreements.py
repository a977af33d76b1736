"""Lines we disagree with, each with the reason. Only lines of judgement or inference may stand here, never a seed's."""

from __future__ import annotations

DISAGREEMENTS: dict[str, str] = {
    "gw-submit-037": "design ruling: an integer is written as an integer, so exit_code 0.0 is refused (with the fix 0)",
}
