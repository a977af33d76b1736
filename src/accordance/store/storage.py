"""What each store does in its own way: rows in and out, without their meaning.

`sql` and `memory` implement it. What the verbs of the domain mean is written once, in
`chained` and `ledger`, on top of this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from sqlalchemy import Table

from accordance.domain.chain import ChainEntry, Head
from accordance.domain.filters import Filter, Subject
from accordance.domain.lifecycle import State
from accordance.domain.named_things import Named
from accordance.domain.paging import Page, PageRequest
from accordance.domain.plan import NodeLinks
from accordance.domain.progress import NodeMove
from accordance.domain.records import (
    ArtifactRecord,
    EvidenceRecord,
    FileRecord,
    MessageRecord,
    PlanRecord,
    QuestionRecord,
    RequirementRecord,
    ReviewRecord,
    TaskRecord,
    VerdictRecord,
)
from accordance.domain.usage import Budget
from accordance.store.blobs.sources import KeptBlob
from accordance.store.listings import Listing, Record
from accordance.store.seals import Values
from accordance.store.tables import (
    EVIDENCES,
    PLANS,
    QUESTIONS,
    REQUIREMENTS,
    TASK_EDGES,
    TASK_NODES,
)

R = TypeVar(
    "R",
    MessageRecord,
    VerdictRecord,
    ArtifactRecord,
    ReviewRecord,
    QuestionRecord,
    RequirementRecord,
    EvidenceRecord,
    FileRecord,
)
AnyRecord: TypeAlias = (
    MessageRecord
    | VerdictRecord
    | ArtifactRecord
    | ReviewRecord
    | QuestionRecord
    | RequirementRecord
    | EvidenceRecord
    | FileRecord
)

MAKES_WAY: Final = (EVIDENCES, REQUIREMENTS, QUESTIONS, TASK_EDGES, TASK_NODES)
"""What a plan that is imported anew begins without, in the order of deletion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRow:
    """An edge as it is kept."""

    plan_id: str
    edge_id: str
    place: int
    from_task_id: str
    to_task_id: str
    edge_type: str
    metadata: Mapping[str, object] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    """A node as it is kept.

    That is its record, how its parts are combined, and its group of alternatives.
    """

    task: TaskRecord
    combine: str
    rival_group: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AmendedRows:
    """What an amendment makes of the rows of a plan.

    `nodes` are those that are new, or say something else now; the edges are all of
    them.
    """

    plan_id: str
    nodes: Sequence[NodeRow]
    removed_tasks: Sequence[str]
    edges: Sequence[EdgeRow]
    requirements: Sequence[RequirementRecord]
    removed_requirements: Sequence[str]


