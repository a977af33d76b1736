"""The keeper of one command: starts it, keeps its output, holds it to its limits, and leaves nothing running.

Runs outside the sandbox as `python -I -S keeper.py`, between accordance and the command. Reads its plan as one line on
standard input and answers with one line of JSON on standard output. It adopts every orphan below it, so a daemon that
forked twice and left its session is still found. When standard input closes, whoever asked is gone, and so is the command.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import stat
import sys
import time
from collections.abc import Iterator

TYPE_CHECKING = False  # importing typing would double the time a start takes
if TYPE_CHECKING:
    from typing import Any

BECOME_SUBREAPER = 36
STATUS = 3
CHUNK = 1 << 16
PAGE = os.sysconf("SC_PAGE_SIZE")
LOOK_EVERY = 0.1  # seconds between looks at memory, processes and disk
LIMITS = (
    "seconds",
    "memory_bytes",
    "processes",
    "output_bytes",
    "disk_bytes",
)  # the ones the keeper watches


class Kept:
    """What is known of the command so far."""

    def __init__(self, pid: int, output: int, status: int, log: int) -> None:
        self.pid = pid
        self.output = output
        self.status = status
        self.log = log
        self.log_bytes = 0
        self.log_cut = False
        self.ending = ""
        self.code = 0
        self.leftovers = 0
        self.not_started = b""


def processes() -> Iterator[tuple[int, int, int, int]]:
    """Every process: its id, its parent, its owner, its number of threads."""
    for name in os.listdir("/proc"):  # noqa: PTH208 - texts, ten times a second
        if name.isdigit():
            with contextlib.suppress(OSError):  # it may be gone by now
                about = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()
                yield (
                    int(name),
                    int(about[1]),
                    os.stat(f"/proc/{name}").st_uid,  # noqa: PTH116
                    int(about[17]),
                )


def descendants(root: int) -> list[int]:
    """Every process below this one."""
    children: dict[int, list[int]] = {}
    for pid, parent, _, _ in processes():
        children.setdefault(parent, []).append(pid)
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def threads_of(user: int) -> int:
    """How many threads a user has now: the limit on processes is counted on top of them."""
    return sum(threads for _, _, owner, threads in processes() if owner == user)


def private_memory(pids: list[int]) -> int:
    """Bytes these processes hold for themselves."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError):
            pages = _read(f"/proc/{pid}/statm").split()
            total += max(0, int(pages[1]) - int(pages[2]))
    return total * PAGE


def used_bytes(place: str) -> int:
    """Bytes in use on the disk that holds this place: quick, but others write there too."""
    about = os.statvfs(place)
    return (about.f_blocks - about.f_bfree) * about.f_frsize


def own_bytes(places: list[str], pids: list[int]) -> int:
    """Bytes of the files below these folders, and of deleted files that these processes still hold open."""
    blocks, waiting = 0, list(places)
    while waiting:  # a list and not recursion: who is measured can dig deep
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as items:
            for item in items:
                blocks += item.stat(follow_symlinks=False).st_blocks
                if item.is_dir(follow_symlinks=False):
                    waiting.append(item.path)
    return (blocks + sum(_deleted(pids).values())) * 512


def _deleted(pids: list[int]) -> dict[int, int]:
    held = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - texts
                about = os.stat(f"/proc/{pid}/fd/{name}")  # noqa: PTH116
                if stat.S_ISREG(about.st_mode) and not about.st_nlink:
                    held[about.st_ino] = about.st_blocks
    return held


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 4096)
    finally:
        os.close(descriptor)


def start(
    plan: dict[str, Any],
) -> Kept:  # pragma: no cover - a process of its own; seen by test_isolation.py
    """Fork the command with its own session, its output in one pipe, and nothing else of ours."""
    output, output_end = os.pipe()
    status, status_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDONLY)
            kept = os.dup(status_end)
            for source, target in (
                (nothing, 0),
                (output_end, 1),
                (output_end, 2),
                (kept, STATUS),
            ):
                os.dup2(source, target)
            os.closerange(STATUS + 1, 256)
            for folder in plan["folders"]:
                _must_be_folder(folder)
            os.execve(plan["argv"][0], plan["argv"], plan["environment"])  # noqa: S606 - the sandbox itself
        except OSError as error:
            os.write(STATUS, str(error).encode())
        os._exit(127)
    os.close(output_end)
    os.close(status_end)
    os.set_blocking(output, False)
    log = os.open(
        plan["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600
    )
    return Kept(pid, output, status, log)


def _must_be_folder(place: str) -> None:  # pragma: no cover - see start
    """A folder of its own and no link: whatever is bound or allowed from here on is what was prepared."""
    os.close(os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))


