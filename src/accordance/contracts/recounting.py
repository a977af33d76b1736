"""Places in lists, counted as in the message before items were taken out of them.

A rewrite may take items out, and all that follow move up. A report must name places as
the author counts them: `$.edges[2]` of what was sent, not of what is left of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace

from accordance.contracts.jsonpath import JsonObject, Path, parse, render
from accordance.contracts.violation import Notice, Rejected, Repair, Violation


def as_counted_in(
    message: JsonObject, rejected: Rejected, changes: Iterable[Repair | Notice]
) -> Rejected:
    """The same report, about the message before these changes.

    The notices among the changes name its places already.
    """
    named_before: set[Notice] = set()
    taken_out: list[Path] = []
    for change in changes:
        if isinstance(change, Notice):
            named_before.add(change)
        elif change.takes_out:
            taken_out.append(parse(change.path))
    if not taken_out:
        return rejected

    gaps = _Gaps(taken_out)
    violations = [gaps.recounted(violation) for violation in rejected.violations]
    warnings: list[Notice] = []
    for notice in rejected.warnings:
        path = notice.path if notice in named_before else gaps.before(notice.path)
        warnings.append(notice._replace(path=path))
    return replace(
        rejected,
        violations=tuple(violations),
        warnings=tuple(warnings),
        message=message,
    )


class _Gaps:
    """Where items were taken out of lists."""

    def __init__(self, taken_out: Iterable[Path]) -> None:
        indexes: dict[Path, list[int]] = {}
        for *items, index in taken_out:
            indexes.setdefault(tuple(items), []).append(int(index))

        self._left_before: dict[Path, list[int]] = {}
        """Of each item that is gone: how many that are left stood before it."""
        for place, gone in indexes.items():
            left = [index - count for count, index in enumerate(sorted(gone))]
            self._left_before[place] = left

    def recounted(self, violation: Violation) -> Violation:
        """The violation, and its fix, at the place before."""
        fix = violation.fix
        if fix is not None:
            fix = fix._replace(path=self.before(fix.path))
        return violation._replace(path=self.before(violation.path), fix=fix)

    def before(self, text: str) -> str:
        """Where what now stands at a path stood before."""
        path = parse(text)
        counted: list[str | int] = []
        for depth, step in enumerate(path):
            gaps = self._left_before.get(path[:depth])
            if gaps is None or not isinstance(step, int):
                counted.append(step)
            else:
                counted.append(step + bisect_right(gaps, step))
        return render(counted)
