"""The difference between two reports of a golden set."""

from __future__ import annotations

from dataclasses import dataclass

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.research.golden import GoldenReport


@dataclass(frozen=True, slots=True)
class Regression:
    """What changed from one report to the next, by the ids of the cases."""

    broken: tuple[str, ...]  # passed before, does not now
    gone: tuple[str, ...]  # passed before, is no longer in the set
    mended: tuple[str, ...]
    added: tuple[str, ...]
    metrics: dict[str, tuple[float, float]]  # before and after, where they differ

    @property
    def worse(self) -> bool:
        """Whether a case that passed no longer does."""
        return bool(self.broken or self.gone)

    def cases(self) -> dict[str, tuple[str, ...]]:
        """Return the cases that changed, by the kind of change."""
        return {
            "broken": self.broken,
            "gone": self.gone,
            "mended": self.mended,
            "added": self.added,
        }

    def to_json(self) -> JsonObject:
        """Return it as plain JSON."""
        cases = {kind: list(case_ids) for kind, case_ids in self.cases().items()}
        metrics = {}
        for name, (before, after) in self.metrics.items():
            metrics[name] = {"before": before, "after": after}
        return {"worse": self.worse, **cases, "metrics": metrics}


def regression(before: GoldenReport, after: GoldenReport) -> Regression:
    """Return the difference between two reports."""
    old = {result.id: result.passed for result in before.results}
    new = {result.id: result.passed for result in after.results}
    old_passed = {case_id for case_id, passed in old.items() if passed}
    new_passed = {case_id for case_id, passed in new.items() if passed}

    known = [case_id for case_id in new if case_id in old]
    broken = [id_ for id_ in known if id_ in old_passed and id_ not in new_passed]
    mended = [id_ for id_ in known if id_ in new_passed and id_ not in old_passed]
    gone = [id_ for id_ in old if id_ in old_passed and id_ not in new]
    added = [id_ for id_ in new if id_ not in old]

    return Regression(
        broken=tuple(broken),
        gone=tuple(gone),
        mended=tuple(mended),
        added=tuple(added),
        metrics=_changed_metrics(before.metrics(), after.metrics()),
    )


def _changed_metrics(
    before: dict[str, float], after: dict[str, float]
) -> dict[str, tuple[float, float]]:
    changed = {}
    for name, mean in before.items():
        old, new = round(mean, 6), round(after.get(name, mean), 6)
        if old != new:
            changed[name] = (old, new)
    return changed
