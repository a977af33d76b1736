"""Git over the network: fetching from a remote and pushing to it.

Only here does git see the user's own settings and environment, for that is where
credentials are: helpers, keys, proxies. Nothing of them reaches a clone. Git asks
no questions, and a remote that stays silent is given up.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, NamedTuple, Self

from accordance.domain.repository_address import RepositoryAddress, without_secrets
from accordance.workspace.errors import (
    GitFailed,
    RemoteProblem,
    RemoteUnavailable,
    WorkspaceError,
)

SECONDS: Final = 120
"""How long a remote may stay silent, unless the settings say otherwise."""
_LONGEST: Final = 6 * 3600  # seconds, whatever it still sends
_LOOK: Final = 0.5  # seconds between two looks whether a silent process still runs
_MAX_OUTPUT: Final = 16 << 20
_READ: Final = 1 << 16

_SETTINGS: Final = (
    "core.hooksPath=" + os.devnull,
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.recurseSubmodules=false",
    "fetch.prune=false",
    "push.recurseSubmodules=no",
    "push.followTags=false",
    "push.gpgSign=false",
    "submodule.recurse=false",
    "credential.interactive=false",
    "http.lowSpeedLimit=1",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
)
_REDIRECTING: Final = re.compile(
    r"GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|COMMON_DIR|NAMESPACE"
    r"|ALTERNATE_OBJECT_DIRECTORIES|CEILING_DIRECTORIES|CURL_VERBOSE|TRACE.*)"
)
_ENVIRONMENT: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "",
}

_WORDS: Final[tuple[tuple[RemoteProblem, re.Pattern[str]], ...]] = (
    (
        RemoteProblem.CREDENTIALS,
        re.compile(
            r"Authentication failed|could not read (?:Username|Password)"
            r"|terminal prompts disabled|Permission denied \(|error: 401"
            r"|Host key verification failed"
        ),
    ),
    (
        RemoteProblem.REFUSES,
        re.compile(r"error: 403|remote rejected|service not enabled|not permitted"),
    ),
    (
        RemoteProblem.MISSING,
        re.compile(
            r"not found|does not appear to be a git repository|does not exist"
            r"|repository not exported|error: 404|couldn't find remote ref HEAD"
        ),
    ),
)
_CHATTER: Final = re.compile(
    r"^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Resolving|Writing|Total|Delta)\b"
)
_MOVED: Final = re.compile(
    r"stale info|fetch first|non-fast-forward|failed to update ref|cannot lock ref"
    r"|incorrect old value|reference already exists|failed to lock"
)


class StalePush(WorkspaceError):
    """A ref of the remote was not where it was expected; nothing was pushed."""

    code = "stale-push"


class RefUpdate(NamedTuple):
    """A ref to be moved on the remote, from where it is expected to be."""

    ref: str
    commit: str  # empty: the ref is deleted
    expected: str | None = None  # None: there must be no such ref


@dataclass(frozen=True, slots=True)
class RemoteGit:
    """Git between a repository of ours and a remote."""

    directory: Path  # a git directory of ours
    address: RepositoryAddress
    seconds: float = SECONDS

    def fetch(self, refspecs: Iterable[str], *, prune: bool = True) -> None:
        """Fetch refs. Raises RemoteUnavailable, GitFailed."""
        options = ["--progress", "--no-tags", "--no-write-fetch-head", "--force"]
        if prune:
            options.append("--prune")
        self._run("fetch", *options, "--", self.address.url, *refspecs)

    def refs(self, *patterns: str) -> dict[str, str]:
        """Return refs of the remote with their commits. Raises RemoteUnavailable."""
        listing = self._run("ls-remote", "--", self.address.url, *patterns)
        refs = {}
        for line in listing.decode("utf-8", "replace").splitlines():
            commit, _, name = line.partition("\t")
            refs[name] = commit
        return refs

    def push(self, *updates: RefUpdate, dry_run: bool = False) -> None:
        """Move refs of the remote, each only from where it is expected to be.

        Raises StalePush if one of them is elsewhere, RemoteUnavailable.
        """
        leases = [
            f"--force-with-lease={each.ref}:{each.expected or ''}" for each in updates
        ]
        refspecs = [f"{each.commit}:{each.ref}" for each in updates]
        options = ["--porcelain", "--progress", "--no-verify", *leases]
        if dry_run:
            options.append("--dry-run")
        self._run("push", *options, "--", self.address.url, *refspecs)

    def _run(self, *command: str) -> bytes:
        settings = [
            *_SETTINGS,
            f"http.lowSpeedTime={max(1, int(self.seconds))}",
            f"protocol.{self.address.transport}.allow=always",
        ]
        options = [word for setting in settings for word in ("-c", setting)]
        run = _Listening.to(
            ["git", *options, *command], self._environment(), self.directory
        )
        try:
            ended = run.until_it_ends(self.seconds)
        finally:
            run.stop()
        output = without_secrets(run.errors)
        if not ended:
            raise self._unavailable(
                RemoteProblem.SILENT, f"for {self.seconds:g} seconds"
            )
        if run.process.returncode != 0:
            raise self._failure(command, run.process.returncode, run.output, output)
        return run.output

    def _environment(self) -> dict[str, str]:
        """The user's environment, without what would lead git elsewhere."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not _REDIRECTING.fullmatch(name)
        }
        return {**kept, **_ENVIRONMENT, "GIT_DIR": os.fspath(self.directory)}

    def _failure(
        self,
        command: tuple[str, ...],
        code: int,
        output: bytes,
        errors: str,
    ) -> WorkspaceError:
        """What the words of git come to."""
        report = without_secrets(output.decode("utf-8", "replace"))
        refused = [line for line in report.splitlines() if line.startswith("!")]
        if command[0] == "push" and refused:
            if any(_MOVED.search(line) for line in refused):
                return StalePush(f"{self.address} has moved: {refused[0]}")
            _, refs, *why = refused[0].split("\t")
            target = refs.partition(":")[2]
            reason = " ".join(why)
            detail = f"{target} {reason}; {_told(errors)}"
            return self._unavailable(RemoteProblem.REFUSES, detail)

        for problem, words in _WORDS:
            if words.search(errors):
                return self._unavailable(problem, _reason(errors))
        if _is_ours(errors):
            return GitFailed(command[:1], code, errors)
        return self._unavailable(RemoteProblem.AWAY, _reason(errors))

    def _unavailable(self, problem: RemoteProblem, detail: str) -> RemoteUnavailable:
        return RemoteUnavailable(self.address.url, problem, detail)


