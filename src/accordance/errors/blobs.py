"""Errors of blobs and of the store that large blobs lie in. Nothing was lost."""

from __future__ import annotations

from accordance.errors.base import AccordanceError, Category


class BlobError(AccordanceError):
    """A blob could not be kept or read."""

    code = "blob-error"


class BlobMissing(BlobError):
    """The ledger names a blob, and its bytes are not in the store."""

    code = "blob-missing"
    category = Category.NOT_FOUND

    def __init__(self, sha256: str, place: str) -> None:
        super().__init__(sha256, place)
        self.sha256 = sha256
        self.place = place

    @property
    def text(self) -> str:
        """Which blob, and where it should be."""
        return f"blob {self.sha256[:12]} is missing in {self.place}"

    @property
    def way_out(self) -> str:
        """A backup of the store."""
        return "restore it from a backup of the store"


class BlobChanged(BlobError):
    """The bytes of a blob are not those that were kept."""

    code = "blob-changed"
    category = Category.REJECTED

    def __init__(self, sha256: str, place: str) -> None:
        super().__init__(sha256, place)
        self.sha256 = sha256
        self.place = place

    @property
    def text(self) -> str:
        """Which blob, and where it lies."""
        return f"blob {self.sha256[:12]} in {self.place} is not what was kept"

    @property
    def way_out(self) -> str:
        """A backup of the store."""
        return "restore it from a backup of the store"


class BlobStoreUnavailable(BlobError):
    """The blob store does not answer, or can take nothing now."""

    code = "blob-store-unavailable"
    category = Category.UNAVAILABLE


class BlobStoreDenied(BlobStoreUnavailable):
    """The blob store does not accept the credentials, or this user may not write."""

    code = "blob-store-denied"
    category = Category.AUTH


class BlobStoreMissing(BlobStoreUnavailable):
    """There is no such bucket."""

    code = "blob-store-missing"
    category = Category.NOT_FOUND


class BlobStoreAddress(BlobError):
    """The settings name something that can be no blob store."""

    code = "blob-store-address"
    category = Category.USAGE


class BlobStoreForeign(BlobError):
    """The settings name another store than that of the ledger's blobs."""

    code = "blob-store-foreign"
    category = Category.CONFLICT
