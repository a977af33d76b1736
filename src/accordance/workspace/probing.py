"""What this machine can do. The probe tries: it runs a command at each level that attempts what must be refused."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from accordance.domain.facts import IsolationLevel, IsolationProbe, LevelProbe
from accordance.workspace.errors import IsolationUnavailable
from accordance.workspace.inside import confine
from accordance.workspace.isolation import (
    _PYTHON,
    INSTALL,
    ROOT_REMEDY,
    CommandLimits,
    Room,
    why_no_landlock,
)
from accordance.workspace.running import run

AUTO: Final = "auto"
WISHES: Final = (
    AUTO,
    IsolationLevel.BWRAP.value,
    IsolationLevel.LANDLOCK.value,
    IsolationLevel.RLIMIT.value,
)

_LEAST_ABI: Final = 3  # before it, files elsewhere could be cut short
_SIGNALS_ABI: Final = 6  # before it, other processes of the same user could be ended
_ALLOW: Final = "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, AppArmor profile for bwrap)"
_KERNEL: Final = "use a kernel from 6.12 on with Landlock switched on"

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
    """Try every level, strongest first. Done once in a process."""
    return IsolationProbe((_bubblewrap(), _landlock(), _rlimit()))


def level_for(wish: str = AUTO) -> IsolationLevel:
    """The level to use. `auto` is the strongest that works and confines. Raises IsolationUnavailable."""
    found = probe()
    if wish == AUTO:
        if found.best is None:
            raise IsolationUnavailable(wish, found)
        return found.best
    wanted = IsolationLevel(wish)
    if not any(one.level is wanted and one.works for one in found.levels):
        raise IsolationUnavailable(wish, found)
    return wanted


def _bubblewrap() -> LevelProbe:
    program = shutil.which("bwrap")
    if program is None:
        return LevelProbe(
            IsolationLevel.BWRAP,
            works=False,
            detail="bwrap is not installed",
            remedy=INSTALL,
        )
    fault = _attempted(IsolationLevel.BWRAP)
    if fault:
        return LevelProbe(
            IsolationLevel.BWRAP,
            works=False,
            detail=f"bwrap was found, but {fault}",
            remedy=_ALLOW,
        )
    said = subprocess.run(  # noqa: S603
        (program, "--version"), capture_output=True, text=True, timeout=10, check=False
    )
    return LevelProbe(IsolationLevel.BWRAP, works=True, detail=said.stdout.strip())


def _landlock() -> LevelProbe:
    abi = confine.landlock_abi()
    fault = _missing(abi)
    if not fault and (fault := _not_for_root()):
        return LevelProbe(
            IsolationLevel.LANDLOCK, works=False, detail=fault, remedy=ROOT_REMEDY
        )
    fault = fault or _attempted(IsolationLevel.LANDLOCK)
    if fault:
        return LevelProbe(
            IsolationLevel.LANDLOCK, works=False, detail=fault, remedy=_KERNEL
        )
    return LevelProbe(IsolationLevel.LANDLOCK, works=True, detail=f"Landlock ABI {abi}")


def _missing(abi: int) -> str:
    """What this kernel lacks for Landlock to confine."""
    if os.uname().machine not in confine.MACHINES:
        return f"no system call filter for {os.uname().machine}"
    if not abi:
        return "this kernel has no Landlock, or it is switched off"
    least = _SIGNALS_ABI if os.geteuid() != 0 else _LEAST_ABI
    return f"Landlock ABI {abi} is too old, {least} is needed" if abi < least else ""


def _not_for_root() -> str:
    """Why root's commands cannot be confined by Landlock, wherever their room is."""
    return why_no_landlock(Room(Path("/")), IsolationLevel.LANDLOCK)


def _rlimit() -> LevelProbe:
    return LevelProbe(
        IsolationLevel.RLIMIT, works=True, detail="limits only; by explicit wish"
    )


def _attempted(level: IsolationLevel) -> str:
    """Run the attempt at this level; what it could do and should not, or could not and should."""
    with (
        tempfile.TemporaryDirectory(prefix="accordance-probe-") as folder,
        tempfile.TemporaryDirectory(prefix=".accordance-probe-", dir=_home()) as home,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        secret = Path(home) / "secret"
        secret.write_text("secret", "utf-8")
        Path(folder).chmod(0o711)  # whoever the command becomes has to get in
        room = Room(Path(folder) / "room")
        try:
            room.prepare(level)
        except IsolationUnavailable as error:
            return error.probe.levels[0].detail
        log = Path(folder) / "log"
        words = (
            _PYTHON,
            "-I",
            "-S",
            "-c",
            _ATTEMPT,
            f"{home}/written",
            secret,
            server.getsockname()[1],
        )
        command = " ".join(
            "'" + str(word).replace("'", "'\\''") + "'" for word in words
        )
        done = run(command, room, log, level=level, limits=CommandLimits(seconds=30))
        said = log.read_text("utf-8", "replace") if log.exists() else ""
    if not done.passed:
        return f"it could not start a command ({' '.join((done.note or said).split())[:200] or done.ending})"
    could = json.loads(said)
    wrong = [act for act, done in could.items() if done != (act == "work")]
    return f"a command inside could {' and '.join(wrong)}" if wrong else ""


def _home() -> str | None:
    """Where the probe lays its secret: the user's home, if it can be written."""
    home = os.path.expanduser("~")  # noqa: PTH111
    return home if os.access(home, os.W_OK) else None
