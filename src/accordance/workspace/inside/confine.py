"""The last step before a command: give up every right that is not needed.

Runs inside the sandbox as `python -I -S -c SOURCE PLAN`, so it stands alone, however
long it is. The order matters: what needs a right comes before the right is given up. If
anything fails, the command does not run; descriptor 3 tells the keeper why.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import stat
import struct
import sys
import time
from collections.abc import Mapping, Sequence

TYPE_CHECKING = False  # importing typing would double the time a start takes
if TYPE_CHECKING:
    from typing import Any

STATUS = 3
"""Anything written here means: not started. Closed as the command begins."""
NOT_CONFINED = 125
CROWDED_SECONDS = 10.0
"""How long to wait while the user has too many processes."""
CROWDED_PAUSE = 0.02

# Options of prctl.
SET_SECCOMP = 22
DROP_CAPABILITY = 24
NO_NEW_PRIVS = 38
FILTER_MODE = 2

# Landlock: its system calls, the same on every machine type, and rights over files.
CREATE_RULESET = 444
ADD_RULE = 445
RESTRICT_SELF = 446
PATH_BENEATH = 1
ABI_VERSION = 1
EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
TRUNCATE = 1 << 14
IOCTL_DEVICE = 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
RIGHTS_BY_ABI = {
    1: (1 << 13) - 1,
    2: (1 << 14) - 1,
    3: (1 << 15) - 1,
    4: (1 << 15) - 1,
    5: (1 << 16) - 1,
}
TCP_ABI = 4
TCP_BOTH_WAYS = 0b11
SCOPE_ABI = 6
ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

# Machine type -> audit architecture, and the numbers of the system calls below.
MACHINES = {
    "x86_64": (
        0xC000003E,
        {
            "socket": 41,
            "clone": 56,
            "unshare": 272,
            "clone3": 435,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "bpf": 321,
            "io_uring_setup": 425,
            "io_uring_enter": 426,
            "io_uring_register": 427,
            "shmget": 29,
            "shmat": 30,
            "shmctl": 31,
            "semget": 64,
            "semop": 65,
            "semctl": 66,
            "semtimedop": 220,
            "msgget": 68,
            "msgsnd": 69,
            "msgrcv": 70,
            "msgctl": 71,
            "mq_open": 240,
            "mq_unlink": 241,
            "prlimit64": 302,
            "setpriority": 141,
            "ioprio_set": 251,
            "sched_setparam": 142,
            "sched_setscheduler": 144,
            "sched_setaffinity": 203,
            "sched_setattr": 314,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "socket": 198,
            "clone": 220,
            "unshare": 97,
            "clone3": 435,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "bpf": 280,
            "io_uring_setup": 425,
            "io_uring_enter": 426,
            "io_uring_register": 427,
            "shmget": 194,
            "shmat": 196,
            "shmctl": 195,
            "semget": 190,
            "semop": 193,
            "semctl": 191,
            "semtimedop": 192,
            "msgget": 186,
            "msgsnd": 189,
            "msgrcv": 188,
            "msgctl": 187,
            "mq_open": 180,
            "mq_unlink": 181,
            "prlimit64": 261,
            "setpriority": 140,
            "ioprio_set": 30,
            "sched_setparam": 118,
            "sched_setscheduler": 119,
            "sched_setaffinity": 122,
            "sched_setattr": 274,
        },
    ),
}
# What a test has no business with.
REFUSED = (
    "add_key",
    "request_key",
    "keyctl",
    "bpf",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
)
# Refused where processes and memory of the same user are in reach: what outlives the
# command, and what others could read.
REFUSED_IF_SHARED = (
    "shmget",
    "shmat",
    "shmctl",
    "semget",
    "semop",
    "semctl",
    "semtimedop",
    "msgget",
    "msgsnd",
    "msgrcv",
    "msgctl",
    "mq_open",
    "mq_unlink",
)
# Where the arguments of a call stand; of a pointer, its upper half too.
FIRST = 16
SECOND = 24
THIRD = 32
THIRD_UPPER = 36
# The same for calls that change another process: allowed if all conditions of a row
# hold. 0 is the caller itself.
ITSELF = (((FIRST, 0),),)
ALLOWED_IF_SHARED = {
    "prlimit64": (
        ((FIRST, 0),),
        ((THIRD, 0), (THIRD_UPPER, 0)),  # only asks about another process
    ),
    "setpriority": (
        ((FIRST, 0), (SECOND, 0)),  # a process
        ((FIRST, 1), (SECOND, 0)),  # a group of processes
    ),
    "ioprio_set": (
        ((FIRST, 1), (SECOND, 0)),
        ((FIRST, 2), (SECOND, 0)),
    ),
    "sched_setparam": ITSELF,
    "sched_setscheduler": ITSELF,
    "sched_setaffinity": ITSELF,
    "sched_setattr": ITSELF,
}
NEW_USER_NAMESPACE = 0x10000000
# Verdicts and instructions of the filter, and where it finds what it asks for.
ALLOW = 0x7FFF0000
REFUSE = 0x00050000 | 1  # 1 is EPERM
LOAD = 0x20
NOT_KNOWN = 0x00050000 | 38  # 38 is ENOSYS
JUMP_EQUAL = 0x15
JUMP_ANY_BIT = 0x45
JUMP_GREATER_EQUAL = 0x35
RETURN = 0x06
NUMBER_AT = 0
ARCHITECTURE_AT = 4
X32 = 0x40000000  # a second numbering of the same calls


def landlock_abi() -> int:
    """Return the Landlock version of this kernel; 0 when it has none."""
    version = int(_libc().syscall(CREATE_RULESET, None, 0, ABI_VERSION))
    return max(0, version)


def call_filter(
    machine: str, families: Sequence[int], *, shared: bool
) -> list[tuple[int, int, int, int]]:
    """Return a filter program.

    It refuses foreign numberings, the listed calls, and sockets of families other than
    these. `shared` means that processes and memory segments of the same user are in
    reach, so that they need protection.
    """
    architecture, numbers = MACHINES[machine]
    program = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, REFUSE),
        (LOAD, 0, 0, NUMBER_AT),
        (JUMP_GREATER_EQUAL, 0, 1, X32),
        (RETURN, 0, 0, REFUSE),
    ]

    for call in REFUSED:
        program += _if_call(numbers[call], ())
    program += _no_namespaces(numbers)
    if shared:
        for call in REFUSED_IF_SHARED:
            program += _if_call(numbers[call], ())
        for call, rows in ALLOWED_IF_SHARED.items():
            program += _if_call(numbers[call], rows)

    allowed_families = [((FIRST, family),) for family in families]
    program += _if_call(numbers["socket"], allowed_families)
    program.append((RETURN, 0, 0, ALLOW))
    return program


def _no_namespaces(numbers: Mapping[str, int]) -> list[tuple[int, int, int, int]]:
    """Return instructions that refuse new user namespaces.

    In its own namespace, a command could mount folders in memory that no limit counts. The
    flags of clone3 cannot be seen, so it is unknown here, and clone is used instead.
    """
    program = []
    for call in ("clone", "unshare"):
        program += [
            (JUMP_EQUAL, 0, 4, numbers[call]),
            (LOAD, 0, 0, FIRST),
            (JUMP_ANY_BIT, 0, 1, NEW_USER_NAMESPACE),
            (RETURN, 0, 0, REFUSE),
            (RETURN, 0, 0, ALLOW),
        ]
    program += [(JUMP_EQUAL, 0, 1, numbers["clone3"]), (RETURN, 0, 0, NOT_KNOWN)]
    return program


def _if_call(
    number: int, rows: Sequence[Sequence[tuple[int, int]]]
) -> list[tuple[int, int, int, int]]:
    """Return instructions for a call: allow it if all conditions of a row hold."""
    decision = []
    for row in rows:
        for position, (argument, value) in enumerate(row):
            conditions_left = len(row) - 1 - position
            to_next_row = 2 * conditions_left + 1
            decision.append((LOAD, 0, 0, argument))
            decision.append((JUMP_EQUAL, 0, to_next_row, value))
        decision.append((RETURN, 0, 0, ALLOW))
    decision.append((RETURN, 0, 0, REFUSE))

    jump_if_other = (JUMP_EQUAL, 0, len(decision), number)
    return [jump_if_other, *decision]


def rights(abi: int) -> int:
    """Return every right over files that this kernel can refuse."""
    newest = max(RIGHTS_BY_ABI)
    return RIGHTS_BY_ABI[min(abi, newest)]


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


# From here on everything runs in a process of its own, tested by test_isolation.py.


def _must(answer: int, call: str) -> int:
    """Return the answer of a system call that succeeded. Raises OSError."""
    if answer < 0:
        raise OSError(ctypes.get_errno(), call)
    return answer


def _set_limits(limits: Mapping[str, int]) -> None:  # pragma: no cover
    for name, limit in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard_limit = resource.getrlimit(kind)[1]
        if hard_limit != resource.RLIM_INFINITY:
            limit = min(limit, hard_limit)  # noqa: PLW2901
        resource.setrlimit(kind, (limit, limit))


def _ruleset(
    readable: Sequence[str], writable: Sequence[str], *, has_network: bool
) -> int:  # pragma: no cover
    """Make a Landlock ruleset that refuses everything but these.

    The first folders may be read, and anything may be done in the second.
    """
    abi = landlock_abi()
    everything = rights(abi)
    network = TCP_BOTH_WAYS if abi >= TCP_ABI and not has_network else 0
    scope = ABSTRACT_SOCKETS_AND_SIGNALS if abi >= SCOPE_ABI else 0
    attributes = struct.pack("=QQQ", everything, network, scope)

    size = 8
    if abi >= SCOPE_ABI:
        size = 24
    elif abi >= TCP_ABI:
        size = 16
    answer = _libc().syscall(CREATE_RULESET, attributes, size, 0)
    ruleset = _must(answer, "landlock_create_ruleset")

    for path in readable:
        _allow(ruleset, path, READ)
    for path in writable:
        _allow(ruleset, path, everything, os.O_NOFOLLOW)
    return ruleset


def _allow(
    ruleset: int, path: str, allowed: int, follow: int = 0
) -> None:  # pragma: no cover
    """Add a rule for a path, if it exists."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC | follow)
    except FileNotFoundError:
        return

    mode = os.fstat(place).st_mode
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, f"{path} is a link")
    if not stat.S_ISDIR(mode):
        allowed &= ON_FILES

    rule = struct.pack("=Qi", allowed, place)
    answer = _libc().syscall(ADD_RULE, ruleset, PATH_BENEATH, rule, 0)
    _must(answer, f"landlock_add_rule {path}")
    os.close(place)