class Storage(ABC):
    """The rows of a ledger within a transaction."""

    def __init__(self, now: str) -> None:
        self.now = now

    # -- blobs

    @abstractmethod
    def keep(self, content: bytes) -> str:
        """Keep bytes under their hash, and return it.

        The same bytes are kept once, and never changed.
        """

    @abstractmethod
    def keep_blob(self, kept: KeptBlob) -> str:
        """Keep a blob that was put before by `Ledger.put`, and return its hash.

        Raises Conflict if it was put too long ago.
        """

    @abstractmethod
    def blob(self, sha256: str) -> bytes:
        """Return bytes that were kept. Raises NotFound, BlobError."""

    @abstractmethod
    def blob_chunks(self, sha256: str) -> Iterator[bytes]:
        """Yield bytes that were kept, a part at a time. Raises NotFound, BlobError.

        Nothing of them may be used before the last part has come.
        """

    @abstractmethod
    def blob_size(self, sha256: str) -> int | None:
        """Return how many bytes a blob has; None if there is none."""

    # -- plans

    @abstractmethod
    def plans(self) -> list[PlanRecord]:
        """Return all plans, the newest first."""

    @abstractmethod
    def plan(self, plan_id: str) -> PlanRecord:
        """Return a plan. Raises NotFound."""

    @abstractmethod
    def lock(self, plan_id: str) -> PlanRecord:
        """Return a plan, and let no other transaction move it until this one ends."""

    @abstractmethod
    def save_plan(self, plan_id: str, **fields: object) -> None:
        """Change some fields of a plan."""

    @abstractmethod
    def begin_plan(
        self,
        plan: PlanRecord,
        nodes: Iterable[NodeRow],
        edges: Iterable[EdgeRow],
        requirements: Iterable[RequirementRecord],
    ) -> None:
        """Write a plan at its beginning.

        An earlier revision of it, which never began, makes way.
        """

    @abstractmethod
    def write_amended(self, rows: AmendedRows) -> None:
        """Write what has changed in a plan. What is written is sealed."""

    @abstractmethod
    def forget_plan(self, plan_id: str) -> None:
        """Take away every row of a plan, its events included."""

    @abstractmethod
    def forget_blobs(self, names: Iterable[str]) -> None:
        """Take away blobs."""

    # -- tasks

    @abstractmethod
    def node(self, task: str) -> NodeLinks:
        """Return a node with its neighbours. Raises NotFound."""

    @abstractmethod
    def read_ahead(
        self, plan_id: str, tasks: Sequence[str], ended: Sequence[str]
    ) -> None:
        """Read together what settling attempts at tasks will ask for.

        `ended` are those of the tasks that may end by it. It changes nothing but the
        time that it takes.
        """

    @abstractmethod
    def task(self, task_id: str) -> TaskRecord:
        """Return a task. Raises NotFound."""

    @abstractmethod
    def tasks(self, plan_id: str, *states: State) -> Iterator[TaskRecord]:
        """Yield the tasks of a plan in its order, or those in some states."""

    @abstractmethod
    def apply(self, changes: Sequence[NodeMove]) -> None:
        """Keep where nodes stand now."""

    @abstractmethod
    def save_task(self, task_id: str, **fields: object) -> None:
        """Change what a task carries beside its standing.

        That is: lease, product, last_error, same_errors.
        """

    @abstractmethod
    def turns(
        self,
        plan_id: str,
        kinds: tuple[str, ...] = (),
        *,
        most: int,
        after: TaskRecord | None = None,
    ) -> list[TaskRecord]:
        """Return what should be taken up next.

        That is returned work first, then products to review, then the rest, each by
        priority. `after` is a task that had its turn, as it stood then; only what
        comes behind it is returned.
        """

    @abstractmethod
    def expired(self, plan_id: str) -> list[str]:
        """Return the tasks whose lease has run out."""

    @abstractmethod
    def reserved(self, plan_id: str) -> Budget:
        """Return what the attempts in work have reserved of a plan's budget."""

    @abstractmethod
    def states_by_place(
        self, plan_id: str, *, since: int | None = None
    ) -> list[tuple[int, State]]:
        """Return the places of tasks in a plan, in its order, and their states.

        With the number of an event, only of tasks that something happened to since.
        """

    @abstractmethod
    def count_states(self, plan_id: str) -> dict[State, int]:
        """Return how many tasks of a plan are in each state."""

    # -- events

    @abstractmethod
    def add_entry(self, entry: ChainEntry) -> None:
        """Add an event; the plan's head moves to it."""

    @abstractmethod
    def entries(
        self, plan_id: str, *, after: int = 0, limit: int | None = None
    ) -> Iterator[ChainEntry]:
        """Yield the events of a plan in their order."""

    @abstractmethod
    def entries_of(self, task_id: str, kind: str | None = None) -> list[ChainEntry]:
        """Return the events of a task in their order, or those of a kind."""

    # -- lists

    @abstractmethod
    def page(
        self, listing: Listing[Record], wanted: Filter, request: PageRequest
    ) -> Page[Record]:
        """Return a page of a list in `listings`, of the items that fit.

        Plans and tasks in the filter are whole ids. Raises InvalidCursor.
        """

    @abstractmethod
    def named_like(self, subject: Subject, beginning: str, most: int) -> list[Named]:
        """Return plans, tasks or open questions whose id or title begins like that.

        A-Z and a-z are the same letters of a title. The title of a question is its
        text.
        """

    @abstractmethod
    def last_number(self) -> int:
        """Return the number of the ledger's newest event; 0 if there is none."""

    # -- other records

    @abstractmethod
    def add(self, record: AnyRecord) -> None:
        """Add a record."""

    @abstractmethod
    def find(self, kind: type[R], /, **where: object) -> list[R]:
        """Return the records of a kind that match, in the order they were made."""

    @abstractmethod
    def count(self, kind: type[R], /, **where: object) -> int:
        """Return how many records of a kind match."""

    @abstractmethod
    def take_question_numbers(self, count: int) -> int:
        """Return the first of so many numbers, which no other question ever gets."""

    @abstractmethod
    def replace(self, record: AnyRecord) -> None:
        """Write a record in place of that with the same key, or add it."""

    @abstractmethod
    def beside_the_record(self, task_id: str) -> dict[str, Any]:
        """Return the columns of a task that its record does not have."""

    # -- the ledger's own chain

    @abstractmethod
    def ledger_head(self) -> Head:
        """Return where the ledger's own chain ends.

        No other transaction adds to the chain until this one ends.
        """

    @abstractmethod
    def last_of_ledger(self) -> Head:
        """Return where the ledger's own chain ends."""

    @abstractmethod
    def add_ledger_entry(self, entry: ChainEntry) -> None:
        """Add an event to the ledger's own chain."""

    @abstractmethod
    def ledger_entries(self) -> Iterator[ChainEntry]:
        """Yield the ledger's own events in their order."""

    # -- what `verify` reads

    @abstractmethod
    def plan_ids(self, table: Table = PLANS) -> set[str]:
        """Return the plans that a table has rows of, whatever else is in them."""

    @abstractmethod
    def stored(self, table: Table, plan_id: str | None = None) -> Iterator[Values]:
        """Yield the rows of a table as they lie there, or those of a plan."""

    @abstractmethod
    def blobs(self) -> Iterator[tuple[str, str | None]]:
        """Yield the name of every blob, and the hash of its content.

        The hash is None if a piece of the blob is missing. Raises BlobStoreUnavailable,
        BlobStoreForeign.
        """
