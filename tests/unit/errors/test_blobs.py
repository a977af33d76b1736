"""What is wrong with a blob, and the way out."""

from __future__ import annotations

import pytest

from accordance.errors.blobs import BlobChanged, BlobMissing

SHA256 = "ab" * 32


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (BlobMissing, "blob abababababab is missing in s3://bucket"),
        (BlobChanged, "blob abababababab in s3://bucket is not what was kept"),
    ],
)
def test_a_blob_that_cannot_be_read(
    error: type[BlobMissing | BlobChanged], text: str
) -> None:
    raised = error(SHA256, "s3://bucket")
    assert (raised.sha256, raised.place) == (SHA256, "s3://bucket")
    assert raised.text == text
    assert raised.way_out == "restore it from a backup of the store"
