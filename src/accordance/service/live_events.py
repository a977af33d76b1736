"""Events as they happen, read once for any number of readers with their own filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from accordance.domain.chain import ChainEntry
from accordance.domain.filters import Filter
from accordance.domain.records import TaskRecord
from accordance.errors import NotFound
from accordance.service.events import EventReader, event_filter
from accordance.service.project import Project
from accordance.service.views.events import EventView, event_view
from accordance.store.memory_filtering import fits

__all__ = ["EventSieve", "LiveReader"]


@dataclass(slots=True)
class LiveReader:
    """Reads every event of a project as it happens, for all who follow it."""

    project: Project
    _reader: EventReader = field(init=False)

    def __post_init__(self) -> None:
        after = self.newest()
        self._reader = EventReader(self.project, after=after, with_seals=True)

    def newest(self) -> int:
        """Return the number of the newest event, whether or not it was read."""
        with self.project.ledger.read() as tx:
            return tx.last_number()

    def wait(self, seconds: float) -> list[ChainEntry]:
        """Return what has happened, after a while at most. Empty: nothing has."""
        self._reader.wait(seconds)
        entries, _ = self._reader.next_page()
        return list(entries)


@dataclass(frozen=True, slots=True)
class EventSieve:
    """Lets through the events that fit a filter, without asking the ledger again."""

    project: Project
    filter: Filter

    @classmethod
    def of(cls, project: Project, text: str) -> EventSieve:
        """Return the sieve for a filter. Raises InvalidFilter, NotFound."""
        with project.ledger.read() as tx:
            return cls(project, event_filter(tx, text))

    def lets_through(self, entry: ChainEntry) -> bool:
        """Whether an event fits."""
        return fits(entry, self.filter, _TasksInLedger(self.project))


@dataclass(frozen=True, slots=True)
class _TasksInLedger(Mapping[str, TaskRecord]):
    """The tasks of a ledger by id, read where a filter asks for their tags or agent."""

    project: Project

    def __getitem__(self, task_id: str) -> TaskRecord:
        try:
            with self.project.ledger.read() as tx:
                return tx.task(task_id)
        except NotFound:
            raise KeyError(task_id) from None

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError


def shown_event(entry: ChainEntry) -> EventView:
    """Show an event."""
    return event_view(entry)
