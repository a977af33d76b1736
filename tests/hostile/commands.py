"""What hostile test commands do while accordance runs them, as a table. Each is Python, run in the copy of the workspace.

They are told where the places are that they must not reach: OUTSIDE (a folder of the user), HOME_SECRET (a file in the
user's home), PORT (a server on the host's loopback), WORKSPACE (the agent's own tree), TOKEN (to recognise what is left).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accordance.domain.facts import Ending


@dataclass(frozen=True)
class HostileCommand:
    """One command, and how its run may end."""

    name: str
    source: str
    passes: bool = (
        False  # whether the command may come through: it was harmless by then
    )
    endings: frozenset[Ending] = frozenset((Ending.EXITED, Ending.SIGNALLED))

    def __str__(self) -> str:
        return self.name


def _tries(action: str) -> str:
    """Try, print `did it` on success, end well whatever happens."""
    return (
        "try:\n"
        f"    {action}\n"
        "    print('did it')\n"
        "except (OSError, subprocess.SubprocessError) as error:\n"
        "    print('refused', error)\n"
    )


COMMANDS: Final = (
    HostileCommand(
        "writes outside", _tries("open(f'{OUTSIDE}/planted', 'w')"), passes=True
    ),
    HostileCommand(
        "overwrites a file outside",
        _tries("open(f'{OUTSIDE}/precious.txt', 'w')"),
        passes=True,
    ),
    HostileCommand(
        "deletes a file outside",
        _tries("os.unlink(f'{OUTSIDE}/precious.txt')"),
        passes=True,
    ),
    HostileCommand(
        "renames a file outside",
        _tries("os.rename(f'{OUTSIDE}/precious.txt', f'{OUTSIDE}/x')"),
        passes=True,
    ),
    HostileCommand(
        "cuts a file outside short",
        _tries("os.truncate(f'{OUTSIDE}/precious.txt', 0)"),
        passes=True,
    ),
    HostileCommand(
        "reads a file outside",
        _tries("print(open(f'{OUTSIDE}/precious.txt').read())"),
        passes=True,
    ),
    HostileCommand(
        "reads the user's home", _tries("print(open(HOME_SECRET).read())"), passes=True
    ),
    HostileCommand(
        "lists the user's home",
        _tries(
            "os.path.basename(HOME_SECRET) in os.listdir(os.path.dirname(HOME_SECRET)) or sys.exit()"
        ),
        passes=True,
    ),
    HostileCommand(
        "links to the home and reads",
        _tries("os.symlink(HOME_SECRET, 'l'); print(open('l').read())"),
        passes=True,
    ),
    HostileCommand(
        "edits the agent's tree",
        _tries("open(f'{WORKSPACE}/src/app.py', 'w')"),
        passes=True,
    ),
    HostileCommand(
        "writes to the system", _tries("open('/usr/local/planted', 'w')"), passes=True
    ),
    HostileCommand(
        "writes to the system's settings",
        _tries("open('/etc/planted', 'w')"),
        passes=True,
    ),
    HostileCommand(
        "reaches the host's loopback",
        _tries("socket.create_connection(('127.0.0.1', PORT), 5).send(b'hello')"),
        passes=True,
    ),
    HostileCommand(
        "sends a datagram to the host",  # with a network of its own it is sent, and arrives nowhere
        "try:\n    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'hello', ('127.0.0.1', PORT))\n"
        "except OSError as error:\n    print('refused', error)\n",
        passes=True,
    ),
    HostileCommand(
        "reads the secrets of the environment",
        "print({name: value for name, value in os.environ.items() if 'SECRET' in name or 'hunter2' in value})\n",
        passes=True,
    ),
    HostileCommand(
        "reads the environment of other processes",
        "for place in glob.glob('/proc/[0-9]*/environ'):\n    try:\n        print(open(place).read())\n"
        "    except OSError:\n        pass\n",
        passes=True,
    ),
    HostileCommand(
        "leaves a daemon",
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.execvp('sleep', [TOKEN, '1000'])\n    os._exit(0)\n"
        "print('did it')\n",
        passes=True,
    ),
    HostileCommand(
        "leaves a daemon that holds its output",
        "subprocess.Popen(['sh', '-c', f'exec -a {TOKEN} sleep 1000 || sleep 1000'], start_new_session=True)\n",
        passes=True,
    ),
    HostileCommand(
        "kills its parent",
        "os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(1)\n",
        passes=True,
    ),
    HostileCommand(
        "kills everybody", "os.kill(-1, signal.SIGKILL)\ntime.sleep(1)\n", passes=True
    ),
    HostileCommand(
        "kills everybody it can see",
        "for place in glob.glob('/proc/[0-9]*'):\n    pid = int(place[6:])\n    if pid != os.getpid():\n        try:\n"
        "            os.kill(pid, signal.SIGKILL)\n        except OSError:\n            pass\ntime.sleep(1)\n",
        passes=True,
    ),
    HostileCommand(
        "never ends", "time.sleep(1000)\n", endings=frozenset((Ending.TIMED_OUT,))
    ),
    HostileCommand(
        "never ends and cannot be asked to",
        "for number in (1, 2, 15):\n    signal.signal(number, signal.SIG_IGN)\nwhile True:\n    pass\n",
        endings=frozenset((Ending.TIMED_OUT, Ending.SIGNALLED)),
    ),
    HostileCommand(
        "writes a gigabyte to its output",
        "for _ in range(1 << 10):\n    os.write(1, b'y' * (1 << 20))\n",
        endings=frozenset((Ending.OUTPUT_LIMIT,)),
    ),
    HostileCommand(
        "fills the memory",
        "kept = []\nwhile True:\n    kept.append(bytearray(16 << 20))\n",
        endings=frozenset((Ending.EXITED, Ending.SIGNALLED, Ending.MEMORY_LIMIT)),
    ),
    HostileCommand(
        "fills the memory with many hands",
        "for _ in range(16):\n    if os.fork() == 0:\n        kept = bytearray(os.urandom(1) * (96 << 20))\n        time.sleep(1000)\n"
        "time.sleep(1000)\n",
        endings=frozenset((Ending.MEMORY_LIMIT,)),
    ),
    HostileCommand(
        "fills memory that it shares",
        "import mmap\nkept = mmap.mmap(-1, 1 << 30)\nfor at in range(0, 1 << 30, 4096):\n    kept[at] = 1\ntime.sleep(1000)\n",
        endings=frozenset((Ending.MEMORY_LIMIT,)),
    ),
    HostileCommand(
        "fills files in memory",
        "kept = [os.memfd_create('x') for _ in range(32)]\nfor file in kept:\n    os.write(file, bytes(32 << 20))\ntime.sleep(1000)\n",
        endings=frozenset((Ending.MEMORY_LIMIT,)),
    ),
    HostileCommand(
        "mounts a folder in memory",
        _tries(
            "subprocess.run(['unshare', '--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', '/tmp'], check=True)"
        ),
        passes=True,
    ),
    HostileCommand(
        "fills the disk with one file",
        "with open('large', 'wb') as file:\n    while True:\n        file.write(bytes(1 << 20))\n",
        endings=frozenset((Ending.EXITED, Ending.SIGNALLED, Ending.DISK_LIMIT)),
    ),
    HostileCommand(
        "fills the disk with many files",
        "for number in range(100_000):\n    with open(f'large-{number}', 'wb') as file:\n        file.write(os.urandom(1 << 20))\n",
        endings=frozenset((Ending.DISK_LIMIT,)),
    ),
    HostileCommand(
        "fills the disk with a deleted file",
        "file = open('large', 'wb')\nos.unlink('large')\nsecond = open('more', 'wb')\nos.unlink('more')\n"
        "for _ in range(60):\n    file.write(os.urandom(1 << 20))\n    second.write(os.urandom(1 << 20))\n    file.flush()\ntime.sleep(1000)\n",
        endings=frozenset((Ending.DISK_LIMIT,)),
    ),
    HostileCommand(
        "forks for ever",
        "while True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n",
        endings=frozenset(
            (Ending.PROCESS_LIMIT, Ending.TIMED_OUT, Ending.MEMORY_LIMIT)
        ),
    ),
    HostileCommand(
        "becomes the administrator",
        _tries(
            "subprocess.run(['su', '-c', 'true'], stdin=subprocess.DEVNULL, check=True)"
        ),
        passes=True,
    ),
    HostileCommand(
        "watches its keeper",
        _tries("open(f'/proc/{os.getppid()}/mem', 'r+b').read(1)"),
        passes=True,
    ),
)
