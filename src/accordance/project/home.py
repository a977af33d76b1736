"""Where a project keeps its files: ledger, plan, inputs, artifacts, runs and clones.

Files are copies; the ledger is the truth.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.blobs import BlobConfig
from accordance.domain.naming import folder_name, safe_name
from accordance.errors import AccordanceError, InvalidSettings, LedgerUnavailable
from accordance.project.settings import (
    SETTINGS,
    Settings,
    default_settings,
    parse_settings,
)

FOLDER: Final = ".accordance"


class InvalidHome(AccordanceError):
    """A path that cannot be that of a project folder."""

    code = "invalid-home"


@dataclass(frozen=True, slots=True)
class Home:
    """A project folder."""

    root: Path

    @property
    def ledger(self) -> Path:
        """The ledger, unless the settings name another."""
        return self.root / FOLDER / "ledger.db"

    @property
    def inputs(self) -> Path:
        """Files that people supply."""
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
        """Make a new folder for a run.

        Its number follows the last, so that an earlier run that was cut off keeps
        its folder. A run that starts at the same time takes the number after it.
        """
        base = self.runs / safe_name(owner)
        base.mkdir(parents=True, exist_ok=True)

        number = _last_number(base, name)
        while True:
            number += 1
            folder = base / f"{name}-{number}"
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                return folder

    @property
    def clones(self) -> Path:
        """The clones in which tasks change repositories, a clone for each run."""
        return self.root / FOLDER / "work"

    def new_clone(self, task_id: str, attempt: int, owner: str) -> Path:
        """Return the folder for the clone of a run."""
        return self.clones / f"{folder_name(task_id)}-{attempt}-{owner}"

    @property
    def repositories(self) -> Path:
        """What this machine has of repositories that live on remotes."""
        return self.root / FOLDER / "repositories"

    @property
    def lent(self) -> Path:
        """Clones that are lent to workers elsewhere."""
        return self.root / FOLDER / "lent"

    def artifacts(self, task_id: str) -> Path:
        """Return the folder of a task's products."""
        return self.root / "workspace" / "artifacts" / folder_name(task_id)

    @property
    def plan_file(self) -> Path:
        """The last plan that was imported, normalised."""
        return self.root / "tasks" / "plan.json"

    def blobs(self) -> BlobConfig:
        """Return where the blobs of the ledger are kept. Raises InvalidSettings."""
        return self.settings().blobs.config(self.root)

    def settings(self) -> Settings:
        """Read accordance.toml, or return the defaults if there is none.

        Raises InvalidSettings.
        """
        path = self.root / SETTINGS
        try:
            with path.open("rb") as file:
                _must_be_ours(path, os.fstat(file.fileno()).st_uid)
                content = file.read()
        except FileNotFoundError:
            return default_settings()
        except OSError as error:
            raise InvalidSettings(f"{path}: {error.strerror or error}") from None
        return parse_settings(content, str(path))

    def repository(self) -> Path:
        """Return the repository that tasks change. Raises InvalidSettings."""
        return (self.root / self.settings().workspace.repo).resolve()


def _last_number(folder: Path, name: str) -> int:
    """Return the highest number of the folders NAME-NUMBER, or 0 if there is none."""
    endings = [path.name.rpartition("-")[2] for path in folder.glob(f"{name}-*")]
    numbers = [int(ending) for ending in endings if ending.isdecimal()]
    return max(numbers, default=0)


def _must_be_ours(path: Path, owner: int) -> None:
    """Refuse settings that another user could write, as git does.

    Settings name programs to run and the rules of judging.
    """
    user = os.geteuid()
    trusted = {user, 0}
    sudo_user = os.environ.get("SUDO_UID", "")
    if user == 0 and sudo_user.isdecimal():
        trusted.add(int(sudo_user))

    if owner not in trusted:
        raise InvalidSettings(
            f"{path} belongs to another user (uid {owner}; you are {user}), "
            "so it does not count as your settings; "
            "make it yours (chown), or remove it"
        )


def find_home(start: Path | None = None) -> Home:
    """Return the nearest folder upwards that has a ledger or settings.

    If there is none, the folder itself. Raises InvalidHome.
    """
    try:
        here = (start or Path.cwd()).resolve()
        for folder in (here, *here.parents):
            has_state = (folder / FOLDER).is_dir()
            if has_state or (folder / SETTINGS).is_file():
                return Home(folder)
    except FileNotFoundError:
        raise InvalidHome(
            "the current folder has been removed; change to another folder"
        ) from None
    except (OSError, RuntimeError, ValueError) as error:
        # too long, links in a circle, or characters that no file name has
        reason = getattr(error, "strerror", None) or error
        raise InvalidHome(
            f"{start}: cannot be a project folder ({reason}); name another folder"
        ) from None
    return Home(here)


def write_file(path: Path, content: bytes) -> None:
    """Write a whole file, or leave it as it was. Raises LedgerUnavailable."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{secrets.token_hex(8)}.part")
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or error
        raise LedgerUnavailable(
            f"{path}: cannot be written ({reason}); nothing was changed"
        ) from error
