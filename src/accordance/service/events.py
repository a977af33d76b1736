"""The events of a plan, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from accordance.domain.chain import ChainEntry
from accordance.service.project import Project
from accordance.service.views.events import EventView, event_view
from accordance.store.seals import SEALS


@dataclass
class EventReader:
    """Reads the events of a plan, and goes on where it stopped when it is asked again."""

    project: Project
    plan_id: str
    task: str = ""  # the beginning of a task's id: only what is about such tasks
    after: int = 0  # the number of the last event that was read
    with_seals: bool = field(
        default=False, kw_only=True
    )  # seals of rows, which say nothing to people

    def news(self) -> Iterator[EventView]:
        """What has happened since the last look."""
        with self.project.ledger.read() as tx:
            for entry in tx.entries(self.plan_id, after=self.after):
                self.after = entry.seq
                if self._is_wanted(entry):
                    yield event_view(entry)

    def _is_wanted(self, entry: ChainEntry) -> bool:
        is_shown = self.with_seals or entry.kind not in SEALS
        return is_shown and (entry.task_id or "").startswith(self.task)
