"""Agents on a repository that lives on a remote: they get a clone, and never the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.coding import BRANCH, CodingProject
from tests.hostile.stage import FILES, git
from tests.remotes import PASSWORD, USER, BareRemote, served

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)
TOKEN = "token-of-the-machine"
HEAD = f"refs/heads/{BRANCH}"
HONEST = "app.write_text(RIGHT)\nchange(told, 'Mended.')\n"
THIEF = """
import os, subprocess
URL, CACHE, HOME = {url!r}, {cache!r}, {home!r}

def tried(*command):
    ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return f"{{command}} -> {{ran.returncode}}\\n{{ran.stdout}}{{ran.stderr}}\\n"

seen = repr(dict(os.environ))
seen += tried("git", "remote", "--verbose")
seen += tried("git", "config", "--list", "--show-origin")
seen += tried("git", "credential", "fill")
seen += tried("sh", "-c", f"printf 'url={{URL}}\\n\\n' | git credential fill")
seen += tried("git", "push", "origin", "HEAD:refs/heads/stolen")
seen += tried("git", "push", URL, "HEAD:refs/heads/stolen")
seen += tried("git", "ls-remote", URL)
seen += tried("sh", "-c", f"ls -la {{CACHE}} {{HOME}}/.accordance; cat {{HOME}}/accordance.toml")
seen += tried("sh", "-c", f"cat {{CACHE}}/*/.git/config")
seen += tried("sh", "-c", "cat /proc/*/environ; ls -la $SSH_AUTH_SOCK; cat ~/.git-credentials ~/.gitconfig ~/.netrc")
app.write_text(RIGHT)
evidence = Path("artifacts", told["change"]["task_id"], "evidence")
evidence.mkdir(parents=True, exist_ok=True)
(evidence / "seen.txt").write_text(seen)
change(told, "Mended.")
"""


def a_project(folder: Path, url: str) -> CodingProject:
    """A project whose repository is a remote."""
    project = CodingProject(folder)
    project.build()
    settings = folder / "accordance.toml"
    text = settings.read_text("utf-8")
    settings.write_text(text.replace('repo = "repository"', f'repo = "{url}"'), "utf-8")
    return project


def test_credentials_never_reach_an_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot push, learns no address, helper or token, and cannot read the copy; its change lands all the same."""
    remote = BareRemote.made(tmp_path / "server", FILES)
    user = tmp_path / "user"
    user.mkdir()
    (user / ".netrc").write_text(
        f"machine 127.0.0.1 login {USER} password {PASSWORD}\n"
    )
    (user / ".git-credentials").write_text(f"http://{USER}:{PASSWORD}@127.0.0.1\n")
    helper = f"!f() {{ echo username={USER}; echo password={PASSWORD}; }}; f"
    (user / ".gitconfig").write_text(f'[credential]\n\thelper = "{helper}"\n')
    for name, value in (
        ("HOME", str(user)),
        ("GIT_CONFIG_GLOBAL", str(user / ".gitconfig")),
        ("GITHUB_TOKEN", TOKEN),
        ("GIT_ASKPASS", f"/bin/echo {TOKEN}"),
        ("SSH_AUTH_SOCK", str(user / "agent.sock")),
    ):
        monkeypatch.setenv(name, value)

    with served(remote) as url:
        project = a_project(tmp_path / "project", url)
        cache = project.home / ".accordance/repositories"
        project.agent(THIEF.format(url=url, cache=str(cache), home=str(project.home)))
        assert project.imports().code == 0
        ran = project.runs()
        assert project.verdicts() == [("DONE", "PASSED")], ran
    seen = (project.bundle() / "agent/evidence/seen.txt").read_text("utf-8")
    assert "('git', 'push', 'origin', 'HEAD:refs/heads/stolen') -> 128" in seen
    for secret in (PASSWORD, TOKEN, str(user), "helper =", "'SSH_AUTH_SOCK'"):
        assert secret not in seen, secret
    listed = seen.split("'remote', '--verbose')")[1].splitlines()[:2]
    assert listed == [" -> 0", ""]
    assert cache.is_dir()
    assert "cannot access" in seen.split("ls -la")[1]

    assert set(remote.refs()) == {"refs/heads/main", HEAD}
    assert "items[-1]" in git(remote.place, "show", f"{BRANCH}:src/app.py")
    kept = [file for file in project.home.rglob("*") if file.is_file()]
    assert kept
    for file in kept:
        if "agents" not in file.parts:
            assert PASSWORD.encode() not in file.read_bytes(), file


def test_work_is_not_done_twice_because_a_remote_refused_it(tmp_path: Path) -> None:
    """The task waits for the remote. When that takes pushes again, what the agent left is judged, and lands."""
    remote = BareRemote.made(tmp_path / "server", FILES)
    remote.hook("pre-receive", "echo 'closed for maintenance' >&2; exit 1")
    project = a_project(tmp_path / "project", remote.url)
    project.agent(HONEST)
    assert project.imports().code == 0
    assert project.runs().code == 3
    assert project.state() == ("BLOCKED", "WAITING_EXTERNAL")
    lint = project("plan", "lint")
    assert (lint.code, lint.err) == (0, "")  # a hook shows itself only to a real push
    (asked,) = project("inbox", "list", "--json").json["items"]
    assert asked["text"].startswith("REPOSITORY_UNAVAILABLE: ")
    assert "closed for maintenance" in asked["text"]

    project.agent("raise SystemExit('nobody asked me')\n")
    assert project.runs().code == 3  # it is refused still
    (remote.place / "hooks/pre-receive").unlink()
    ran = project.runs()
    assert ran.code == 0, ran
    assert project.task()["failures"] == 0
    assert "items[-1]" in git(remote.place, "show", f"{BRANCH}:src/app.py")
    assert project("verify").code == 0

    remote.place.rename(tmp_path / "gone")
    gone = f"the repository {remote.url}: there is no such repository"
    for command in (("doctor",), ("plan", "lint")):
        tried = project(*command, "--json")
        assert tried.code == 1
        assert gone in tried.out
