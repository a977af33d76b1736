"""Putting and getting a large blob: megabytes per second, CPU and peak memory, in one run.

Each way runs in a process of its own: a ledger with a folder, a ledger with an S3-compatible server on loopback, and, for
comparison, obstore alone on the same server (`put` with its own multipart upload, `get` as a stream). The server is moto,
which is slow and shares the cores, so the figures compare ways, not stores. The bar for memory: 150 MB more than before,
whatever the size of the blob.

    python bench/blobs.py [--megabytes N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from accordance.domain.blobs import BlobConfig
from accordance.store.opening import open_ledger
from tests.s3_server import BUCKET, KEY, s3_server

MEGABYTES = 1024
MOST_MEMORY = 150.0
WAYS = ("folder", "s3", "obstore")
_CHUNK = 1 << 20


def main() -> None:
    """Measure every way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=MEGABYTES)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--endpoint", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(measured(options.way, options.file, options.endpoint)))
        return

    with tempfile.TemporaryDirectory(prefix="accordance-blobs-") as folder:
        file = Path(folder) / "large.bin"
        with file.open("wb") as stream:
            for _ in range(options.megabytes):
                stream.write(os.urandom(_CHUNK))
        with s3_server() as endpoint:
            figures = [_in_process(way, file, endpoint) for way in WAYS]
    if options.json:
        print(json.dumps(figures, indent=1))
    else:
        show(figures, options.megabytes)


def _in_process(way: str, file: Path, endpoint: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--way", way]
    command += ["--file", str(file), "--endpoint", endpoint]
    environment = {**os.environ, **KEY}
    ran = subprocess.run(command, capture_output=True, check=True, env=environment)
    figures: dict[str, Any] = json.loads(ran.stdout)
    return figures


def measured(way: str, file: Path, endpoint: str) -> dict[str, Any]:
    """Put and get the file in this process."""
    put, get = WAY[way](file, endpoint)
    before = _peak()
    size = file.stat().st_size / 1e6
    put_seconds, put_cpu = _timed(put)
    get_seconds, get_cpu = _timed(get)
    return {
        "way": way,
        "put_mb_s": size / put_seconds,
        "put_cpu_s": put_cpu,
        "get_mb_s": size / get_seconds,
        "get_cpu_s": get_cpu,
        "memory_mb": _peak() - before,
    }


def _timed(act: Callable[[], None]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - wall, time.process_time() - cpu


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


Acts = tuple[Callable[[], None], Callable[[], None]]


def with_ledger(config: BlobConfig, file: Path) -> Acts:
    """A ledger: hash, announce, put, name; read and check."""
    ledger = open_ledger(file.with_name("ledger.db"), blobs=config)
    names = []

    def put() -> None:
        kept = ledger.put(file)
        with ledger.write() as tx:
            names.append(tx.keep_blob(kept))

    def get() -> None:
        with ledger.read() as tx:
            for _ in tx.blob_chunks(names[0]):
                pass

    return put, get


def in_folder(file: Path, _: str) -> Acts:
    """A ledger with a folder."""
    return with_ledger(BlobConfig(store=str(file.with_name("store"))), file)


def in_s3(file: Path, endpoint: str) -> Acts:
    """A ledger with a bucket."""
    file.with_name("ledger.db").unlink(missing_ok=True)
    store = f"s3://{BUCKET}/{os.getpid()}"
    config = BlobConfig(store=store, endpoint=endpoint, region="us-east-1")
    return with_ledger(config, file)


def with_obstore(file: Path, endpoint: str) -> Acts:
    """The library alone."""
    import obstore
    from obstore.store import S3Store

    bucket = S3Store(
        BUCKET,
        prefix="bare",
        config={"endpoint": endpoint, "region": "us-east-1"},
        client_options={"allow_http": True, "timeout": "10m"},
    )

    def put() -> None:
        obstore.put(bucket, "large.bin", file, max_concurrency=4, chunk_size=16 << 20)

    def get() -> None:
        for _ in obstore.get(bucket, "large.bin").stream():
            pass

    return put, get


WAY: dict[str, Callable[[Path, str], Acts]] = {
    "folder": in_folder,
    "s3": in_s3,
    "obstore": with_obstore,
}


def show(figures: list[dict[str, Any]], megabytes: int) -> None:
    """Print a table, and whether memory stays within its bar."""
    print(f"{megabytes} MiB        put MB/s   CPU s   get MB/s   CPU s   memory MB")
    for row in figures:
        print(
            f"{row['way']:<14} {row['put_mb_s']:8.0f} {row['put_cpu_s']:8.1f}"
            f" {row['get_mb_s']:9.0f} {row['get_cpu_s']:8.1f} {row['memory_mb']:10.0f}"
        )
    ours = [row for row in figures if row["way"] != "obstore"]
    is_bounded = all(row["memory_mb"] <= MOST_MEMORY for row in ours)
    print(f"memory within {MOST_MEMORY:.0f} MB: {'yes' if is_bounded else 'NO'}")


if __name__ == "__main__":
    main()
