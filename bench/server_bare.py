"""The server that bench/server.py compares with: a FastAPI app with a route that writes a row."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import Body, FastAPI
from sqlalchemy import Engine, text

from accordance.server.serving import bound_socket
from accordance.store.opening import make_engine

_TABLE = "CREATE TABLE IF NOT EXISTS bench_rows (id TEXT PRIMARY KEY, body TEXT)"
_INSERT = text("INSERT INTO bench_rows (id, body) VALUES (:id, :body)")


def make_table(place: str | Path) -> None:
    """Make the table of the rows."""
    engine = make_engine(place)
    with engine.begin() as connection:
        connection.execute(text(_TABLE))
    engine.dispose()


def make_app(engine: Engine) -> FastAPI:
    """An app with a single route."""
    app = FastAPI(openapi_url=None)

    @app.post("/rows/{name}")
    def add(name: str, body: Annotated[dict[str, Any], Body()]) -> dict[str, str]:
        with engine.begin() as connection:
            connection.execute(_INSERT, {"id": name, "body": str(body)})
        return {"id": name}

    return app


if __name__ == "__main__":
    listening = bound_socket("127.0.0.1", 0)
    config = uvicorn.Config(
        make_app(make_engine(sys.argv[1])),
        log_level="warning",
        access_log=False,
        backlog=2048,
    )
    print(f"bare: http://127.0.0.1:{listening.getsockname()[1]}/v1", flush=True)
    asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))
