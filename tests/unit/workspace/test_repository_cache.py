"""What a machine has of a remote: shared, made anew when broken, and never waited for without end."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from accordance.domain.repository_address import address_of
from accordance.workspace.branch import branch_name
from accordance.workspace.errors import (
    ForeignPush,
    RemoteProblem,
    RemoteUnavailable,
)
from accordance.workspace.git import resolve
from accordance.workspace.remote_branch import RemoteBranch
from accordance.workspace.remote_git import RefUpdate, StalePush
from accordance.workspace.repository_cache import RepositoryCache
from tests.hostile.stage import git
from tests.remotes import PASSWORD, USER, BareRemote, served

BRANCH = branch_name("plan")
HEAD = f"refs/heads/{BRANCH}"


@pytest.fixture
def remote(tmp_path: Path) -> BareRemote:
    """A remote with a commit."""
    return BareRemote.made(tmp_path / "server", {"a.txt": "a\n"})


def cache_of(
    folder: Path, url: str, base: str = "main", seconds: float = 20
) -> RepositoryCache:
    """The copy of a machine."""
    return RepositoryCache(folder / "caches", address_of(url), base, seconds)


def branch_of(cache: RepositoryCache) -> RemoteBranch:
    """The branch of a plan, seen from a machine."""
    return RemoteBranch(cache.repository, BRANCH, cache=cache, patience=0)


def commit_on(cache: RepositoryCache, base: str, text: str) -> str:
    """Write a commit that only this machine has."""
    return cache.git.text("commit-tree", "-p", base, "-m", text, f"{base}^{{tree}}")


def test_one_copy_for_all_who_ask_at_once(tmp_path: Path, remote: BareRemote) -> None:
    """Eight ask at the same time, and what is new comes with the next fetch."""
    cache = cache_of(tmp_path, remote.url, "HEAD")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: cache.refresh(), range(8)))
    first = remote.refs("refs/heads/main")["refs/heads/main"]
    assert resolve(cache.repository, cache.base_name) == first

    second = remote.push("main", **{"b.txt": "b\n"})
    cache.refresh()  # a moment ago is good enough
    assert resolve(cache.repository, "main") == first
    cache.must_have(second)
    assert resolve(cache.repository, cache.base_name) == second
    assert [path.name for path in cache.folder.iterdir() if path.is_dir()] == [
        cache.repository.name
    ]


@pytest.mark.parametrize("damage", ["objects", "refs", "empty"])
def test_a_broken_copy_is_made_anew(
    tmp_path: Path, remote: BareRemote, damage: str
) -> None:
    """A sound one is left alone."""
    cache = cache_of(tmp_path, remote.url)
    cache.refresh()
    assert not cache.heal()
    directory = cache.repository / ".git"
    if damage == "objects":
        for file in directory.glob("objects/**/*"):
            if file.is_file():
                file.chmod(0o600)
                file.write_bytes(b"broken")
    elif damage == "refs":
        (directory / "refs/heads/main").write_text("f" * 40 + "\n")
    else:
        subprocess.run(["rm", "-r", directory], check=True)
    assert cache.heal()
    main = remote.refs("refs/heads/main")["refs/heads/main"]
    assert git(cache.repository, "show", f"{main}:a.txt") == "a\n"


def test_two_machines_never_push_different_things(
    tmp_path: Path, remote: BareRemote
) -> None:
    """What the other has pushed meanwhile is built upon, or is beyond; never undone."""
    here = cache_of(tmp_path / "here", remote.url)
    there = cache_of(tmp_path / "there", remote.url)
    here.refresh()
    there.refresh()
    base = resolve(here.repository, "main")
    first = commit_on(here, base, "first")
    branch_of(here).keep(first, "task-1")
    there.must_have(first)
    second = commit_on(there, first, "second")

    branch_of(there).keep(second, "task-2")
    branch_of(there).move_to(second)
    branch_of(here).move_to(first)  # it knows nothing of the second
    assert remote.refs()[HEAD] == second
    assert remote.refs("refs/accordance/") == {}

    with pytest.raises(StalePush):
        here.push(RefUpdate(HEAD, first, base))
    foreign = remote.push(BRANCH, message="by hand", **{"c.txt": "c\n"})
    third = commit_on(there, second, "third")
    branch_of(there).keep(third, "task-3")
    with pytest.raises(ForeignPush):
        branch_of(there).move_to(third)
    assert remote.refs()[HEAD] == foreign


def test_a_commit_that_nobody_pushed_is_missed(
    tmp_path: Path, remote: BareRemote
) -> None:
    """It may come with the machine that has it: nothing is made up."""
    cache = cache_of(tmp_path, remote.url)
    with pytest.raises(RemoteUnavailable) as missed:
        cache.must_have("1" * 40)
    assert missed.value.problem is RemoteProblem.LACKS


@contextlib.contextmanager
def silence() -> Iterator[str]:
    """A server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"git://127.0.0.1:{server.getsockname()[1]}/app.git"


