"""What isolation this machine offers.

The probe tries: at each level it runs a command that attempts what must be refused.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from accordance.domain.facts import IsolationLevel, IsolationProbe, LevelProbe
from accordance.workspace.confining import PYTHON
from accordance.workspace.errors import IsolationUnavailable
from accordance.workspace.inside import confine
from accordance.workspace.isolation import (
    INSTALL,
    ROOT_REMEDY,
    CommandLimits,
    Room,
    why_no_landlock,
)
from accordance.workspace.running import run

AUTO: Final = "auto"
LEVEL_NAMES: Final = (
    AUTO,
    IsolationLevel.BWRAP.value,
    IsolationLevel.LANDLOCK.value,
    IsolationLevel.RLIMIT.value,
)

_LEAST_ABI: Final = 3  # before it, files elsewhere could be truncated
_SIGNALS_ABI: Final = 6  # before it, other processes of the same user could be ended
_ALLOW: Final = (
    "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
    "AppArmor profile for bwrap)"
)
_KERNEL: Final = "use Linux 6.12 or newer with Landlock switched on"

_PERMITTED: Final = "work"
_ATTEMPT: Final = """
import json, socket, sys
outside, secret, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
def attempt(action):
    try:
        action()
    except OSError:
        return False
    return True
print(json.dumps({
    "work": attempt(lambda: open("probe", "w").close()),
    "write outside": attempt(lambda: open(outside, "w").close()),
    "read outside": attempt(lambda: open(secret).close()),
    "reach loopback": attempt(lambda: socket.create_connection(("127.0.0.1", port), 2).close()),
}))
"""


@cache
def probe() -> IsolationProbe:
    """Try every level, strongest first. Done once per process."""
    return IsolationProbe((_bubblewrap(), _landlock(), _rlimit()))


def level_for(wish: str = AUTO) -> IsolationLevel:
    """Return the level to use. `auto` is the strongest that works and confines.

    Raises IsolationUnavailable.
    """
    machine = probe()
    if wish == AUTO:
        if machine.best is None:
            raise IsolationUnavailable(wish, machine)
        return machine.best

    wanted = IsolationLevel(wish)
    for candidate in machine.levels:
        if candidate.level is wanted and candidate.works:
            return wanted
    raise IsolationUnavailable(wish, machine)


def _bubblewrap() -> LevelProbe:
    level = IsolationLevel.BWRAP
    program = shutil.which("bwrap")
    if program is None:
        detail = "bwrap is not installed"
        return LevelProbe(
            level,
            works=False,
            detail=detail,
            remedy=INSTALL,
        )

    fault = _fault_of(level)
    if fault:
        detail = f"bwrap is installed, but {fault}"
        return LevelProbe(
            level,
            works=False,
            detail=detail,
            remedy=_ALLOW,
        )

    version = subprocess.run(  # noqa: S603
        (program, "--version"),
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    )
    return LevelProbe(level, works=True, detail=version.stdout.strip())


def _landlock() -> LevelProbe:
    level = IsolationLevel.LANDLOCK
    abi = confine.landlock_abi()
    missing = _missing(abi)
    if missing:
        return LevelProbe(
            level,
            works=False,
            detail=missing,
            remedy=_KERNEL,
        )

    obstacle = why_no_landlock(Room(Path("/")), level)  # wherever the room is
    if obstacle:
        return LevelProbe(
            level,
            works=False,
            detail=obstacle,
            remedy=ROOT_REMEDY,
        )

    fault = _fault_of(level)
    if fault:
        return LevelProbe(
            level,
            works=False,
            detail=fault,
            remedy=_KERNEL,
        )
    return LevelProbe(level, works=True, detail=f"Landlock ABI {abi}")


def _missing(abi: int) -> str:
    """Return what this kernel lacks for Landlock to confine, or nothing."""
    machine = os.uname().machine
    if machine not in confine.MACHINES:
        return f"no system call filter for {machine}"
    if not abi:
        return "this kernel has no Landlock, or it is switched off"

    is_root = os.geteuid() == 0
    least = _LEAST_ABI if is_root else _SIGNALS_ABI
    if abi < least:
        return f"Landlock ABI {abi} is too old, {least} is needed"
    return ""


def _rlimit() -> LevelProbe:
    detail = "limits only; used only on explicit request"
    return LevelProbe(IsolationLevel.RLIMIT, works=True, detail=detail)


def _fault_of(level: IsolationLevel) -> str:
    """Run the attempt at this level; return what went wrong, or nothing.

    Wrong is what it could do and should not, and what it could not and should.
    """
    with (
        tempfile.TemporaryDirectory(prefix="accordance-probe-") as folder,
        tempfile.TemporaryDirectory(prefix=".accordance-probe-", dir=_home()) as home,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        secret = Path(home) / "secret"
        secret.write_text("secret", "utf-8")
        Path(folder).chmod(0o711)  # the user that the command becomes has to get in
        room = Room(Path(folder) / "room")
        try:
            room.prepare(level)
        except IsolationUnavailable as error:
            return error.probe.levels[0].detail

        port = server.getsockname()[1]
        arguments = (f"{home}/written", str(secret), str(port))
        command = shlex.join((PYTHON, "-I", "-S", "-c", _ATTEMPT, *arguments))
        log = Path(folder) / "log"
        result = run(command, room, log, level=level, limits=CommandLimits(seconds=30))
        output = log.read_text("utf-8", "replace") if log.exists() else ""

    if not result.passed:
        words = (result.note or output).split()
        reason = " ".join(words)[:200]
        return f"it could not start a command ({reason or result.ending})"
    return _fault_in(output)


def _fault_in(output: str) -> str:
    wrong = []
    for action, succeeded in json.loads(output).items():
        is_permitted = action == _PERMITTED
        if succeeded != is_permitted:
            wrong.append(action)
    if not wrong:
        return ""
    return f"a command inside could {' and '.join(wrong)}"


def _home() -> str | None:
    """Return where the probe puts its secret: the user's home, if it is writable."""
    home = os.path.expanduser("~")  # noqa: PTH111
    return home if os.access(home, os.W_OK) else None
