"""The address of a repository that lives on a git remote.

    https://host/path.git    ssh://user@host/path.git    user@host:path.git
    git://host/path.git      http://host/path.git        file:///srv/path.git

An address stands in files that many people read, so it holds no password and no token.
Who may reach the remote is known to git on each machine: by a credential helper, an
ssh key, or the environment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

_SCHEMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "https": "https",
        "http": "http",
        "ssh": "ssh",
        "git+ssh": "ssh",
        "git": "git",
        "file": "file",
    }
)
"""What an address may begin with, and git's name of that transport."""
_KNOWN: Final = "https://, ssh://, git://, http://, file:// or user@host:path"
_HELPER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
_URL: Final = re.compile(
    r"(?P<scheme>[^:/]+)://(?P<where>[^/?#]*)(?P<path>[^?#]*)(?P<rest>.*)", re.DOTALL
)
_PLACE: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\[\]:@]+)(?::[0-9]{1,5})?")
_SCP: Final = re.compile(r"(?P<who>[^/:]+):(?!:)(?P<path>.*)", re.DOTALL)
_UNPRINTABLE: Final = re.compile(r"[\s\x00-\x1f\x7f]")
_IN_TEXT: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)[^/\s@]+@")


@dataclass(frozen=True, slots=True)
class RepositoryAddress:
    """An address that git can be given: it runs no program and holds no secret."""

    url: str
    transport: str  # git's name for how it is reached

    def __str__(self) -> str:
        """Return the address as it was written."""
        return self.url


def is_address(name: str) -> bool:
    """Whether a repository is named by an address, and not by a path, as git tells."""
    if "://" in name or _HELPER.match(name):
        return True
    return _SCP.fullmatch(name) is not None


def address_of(name: str) -> RepositoryAddress:
    """Return the address that a text is. Raises ValueError if it is none to be used."""
    if _UNPRINTABLE.search(name):
        raise ValueError("the address of a repository has no spaces")
    helper = _HELPER.match(name)
    if helper is not None:
        raise ValueError(
            f"{helper[0]} would run a program in place of a transport; use {_KNOWN}"
        )
    if "://" not in name:
        return _by_ssh(name)

    parts = _URL.fullmatch(name)
    if parts is None:
        raise ValueError(f"{name!r} is no address; use {_KNOWN}")
    transport = _SCHEMES.get(parts["scheme"].lower())
    if transport is None:
        raise ValueError(f"{parts['scheme']}:// is not supported; use {_KNOWN}")
    user, _, place = parts["where"].rpartition("@")
    _refuse_secrets(parts, user, transport)
    _refuse_options(parts["where"], place)
    _check_place(place, parts["path"], transport)
    return RepositoryAddress(name, transport)


def _by_ssh(name: str) -> RepositoryAddress:
    """The address of the form `user@host:path`."""
    match = _SCP.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is no address; use {_KNOWN}")
    host = match["who"].rpartition("@")[2]
    _refuse_options(match["who"], host, match["path"])
    if not host or not match["path"]:
        raise ValueError("the address names no host or no path; use user@host:path")
    return RepositoryAddress(name, "ssh")


def _refuse_secrets(parts: re.Match[str], user: str, transport: str) -> None:
    """An address stands in files: it must not name a password or a token."""
    if ":" in user or (user and transport != "ssh"):
        raise ValueError(
            "the address of a repository holds no user, password or token: leave out"
            " what stands before the @, and give it to git on each machine (a credential"
            " helper, GIT_ASKPASS, an ssh key)"
        )
    if parts["rest"]:
        raise ValueError(
            "the address of a repository ends with its path: no ? and no #"
        )


def _refuse_options(*words: str) -> None:
    """What begins with a dash could be taken for an option of a program."""
    if any(word.startswith("-") for word in words):
        raise ValueError("no part of a repository's address begins with a dash")


def _check_place(place: str, path: str, transport: str) -> None:
    if transport == "file":
        if place:
            raise ValueError(
                "file:// names a folder of this machine: write file:///absolute/path"
            )
    elif not _PLACE.fullmatch(place):
        raise ValueError("the address names no host, or a port that is no number")
    if not path.strip("/"):
        raise ValueError("the address names no repository: its path is missing")


def without_secrets(text: str) -> str:
    """Return what git wrote, without users and passwords in addresses.

    Git's own settings may rewrite an address into another that holds them.
    """
    return _IN_TEXT.sub(r"\g<scheme>", text)
