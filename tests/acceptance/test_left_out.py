"""What tools leave in a tree: left out of the change and of its tests, listed, never blamed; and of no use to a cheat."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.checkout import Checkout
from tests.hostile.stage import FIXED, FOLDER, git

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)

Act = Callable[[Checkout], object]
EVIL = "import os\nos._exit(0)\n"
IGNORES = "build/\n*.cache\n/dist/*\n!/dist/keep\n.env\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A repository whose base ignores a few things, and not the caches of tools."""
    made = Checkout(tmp_path)
    made.build()
    made.write(".gitignore", IGNORES)
    made.write("Cargo.toml", "[package]\n")
    made.write("tracked.cache", "tracked, though a rule would ignore it\n")
    git(made.work, "add", "--force", "tracked.cache")
    made.begin_with("rules")
    made.ask()
    return made


def write(path: str, text: str = "x\n") -> Act:
    """Write a file."""
    return lambda checkout: checkout.write(path, text)


def both(*acts: Act) -> Act:
    """One after the other."""
    return lambda checkout: [act(checkout) for act in acts]


def virtual_environment(name: str) -> Act:
    """A real one, with the links that leave the tree."""

    def act(checkout: Checkout) -> None:
        command = (sys.executable, "-m", "venv", "--without-pip", name)
        subprocess.run(command, cwd=checkout.work, check=True)
        (checkout.work / name / "bin/python").is_symlink()

    return act


def in_git(*command: str) -> Act:
    """Use git, as an agent would."""
    return lambda checkout: git(checkout.work, *command)


HONEST: dict[str, tuple[Act, str]] = {
    "what the base ignores": (write("build/lib/app.o"), "build"),
    "a file that it ignores": (write("src/x.cache"), "src/x.cache"),
    "what a star ignores in a folder": (write("dist/app.whl"), "dist/app.whl"),
    "a cache": (write("src/__pycache__/app.pyc"), "src/__pycache__"),
    "the folder of pytest": (
        both(write(".pytest_cache/.gitignore", "*\n"), write(".pytest_cache/v/x")),
        ".pytest_cache",
    ),
    "the data of coverage": (write(".coverage.host.1.2"), ".coverage.host.1.2"),
    "an egg-info": (write("src/app.egg-info/PKG-INFO"), "src/app.egg-info"),
    "a virtual environment": (virtual_environment(".venv"), ".venv"),
    "one with another name": (virtual_environment("py"), "py"),
    "node_modules": (write("node_modules/left-pad/index.js"), "node_modules"),
    "the target of Cargo": (write("target/debug/app"), "target"),
    "a repository in an ignored folder": (
        both(write("build/x"), in_git("init", "--quiet", "build/inner")),
        "build",
    ),
    "a pipe in one": (
        both(
            write("build/x"),
            lambda checkout: os.mkfifo(checkout.work / "build/pipe"),
        ),
        "build",
    ),
}


@pytest.mark.parametrize(("act", "path"), HONEST.values(), ids=HONEST)
def test_nobody_is_blamed(checkout: Checkout, act: Act, path: str) -> None:
    """The work is done; what the tools left is listed, and no part of the change."""
    checkout.work_honestly()
    act(checkout)
    ran = checkout.judge("--json")
    assert ran.code == 0, ran.out
    left = [notice for notice in ran.json["notices"] if "left out" in notice]
    assert len(left) == 1
    assert left[0].endswith(f": {path}")


