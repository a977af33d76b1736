"""Where a judgement counts from: a commit the agent cannot move, and git's own settings as they were before it began."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accordance.cli.main import run
from tests.acceptance.checkout import Checkout
from tests.hostile.stage import git

HOOK = "#!/bin/sh\ntouch /tmp/never\n"


def record(checkout: Checkout) -> Path:
    """What a person does before the agent starts."""
    place = checkout.place / "baseline.json"
    assert run(["baseline", "--repo", str(checkout.work), "-o", str(place)]) == 0
    return place


def judged(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], *options: str | Path
) -> tuple[int, str, str]:
    """The command in this process: exit code and both outputs."""
    task = checkout.place / "task.json"
    task.write_text(json.dumps(checkout.task), "utf-8")
    capsys.readouterr()
    code = run(
        ["judge", "--task", str(task), "--repo", str(checkout.work), *map(str, options)]
    )
    out, err = capsys.readouterr()
    return code, out, err


def planted_hook(checkout: Checkout) -> None:
    """Runs with the next commit of whoever works there."""
    hook = checkout.work / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(HOOK, "utf-8")
    hook.chmod(0o755)


@pytest.mark.parametrize("base", ["HEAD", "main", "HEAD~0", "1234567"])
def test_a_name_is_no_base(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], base: str
) -> None:
    """The agent commits, so HEAD and every branch are what it says they are."""
    checkout.write("README.md", "mine\n")
    checkout.commit("nothing has changed, says HEAD")
    code, out, err = judged(checkout, capsys, "--base", base)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{base!r} is a name that the agent can move; give the full id" in err


def test_a_missing_base_is_told_with_the_way_out(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line: both ways to name it, where HEAD is, and why that may be wrong."""
    code, out, err = judged(checkout, capsys)
    assert (code, out, err.count("\n")) == (2, "", 1)
    for part in (
        "--base",
        "--baseline FILE",
        checkout.head,
        "only if the agent has made no commit",
    ):
        assert part in err


