"""Numbers of a project in Prometheus's text format. No id of a task is ever a label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from accordance._version import __version__
from accordance.domain.lifecycle import State
from accordance.errors import LedgerUnavailable
from accordance.service.project import Project
from accordance.store.counting import Counts, count_everything
from accordance.store.sql import SqlLedger

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def must_answer(project: Project) -> None:
    """Ask the ledger for a row. Raises LedgerError."""
    with project.ledger.read() as tx:
        tx.last_number()


def prometheus_text(project: Project, *, event_readers: int = 0) -> str:
    """Return the numbers of a project."""
    ledger = project.ledger
    if not isinstance(ledger, SqlLedger):
        raise LedgerUnavailable("numbers are counted in a database")
    counts = count_everything(ledger.engine)
    lines = [*_families(counts, event_readers)]
    return "\n".join(lines) + "\n"


def _families(counts: Counts, event_readers: int) -> Iterator[str]:
    yield from _families_with_labels(counts)
    yield from _families_without_labels(counts, event_readers)


def _families_with_labels(counts: Counts) -> Iterator[str]:
    states = {state.value: counts.tasks.get(state.value, 0) for state in State}
    yield from _family(
        "accordance_info", "gauge", "The version.", [({"version": __version__}, 1)]
    )
    yield from _family(
        "accordance_tasks",
        "gauge",
        "Tasks by state.",
        [({"state": state}, number) for state, number in states.items()],
    )
    yield from _family(
        "accordance_plans",
        "gauge",
        "Plans by state.",
        [({"state": state}, number) for state, number in counts.plans.items()],
    )
    yield from _family(
        "accordance_verdicts_total",
        "counter",
        "Verdicts by outcome and reason.",
        [
            ({"outcome": outcome, "reason_code": reason}, number)
            for (outcome, reason), number in counts.verdicts.items()
        ],
    )
    yield from _family(
        "accordance_messages_total",
        "counter",
        "Messages by kind, and whether they kept their contract.",
        [
            ({"kind": kind, "accepted": str(accepted).lower()}, number)
            for (kind, accepted), number in counts.messages.items()
        ],
    )


def _families_without_labels(counts: Counts, event_readers: int) -> Iterator[str]:
    yield from _plain(
        "accordance_questions_open", "gauge", "Open questions.", counts.open_questions
    )
    yield from _plain(
        "accordance_oldest_question_seconds",
        "gauge",
        "The age of the oldest open question.",
        counts.oldest_question_seconds,
    )
    yield from _plain(
        "accordance_dead_letters",
        "gauge",
        "Tasks that were given up.",
        counts.tasks.get(State.DEAD_LETTER.value, 0),
    )
    yield from _plain(
        "accordance_events_total", "counter", "Events of the ledger.", counts.events
    )
    yield from _plain(
        "accordance_tokens_total", "counter", "Tokens of running plans.", counts.tokens
    )
    yield from _plain(
        "accordance_cost_total", "counter", "Cost of running plans.", counts.cost
    )
    yield from _plain(
        "accordance_workers", "gauge", "Workers that are alive.", counts.workers
    )
    yield from _plain(
        "accordance_event_readers",
        "gauge",
        "Clients that follow events.",
        event_readers,
    )


def _plain(name: str, kind: str, about: str, value: float) -> Iterator[str]:
    yield from _family(name, kind, about, [({}, value)])


def _family(
    name: str,
    kind: str,
    about: str,
    samples: Iterable[tuple[Mapping[str, str], float]],
) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        marks = []
        for key, text in labels.items():
            escaped = _escaped(text)
            marks.append(f'{key}="{escaped}"')
        label = f"{{{','.join(marks)}}}" if marks else ""
        yield f"{name}{label} {value}"


def _escaped(text: str) -> str:
    escaped = text.replace("\\", "\\\\")
    escaped = escaped.replace('"', '\\"')
    return escaped.replace("\n", "\\n")
