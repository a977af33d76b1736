"""Write src/accordance/client/async_client.py from client.py: the same calls, awaited."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src/accordance/client/client.py"
TARGET = SOURCE.with_name("async_client.py")
NOTE = '"""The client for asyncio. Written from client.py by tools/async_client.py (make docs)."""\n'
WORDS = {
    "class Client:": "class AsyncClient:",
    "httpx.Client(": "httpx.AsyncClient(",
    "httpx.BaseTransport": "httpx.AsyncBaseTransport",
    "def __enter__": "async def __aenter__",
    "def __exit__": "async def __aexit__",
    "self.close()": "await self.close()",
    "self._http.close()": "await self._http.aclose()",
    "self._http.request(": "await self._http.request(",
    "time.sleep(": "await asyncio.sleep(",
    "import time": "import asyncio",
    "Iterator": "AsyncIterator",
    "with self._http.stream(": "async with self._http.stream(",
    "response.read()": "await response.aread()",
    "for line in response.iter_lines()": "async for line in response.aiter_lines()",
    "page = self.": "page = await self.",
    "response = self.send(": "response = await self.send(",
    "return self._get(": "return await self._get(",
    "return self._post(": "return await self._post(",
    "return self._hand_in(": "return await self._hand_in(",
}
PLAIN = ("__init__",)


def async_client() -> str:
    """Return the text of the asynchronous client."""
    source = SOURCE.read_text(encoding="utf-8")
    body = source[source.index("from __future__") :]
    for word, awaited in WORDS.items():
        body = body.replace(word, awaited)
    body = re.sub(
        r"^    def (\w+)\(",
        lambda match: match[0] if match[1] in PLAIN else f"    async def {match[1]}(",
        body,
        flags=re.MULTILINE,
    )
    return f"{NOTE}\n{body}"


def formatted(text: str) -> str:
    """Return a text as the formatter has it."""
    command = [sys.executable, "-m", "ruff", "format", "-q", "--stdin-filename"]
    done = subprocess.run(
        [*command, str(TARGET), "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def write_async_client() -> None:
    """Write it."""
    TARGET.write_text(formatted(async_client()), encoding="utf-8")
