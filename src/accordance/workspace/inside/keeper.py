"""The keeper of a command: starts it, keeps its output, and leaves nothing running.

Runs outside the sandbox as `python -I -S keeper.py`, between accordance and the
command. Reads its plan as a line on standard input and reports a line of JSON on
standard output. It adopts every orphan below it, so it still finds a daemon that forked
twice and left its session. When standard input closes, accordance is gone or wants the
command no more, and the command is ended.

It is a single file, however long, because nothing of accordance can be imported there.
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
BLOCK = 512
KILOBYTE = 1024
MEMORY_FILE = "/memfd:"
METER_SECONDS = 0.1  # between measurements of memory, processes and disk
KILL_SECONDS = 0.002  # between rounds of killing
LIMITS = ("seconds", "memory_bytes", "processes", "output_bytes", "disk_bytes")
"""The limits that the keeper enforces; the kernel enforces the others."""


class Process:
    """A process of this machine."""

    def __init__(self, pid: int, parent: int, owner: int, threads: int) -> None:
        self.pid = pid
        self.parent = parent
        self.owner = owner
        self.threads = threads


class WatchedCommand:
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


def processes() -> Iterator[Process]:
    """Yield every process of this machine."""
    for name in os.listdir("/proc"):  # noqa: PTH208 - texts, ten times a second
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it may be gone by now
            after_name = _read(f"/proc/{name}/stat").rpartition(b")")[2]
            fields = after_name.split()
            owner = os.stat(f"/proc/{name}").st_uid  # noqa: PTH116
            yield Process(int(name), int(fields[1]), owner, int(fields[17]))


def descendants(root: int) -> list[int]:
    """Return every process below the keeper."""
    children: dict[int, list[int]] = {}
    for process in processes():
        children.setdefault(process.parent, []).append(process.pid)

    below = []
    waiting = [root]
    while waiting:
        pids = children.get(waiting.pop(), [])
        below += pids
        waiting += pids
    return below


def threads_of(user: int) -> int:
    """Return how many threads a user has now.

    The limit on processes is counted on top of them.
    """
    count = 0
    for process in processes():
        if process.owner == user:
            count += process.threads
    return count


def private_memory(pids: list[int]) -> int:
    """Return the bytes that these processes hold for themselves."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError):
            pages = _read(f"/proc/{pid}/statm").split()
            resident = int(pages[1])
            shared = int(pages[2])
            total += max(0, resident - shared)
    return total * PAGE


def shared_memory(pids: list[int]) -> int:
    """Return the bytes of memory that these processes share or only hold open.

    Memory that several of them map counts once.
    """
    mapped = 0
    for pid in pids:
        resident = _kilobytes(f"/proc/{pid}/status", b"RssShmem:")
        if resident:
            share = _kilobytes(f"/proc/{pid}/smaps_rollup", b"Pss_Shmem:")
            mapped += resident if share is None else share

    held = sum(_blocks_of_memory_files(pids).values()) * BLOCK
    return max(mapped * KILOBYTE, held)


