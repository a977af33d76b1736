"""[blobs] of accordance.toml: where the bytes that count are kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field

from accordance.domain.blobs import (
    DATABASE,
    GRACE_HOURS,
    INLINE_BYTES,
    PATIENCE_SECONDS,
    BlobConfig,
)
from accordance.domain.setting_tables import Count, SettingTable


def _no_credentials(address: str | None) -> str | None:
    """Refuse credentials in a file: they come from the environment."""
    if address and re.search(r"//[^/]*@", address):
        raise ValueError("credentials belong in the environment, not in the settings")
    return address


StoreAddress: TypeAlias = Annotated[str, AfterValidator(_no_credentials)]


class BlobSettings(SettingTable):
    """Where the bytes of products, evidence, logs and inputs are kept."""

    store: StoreAddress | None = Field(
        default=None,
        description=(
            "Where large blobs lie: a folder relative to the project folder,"
            " s3://BUCKET/PREFIX, or `database`. By default a folder beside a SQLite"
            " ledger, and the database of a PostgreSQL ledger. Credentials for S3 come"
            " from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or the"
            " machine."
        ),
        examples=["s3://accordance-blobs/production"],
    )
    endpoint: StoreAddress | None = Field(
        default=None,
        description="The address of an S3-compatible store other than AWS.",
        examples=["https://minio.example.com:9000"],
    )
    region: str | None = Field(
        default=None,
        description="The region of the bucket; AWS_REGION, else us-east-1 by default.",
        examples=["eu-central-1"],
    )
    inline_bytes: Annotated[int, Field(ge=0, le=16 << 20)] = Field(
        default=INLINE_BYTES,
        description=(
            "Blobs up to so many bytes lie in the ledger's database; larger ones in the"
            " store."
        ),
        examples=[1048576],
    )
    grace_hours: Count = Field(
        default=GRACE_HOURS,
        description=(
            "Bytes in the store that nothing names any more, or not yet, are removed"
            " after so many hours."
        ),
        examples=[72],
    )
    patience_seconds: Count = Field(
        default=PATIENCE_SECONDS,
        description=(
            "A store that is away is asked again for so long; then what needs it waits."
        ),
        examples=[300],
    )

    def config(self, root: Path) -> BlobConfig:
        """Return it as a ledger takes it; `root` is the project folder."""
        store = self.store
        if store is not None and store != DATABASE and "://" not in store:
            store = str((root / store).absolute())
        return BlobConfig(
            store=store,
            inline_bytes=self.inline_bytes,
            endpoint=self.endpoint,
            region=self.region,
            grace_seconds=self.grace_hours * 3600.0,
            patience_seconds=float(self.patience_seconds),
        )