def _reason(errors: str) -> str:
    """The line that says why git gave up."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(?:fatal|error|ssh): ", line)]
    return (telling or lines or ["no output"])[0]


def _told(errors: str) -> str:
    """What the remote, or a hook of it, wrote."""
    lines = []
    for line in errors.splitlines():
        text = line.removeprefix("remote:").strip()
        if line.startswith("remote:") and text and not _CHATTER.match(text):
            lines.append(text)
    return " ".join(lines) or "it says nothing more"


_OUR_FAULTS: Final = re.compile(
    r"not a git repository: |bad object|unable to read|corrupt|missing blob|missing tree"
    r"|inflate:|No space left|Read-only file system|mismatched algorithms"
    r"|did not send all necessary objects|invalid sha1 pointer|loose object"
    r"|unknown option|usage: git|unable to create|index-pack failed|packfile .* cannot"
)


def _is_ours(errors: str) -> bool:
    """Whether the fault lies in our own repository, and not in the remote."""
    return _OUR_FAULTS.search(errors) is not None


@dataclass
class _Listening:
    """A process of git whose output is read as it comes."""

    process: subprocess.Popen[bytes]
    output: bytes = b""
    _errors: bytes = b""

    @property
    def errors(self) -> str:
        return self._errors.replace(b"\r", b"\n").decode("utf-8", "replace")

    @classmethod
    def to(cls, command: list[str], environment: dict[str, str], cwd: Path) -> Self:
        try:
            process = subprocess.Popen(  # noqa: S603 - a fixed program with separate arguments
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd=cwd,
                start_new_session=True,  # no terminal to ask at; all of it can be ended
            )
        except FileNotFoundError:
            raise WorkspaceError(
                f"git is not installed, or {cwd} is gone; a repository on a remote"
                " needs both"
            ) from None
        return cls(process)

    def until_it_ends(self, seconds: float) -> bool:
        """Read what it writes; return whether it ended and was never silent too long."""
        started = heard = time.monotonic()
        with selectors.DefaultSelector() as selector:
            for stream in (self.process.stdout, self.process.stderr):
                selector.register(_descriptor(stream), selectors.EVENT_READ, stream)
            while selector.get_map():
                ready = selector.select(timeout=min(seconds, _LOOK))
                now = time.monotonic()
                if ready:
                    heard = now
                elif self.process.poll() is not None:
                    return True  # a helper that it left behind holds its output open
                if now - heard > seconds or now - started > _LONGEST:
                    return False
                for key, _ in ready:
                    data = os.read(key.fd, _READ)
                    if data:
                        self._take(data, is_output=key.data is self.process.stdout)
                    else:
                        selector.unregister(key.fd)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
            return True
        return False

    def _take(self, data: bytes, *, is_output: bool) -> None:
        if is_output:
            self.output = (self.output + data)[:_MAX_OUTPUT]
        else:
            self._errors = (self._errors + data)[-_READ:]

    def stop(self) -> None:
        """End it with all that it started."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.process.wait()


def _descriptor(stream: IO[bytes] | None) -> int:
    if stream is None:  # pragma: no cover - both are pipes
        raise WorkspaceError("git has no output to read")
    return stream.fileno()