def _kilobytes(path: str, name: bytes) -> int | None:
    """Return a number of a file of /proc; None where it cannot be read."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in _read(path).splitlines():
            if line.startswith(name):
                return int(line.split()[1])
    return None


def _blocks_of_memory_files(pids: list[int]) -> dict[int, int]:
    """Return the size of each file without a name that lives in memory."""
    blocks = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - texts
                place = f"/proc/{pid}/fd/{name}"
                if _is_memory_file(place):
                    status = os.stat(place)  # noqa: PTH116
                    blocks[status.st_ino] = status.st_blocks
    return blocks


def _is_memory_file(place: str) -> bool:
    return os.readlink(place).startswith(MEMORY_FILE)  # noqa: PTH115 - a text


def used_bytes(place: str) -> int:
    """Return the bytes in use on the disk of a place: quick, but others write there."""
    disk = os.statvfs(place)
    return (disk.f_blocks - disk.f_bfree) * disk.f_frsize


def own_bytes(places: list[str], pids: list[int]) -> int:
    """Return the bytes of files below these folders.

    Deleted files that these processes still hold open count too.
    """
    blocks = 0
    waiting = list(places)
    while waiting:  # no recursion: the command decides how deep its folders are
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as items:
            for item in items:
                blocks += item.stat(follow_symlinks=False).st_blocks
                if item.is_dir(follow_symlinks=False):
                    waiting.append(item.path)

    blocks += sum(_blocks_of_deleted_files(pids).values())
    return blocks * BLOCK


def _blocks_of_deleted_files(pids: list[int]) -> dict[int, int]:
    """Return the size of each file that is only held open, by its inode.

    Files in memory count as memory, not as disk.
    """
    blocks = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - texts
                place = f"/proc/{pid}/fd/{name}"
                status = os.stat(place)  # noqa: PTH116
                is_deleted = stat.S_ISREG(status.st_mode) and not status.st_nlink
                if is_deleted and not _is_memory_file(place):
                    blocks[status.st_ino] = status.st_blocks
    return blocks


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 4096)
    finally:
        os.close(descriptor)


# From here on everything runs in a process of its own, tested by test_isolation.py.


def start(plan: dict[str, Any]) -> WatchedCommand:  # pragma: no cover
    """Fork the command, with its own session and its output in a single pipe."""
    output, output_end = os.pipe()
    status, status_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become_sandbox(plan, output_end, status_end)

    os.close(output_end)
    os.close(status_end)
    os.set_blocking(output, False)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    log = os.open(plan["log"], flags, 0o600)
    return WatchedCommand(pid, output, status, log)


def _become_sandbox(
    plan: dict[str, Any], output: int, status: int
) -> None:  # pragma: no cover
    """Replace this process by the sandbox; it inherits nothing of ours but two pipes.

    Never returns.
    """
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        status_copy = os.dup(status)
        os.dup2(nothing, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.dup2(status_copy, STATUS)
        os.closerange(STATUS + 1, 256)
        for folder in plan["folders"]:
            _must_be_folder(folder)
        os.execve(plan["argv"][0], plan["argv"], plan["environment"])  # noqa: S606 - the sandbox itself
    except OSError as error:
        os.write(STATUS, str(error).encode())
    os._exit(127)


def _must_be_folder(place: str) -> None:  # pragma: no cover
    """Make sure that a place is a folder and no link. Raises OSError.

    So what is bound or allowed from here on is what was prepared.
    """
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    os.close(os.open(place, flags))


def watch(command: WatchedCommand, plan: dict[str, Any]) -> None:  # pragma: no cover
    """Wait for the end of the command, or for the first limit it exceeds."""
    limits = plan["limits"]
    began = time.monotonic()
    next_measurement = began
    meter = UsageMeter(limits, plan["disk"])
    pidfd = os.pidfd_open(command.pid)

    with selectors.DefaultSelector() as selector:
        for descriptor in (0, command.output, command.status, pidfd):
            selector.register(descriptor, selectors.EVENT_READ)

        while not command.ending:
            for key, _ in selector.select(METER_SECONDS):
                if key.fd == pidfd:
                    return
                if not _take(command, key.fd, limits):
                    selector.unregister(key.fd)
            if command.ending:
                return

            now = time.monotonic()
            if now - began > limits["seconds"]:
                command.ending = "timed_out"
            elif now > next_measurement:
                command.ending = meter.exceeded_limit()
                next_measurement = time.monotonic() + METER_SECONDS


def _take(
    command: WatchedCommand, descriptor: int, limits: dict[str, int]
) -> bool:  # pragma: no cover
    """Handle a descriptor that is ready; False when there will be no more of it."""
    if descriptor == 0:
        command.ending = "abandoned"
        return True
    if descriptor == command.output:
        return _take_output(command, limits)
    return _take_status(command)


def _take_output(
    command: WatchedCommand, limits: dict[str, int]
) -> bool:  # pragma: no cover
    """Move output of the command to the log; False when there will be no more."""
    output = os.read(command.output, CHUNK)
    room = limits["output_bytes"] - command.log_bytes
    kept = output[:room]
    os.write(command.log, kept)
    command.log_bytes += len(kept)

    if len(output) > room:
        command.log_cut = True
        command.ending = command.ending or "output_limit"
    return bool(output)


def _take_status(command: WatchedCommand) -> bool:  # pragma: no cover
    """Take the reason why the command did not start; False when there is no more."""
    reason = os.read(command.status, CHUNK)
    command.not_started += reason
    return bool(reason)


class UsageMeter:  # pragma: no cover
    """Measures what the command uses.

    Its folders are measured only when their disk has filled by more than the limit.
    """

    def __init__(self, limits: dict[str, int], folders: list[str]) -> None:
        self.limits = limits
        self.folders = folders
        self.disk_before = used_bytes(folders[0])
        self.own_before = own_bytes(folders, [])

    def exceeded_limit(self) -> str:
        """Return the first limit that is exceeded, in the words of the facts."""
        below = descendants(os.getpid())
        if len(below) > self.limits["processes"]:
            return "process_limit"
        private = private_memory(below)
        if private + shared_memory(below) > self.limits["memory_bytes"]:
            return "memory_limit"

        limit = self.limits["disk_bytes"]
        used = used_bytes(self.folders[0])
        if used - self.disk_before <= limit:
            return ""
        if own_bytes(self.folders, below) - self.own_before > limit:
            return "disk_limit"
        # Others filled the disk; measure again when half as much was added.
        self.disk_before = used - limit // 2
        return ""


def end_everything(command: WatchedCommand) -> None:  # pragma: no cover
    """Kill until nothing is left; an orphan becomes our child and is next."""
    has_ended = False
    while True:
        if _reap(command):
            has_ended = True
        below = descendants(os.getpid())
        if not below:
            return

        if has_ended and not command.ending:
            command.leftovers = max(command.leftovers, len(below))
        for pid in below:
            may_end_by_itself = pid == command.pid and not command.ending
            if not may_end_by_itself:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(KILL_SECONDS)


def _reap(command: WatchedCommand) -> bool:  # pragma: no cover
    """Collect every child that ended; return whether the command was among them."""
    has_ended = False
    with contextlib.suppress(ChildProcessError):
        pid, status = os.waitpid(-1, os.WNOHANG)
        while pid:
            if pid == command.pid:
                command.code = status
                has_ended = True
            pid, status = os.waitpid(-1, os.WNOHANG)
    return has_ended


def report(command: WatchedCommand, duration: float) -> dict[str, object]:
    """Return what happened, in the words of the facts."""
    exit_code = os.waitstatus_to_exitcode(command.code)
    ending = command.ending or "exited"
    if exit_code < 0:
        ending = command.ending or "signalled"
        exit_code = 128 - exit_code

    note = command.not_started.decode("utf-8", "replace")
    if note:
        ending = "not_started"
        exit_code = 127
    return {
        "exit_code": exit_code,
        "ending": ending,
        "duration_ms": round(duration * 1000),
        "log_bytes": command.log_bytes,
        "log_cut": command.log_cut,
        "leftovers": command.leftovers,
        "note": note,
    }


def main() -> None:  # pragma: no cover
    """Keep a command."""
    plan = json.loads(sys.stdin.buffer.readline())
    ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0)
    # Only accordance ends the keeper, by closing its standard input.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)

    began = time.monotonic()
    command = start(plan)
    try:
        watch(command, plan)
    except BaseException:
        command.ending = "abandoned"
        end_everything(command)
        raise
    duration = time.monotonic() - began
    end_everything(command)

    with contextlib.suppress(BlockingIOError):
        while not command.log_cut and _take_output(command, plan["limits"]):
            pass
    os.close(command.log)
    sys.stdout.write(json.dumps(report(command, duration)))


if __name__ == "__main__":  # pragma: no cover
    main()
