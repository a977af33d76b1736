"""Files of a project folder that are copies of blobs, fetched when they are needed."""

from __future__ import annotations

import secrets
from pathlib import Path

from accordance.errors import CannotWrite
from accordance.store.ledger import Transaction


def fetch_file(tx: Transaction, sha256: str, path: Path) -> None:
    """Write a blob to a file, whole or not at all, in bounded memory.

    Raises NotFound, BlobError, CannotWrite.
    """
    aside = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with aside.open("wb") as file:
                for chunk in tx.blob_chunks(sha256):
                    file.write(chunk)
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        raise CannotWrite(path, error) from error
