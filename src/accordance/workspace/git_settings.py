"""Git's own settings in a repository: the hooks and the config by which git itself runs programs, or looks elsewhere.

Nothing of it is ever run here: files are read, bounded and without following links, and config is parsed by git from bytes it
is handed. Settings of the user and of the machine are no part of a repository and are not looked at.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from accordance.workspace.errors import GitFailed
from accordance.workspace.git import Git, git_directory

_LARGEST: Final = 1 << 20  # a config or a hook of more is told by its size alone
_MOST_FILES: Final = 1_000
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MARKS: Final = frozenset(("HEAD", "objects"))
_CONFIGS: Final = ("config", "config.worktree")
_SELECTING: Final = (
    "info/attributes",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "commondir",
)

_RUNS: Final = re.compile(
    r"core\.(?:sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand)|sequence\.editor"
    r"|diff\.external|diff\..*\.(?:command|textconv)|filter\..*\.(?:clean|smudge|process)|merge\..*\.driver"
    r"|(?:merge|diff|gui)tool\..*\.(?:cmd|path)|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?program"
    r"|gpg\.ssh\.defaultkeycommand|interactive\.difffilter|trailer\..*\.(?:cmd|command)"
    r"|uploadpack\.packobjectshook|remote\..*\.(?:uploadpack|receivepack|vcs)"
    r"|(?:browser|man)\..*\.(?:cmd|path)|web\.browser|sendemail\..*|imap\.tunnel",
    re.DOTALL,
)
"""Keys whose value is a program."""
_RUNS_UNLESS_SWITCH: Final = re.compile(r"core\.fsmonitor|pager\..*", re.DOTALL)
_RUNS_AFTER_MARK: Final = re.compile(
    r"alias\..*|submodule\..*\.update", re.DOTALL
)  # programs if they begin with `!`
_LEADS: Final = re.compile(
    r"core\.(?:hookspath|worktree|attributesfile)|include\.path|includeif\..*\.path|init\.templatedir"
    r"|url\..*\.(?:pushinsteadof|insteadof)|protocol\.(?:.*\.)?allow|unreadable",
    re.DOTALL,
)
"""Keys that say where git finds hooks, settings and other repositories."""
_SWITCHES: Final = frozenset(("", "true", "false", "yes", "no", "on", "off", "0", "1"))


def git_settings(repository: Path) -> Mapping[str, str]:
    """Everything by which git runs programs in this working tree, by name, with what tells one state from another.

    Hooks are told by their hash and mode, config by its value. Empty for a directory without git.
    """
    directory = git_directory(repository)
    if directory is None:
        return {}
    found: dict[str, str] = {}
    for name, place in _git_directories(directory):
        for setting, state in _settings_in(place, repository):
            known = found.get(f"{name}{setting}")
            if (
                len(found) < _MOST_FILES
            ):  # git takes the last value of some keys and all of others
                found[f"{name}{setting}"] = (
                    state if known is None else f"{known} | {state}"
                )
    return dict(sorted(found.items()))


def programs(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Those settings by which git would run a program, in the words of a person."""
    return tuple(
        name if "hook " in name else f"{name} = {state}"
        for name, state in settings.items()
        if _runs(name, state)
    )


def changed_settings(
    before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[str, ...]:
    """What was added, changed or taken away, in the words of a person."""
    names = sorted({*before, *after})
    return tuple(
        f"{name} ({_how(before.get(name), after.get(name))})"
        for name in names
        if before.get(name) != after.get(name)
    )


def _how(before: str | None, after: str | None) -> str:
    if before is None:
        return "added"
    return "removed" if after is None else "changed"


def _runs(name: str, state: str) -> bool:
    kind, _, what = name.rpartition(": ")[2].partition(" ")
    return (
        state.endswith("executable")
        if kind == "hook"
        else kind == "config" and _is_program(what, state)
    )


def _git_directories(directory: Path) -> Iterator[tuple[str, Path]]:
    """The git directory, the one it shares with other working trees, and those of submodules."""
    yield "", directory
    common = _read(directory / "commondir")
    if common is not None:
        shared = directory / common.decode("utf-8", "surrogateescape").strip()
        if shared.is_dir():
            yield "", shared
            directory = shared
    waiting = [directory / "modules"]
    for _ in range(_MOST_FILES):
        if not waiting:
            return
        folder = waiting.pop()
        names = _names(folder)
        if _MARKS.issubset(names):
            yield f"{folder.relative_to(directory).as_posix()}: ", folder
        below = (
            [folder / "modules"]
            if _MARKS.issubset(names)
            else [folder / name for name in names]
        )
        waiting += [
            place for place in below if place.is_dir() and not place.is_symlink()
        ]


def _settings_in(directory: Path, work: Path) -> Iterator[tuple[str, str]]:
    hooks = directory / "hooks"
    for file in _CONFIGS:
        for key, value in _config(directory / file):
            spelled = key.casefold()
            if _is_program(key, value) or _LEADS.fullmatch(spelled):
                yield f"config {key}", value
            if spelled == "core.hookspath":
                hooks = work / Path(value).expanduser()
            if spelled.startswith("include") and spelled.endswith(".path"):
                yield f"included {value}", _state(directory / Path(value).expanduser())
    for name in sorted(_names(hooks)):
        place = hooks / name
        if not name.endswith(".sample") and not (
            place.is_dir() and not place.is_symlink()
        ):
            yield f"hook {name}", _state(place)
    for name in _SELECTING:
        if (directory / name).exists():
            yield f"file {name}", _state(directory / name)


def _is_program(key: str, value: str) -> bool:
    key = key.casefold()
    if _RUNS_AFTER_MARK.fullmatch(key):
        return value.startswith("!")
    if _RUNS_UNLESS_SWITCH.fullmatch(key):
        return value.casefold() not in _SWITCHES
    return _RUNS.fullmatch(key) is not None


def _config(place: Path) -> list[tuple[str, str]]:
    """Keys and values in their order. What cannot be read is told, for git may be able to."""
    content = _read(place)
    if content is None:
        return (
            [("unreadable", _state(place))]
            if place.exists() or place.is_symlink()
            else []
        )
    try:
        listed = Git(place.parent)(
            "config", "--file", "-", "--no-includes", "--null", "--list", given=content
        )
    except GitFailed:
        return [("unreadable", _state(place))]
    rows = (row.partition(b"\n") for row in listed.split(b"\0") if row)
    return [(_text(key), _text(value)) for key, _, value in rows]


def _state(place: Path) -> str:
    """What tells one state of a file from another."""
    try:
        status = place.lstat()
    except OSError:
        return "not there"
    if stat.S_ISLNK(status.st_mode):
        target = _text(os.fsencode(place.readlink()))
        return f"link to {target}, executable"
    content = _read(place)
    digest = (
        hashlib.sha256(content).hexdigest()
        if content is not None
        else f"{status.st_size} bytes"
    )
    return f"{digest}, {'executable' if status.st_mode & 0o111 else 'not run'}"


def _read(place: Path) -> bytes | None:
    """A small regular file; nothing else is opened for reading."""
    try:
        descriptor = os.open(place, _OPEN)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        return (
            file.read()
            if stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST
            else None
        )


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))[:_MOST_FILES]  # noqa: PTH208 - names
    except OSError:
        return []


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")
