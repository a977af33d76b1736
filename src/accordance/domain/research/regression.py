"""The difference between two reports of a golden set."""

from __future__ import annotations

from dataclasses import dataclass

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.research.golden import GoldenReport


@dataclass(frozen=True, slots=True)
class Regression:
    """What changed since the previous report, by the ids of the cases."""

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
    old = _passed_by_case(before)
    new = _passed_by_case(after)
    broken, mended, added = [], [], []

    for case_id, passes in new.items():
        if case_id not in old:
            added.append(case_id)
        elif old[case_id] and not passes:
            broken.append(case_id)
        elif passes and not old[case_id]:
            mended.append(case_id)

    passed_before = [case_id for case_id, passed in old.items() if passed]
    gone = [case_id for case_id in passed_before if case_id not in new]
    return Regression(
        broken=tuple(broken),
        gone=tuple(gone),
        mended=tuple(mended),
        added=tuple(added),
        metrics=_changed_metrics(before.metrics(), after.metrics()),
    )


def _passed_by_case(report: GoldenReport) -> dict[str, bool]:
    return {result.id: result.passed for result in report.results}


def _changed_metrics(
    before: dict[str, float], after: dict[str, float]
) -> dict[str, tuple[float, float]]:
    changed = {}
    for name, mean in before.items():
        old = round(mean, 6)
        new = round(after.get(name, mean), 6)
        if old != new:
            changed[name] = (old, new)
    return changed
