"""What to send back to the model: every violation, compactly, and never the message itself again."""

from __future__ import annotations

import re
from typing import Final

from accordance.contracts.printable import printable
from accordance.contracts.violation import Rejected, Violation

MAX_BYTES: Final = 2000
_INDEX = re.compile(r"\[\d+\]")


def feedback(rejected: Rejected, max_bytes: int = MAX_BYTES) -> str:
    """A text of at most `max_bytes` for the next prompt. The same fault in many places is told once, with a count."""
    name = f" of {rejected.contract}" if rejected.contract else ""
    noun = "1 violation" if rejected.total == 1 else f"{rejected.total} violations"
    head = f"Your message was rejected: {noun}{name}.\n"
    tail = "Send the whole message again, corrected: exactly one JSON object and nothing else.\n"
    room = max_bytes - len(head.encode()) - len(tail.encode())
    whole = head + _fit(_lines(rejected), rejected.total, room) + tail
    return whole if len(whole.encode()) <= max_bytes else _cut(head, max_bytes)


def _cut(text: str, max_bytes: int) -> str:
    """The beginning of a text, for a limit that leaves no room for more."""
    return text.encode()[: max(max_bytes, 0)].decode(errors="ignore")


def _lines(rejected: Rejected) -> list[tuple[int, str]]:
    """One line per kind of fault, with how many violations it stands for."""
    groups: dict[tuple[str, str, str], list[Violation]] = {}
    for violation in rejected.violations:
        kind = (violation.code, _INDEX.sub("[*]", violation.path), violation.expected)
        groups.setdefault(kind, []).append(violation)
    return [(len(same), _line(same)) for same in groups.values()]


def _line(same: list[Violation]) -> str:
    first = same[0]
    more = (
        f" (and {len(same) - 1} more like this, up to {same[-1].path})"
        if len(same) > 1
        else ""
    )
    way_out = f"; {first.fix}" if first.fix else ""
    what = f"expected {first.expected}, got {first.actual}"
    return printable(f"- {first.path}{more}: {what}{way_out} [{first.code}]") + "\n"


def _fit(lines: list[tuple[int, str]], total: int, room: int) -> str:
    """As many lines as fit, and how many violations are not shown."""
    kept: list[str] = []
    shown = 0
    for count, line in lines:
        rest = f"- and {total - shown} more.\n"
        if len(line.encode()) + len(rest.encode()) > room:
            break
        kept.append(line)
        shown += count
        room -= len(line.encode())
    return "".join(kept) + (f"- and {total - shown} more.\n" if shown < total else "")