def _filter_calls(families: Sequence[int], *, shared: bool) -> None:  # pragma: no cover
    instructions = call_filter(os.uname().machine, families, shared=shared)
    packed = [struct.pack("=HBBI", *instruction) for instruction in instructions]
    buffer = ctypes.create_string_buffer(b"".join(packed))
    header = struct.pack("@HP", len(instructions), ctypes.addressof(buffer))
    _must(_libc().prctl(SET_SECCOMP, FILTER_MODE, header, 0, 0), "seccomp")


def _give_up_capabilities() -> None:  # pragma: no cover
    """Empty the set that bounds whatever is executed from now on."""
    for capability in range(64):
        if _libc().prctl(DROP_CAPABILITY, capability, 0, 0, 0) < 0:
            if capability == 0:
                raise OSError(ctypes.get_errno(), "cannot give up capabilities")
            return  # beyond the last capability that this kernel knows


def _become(user: int) -> None:  # pragma: no cover
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _reset_signals() -> None:  # pragma: no cover
    """Handle every signal as a shell would.

    Python, the keeper and their callers ignore some, and that would be inherited.
    """
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _confine(plan: Mapping[str, Any]) -> None:  # pragma: no cover
    """Give up rights, in the only order that works."""
    ruleset = None
    if plan["landlock"]:
        ruleset = _ruleset(
            plan["readable"], plan["writable"], has_network=plan["network"]
        )

    _set_limits(plan["limits"])
    if plan["powerless"] and os.geteuid() == 0:
        _give_up_capabilities()
    if plan["user"] is not None:
        _become(plan["user"])
    os.chdir(plan["directory"])

    _must(_libc().prctl(NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if ruleset is not None:
        _must(_libc().syscall(RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
        os.close(ruleset)
    if plan["families"] is not None:
        _filter_calls(plan["families"], shared=plan["shared"])


def _become_shell(command: str) -> None:  # pragma: no cover
    """Become a shell with this command.

    The kernel counts the processes of a user, and another command of the same user may
    be forking as fast as it can. Its keeper ends it within moments, so wait for that.
    """
    deadline = time.monotonic() + CROWDED_SECONDS
    while True:
        try:
            os.execv("/bin/sh", ["sh", "-c", command])  # noqa: S606 - a shell, with rights given up
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
        time.sleep(CROWDED_PAUSE)


def main(plan: Mapping[str, Any]) -> None:  # pragma: no cover
    """Give up rights, then become the command."""
    try:
        _confine(plan)
        _reset_signals()
        os.set_inheritable(STATUS, False)
        _become_shell(plan["command"])
    except (OSError, KeyError) as error:
        os.write(STATUS, f"{type(error).__name__}: {error}".encode())
        os._exit(NOT_CONFINED)


if __name__ == "__main__":  # pragma: no cover
    main(json.loads(sys.argv[1]))
