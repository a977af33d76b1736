"""A blob store in a bucket: S3, or anything that is S3-compatible.

Credentials come from the environment or the machine, as AWS's own tools take them, and
are never part of the settings.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import cached_property
from types import ModuleType
from typing import Any, Final

from accordance.domain.blobs import BlobConfig
from accordance.errors import (
    BlobStoreAddress,
    BlobStoreDenied,
    BlobStoreMissing,
    BlobStoreUnavailable,
)
from accordance.store.blobs.port import BlobStore, StoredObject

_ADDRESS: Final = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(/[^?#]*)?")
_CREDENTIALS: Final = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
_HTTP_ERROR: Final = re.compile(r"\b[45]\d\d [A-Z][A-Za-z ]*[a-z]")
_LISTED_AT_ONCE: Final = 1000
_DENIED: Final = (
    "accessdenied",
    "invalidaccesskeyid",
    "signaturedoesnotmatch",
    "expiredtoken",
    "403 forbidden",
    "401 unauthorized",
    "no credential",
    "credentials",
)
"""What a store says that does not accept the credentials."""


class S3Store(BlobStore):
    """Objects of a bucket, below a prefix."""

    def __init__(self, config: BlobConfig) -> None:
        address = config.store or ""
        match = _ADDRESS.fullmatch(address)
        if match is None:
            raise BlobStoreAddress(
                f"[blobs] store: {_without_secrets(address)!r} names no bucket",
                way_out="write it as s3://BUCKET/PREFIX, without credentials",
            )
        self._bucket_name = match[1]
        self._prefix = (match[2] or "").strip("/")
        self._config = config
        self.place = address
        if config.endpoint:
            self.place = f"{address} at {config.endpoint}"

    @cached_property
    def _library(self) -> ModuleType:
        """The library, imported when it is first used. Raises BlobStoreAddress."""
        try:
            import obstore.store
        except ImportError:
            raise BlobStoreAddress(
                f"[blobs] store: {self.place} needs the extra `s3`",
                way_out="pip install 'accordance[s3]'",
            ) from None
        return obstore

    @cached_property
    def _bucket(self) -> Any:
        config = self._config
        options: dict[str, str] = {}
        if config.endpoint:
            options["endpoint"] = config.endpoint
        if config.region:
            options["region"] = config.region
        is_plain = (config.endpoint or "").startswith("http://")
        patience = timedelta(seconds=config.patience_seconds)
        return self._library.store.S3Store(
            self._bucket_name,
            prefix=self._prefix or None,
            config=options,
            client_options={"allow_http": is_plain, "timeout": timedelta(minutes=5)},
            retry_config={"max_retries": 1000, "retry_timeout": patience},
        )

    def write(self, key: str, content: bytes) -> None:
        obstore = self._library
        with self._translated():
            obstore.put(self._bucket, key, content, use_multipart=False)

    def read(self, key: str) -> bytes | None:
        obstore = self._library
        with self._translated():
            try:
                content: bytes = obstore.get(self._bucket, key).bytes().to_bytes()
            except FileNotFoundError as error:
                if "NoSuchBucket" in str(error):
                    raise
                return None
        return content

    def objects(self, prefix: str = "") -> Iterator[StoredObject]:
        obstore = self._library
        with self._translated():
            pages = obstore.list(
                self._bucket, prefix or None, chunk_size=_LISTED_AT_ONCE
            )
            for page in pages:
                for stored in page:
                    yield StoredObject(stored["path"], stored["size"])

    def remove(self, keys: Iterable[str]) -> None:
        obstore = self._library
        with self._translated():
            for key in keys:
                with contextlib.suppress(FileNotFoundError):
                    obstore.delete(self._bucket, key)

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate what the library says to our errors, with the way out."""
        from obstore.exceptions import BaseError

        try:
            yield
        except (OSError, BaseError) as error:
            raise self._error(str(error)) from error

    def _error(self, text: str) -> BlobStoreUnavailable:
        folded = text.casefold()
        if "nosuchbucket" in folded or "bucket does not exist" in folded:
            return BlobStoreMissing(
                f"the blob store {self.place} has no such bucket",
                way_out="create the bucket, or name another in [blobs] store",
            )
        if any(saying in folded for saying in _DENIED):
            return BlobStoreDenied(
                f"the blob store {self.place} does not accept the credentials",
                way_out=_CREDENTIALS,
            )
        answer = _HTTP_ERROR.search(text)
        reason = f"answers {answer[0]}" if answer else "does not answer"
        return BlobStoreUnavailable(
            f"the blob store {self.place} {reason}",
            way_out="check its address, and that it is running",
        )


def _without_secrets(address: str) -> str:
    """An address as it may be shown: without what stands before an @."""
    return re.sub(r"//[^/@]*@", "//***@", address)