def test_a_remote_that_stays_silent_is_given_up(tmp_path: Path) -> None:
    """It is told from one that does not exist, and from one that is not there."""
    with silence() as url:
        cache = cache_of(tmp_path, url, seconds=0.5)
        with pytest.raises(RemoteUnavailable) as silent:
            cache.refresh()
    assert silent.value.problem is RemoteProblem.SILENT

    for place, problem in (
        (url, RemoteProblem.AWAY),
        ((tmp_path / "none.git").as_uri(), RemoteProblem.MISSING),
    ):
        with pytest.raises(RemoteUnavailable) as failed:
            cache_of(tmp_path, place).refresh()
        assert failed.value.problem is problem, str(failed.value)
        assert cache_of(tmp_path, place).why_not_usable() == str(failed.value)


def test_an_empty_remote_and_an_empty_branch(tmp_path: Path) -> None:
    """There is nothing to begin on, and that is said."""
    git(tmp_path, "init", "--quiet", "--bare", "empty.git")
    url = (tmp_path / "empty.git").as_uri()
    with pytest.raises(RemoteUnavailable, match=r"no such repository.*HEAD"):
        cache_of(tmp_path, url, "HEAD").refresh()
    why = cache_of(tmp_path, url, "HEAD").why_not_usable()
    assert why is not None
    assert "no commit to begin on" in why


def test_a_password_comes_from_git_and_goes_nowhere(
    tmp_path: Path, remote: BareRemote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over a real network transport; whoever lacks it gets one clear line."""
    with served(remote) as url:
        cache = cache_of(tmp_path, url)
        with pytest.raises(RemoteUnavailable) as refused:
            cache.refresh()
        assert refused.value.problem is RemoteProblem.CREDENTIALS
        assert "GIT_ASKPASS" in str(refused.value)

        helper = f"!f() {{ echo username={USER}; echo password={PASSWORD}; }}; f"
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "credential.helper")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", helper)
        assert cache.why_not_usable() is None
        cache.refresh()
        branch = branch_of(cache)
        made = commit_on(cache, resolve(cache.repository, "main"), "made")
        branch.keep(made, "task-1")
        branch.move_to(made)
        assert remote.refs()[HEAD] == made

        git(remote.place, "config", "http.receivepack", "false")
        why = cache.why_not_usable()
        assert why is not None
        assert "refuses the push" in why
    for file in cache.repository.rglob("*"):
        if file.is_file():
            assert PASSWORD.encode() not in file.read_bytes()


def test_a_hook_of_ours_never_runs(tmp_path: Path, remote: BareRemote) -> None:
    """Whatever someone has put into the copy."""
    cache = cache_of(tmp_path, remote.url)
    cache.refresh()
    mark = tmp_path / "ran"
    for name in ("pre-push", "reference-transaction", "post-update"):
        hook = cache.repository / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
    made = commit_on(cache, resolve(cache.repository, "main"), "made")
    branch_of(cache).keep(made, "task-1")
    remote.push("main", **{"b.txt": "b\n"})
    cache.refresh(not_older=0)
    assert not mark.exists()
