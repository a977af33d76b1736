"""Addresses of repositories: what git may be given, and what must not stand in a file."""

from __future__ import annotations

import pytest

from accordance.domain.repository_address import (
    address_of,
    is_address,
    without_secrets,
)


@pytest.mark.parametrize(
    ("name", "transport"),
    [
        ("https://git.example/team/app.git", "https"),
        ("https://git.example:8443/app", "https"),
        ("https://[::1]:8443/app", "https"),
        ("HTTPS://git.example/app", "https"),
        ("http://127.0.0.1/app.git", "http"),
        ("ssh://git@git.example:2222/app.git", "ssh"),
        ("git+ssh://git@git.example/app.git", "ssh"),
        ("git@git.example:team/app.git", "ssh"),
        ("git.example:app", "ssh"),
        ("git://git.example/app", "git"),
        ("file:///srv/git/app.git", "file"),
    ],
)
def test_an_address(name: str, transport: str) -> None:
    """Each is reached by a transport of git's own."""
    assert is_address(name)
    address = address_of(name)
    assert (str(address), address.transport) == (name, transport)


@pytest.mark.parametrize("name", [".", "../app", "/srv/app", "a/b:c", "./host:path"])
def test_a_path(name: str) -> None:
    """Whatever has a slash before its first colon is a path, as git sees it."""
    assert not is_address(name)
    with pytest.raises(ValueError, match="is no address"):
        address_of(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("https://ann:secret@git.example/app", "no user, password or token"),
        ("https://token@git.example/app", "no user, password or token"),
        ("ssh://git:secret@git.example/app", "no user, password or token"),
        ("git://ann@git.example/app", "no user, password or token"),
        ("https://git.example/app?token=1", r"no \? and no #"),
        ("https://git.example/app#x", r"no \? and no #"),
        ("ext::sh -c true", "no spaces"),
        ("ext::true", "would run a program"),
        ("fd::17", "would run a program"),
        ("ftp://git.example/app", "ftp:// is not supported"),
        ("://git.example/app", "is no address"),
        ("https://git.example/a\nb", "no spaces"),
        ("-oProxyCommand=true:app", "begins with a dash"),
        ("git@-oProxyCommand=true:app", "begins with a dash"),
        ("git.example:-app", "begins with a dash"),
        ("ssh://-oProxyCommand=true/app", "begins with a dash"),
        ("ssh://git@-oProxyCommand=true/app", "begins with a dash"),
        ("https:///app", "names no host"),
        ("https://git.example:port/app", "port that is no number"),
        ("https://git.example/", "its path is missing"),
        ("git.example:", "no host or no path"),
        ("git@:app", "no host or no path"),
        ("file://server/app", "file:///absolute/path"),
        ("file:///", "its path is missing"),
    ],
)
def test_refused(name: str, reason: str) -> None:
    """One line says why."""
    assert is_address(name)
    with pytest.raises(ValueError, match=reason) as refused:
        address_of(name)
    assert "secret" not in str(refused.value)


def test_secrets_in_what_git_writes() -> None:
    """Settings of git may put them into an address; they are not shown."""
    written = "fatal: unable to access 'https://ann:secret@git.example/app/': no"
    shown = "fatal: unable to access 'https://git.example/app/': no"
    assert without_secrets(written) == shown