def watch(kept: Kept, plan: dict[str, Any]) -> None:  # pragma: no cover - see start
    """Wait for the end of the command, or for the first limit it meets."""
    limits, began = plan["limits"], time.monotonic()
    limits_met, next_look = Looks(limits, plan["disk"]), began
    pidfd = os.pidfd_open(kept.pid)
    with selectors.DefaultSelector() as ready:
        for descriptor in (0, kept.output, kept.status, pidfd):
            ready.register(descriptor, selectors.EVENT_READ)
        while not kept.ending:
            for key, _ in ready.select(LOOK_EVERY):
                if key.fd == pidfd:
                    return
                if key.fd == 0:
                    kept.ending = "abandoned"
                elif not (
                    _take_output(kept, limits)
                    if key.fd == kept.output
                    else _take_status(kept)
                ):
                    ready.unregister(key.fd)
            if not kept.ending and time.monotonic() - began > limits["seconds"]:
                kept.ending = "timed_out"
            if not kept.ending and time.monotonic() > next_look:
                kept.ending = limits_met.over()
                next_look = time.monotonic() + LOOK_EVERY


def _take_output(
    kept: Kept, limits: dict[str, int]
) -> bool:  # pragma: no cover - see start
    """Move what the command said to the log; False when there will be no more."""
    said = os.read(kept.output, CHUNK)
    room = limits["output_bytes"] - kept.log_bytes
    os.write(kept.log, said[:room])
    kept.log_bytes += min(len(said), room)
    if len(said) > room:
        kept.log_cut = True
        kept.ending = kept.ending or "output_limit"
    return bool(said)


def _take_status(kept: Kept) -> bool:  # pragma: no cover - see start
    said = os.read(kept.status, CHUNK)
    kept.not_started += said
    return bool(said)


class Looks:  # pragma: no cover - see start
    """Looks at what the command uses. Its folders are measured only when their disk has filled by more than the limit."""

    def __init__(self, limits: dict[str, int], folders: list[str]) -> None:
        self.limits = limits
        self.folders = folders
        self.disk_then = used_bytes(folders[0])
        self.own_then = own_bytes(folders, [])

    def over(self) -> str:
        """The first limit that is exceeded, in the words of the facts."""
        below = descendants(os.getpid())
        if len(below) > self.limits["processes"]:
            return "process_limit"
        if private_memory(below) > self.limits["memory_bytes"]:
            return "memory_limit"
        most, used = self.limits["disk_bytes"], used_bytes(self.folders[0])
        if used - self.disk_then > most:
            if own_bytes(self.folders, below) - self.own_then > most:
                return "disk_limit"
            self.disk_then = (
                used - most // 2
            )  # somebody else filled it; look again when half as much came
        return ""


def end_everything(kept: Kept) -> None:  # pragma: no cover - see start
    """Kill until there is nobody left; whoever loses its parent becomes our child and is next."""
    main_ended = False
    while True:
        with contextlib.suppress(ChildProcessError):
            pid, status = os.waitpid(-1, os.WNOHANG)
            while pid:
                if pid == kept.pid:
                    kept.code, main_ended = status, True
                pid, status = os.waitpid(-1, os.WNOHANG)
        below = descendants(os.getpid())
        if not below:
            return
        if main_ended and not kept.ending:
            kept.leftovers = max(kept.leftovers, len(below))
        for pid in below:
            if pid != kept.pid or kept.ending:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def answer(kept: Kept, duration: float) -> dict[str, object]:
    """What happened, in the words of the facts."""
    code = os.waitstatus_to_exitcode(kept.code)
    ending = kept.ending or ("signalled" if code < 0 else "exited")
    note = kept.not_started.decode("utf-8", "replace")
    if note:
        ending = "not_started"
    return {
        "exit_code": 127 if note else 128 - code if code < 0 else code,
        "ending": ending,
        "duration_ms": round(duration * 1000),
        "log_bytes": kept.log_bytes,
        "log_cut": kept.log_cut,
        "leftovers": kept.leftovers,
        "note": note,
    }


def main() -> None:  # pragma: no cover - see start
    """Keep one command."""
    plan = json.loads(sys.stdin.buffer.readline())
    ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0)
    for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(
            ending, signal.SIG_IGN
        )  # the asker closes standard input; nobody else has a say
    began = time.monotonic()
    kept = start(plan)
    try:
        watch(kept, plan)
    except BaseException:
        kept.ending = "abandoned"
        end_everything(kept)
        raise
    duration = time.monotonic() - began
    end_everything(kept)
    with contextlib.suppress(BlockingIOError):
        while not kept.log_cut and _take_output(kept, plan["limits"]):
            pass
    os.close(kept.log)
    sys.stdout.write(json.dumps(answer(kept, duration)))


if __name__ == "__main__":  # pragma: no cover
    main()
