"""Where the command line keeps answers: a file with one answer a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass

from accordance.cli.exits import Exit, Failure
from accordance.domain.research.runs import AnswersInMemory, AnswerStore, Group, Run, StoredAnswer


@dataclass(frozen=True, slots=True)
class AnswersInFile:
    """Answers as JSON lines. A line is appended in one write, so that several writers do not mix."""

    file: str

    def add(self, stored: StoredAnswer) -> None:
        """Append one answer."""
        group, at, selected, offered = stored.run
        row = {**group._asdict(), "at": at, "selected": selected, "offered": offered, "digest": stored.digest}
        line = json.dumps({**row, "answer": stored.answer}, ensure_ascii=False).encode() + b"\n"
        try:
            target = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                os.write(target, line)
            finally:
                os.close(target)
        except OSError as error:
            raise Failure(f"{self.file}: cannot be written: {error.strerror or error}", Exit.USAGE) from None

    def answers(self, agent_id: str | None = None, request: str | None = None) -> Iterator[StoredAnswer]:
        """By group, each in the order of time."""
        kept = AnswersInMemory()
        for stored in self._read():
            kept.add(stored)
        return kept.answers(agent_id, request)

    def runs(self, agent_id: str | None = None, request: str | None = None) -> Iterator[Run]:
        """Without the messages."""
        return (stored.run for stored in self.answers(agent_id, request))

    def _read(self) -> Iterator[StoredAnswer]:
        try:
            with open(self.file, encoding="utf-8") as lines:  # noqa: PTH123 - a plain name, as given
                for number, line in enumerate(lines, 1):
                    yield self._stored(line, number)
        except FileNotFoundError:
            raise Failure(
                f"{self.file}: no answers are kept there; see accordance research record", Exit.NOT_FOUND
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise Failure(f"{self.file}: cannot be read: {error}", Exit.USAGE) from None

    def _stored(self, line: str, number: int) -> StoredAnswer:
        try:
            row = json.loads(line)
            group = Group(row["agent_id"], row["request"], row["contract"])
            run = Run(group, row["at"], row["selected"], tuple(row["offered"]))
            return StoredAnswer(run, row["answer"], row["digest"])
        except (ValueError, KeyError, TypeError):
            raise Failure(f"{self.file}: line {number} is no stored answer", Exit.REJECTED) from None


def open_answers(place: str) -> AnswerStore:
    """The store at a place."""
    return AnswersInFile(place)
