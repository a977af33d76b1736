"""A bare repository that several machines reach, by file or by HTTP with a password."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from tests.hostile.stage import git

USER, PASSWORD = "ann", "open-sesame"


@dataclass(frozen=True)
class BareRemote:
    """A bare repository with one commit on main, and somebody else's clone of it."""

    place: Path
    other: Path

    @classmethod
    def made(cls, folder: Path, files: Mapping[str, str]) -> BareRemote:
        """Make it of files."""
        remote = cls(folder / "remote.git", folder / "elsewhere")
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", "remote.git")
        git(folder, "init", "--quiet", "--initial-branch=main", "elsewhere")
        git(remote.other, "remote", "add", "origin", str(remote.place))
        remote.push("main", **files)
        return remote

    @property
    def url(self) -> str:
        """Its address."""
        return self.place.as_uri()

    def push(self, branch: str, *, message: str = "base", **files: str) -> str:
        """Commit files to a branch as somebody else, and push it; return the commit."""
        if self.refs(f"refs/heads/{branch}"):
            git(self.other, "fetch", "--quiet", "origin", branch)
            git(self.other, "checkout", "--quiet", "-B", branch, "FETCH_HEAD")
        for name, text in files.items():
            place = self.other / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        git(self.other, "add", "--all")
        git(self.other, "commit", "--quiet", f"--message={message}")
        git(self.other, "push", "--quiet", "--force", "origin", f"HEAD:{branch}")
        return git(self.other, "rev-parse", "HEAD").strip()

    def refs(self, *patterns: str) -> dict[str, str]:
        """Its refs, with their commits."""
        rows = git(
            self.place, "for-each-ref", "--format=%(refname) %(objectname)", *patterns
        )
        pairs = [row.partition(" ") for row in rows.splitlines()]
        return {name: commit for name, _, commit in pairs}

    def hook(self, name: str, script: str) -> None:
        """Let it run a hook."""
        file = self.place / "hooks" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        file.chmod(0o755)


@contextmanager
def served(remote: BareRemote) -> Iterator[str]:
    """Serve a remote over HTTP, to those who know the password; yield its address."""
    git(remote.place, "config", "http.receivepack", "true")

    class Handler(_GitHandler):
        root = remote.place.parent

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        port = server.server_address[1]
        yield f"http://127.0.0.1:{port}/{remote.place.name}"
    finally:
        server.shutdown()
        server.server_close()


class _GitHandler(BaseHTTPRequestHandler):
    """Git's own program behind a password."""

    root: Path
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        """Answer a request."""
        self._answer()

    def do_POST(self) -> None:
        """Answer a request."""
        self._answer()

    def _answer(self) -> None:
        known = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if self.headers.get("Authorization") != f"Basic {known}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
            return

        url = urlsplit(self.path)
        body = self._body()
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "REMOTE_USER": USER,
            "REQUEST_METHOD": self.command,
            "PATH_INFO": url.path,
            "QUERY_STRING": url.query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        answer = subprocess.run(
            ["git", "http-backend"],
            input=body,
            env=environment,
            capture_output=True,
            check=True,
        ).stdout
        head, _, content = answer.partition(b"\r\n\r\n")
        fields = [line.partition(": ") for line in head.decode().splitlines()]
        status = {name: value for name, _, value in fields}.get("Status", "200")
        self.send_response(int(status.split()[0]))
        for name, _, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            return body
        return self.rfile.read(int(self.headers.get("Content-Length", "0")))

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Say nothing."""
