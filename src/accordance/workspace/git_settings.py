"""Git's own settings in a repository: hooks and config that make git run programs.

Nothing is ever run here. Files are read up to a bound and without following links, and
git parses config from the bytes it is handed. Settings of the user and of the machine
are not part of a repository and are not read.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from accordance.contracts.jsonpath import without
from accordance.workspace.errors import GitFailed
from accordance.workspace.git import Git, git_directory

_MAX_BYTES: Final = 1 << 20  # of a larger file, only the size is recorded
_MAX_FILES: Final = 1_000
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_GIT_MARKS: Final = frozenset(("HEAD", "objects"))
_CONFIGS: Final = ("config", "config.worktree")
_STEERING_FILES: Final = (
    "info/attributes",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "commondir",
)

_RUNS: Final = re.compile(
    r"core\.(?:sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand)"
    r"|sequence\.editor"
    r"|diff\.external"
    r"|diff\..*\.(?:command|textconv)"
    r"|filter\..*\.(?:clean|smudge|process)"
    r"|merge\..*\.driver"
    r"|(?:merge|diff|gui)tool\..*\.(?:cmd|path)"
    r"|credential\.(?:.*\.)?helper"
    r"|gpg\.(?:.*\.)?program"
    r"|gpg\.ssh\.defaultkeycommand"
    r"|interactive\.difffilter"
    r"|trailer\..*\.(?:cmd|command)"
    r"|uploadpack\.packobjectshook"
    r"|remote\..*\.(?:uploadpack|receivepack|vcs)"
    r"|(?:browser|man)\..*\.(?:cmd|path)"
    r"|web\.browser"
    r"|sendemail\..*"
    r"|imap\.tunnel",
    re.DOTALL,
)
"""Keys whose value is a program."""
_RUNS_UNLESS_SWITCH: Final = re.compile(r"core\.fsmonitor|pager\..*", re.DOTALL)
"""Keys whose value is a program, unless it only switches a feature on or off."""
_RUNS_AFTER_MARK: Final = re.compile(r"alias\..*|submodule\..*\.update", re.DOTALL)
"""Keys whose value is a program if it begins with `!`."""
_REDIRECTS: Final = re.compile(
    r"core\.(?:hookspath|worktree|attributesfile)"
    r"|include\.path"
    r"|includeif\..*\.path"
    r"|init\.templatedir"
    r"|url\..*\.(?:pushinsteadof|insteadof)"
    r"|protocol\.(?:.*\.)?allow"
    r"|unreadable",
    re.DOTALL,
)
"""Keys that decide where git finds hooks, settings and other repositories."""
_INCLUDE: Final = re.compile(r"include.*\.path", re.DOTALL)
"""Keys whose value is another file of settings."""
_SWITCHES: Final = frozenset(("", "true", "false", "yes", "no", "on", "off", "0", "1"))


def git_settings(repository: Path) -> Mapping[str, str]:
    """Return everything that makes git run programs in this working tree, by name.

    The value identifies the state: of a hook its hash and mode, of a config key its
    value. Empty for a directory without git.
    """
    directory = git_directory(repository)
    if directory is None:
        return {}

    settings: dict[str, str] = {}
    for prefix, place in _git_directories(directory):
        for setting, state in _settings_in(place, repository):
            if len(settings) < _MAX_FILES:
                _add(settings, f"{prefix}{setting}", state)
    return dict(sorted(settings.items()))


def _add(settings: dict[str, str], name: str, state: str) -> None:
    """Add a setting; git takes the last value of some keys, and all of others."""
    if name in settings:
        state = f"{settings[name]} | {state}"
    settings[name] = state


def programs(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Return those settings that make git run a program, as text for people."""
    texts = []
    for name, state in settings.items():
        if _runs_program(name, state):
            is_hook = "hook " in name
            texts.append(name if is_hook else f"{name} = {state}")
    return tuple(texts)


