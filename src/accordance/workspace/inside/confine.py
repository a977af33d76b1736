"""The last step before a command: give up every right that is not needed, then become the command.

Runs inside the sandbox as `python -I -S -c SOURCE PLAN`, so it stands alone. The order matters: what needs a right comes
before the right is given up. If anything fails, the command does not run; descriptor 3 tells the keeper why.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import struct
import sys
from collections.abc import Mapping, Sequence

TYPE_CHECKING = False  # importing typing would double the time a start takes
if TYPE_CHECKING:
    from typing import Any

STATUS = 3  # whatever is written here means: not started; closed by the kernel when the command begins
NOT_CONFINED = 125

NO_NEW_PRIVS, SET_SECCOMP, FILTER_MODE, DROP_CAPABILITY = 38, 22, 2, 24
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every machine type
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEVICE = 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
TCP_BOTH_WAYS, TCP_ABI = 0b11, 4
ABSTRACT_SOCKETS_AND_SIGNALS, SCOPE_ABI = 0b11, 6

# Machine type -> audit architecture, and the system calls a test has no business with:
# socket, then add_key, request_key, keyctl, bpf, io_uring_setup, io_uring_enter, io_uring_register.
MACHINES = {
    "x86_64": (0xC000003E, 41, (248, 249, 250, 321, 425, 426, 427)),
    "aarch64": (0xC00000B7, 198, (217, 218, 219, 280, 425, 426, 427)),
}
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1  # 1 is EPERM
LOAD, JUMP_EQUAL, JUMP_GREATER_EQUAL, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT = 0, 4, 16
X32 = 0x40000000  # a second numbering of the same calls


def landlock_abi() -> int:
    """The Landlock version of this kernel, 0 when there is none."""
    return max(0, int(_libc().syscall(CREATE_RULESET, None, 0, 1)))


def call_filter(machine: str, families: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """A filter program: refuses foreign numberings, the listed calls, and sockets of other families than these."""
    architecture, socket, refused = MACHINES[machine]
    checks = [(LOAD, 0, 0, FIRST_ARGUMENT_AT), *((JUMP_EQUAL, 0, 1, family) for family in families)]
    program = [(LOAD, 0, 0, ARCHITECTURE_AT), (JUMP_EQUAL, 1, 0, architecture), (RETURN, 0, 0, REFUSE)]
    program += [(LOAD, 0, 0, NUMBER_AT), (JUMP_GREATER_EQUAL, 0, 1, X32), (RETURN, 0, 0, REFUSE)]
    for number in refused:
        program += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE)]
    program += [(JUMP_EQUAL, 1, 0, socket), (RETURN, 0, 0, ALLOW), checks[0]]
    for check in checks[1:]:
        program += [check, (RETURN, 0, 0, ALLOW)]
    return [*program, (RETURN, 0, 0, REFUSE)]


def rights(abi: int) -> int:
    """Every right over files this kernel can refuse."""
    return RIGHTS_BY_ABI[min(abi, max(RIGHTS_BY_ABI))]


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _must(answer: int, what: str) -> int:
    if answer < 0:
        raise OSError(ctypes.get_errno(), what)
    return answer


def _set_limits(limits: Mapping[str, int]) -> None:  # pragma: no cover - see main
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hardest = resource.getrlimit(kind)[1]
        limit = most if hardest == resource.RLIM_INFINITY else min(most, hardest)
        resource.setrlimit(kind, (limit, limit))


def _ruleset(readable: Sequence[str], writable: Sequence[str]) -> int:  # pragma: no cover - see main
    """A Landlock ruleset: all is refused but reading the one and doing anything in the other."""
    libc, abi = _libc(), landlock_abi()
    everything = rights(abi)
    attributes = struct.pack(
        "=QQQ",
        everything,
        TCP_BOTH_WAYS if abi >= TCP_ABI else 0,
        ABSTRACT_SOCKETS_AND_SIGNALS if abi >= SCOPE_ABI else 0,
    )
    size = 24 if abi >= SCOPE_ABI else 16 if abi >= TCP_ABI else 8
    ruleset = _must(libc.syscall(CREATE_RULESET, attributes, size, 0), "landlock_create_ruleset")
    for paths, allowed in ((readable, READ), (writable, everything)):
        for path in paths:
            _allow(ruleset, path, allowed & everything)
    return ruleset


def _allow(ruleset: int, path: str, allowed: int) -> None:  # pragma: no cover - see main
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not os.path.isdir(path):  # noqa: PTH112 - no pathlib here, for a quick start
        allowed &= ON_FILES
    rule = struct.pack("=Qi", allowed, place)
    _must(_libc().syscall(ADD_RULE, ruleset, 1, rule, 0), f"landlock_add_rule {path}")
    os.close(place)


def _filter_calls(families: Sequence[int]) -> None:  # pragma: no cover - see main
    program = b"".join(struct.pack("=HBBI", *line) for line in call_filter(os.uname().machine, families))
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    _must(_libc().prctl(SET_SECCOMP, FILTER_MODE, header, 0, 0), "seccomp")


def _give_up_capabilities() -> None:  # pragma: no cover - see main
    """Empty the set that bounds whatever is executed from now on."""
    for capability in range(64):
        if _libc().prctl(DROP_CAPABILITY, capability, 0, 0, 0) < 0:
            if capability == 0:
                raise OSError(ctypes.get_errno(), "cannot give up capabilities")
            return  # beyond the last one this kernel knows


def _become(user: int) -> None:  # pragma: no cover - see main
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def main(
    plan: Mapping[str, Any],
) -> None:  # pragma: no cover - a process of its own; seen by test_isolation.py
    """Give up rights, then become the command."""
    try:
        ruleset = _ruleset(plan["readable"], plan["writable"]) if plan["landlock"] else None
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
            _filter_calls(plan["families"])
        os.set_inheritable(STATUS, False)
        os.execv("/bin/sh", ["sh", "-c", plan["command"]])  # noqa: S606 - a shell, with rights given up
    except (OSError, KeyError) as error:
        os.write(STATUS, f"{type(error).__name__}: {error}".encode())
        os._exit(NOT_CONFINED)


if __name__ == "__main__":  # pragma: no cover
    main(json.loads(sys.argv[1]))
