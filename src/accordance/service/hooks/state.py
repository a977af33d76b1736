"""What the hooks of a working tree need, kept where no isolated agent can write.

task.json      the task, as it was when the hook was put in
baseline.json  what the agent begins with
hook.json      which hooks there are, and how often an agent is sent back
rounds/        how often an agent was sent back, a file for each session
evidence/      a folder for each judgement
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from accordance.domain.hooks.kinds import HookKind
from accordance.domain.hooks.stopping import ROUNDS
from accordance.errors import AccordanceError, CannotWrite, Category
from accordance.project.home import write_file
from accordance.workspace.baseline import Baseline
from accordance.workspace.hook_places import state_folder

_KEPT: Final = 10  # judgements whose evidence stays
_NAME_DIGITS: Final = 32


class HookNotSet(AccordanceError):
    """No hook was put into this working tree, so there is nothing to judge by."""

    code = "hook-not-set"
    category = Category.NOT_FOUND


class HookDamaged(AccordanceError):
    """What a hook judges by cannot be read."""

    code = "hook-damaged"
    category = Category.UNAVAILABLE


class HookRecord(BaseModel):
    """What was put in, and how it is to behave."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        defer_build=True,
    )

    schema_version: Literal["accordance.hook.v1"] = "accordance.hook.v1"
    repository: str
    task_id: str
    kinds: tuple[HookKind, ...]
    made: tuple[str, ...] = ()  # the files that were not there before
    rounds: int = ROUNDS


@dataclass(frozen=True, slots=True)
class HookState:
    """The folder of a working tree."""

    folder: Path

    @classmethod
    def of(cls, root: Path) -> HookState:
        """Return that of a working tree. Raises WorkspaceError."""
        return cls(state_folder(root))

    @property
    def task(self) -> Path:
        """The task."""
        return self.folder / "task.json"

    @property
    def baseline(self) -> Path:
        """What the agent begins with."""
        return self.folder / "baseline.json"

    @property
    def _record(self) -> Path:
        return self.folder / "hook.json"

    def record(self) -> HookRecord | None:
        """Return what was put in; None where nothing was. Raises HookDamaged."""
        try:
            return HookRecord.model_validate_json(self._record.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            reason = str(error).splitlines()[0]
            raise HookDamaged(
                f"{self._record} cannot be read ({reason})",
                way_out="put the hook in again, with its task",
            ) from None

    def keep(self, record: HookRecord, task: bytes, baseline: Baseline) -> None:
        """Keep what hooks judge by; what is known of sessions is over."""
        shutil.rmtree(self.folder / "rounds", ignore_errors=True)
        try:
            self.folder.mkdir(
                mode=0o700,
                parents=True,
                exist_ok=True,
            )
        except OSError as error:
            raise CannotWrite(self.folder, error) from None
        write_file(self.task, task)
        write_file(self.baseline, baseline.model_dump_json(indent=1).encode())
        self.keep_record(record)

    def keep_record(self, record: HookRecord) -> None:
        """Keep which hooks there are."""
        write_file(self._record, record.model_dump_json(indent=1).encode())

    def forget(self) -> None:
        """Remove everything but the evidence."""
        shutil.rmtree(self.folder / "rounds", ignore_errors=True)
        for place in (self._record, self.baseline, self.task):
            place.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # evidence stays
            self.folder.rmdir()

    def refused(self, session: str) -> int:
        """Return how often the agent of a session was sent back in its turn."""
        try:
            return int(self._round_file(session).read_text("ascii"))
        except FileNotFoundError:
            return 0
        except (OSError, ValueError):
            raise HookDamaged(
                f"{self._round_file(session)} cannot be read", way_out="remove it"
            ) from None

    def count(self, session: str, refused: int) -> None:
        """Remember how often the agent of a session was sent back."""
        write_file(self._round_file(session), f"{refused}".encode())

    def _round_file(self, session: str) -> Path:
        digest = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()
        return self.folder / "rounds" / digest[:_NAME_DIGITS]

    def new_evidence(self) -> Path:
        """Make a folder for a judgement; the oldest beyond the last ten go.

        Raises CannotWrite.
        """
        evidence = self.folder / "evidence"
        try:
            evidence.mkdir(
                mode=0o700,
                parents=True,
                exist_ok=True,
            )
            numbers = sorted(
                int(place.name) for place in evidence.iterdir() if place.name.isdigit()
            )
            for number in numbers[: -_KEPT + 1]:
                shutil.rmtree(evidence / f"{number:06}", ignore_errors=True)
            number = numbers[-1] if numbers else 0
            while True:
                number += 1
                with contextlib.suppress(FileExistsError):
                    place = evidence / f"{number:06}"
                    place.mkdir()
                    return place
        except OSError as error:
            raise CannotWrite(evidence, error) from None