def programs_added(
    before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the programs that git runs now and did not before, as text for people.

    A hook with another content is another program.
    """
    same = {name for name, state in after.items() if before.get(name) == state}
    changed = without(after, same)
    return programs(changed)


def changed_settings(
    before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[str, ...]:
    """Return what was added, changed or removed, as text for people."""
    texts = []
    for name in sorted({*before, *after}):
        if name not in before:
            texts.append(f"{name} (added)")
        elif name not in after:
            texts.append(f"{name} (removed)")
        elif before[name] != after[name]:
            texts.append(f"{name} (changed)")
    return tuple(texts)


def _runs_program(name: str, state: str) -> bool:
    setting = name.rpartition(": ")[2]
    kind, _, key = setting.partition(" ")
    if kind == "hook":
        return state.endswith("executable")
    return kind == "config" and _is_program(key, state)


def _git_directories(directory: Path) -> Iterator[tuple[str, Path]]:
    """Yield every git directory that counts, with the prefix of its settings.

    That is: the directory itself, what it shares with other working trees, and those
    of submodules.
    """
    yield "", directory

    shared = _shared_directory(directory)
    if shared is not None:
        yield "", shared
        directory = shared

    waiting = [directory / "modules"]
    for _ in range(_MAX_FILES):
        if not waiting:
            return

        folder = waiting.pop()
        names = _names(folder)
        if _GIT_MARKS.issubset(names):
            yield f"{folder.relative_to(directory).as_posix()}: ", folder
            names = ["modules"]

        for name in names:
            place = folder / name
            if place.is_dir() and not place.is_symlink():
                waiting.append(place)


def _shared_directory(directory: Path) -> Path | None:
    """Return the directory that a linked working tree shares with others."""
    pointer = _read(directory / "commondir")
    if pointer is None:
        return None
    name = pointer.decode("utf-8", "surrogateescape").strip()
    shared = directory / name
    return shared if shared.is_dir() else None


def _settings_in(directory: Path, work: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the state of every setting of a git directory."""
    hooks = directory / "hooks"
    for file in _CONFIGS:
        for key, value in _config(directory / file):
            folded_key = key.casefold()
            is_redirect = _REDIRECTS.fullmatch(folded_key) is not None
            if is_redirect or _is_program(key, value):
                yield f"config {key}", value
            if folded_key == "core.hookspath":
                hooks = work / Path(value).expanduser()
            if _INCLUDE.fullmatch(folded_key):
                included = directory / Path(value).expanduser()
                yield f"included {value}", _state(included)

    yield from _hooks_in(hooks)

    for name in _STEERING_FILES:
        file_place = directory / name
        if file_place.exists():
            yield f"file {name}", _state(file_place)


def _hooks_in(folder: Path) -> Iterator[tuple[str, str]]:
    for name in sorted(_names(folder)):
        place = folder / name
        is_folder = place.is_dir() and not place.is_symlink()
        if not is_folder and not name.endswith(".sample"):
            yield f"hook {name}", _state(place)


def _is_program(key: str, value: str) -> bool:
    """Whether git would run the value of this key as a program."""
    key = key.casefold()
    if _RUNS_AFTER_MARK.fullmatch(key):
        return value.startswith("!")
    if _RUNS_UNLESS_SWITCH.fullmatch(key):
        return value.casefold() not in _SWITCHES
    return _RUNS.fullmatch(key) is not None


def _config(place: Path) -> list[tuple[str, str]]:
    """Return keys and values in their order.

    A file that we cannot read is reported as such, because git may be able to read it.
    """
    content = _read(place)
    if content is None:
        if place.exists() or place.is_symlink():
            return [("unreadable", _state(place))]
        return []

    git = Git(place.parent)
    options = ("--file", "-", "--no-includes", "--null", "--list")
    try:
        listing = git("config", *options, given=content)
    except GitFailed:
        return [("unreadable", _state(place))]

    settings = []
    for row in listing.split(b"\0"):
        if row:
            key, _, value = row.partition(b"\n")
            settings.append((_text(key), _text(value)))
    return settings


def _state(place: Path) -> str:
    """Return a text that differs if the state of a file does.

    Baselines store these texts and compare them: their wording must not change.
    """
    try:
        status = place.lstat()
    except OSError:
        return "not there"
    if stat.S_ISLNK(status.st_mode):
        target = _text(os.fsencode(place.readlink()))
        return f"link to {target}, executable"

    content = _read(place)
    if content is None:
        identity = f"{status.st_size} bytes"
    else:
        identity = hashlib.sha256(content).hexdigest()
    is_executable = bool(status.st_mode & 0o111)
    use = "executable" if is_executable else "not run"
    return f"{identity}, {use}"


def _read(place: Path) -> bytes | None:
    """Return the content of a small regular file; nothing else is read."""
    try:
        descriptor = os.open(place, _OPEN)
    except OSError:
        return None

    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_BYTES:
            return None
        return file.read()


def _names(folder: Path) -> list[str]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names
    except OSError:
        return []
    return sorted(names)[:_MAX_FILES]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")
