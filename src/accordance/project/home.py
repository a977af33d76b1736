"""Where a project's files lie: the ledger, the plan as a file, inputs and artifacts. Files are copies; the ledger is the truth."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.naming import folder_name, safe_name
from accordance.errors import AccordanceError, InvalidSettings, LedgerUnavailable
from accordance.project.settings import SETTINGS, Settings, parse_settings

FOLDER: Final = ".accordance"


class InvalidHome(AccordanceError):
    """What was named as the project folder can be none."""

    code = "invalid-home"


@dataclass(frozen=True, slots=True)
class Home:
    """A project folder."""

    root: Path

    @property
    def ledger(self) -> Path:
        """The ledger, unless another one is named."""
        return self.root / FOLDER / "ledger.db"

    @property
    def inputs(self) -> Path:
        """What people supply."""
        return self.root / "workspace" / "inputs"

    @property
    def unsent(self) -> Path:
        """Messages that could not be stored."""
        return self.root / FOLDER / "unsent"

    @property
    def runs(self) -> Path:
        """What executors leave behind: logs, state."""
        return self.root / FOLDER / "runs"

    def new_run(self, owner: str, name: str) -> Path:
        """A new folder for one run: an earlier one that was cut off keeps its own, and so does one beside it."""
        base = self.runs / safe_name(owner)
        base.mkdir(parents=True, exist_ok=True)
        said = (place.name.rpartition("-")[2] for place in base.glob(f"{name}-*"))
        number = max((int(one) for one in said if one.isdecimal()), default=0)
        while True:
            number += 1
            with contextlib.suppress(FileExistsError):
                (base / f"{name}-{number}").mkdir()
                return base / f"{name}-{number}"

    @property
    def clones(self) -> Path:
        """Where repositories are changed, by tasks: each run in a folder of its own."""
        return self.root / FOLDER / "work"

    def new_clone(self, task_id: str, attempt: int, owner: str) -> Path:
        """Where one run of an attempt has its clone."""
        return self.clones / f"{folder_name(task_id)}-{attempt}-{owner}"

    @property
    def lent(self) -> Path:
        """The clones that were lent to somebody elsewhere."""
        return self.root / FOLDER / "lent"

    def artifacts(self, task_id: str) -> Path:
        """What a task has produced."""
        return self.root / "workspace" / "artifacts" / folder_name(task_id)

    @property
    def plan_file(self) -> Path:
        """The plan that was imported last, normalised."""
        return self.root / "tasks" / "plan.json"

    def settings(self) -> Settings:
        """What accordance.toml says; the defaults where there is none. Raises InvalidSettings."""
        path = self.root / SETTINGS
        try:
            with path.open("rb") as file:
                _must_be_ours(path, os.fstat(file.fileno()).st_uid)
                content = file.read()
        except FileNotFoundError:
            return Settings.model_construct()
        except OSError as error:
            raise InvalidSettings(f"{path}: {error.strerror or error}") from None
        return parse_settings(content, str(path))


def _must_be_ours(path: Path, owner: int) -> None:
    """Settings name programs that are run and rules that are judged by: nobody else may write them, as git has it."""
    user = os.geteuid()
    trusted = {user, 0}
    if user == 0 and os.environ.get("SUDO_UID", "").isdecimal():
        trusted.add(int(os.environ["SUDO_UID"]))
    if owner not in trusted:
        raise InvalidSettings(
            f"{path} belongs to another user (uid {owner}; you are {user}), so it does not count as your settings; "
            "make it yours (chown), or remove it"
        )


def find_home(start: Path | None = None) -> Home:
    """The nearest folder upwards that has a ledger or settings; else the folder itself. Raises InvalidHome."""
    try:
        here = (start or Path.cwd()).resolve()
        for folder in (here, *here.parents):
            if (folder / FOLDER).is_dir() or (folder / SETTINGS).is_file():
                return Home(folder)
    except FileNotFoundError:
        raise InvalidHome(
            "the current folder has been removed; change to another one"
        ) from None
    except (
        OSError,
        RuntimeError,
        ValueError,
    ) as error:  # too long, links in a circle, letters no file name has
        why = getattr(error, "strerror", None) or error
        raise InvalidHome(
            f"{start}: can be no project folder ({why}); name another one"
        ) from None
    return Home(here)


def write_file(path: Path, content: bytes) -> None:
    """Write a whole file or none of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{os.getpid()}.part")
        try:
            beside.write_bytes(content)
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise LedgerUnavailable(
            f"{path}: cannot be written ({error.strerror or error}); nothing was changed"
        ) from error