HOSTILE: dict[str, tuple[Act, str]] = {
    "a forbidden file in an ignored folder": (
        write("build/secrets/key.txt"),
        "build/secrets/key.txt",
    ),
    "a rule of its own": (
        both(write(".gitignore", f"{IGNORES}evil.py\n"), write("evil.py")),
        "evil.py",
    ),
    "a rule in .git/info/exclude": (
        both(write(".git/info/exclude", "evil.py\n"), write("evil.py")),
        "evil.py",
    ),
    "a tracked file that a rule ignores": (write("tracked.cache"), "tracked.cache"),
    "a file that the rules let through": (write("dist/keep"), "dist/keep"),
    "an ignored file that it commits": (
        both(
            write("build/evil.py"),
            in_git("add", "--force", "build/evil.py"),
            in_git("commit", "--quiet", "--message=mine"),
        ),
        "build/evil.py",
    ),
    "a cache that it commits": (
        both(
            write("node_modules/x/index.js"),
            in_git("add", "--force", "node_modules"),
        ),
        "node_modules/x/index.js",
    ),
    "a folder that is only called venv": (write("venv/evil.py"), "venv/evil.py"),
    "a target beside no Cargo.toml": (write("docs/target/evil"), "docs/target/evil"),
}


@pytest.mark.parametrize(("act", "path"), HOSTILE.values(), ids=HOSTILE)
def test_nothing_is_hidden_by_it(checkout: Checkout, act: Act, path: str) -> None:
    """Only the base says what is ignored, and what is committed is taken over."""
    checkout.work_honestly()
    act(checkout)
    ran = checkout.judge("--json")
    assert ran.code == 3, ran.out
    assert ran.json["reason_code"] == "SCOPE_CONFLICT"
    assert path in ran.json["findings"][0]["message"]


STEERS: dict[str, Act] = {
    "a planted conftest": write("build/conftest.py", EVIL),
    "a sitecustomize in a virtual environment": both(
        write(".venv/pyvenv.cfg"),
        write(f".venv/lib/python3.{sys.version_info[1]}/sitecustomize.py", EVIL),
    ),
    "an ignored pytest.ini": write("build/pytest.ini", "[pytest]\naddopts = --co\n"),
    "an ignored module": write("build/app.py", FIXED),
    "an ignored variable file": write(".env", "PYTHONPATH=build\n"),
}


@pytest.mark.parametrize("act", STEERS.values(), ids=STEERS)
def test_it_decides_no_test(checkout: Checkout, act: Act) -> None:
    """The tests' copy has nothing of it: the work is not done, and the tests say so."""
    checkout.task["allowedTests"] = [
        "PYTHONPATH=build:.venv/lib python -B tests/test_app.py"
    ]
    checkout.write("src/other.py", "OTHER = 2\n")
    act(checkout)
    ran = checkout.judge("--json")
    assert ran.json["reason_code"] == "CI_FAILED", ran.out


def test_evidence_in_an_ignored_folder_is_read(checkout: Checkout) -> None:
    """`artifacts/` is ignored by many, and the evidence lies there."""
    checkout.write(".gitignore", f"{IGNORES}artifacts/\n")
    checkout.begin_with("more rules")
    checkout.work_honestly()
    checkout.hand_in()
    checkout.write("artifacts/other/x", "not ours\n")
    ran = checkout.judge("--json")
    assert ran.code == 0, ran.out
    assert (checkout.bundle / "agent/report.md").is_file()
    assert (checkout.work / FOLDER).is_dir()


def test_a_program_in_a_carried_folder(checkout: Checkout) -> None:
    """It is in no base; the tests' copy has it, because the settings say so."""
    checkout.write("accordance.toml", '[judge]\ncarry = ["node_modules"]\n')
    checkout.begin_with("settings")
    checkout.write("node_modules/check/run.sh", "#!/bin/sh\necho checked\n").chmod(
        0o755
    )
    (checkout.work / "node_modules/.bin").mkdir()
    (checkout.work / "node_modules/.bin/check").symlink_to("../check/run.sh")
    checkout.task["allowedTests"] += ["node_modules/.bin/check"]
    checkout.work_honestly()
    ran = checkout.judge("--json")
    assert ran.code == 0, ran.out + ran.err
    assert (checkout.bundle / "runs/02.log").read_text("utf-8") == "checked\n"
