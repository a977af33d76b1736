"""The files under workspace/inputs/, in step with those that the ledger has.

People put a file into the folder of any machine; its bytes are kept with the ledger, so
that attempts on other machines have it, too. What is new, changed or removed is known by
comparing the folder with what it held at the last look. What has changed elsewhere is
fetched when an attempt needs it.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from accordance.domain.input_binding import InputFile
from accordance.domain.records import (
    EvidenceRecord,
    FileRecord,
    RequirementRecord,
    TaskRecord,
)
from accordance.errors import BlobError
from accordance.project.home import FOLDER, Home, write_file
from accordance.store.blobs.sources import KeptBlob
from accordance.store.ledger import Ledger, Transaction
from accordance.work.fetched_files import fetch_file

_INDEX: Final = "inputs.json"
_NOW: Final = "now"  # until the transaction knows the time


class FileStamp(NamedTuple):
    """A file of the folder as it was last seen."""

    sha256: str
    size: int
    mtime_ns: int


Stamps = dict[str, FileStamp]


@dataclass
class InputUploads:
    """Keeps the files of a long-lived process beside its work.

    A file counts as an input once all of it is kept.
    """

    ledger: Ledger
    _under_way: set[FileStamp] = field(default_factory=set)
    _kept: dict[FileStamp, KeptBlob] = field(default_factory=dict)

    def kept(self, path: Path, file: FileStamp) -> KeptBlob | None:
        """Return a file that is kept; None while it is under way."""
        kept = self._kept.pop(file, None)
        if kept is None and file not in self._under_way:
            self._under_way.add(file)
            thread = threading.Thread(
                target=self._keep, args=(path, file), daemon=True, name="input-upload"
            )
            thread.start()
        return kept

    def _keep(self, path: Path, file: FileStamp) -> None:
        try:
            self._kept[file] = self.ledger.put(path)
        except (BlobError, OSError):
            pass  # it is tried again at the next look
        finally:
            self._under_way.discard(file)


def look_at_inputs(
    ledger: Ledger, home: Home, uploads: InputUploads | None = None
) -> list[InputFile]:
    """Return the input files that there are now, on any machine.

    A file is read again only if its size or modification time has changed. With
    `uploads`, no caller waits until a file is kept. Raises BlobError.
    """
    index = _read_index(home)
    before = index or {}
    with ledger.read() as tx:
        known = {record.path: record for record in tx.find(FileRecord)}
        gone = set() if index is not None else _never_kept(tx, known)
    here = _files_here(home, before)
    gone = (gone | before.keys()) - here.keys()

    news = _Kept(ledger, home, uploads)
    for name, file in sorted(here.items()):
        if _is_news(file, before.get(name), known.get(name)):
            news.keep(name, file)
    changes = {name: _record(name, file) for name, file in news.files.items()}
    for name in gone & known.keys():
        record = known[name]
        was_here = name not in before or before[name].sha256 == record.sha256
        if record.gone_at is None and was_here:
            changes[name] = replace(record, gone_at=_NOW)

    if changes:
        known.update(_write(ledger, changes, news.blobs))
    after = {**here, **news.files}
    for name in news.waiting:
        del after[name]
    if after != before:
        _write_index(home, after)
    present = sorted(name for name, each in known.items() if each.gone_at is None)
    return [InputFile(name, known[name].sha256) for name in present]


@dataclass
class _Kept:
    """The files of a look that are new or have changed, as they are kept."""

    ledger: Ledger
    home: Home
    uploads: InputUploads | None
    files: Stamps = field(default_factory=dict)
    blobs: list[KeptBlob] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)

    def keep(self, name: str, file: FileStamp) -> None:
        """Keep a file, or let it wait for the next look."""
        path = self.home.inputs / name
        try:
            if self.uploads is None:
                blob: KeptBlob | None = self.ledger.put(path)
            else:
                blob = self.uploads.kept(path, file)
        except OSError:  # it is gone again
            blob = None
        if blob is None:
            self.waiting.append(name)
            return
        self.blobs.append(blob)
        self.files[name] = file._replace(sha256=blob.sha256, size=blob.size)


def _is_news(
    file: FileStamp, before: FileStamp | None, record: FileRecord | None
) -> bool:
    """Whether a file is new or has changed here; another machine may have changed it."""
    if record is None:
        return True
    if record.gone_at is None and record.sha256 == file.sha256:
        return False
    return before is None or before.sha256 != file.sha256


def _never_kept(tx: Transaction, known: Mapping[str, FileRecord]) -> set[str]:
    """The files that were known before their bytes were kept: only a folder has them."""
    return {
        name for name, record in known.items() if tx.blob_size(record.sha256) is None
    }


def _record(name: str, file: FileStamp) -> FileRecord:
    return FileRecord(
        path=name, sha256=file.sha256, size=file.size, mtime_ns=file.mtime_ns
    )


def _write(
    ledger: Ledger, changes: Mapping[str, FileRecord], blobs: list[KeptBlob]
) -> dict[str, FileRecord]:
    """Write what has changed, and return it."""
    written = {}
    with ledger.write() as tx:
        for blob in blobs:
            tx.keep_blob(blob)
        for name, change in changes.items():
            record = change
            if record.gone_at is not None:
                record = replace(record, gone_at=tx.now)
            tx.replace(record)
            written[name] = record
    return written


# -- the folder of this machine


def _files_here(home: Home, before: Mapping[str, FileStamp]) -> Stamps:
    files = {}
    for path in _walk(home.inputs):
        name = path.relative_to(home.inputs).as_posix()
        file = _stamp(path, name, before.get(name))
        if file is not None:
            files[name] = file
    return files


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith("."):
                yield Path(parent, name)


def _stamp(path: Path, name: str, before: FileStamp | None) -> FileStamp | None:
    """The stamp of a file; None for a file that cannot answer anything.

    That is a file that is gone or unreadable, whose name is no text, or that is not
    regular: reading from a pipe would never end.
    """
    try:
        name.encode()
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None

        size, mtime_ns = status.st_size, status.st_mtime_ns
        if before is not None and before[1:] == (size, mtime_ns):
            return before

        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, UnicodeEncodeError):
        return None
    return FileStamp(digest, size, mtime_ns)


def _index_of(home: Home) -> Path:
    return home.root / FOLDER / _INDEX


def _read_index(home: Home) -> Stamps | None:
    """What the folder held at the last look; None before the first look."""
    try:
        document = json.loads(_index_of(home).read_bytes())
        return {name: FileStamp(*stamp) for name, stamp in document.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _write_index(home: Home, stamps: Mapping[str, FileStamp]) -> None:
    write_file(_index_of(home), json.dumps(stamps, sort_keys=True).encode())


# -- for an attempt


def fetch_inputs(tx: Transaction, home: Home, task: TaskRecord) -> None:
    """Bring the files that answer a task's requirements to this machine.

    Raises BlobError, CannotWrite.
    """
    needs = tx.find(RequirementRecord, task_id=task.task_id, kind="FILE")
    if not needs:
        return
    stamps = _read_index(home) or {}
    before = dict(stamps)
    for need in needs:
        evidence = tx.find(
            EvidenceRecord,
            plan_id=task.plan_id,
            requirement_id=need.requirement_id,
            stale_at=None,
        )
        for item in evidence:
            _fetch_input(tx, home, stamps, item)
    if stamps != before:
        _write_index(home, stamps)


def _fetch_input(
    tx: Transaction, home: Home, stamps: Stamps, item: EvidenceRecord
) -> None:
    name = item.reference
    path = home.inputs / name
    here = _stamp(path, name, stamps.get(name))
    if here is not None and here.sha256 == item.sha256:
        return
    if tx.blob_size(item.sha256) is None:
        return  # kept before inputs were shared: it lies where it was put
    fetch_file(tx, item.sha256, path)
    fetched = _stamp(path, name, None)
    if fetched is not None:
        stamps[name] = fetched
