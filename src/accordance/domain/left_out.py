"""What tools leave behind, and is neither part of a change nor of its tests.

A path is left out only if the base does not track it: because the base's own rules
ignore it, or because it is a cache that a known tool makes anew. No agent is blamed for
it, and nothing of it is taken over or tested.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

IGNORED: Final = "ignored by the base"

_FOLDERS: Final = MappingProxyType(
    {
        "__pycache__": "Python",
        ".pytest_cache": "pytest",
        ".mypy_cache": "mypy",
        ".ruff_cache": "ruff",
        ".hypothesis": "hypothesis",
        ".tox": "tox",
        ".nox": "nox",
        ".eggs": "setuptools",
        "htmlcov": "coverage",
        ".ipynb_checkpoints": "Jupyter",
        "node_modules": "npm",
        ".nyc_output": "nyc",
        ".gradle": "Gradle",
    }
)
_VENV_MARK: Final = "pyvenv.cfg"
_COVERAGE: Final = ".coverage"
_EGG_INFO: Final = ".egg-info"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file, or a folder with all that is in it, that is no part of a change.

    `files` are the paths in an ignored folder: they are not taken over, but a path that
    is forbidden stays forbidden. The content of caches is not listed.
    """

    path: str
    why: str  # IGNORED, or the tool that made the cache
    is_folder: bool = False
    files: tuple[str, ...] = ()

    @property
    def is_ignored(self) -> bool:
        """Whether the base's rules ignore it; otherwise it is a known cache."""
        return self.why == IGNORED

    def covers(self, path: str) -> bool:
        """Whether a path is this folder, or lies in it."""
        if path == self.path:
            return True
        return self.is_folder and path.startswith(f"{self.path}/")


def cache_in(
    path: str,
    *,
    is_folder: bool,
    base: Container[str],
    holds: Callable[[str], bool],
) -> str:
    """Return the tool whose cache this is, or nothing.

    `base` are the paths of the base. `holds` tells whether a folder has a file of that
    name: anything can be called `venv`, so only its content shows what it is.
    """
    parent, _, name = path.rpartition("/")
    if not is_folder:
        is_coverage = name == _COVERAGE or name.startswith(f"{_COVERAGE}.")
        return "coverage" if is_coverage else ""

    if name in _FOLDERS:
        return _FOLDERS[name]
    if name.endswith(_EGG_INFO):
        return "setuptools"
    if name == "target":
        manifest = f"{parent}/Cargo.toml" if parent else "Cargo.toml"
        return "Cargo" if manifest in base else ""
    return "a virtual environment" if holds(_VENV_MARK) else ""
