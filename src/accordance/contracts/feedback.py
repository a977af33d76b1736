"""What to send back to the model: every violation, compactly, without the message."""

from __future__ import annotations

import re
from typing import Final

from accordance.contracts.printable import printable
from accordance.contracts.violation import Rejected, Violation

MAX_BYTES: Final = 2000
_INDEX = re.compile(r"\[\d+\]")
_REQUEST: Final = (
    "Send the whole message again, corrected: "
    "exactly one JSON object and nothing else.\n"
)


def feedback(rejected: Rejected, max_bytes: int = MAX_BYTES) -> str:
    """A text of at most `max_bytes` for the next prompt.

    The same fault in many places is reported once, with a count.
    """
    name = f" of {rejected.contract}" if rejected.contract else ""
    noun = "1 violation" if rejected.total == 1 else f"{rejected.total} violations"
    head = f"Your message was rejected: {noun}{name}.\n"

    room = max_bytes - len(head.encode()) - len(_REQUEST.encode())
    body = _fit(_lines(rejected), rejected.total, room)
    whole = head + body + _REQUEST
    if len(whole.encode()) <= max_bytes:
        return whole
    return _cut(head, max_bytes)


def _cut(text: str, max_bytes: int) -> str:
    """The beginning of a text, for a limit that leaves no room for more."""
    beginning = text.encode()[: max(max_bytes, 0)]
    return beginning.decode(errors="ignore")


def _lines(rejected: Rejected) -> list[tuple[int, str]]:
    """A line for each kind of fault, with the number of violations it stands for."""
    groups: dict[tuple[str, str, str], list[Violation]] = {}
    for violation in rejected.violations:
        general_path = _INDEX.sub("[*]", violation.path)
        kind = (violation.code, general_path, violation.expected)
        groups.setdefault(kind, []).append(violation)
    return [(len(group), _line(group)) for group in groups.values()]


def _line(violations: list[Violation]) -> str:
    """Violations of the same kind on a single line."""
    first = violations[0]
    more = ""
    if len(violations) > 1:
        last = violations[-1]
        more = f" (and {len(violations) - 1} more like this, up to {last.path})"

    fault = f"expected {first.expected}, got {first.actual}"
    fix = f"; {first.fix}" if first.fix else ""
    return printable(f"- {first.path}{more}: {fault}{fix} [{first.code}]") + "\n"


def _fit(lines: list[tuple[int, str]], total: int, room: int) -> str:
    """As many lines as fit, then how many violations are not shown."""
    kept: list[str] = []
    shown = 0
    for count, line in lines:
        size = len(line.encode())
        if size + len(_rest(total - shown).encode()) > room:
            break
        kept.append(line)
        shown += count
        room -= size

    if shown < total:
        kept.append(_rest(total - shown))
    return "".join(kept)


def _rest(count: int) -> str:
    return f"- and {count} more.\n"
