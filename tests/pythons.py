"""Virtual environments for the tests of judged repositories: accordance's own is none of theirs."""

from __future__ import annotations

import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

from accordance.workspace.judges_python import OWN

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def environment_with(folder: Path, *packages: str) -> Path:
    """Make an environment that holds copies of some packages of this one, and return its folder of programs."""
    OWN.lay_bare(folder)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = folder / "lib" / version / "site-packages"
    site.mkdir(parents=True)
    for package in _with_requirements(packages):
        _copy(metadata.distribution(package), site)
    return folder / "bin"


def _with_requirements(packages: tuple[str, ...]) -> set[str]:
    wanted = list(packages)
    names: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name in names:
            continue
        names.add(name)
        for requirement in metadata.requires(name) or ():
            if ";" not in requirement:
                matched = _NAME.match(requirement)
                assert matched is not None
                wanted.append(matched[0])
    return names


def _copy(package: metadata.Distribution, site: Path) -> None:
    for file in package.files or ():
        is_code = not file.parts[0].startswith("..") and "__pycache__" not in file.parts
        if is_code:
            target = site / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.locate(), target)