def test_what_was_committed_is_judged_all_the_same(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rules and changes that the agent commits stay changes, and never rules."""
    baseline = record(checkout)
    checkout.work_honestly()
    checkout.write(
        "accordance.toml",
        "[judge]\nseconds = 1\n[roles.engineer]\nwrite = { deny_paths = [] }\n",
    )
    checkout.commit("new rules")
    code, out, _ = judged(checkout, capsys, "--baseline", baseline, "--json")
    found = json.loads(out)
    assert (code, found["outcome"], found["base_commit"]) == (
        3,
        "REJECT",
        checkout.begun_at,
    )
    assert "accordance.toml" in found["reason"]


def test_an_honest_agent_passes(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    """Commits, branches, a name and an address of its own are everyday work."""
    planted_hook(checkout)  # the person's own, there before
    baseline = record(checkout)
    git(checkout.work, "config", "user.email", "agent@localhost")
    git(checkout.work, "checkout", "--quiet", "-b", "agent/work")
    checkout.work_honestly()
    checkout.commit("done")
    code, out, err = judged(
        checkout, capsys, "--baseline", baseline, "--strict", "--json"
    )
    assert (code, err) == (0, "")
    assert json.loads(out)["notices"][-1].endswith("hook pre-commit")


def test_a_hook_planted_in_git(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    """A finding against a baseline, a notice without one, refused without one under --strict."""
    baseline = record(checkout)
    checkout.work_honestly()
    planted_hook(checkout)
    places = [checkout.place / name for name in "abc"]
    code, out, _ = judged(
        checkout, capsys, "--baseline", baseline, "--json", "--artifacts", places[0]
    )
    found = json.loads(out)
    assert (code, found["outcome"], found["reason_code"]) == (
        3,
        "REJECT",
        "SCOPE_CONFLICT",
    )
    assert "git's own settings have changed since the baseline" in found["reason"]
    assert "hook pre-commit (added)" in found["reason"]
    base = ("--base", checkout.begun_at)
    code, out, _ = judged(checkout, capsys, *base, "--artifacts", places[1])
    assert code == 0
    assert "git would run programs in this tree" in out
    assert "hook pre-commit" in out
    code, out, _ = judged(
        checkout, capsys, *base, "--strict", "--json", "--artifacts", places[2]
    )
    assert (code, json.loads(out)["reason_code"]) == (3, "SCOPE_CONFLICT")


def test_a_linked_working_tree(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its hooks lie with the repository it belongs to, and are looked for there."""
    linked = checkout.place / "linked"
    git(checkout.work, "worktree", "add", "--quiet", str(linked))
    baseline = checkout.place / "baseline.json"
    assert run(["baseline", "--repo", str(linked), "-o", str(baseline)]) == 0
    planted_hook(checkout)
    task = checkout.place / "task.json"
    task.write_text(json.dumps(checkout.task), "utf-8")
    capsys.readouterr()
    run(
        [
            "judge",
            "--task",
            str(task),
            "--repo",
            str(linked),
            "--baseline",
            str(baseline),
            "--json",
        ]
    )
    assert "hook pre-commit (added)" in capsys.readouterr().out


@pytest.mark.parametrize(
    "place", ["baseline.json", ".git/baseline.json", "src/../.git/x.json"]
)
def test_a_baseline_within_reach(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    """In the tree or in git's own folder the agent could write it anew: neither written there nor read."""
    within = checkout.work / place
    code = run(["baseline", "--repo", str(checkout.work), "-o", str(within)])
    assert (code, within.exists()) == (2, False)
    assert "keep the baseline outside" in capsys.readouterr().err
    within.write_bytes(record(checkout).read_bytes())
    code, _, err = judged(checkout, capsys, "--baseline", within)
    assert (code, "keep the baseline outside" in err) == (2, True)


@pytest.mark.parametrize(
    ("content", "exit_code", "says"),
    [
        pytest.param(None, 5, "no file", id="no file"),
        pytest.param("{}", 2, "is not a baseline", id="nothing in it"),
        pytest.param("sure, here it is", 2, "is not a baseline", id="no JSON"),
        pytest.param(
            '{"commit": "HEAD", "tree": "", "git_settings": {}}',
            2,
            "is not a commit id",
            id="a name",
        ),
        pytest.param(
            f'{{"commit": "{"f" * 40}", "tree": "", "git_settings": {{}}}}',
            5,
            "has no commit",
            id="no such commit",
        ),
        pytest.param(
            '{"commit": "HEAD-ID", "tree": "", "git_settings": {}}',
            2,
            "its commit and its tree disagree",
            id="another tree",
        ),
    ],
)
def test_what_is_no_baseline(
    checkout: Checkout,
    capsys: pytest.CaptureFixture[str],
    content: str | None,
    exit_code: int,
    says: str,
) -> None:
    """One clear line."""
    place = checkout.place / "baseline.json"
    if content is not None:
        place.write_text(content.replace("HEAD-ID", checkout.head), "utf-8")
    code, out, err = judged(checkout, capsys, "--baseline", place)
    assert (code, out, err.count("\n")) == (exit_code, "", 1)
    assert says in err


def test_base_and_baseline_agree(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two answers to one question are refused, unless they are the same."""
    baseline = record(checkout)
    code, _, err = judged(checkout, capsys, "--baseline", baseline, "--base", "f" * 40)
    assert (code, "is not the commit of the baseline" in err) == (2, True)
    checkout.work_honestly()
    assert (
        judged(checkout, capsys, "--baseline", baseline, "--base", checkout.begun_at)[0]
        == 0
    )


def test_a_tree_with_changes_of_its_own(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the person has not committed would count as the agent's: said before the agent starts."""
    checkout.write("README.md", "the person's\n")
    checkout.write("build/ignored", "by the base\n")
    assert run(["baseline", "--repo", str(checkout.work)]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["commit"] == checkout.head
    assert err.endswith("commit or stash it first: README.md\n")


def test_a_directory_without_git_has_no_baseline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There a copy is kept."""
    assert run(["baseline", "--repo", str(tmp_path)]) == 2
    assert "is not a git repository; keep a copy of it" in capsys.readouterr().err


@pytest.mark.parametrize("level", ["rlimit", "landlock", "auto", "bubblewrap"])
def test_a_file_never_lowers_isolation(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], level: str
) -> None:
    """accordance.toml may ask for more; for less there is an option, which a person gives."""
    checkout.write("accordance.toml", f'[judge]\nisolation = "{level}"\n')
    checkout.begin_with("rules")
    checkout.work_honestly()
    base = ("--base", checkout.begun_at)
    code, out, err = judged(checkout, capsys, *base, "--json")
    if level == "rlimit":
        assert (
            code,
            "a file cannot turn isolation off; a person can, for one command (--isolation rlimit)"
            in err,
        ) == (
            2,
            True,
        )
    else:
        assert json.loads(out)["isolation"] in (
            ("bwrap", None) if level == "bubblewrap" else ("bwrap", "landlock", None)
        )
