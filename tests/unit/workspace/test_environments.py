"""The environment of tests: never accordance's own, prepared once, read-only, and its faults told."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from accordance.domain.facts import IsolationLevel
from accordance.domain.test_environments import EnvironmentWish
from accordance.workspace import confining, isolation
from accordance.workspace.base_tree import BaseTree
from accordance.workspace.clone import adopt
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.confining import PYTHON, argv, environment
from accordance.workspace.environments import (
    environment_of_tests,
)
from accordance.workspace.errors import EnvironmentBroken, JudgeInReach
from accordance.workspace.isolation import Room
from accordance.workspace.judges_python import (
    OWN,
    JudgesPython,
    active_environments,
    installation_of,
    refuse_judge_in_reach,
)
from accordance.workspace.laying import lay_folders, lay_generated
from accordance.workspace.probing import probe
from accordance.workspace.running import run
from accordance.workspace.test_environment import TestEnvironment
from tests.hostile.stage import git
from tests.pythons import environment_with

CONFINING = [found.level for found in probe().levels if found.works and found.level.confines]  # fmt: skip


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def printed(room: Room, command: str, level: IsolationLevel) -> str:
    """What a command prints in a room."""
    room.folder.mkdir(parents=True)
    room.work.mkdir()
    lay_folders(room, level)
    room.prepare(level)
    log = room.folder.parent / "log"
    run(command, room, log, level=level)
    return log.read_text("utf-8")


# -- whose Python it is


@pytest.mark.parametrize("level", CONFINING)
@pytest.mark.parametrize("module", ["accordance", "pydantic", "click", "pytest"])
def test_nothing_of_accordance_can_be_imported_by_tests(
    tmp_path: Path, level: IsolationLevel, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is activated: a click that is judged must not be tested by accordance's click."""
    own_programs = Path(sys.prefix) / "bin"
    monkeypatch.setenv("PATH", f"{own_programs}:{os.environ['PATH']}")
    code = f"python -c 'import {module}' || python -m {module} --version || {module} --version"
    output = printed(Room(tmp_path / "room"), code, level)
    assert f"No module named '{module}'" in output
    assert f"{module}: not found" in output


def test_what_needs_the_environment_of_accordance_finds_its_programs_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So `python` is another one, although this one was activated."""
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin:/usr/bin")
    room = Room(tmp_path / "room", sees_accordance=True)
    search_path = environment(room, IsolationLevel.BWRAP)["PATH"].split(":")
    assert search_path[-2:] == [f"{tmp_path}/room/python/bin", f"{sys.prefix}/bin"]
    assert search_path.count(f"{sys.prefix}/bin") == 1


NEEDED = {
    "its interpreter, by its place": ([f"{sys.prefix}/bin/python", "agent.py"], True),
    "a program of it, behind another": (["nice", f"{sys.prefix}/bin/ruff"], True),
    "a program that only it has": (["lint-imports"], True),
    "any Python": (["python3", "agent.py"], False),
    "a program of the system": (["sh", "-c", "lint-imports"], False),
    "a program that nobody has": (["no-such-program"], False),
    "nothing": ([], False),
}


@pytest.mark.parametrize(("words", "needed"), NEEDED.values(), ids=NEEDED)
def test_which_commands_need_the_environment_of_accordance(
    words: list[str], needed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that name a program of it, and no other."""
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin:/usr/bin:/bin")
    assert OWN.is_needed_for(words) is needed


@pytest.mark.parametrize(
    ("first_line", "needed"),
    [
        (f"#!{os.path.realpath(sys.executable)} -I", True),
        ("#!/bin/sh", False),
        ("#!", False),
        ("text", False),
        (None, False),
    ],
)
def test_scripts_for_the_python_of_accordance(
    tmp_path: Path, first_line: str | None, needed: bool
) -> None:
    """They run in no other, wherever they lie: also where it is the system's."""
    system = JudgesPython("/usr", "/usr", os.path.realpath(sys.executable), ())
    script = tmp_path / "agent"
    if first_line is not None:
        script.write_text(f"{first_line}\n")
    assert system.is_needed_for([str(script)]) is needed

    environment = tmp_path / "environment"
    own = JudgesPython(str(environment), "/usr", "/usr/bin/python3", ())
    script.write_text(f"#!{environment}/bin/python\n")
    link = tmp_path / "link"
    link.symlink_to(environment / "bin" / "agent")
    assert own.is_needed_for([str(script)])
    assert own.is_needed_for([str(link)])


def test_without_an_environment_of_its_own_its_packages_are_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Accordance in the system's Python: tests get a bare one first, and bubblewrap hides the packages."""
    system = JudgesPython("/usr", "/usr", PYTHON, ("/usr/lib/python3/dist-packages",))
    for module in (isolation, confining):
        monkeypatch.setattr(module, "OWN", system)
    room = Room(tmp_path / "room")
    search_path = environment(room, IsolationLevel.BWRAP)["PATH"]
    assert search_path.startswith(f"{tmp_path}/room/python/bin:")
    words = argv("true", room, IsolationLevel.BWRAP, isolation.CommandLimits())
    hidden = words[words.index("/usr/lib/python3/dist-packages") - 1]
    assert hidden == "--tmpfs"


@pytest.mark.parametrize("entry", ["src", ".", ".venv/lib/python3.11/site-packages"])
def test_a_judge_that_imports_from_the_judged_tree_is_refused(
    tmp_path: Path, entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent's src/sitecustomize.py ran in the judge, with the rights of the person."""
    refuse_judge_in_reach(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / entry)])
    with pytest.raises(JudgeInReach, match="install accordance in an environment of its own"):  # fmt: skip
        refuse_judge_in_reach(tmp_path)


def test_an_editable_install_beside_sys_path_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Setuptools maps packages to folders by a finder of its own."""
    finder = ModuleType("__editable___demo_finder")
    finder.MAPPING = {"demo": str(tmp_path / "demo")}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, finder.__name__, finder)
    with pytest.raises(JudgeInReach):
        refuse_judge_in_reach(tmp_path)


def test_the_environments_that_a_person_has_activated(tmp_path: Path) -> None:
    """All but accordance's own, and those that an agent could have changed."""
    theirs = environment_with(tmp_path / "theirs")
    in_tree = environment_with(tmp_path / "tree" / ".venv")
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    search_path = [f"{sys.prefix}/bin", str(in_tree), str(theirs), str(nothing), "", "bin"]  # fmt: skip

    (active,) = active_environments(search_path, tmp_path / "tree")
    assert active.folder == tmp_path / "theirs"
    assert active.base == Path(os.path.realpath(sys.base_prefix))

    (theirs.parent / "pyvenv.cfg").write_text("version = 3\n")
    (strange,) = active_environments([str(theirs)], tmp_path / "tree")
    assert strange.places == (tmp_path / "theirs",)


def test_a_home_folder_is_no_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Python installed in the home itself does not open the home to tests."""
    library = tmp_path / "lib" / "python3.11"
    library.mkdir(parents=True)
    (library / "os.py").touch()
    assert installation_of(tmp_path / "bin" / "python") == tmp_path
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "somebody")
    assert installation_of(tmp_path / "bin" / "python") is None


# -- trusted folders


@pytest.mark.parametrize("level", CONFINING)
def test_trusted_folders_replace_what_the_agent_left(
    tmp_path: Path, level: IsolationLevel
) -> None:
    """A patched library in node_modules decides nothing; no link leads out of the copy."""
    trusted = tmp_path / "trusted"
    trusted.mkdir(mode=0o755)
    tmp_path.chmod(0o755)
    (trusted / "lib.js").write_text("trusted\n")
    outside = tmp_path / "outside"
    outside.mkdir()

    room = Room(tmp_path / "room", laid={"a/node_modules": trusted, "link/x": trusted, "file": trusted})  # fmt: skip
    room.work.mkdir(parents=True)
    (room.work / "a" / "node_modules").mkdir(parents=True)
    (room.work / "a" / "node_modules" / "lib.js").write_text("patched\n")
    (room.work / "link").symlink_to(outside)
    (room.work / "file").write_text("a file\n")
    lay_folders(room, level)
    room.prepare(level)

    log = tmp_path / "log"
    names = "a/node_modules/lib.js link/x/lib.js file/lib.js"
    run(f"cat {names}; echo no > file/lib.js", room, log, level=level)
    assert log.read_text().startswith("trusted\n" * 3)
    assert (trusted / "lib.js").read_text() == "trusted\n"
    assert not list(outside.iterdir())


@pytest.mark.skipif(IsolationLevel.BWRAP not in CONFINING, reason="needs bubblewrap")
def test_tools_may_write_to_their_caches_in_a_trusted_folder(tmp_path: Path) -> None:
    """Vitest fails otherwise. Nothing of it is left, and nothing else can be written."""
    trusted = tmp_path / "trusted"
    (trusted / ".vite").mkdir(parents=True)
    room = Room(tmp_path / "room", laid={"node_modules": trusted})
    places = "node_modules/.vite/results node_modules/.other"
    code = f"for place in {places}; do echo x > $place && echo $place; done"
    output = printed(room, code, IsolationLevel.BWRAP)
    assert "node_modules/.vite/results" in output.splitlines()
    assert "node_modules/.other" not in output.splitlines()
    assert not list((trusted / ".vite").iterdir())


# -- preparing


class Repository:
    """A repository whose base needs something."""

    def __init__(
        self,
        place: Path,
        files: Mapping[str, bytes] | None = None,
        stands_at: Path | None = None,
    ) -> None:
        self.root = place / "repository"
        self.root.mkdir(parents=True)
        for name, content in {"README": b"", **(files or {})}.items():
            (self.root / name).write_bytes(content)
        git(self.root, "init", "--quiet", "--initial-branch=main")
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--message=base")
        head = git(self.root, "rev-parse", "HEAD").strip()
        workspace = adopt(self.root, place / "private", base=head)
        self.base = BaseTree(
            workspace=workspace,
            before=base_snapshot(workspace),
            stands_at=stands_at or self.root,
        )
        self.steps: list[str] = []

    def prepared(
        self,
        wish: EnvironmentWish,
        level: IsolationLevel = CONFINING[0],
        tests: Sequence[str] = ("python -m unittest",),
    ) -> TestEnvironment:
        """Its environment."""
        return environment_of_tests(
            self.base, tests, wish, level, tell=self.steps.append
        )


def a_wheel(name: str) -> dict[str, bytes]:
    """A package that can be installed without network, as a file of a repository."""
    info = f"{name}-1.dist-info"
    files = {
        f"{name}.py": f"NAME = {name!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return {f"{name}-1-py3-none-any.whl": content.getvalue()}


INSTALL = "pip install --no-index *.whl"


@pytest.mark.parametrize("level", CONFINING)
def test_an_environment_is_prepared_once_and_cannot_be_changed(
    tmp_path: Path, level: IsolationLevel
) -> None:
    """Tests import what was installed, from a folder that they cannot write."""
    repository = Repository(tmp_path, a_wheel("vendored"))
    wish = EnvironmentWish(prepare=(INSTALL,), variables={"COLOUR": "red"})
    made = repository.prepared(wish, level)
    again = repository.prepared(wish, level)
    assert again == made
    assert len(repository.steps) == 1

    room = made.furnished(Room(tmp_path / "room", repository.root), level)
    config = made.programs[0].parent / "pyvenv.cfg"
    command = (
        'python -c "import vendored; print(vendored.NAME)"; echo $COLOUR;'
        f" echo spoilt > {config}"
    )
    output = printed(room, command, level)
    assert output.startswith("vendored\nred\n")
    assert "spoilt" not in config.read_text()


def test_what_went_in_decides_when_it_is_made_anew(tmp_path: Path) -> None:
    """The commands and the files that are named, and nothing else."""
    wish = EnvironmentWish(prepare=("cp lock $ENVIRONMENT/made",), inputs=("lock",))
    first = Repository(tmp_path / "1", {"lock": b"1", "other": b"1"})
    made = first.prepared(wish).readable[0]
    assert (made / "made").read_text() == "1"

    same = Repository(tmp_path / "2", {"lock": b"1", "other": b"2"}, first.root)
    assert same.prepared(wish).readable[0] == made
    assert not same.steps

    changed = Repository(tmp_path / "3", {"lock": b"2", "other": b"1"}, first.root)
    assert changed.prepared(wish).readable[0] != made


def test_generated_files_fill_gaps_and_replace_nothing(tmp_path: Path) -> None:
    """A `_version.py` that git ignores is made from a tag; what the agent wrote stays, and its links lead nowhere."""
    made_of_a_tag = (
        "git describe --tags > version; mkdir -p a b c; touch a/new b/new c/new"
    )
    repository = Repository(tmp_path, {"lock": b""})
    git(repository.root, "tag", "--annotate", "--message=first", "v1")
    made = repository.prepared(EnvironmentWish(prepare=(made_of_a_tag,)))

    room = made.furnished(Room(tmp_path / "room"), CONFINING[0])
    outside = tmp_path / "outside"
    for folder in (room.work / "c", outside):
        folder.mkdir(parents=True)
    (room.work / "a").symlink_to(outside)
    (room.work / "b").write_text("a file\n")
    (room.work / "c" / "new").write_text("the agent's\n")
    assert lay_generated(room) == {"version"}
    assert (room.work / "version").read_text() == "v1\n"
    assert (room.work / "c" / "new").read_text() == "the agent's\n"
    assert not list(outside.iterdir())


def test_a_half_made_environment_is_thrown_away(tmp_path: Path) -> None:
    """Whoever was interrupted leaves no marker, and the next one begins anew."""
    repository = Repository(tmp_path)
    wish = EnvironmentWish(prepare=("date > $ENVIRONMENT/made",))
    made = repository.prepared(wish).readable[0]
    (made / "ready.json").unlink()
    (made / "half").touch()
    assert repository.prepared(wish).readable[0] == made
    assert not (made / "half").exists()
    assert len(repository.steps) == 2


BROKEN = {
    "a command that fails": (
        EnvironmentWish(prepare=("echo one; echo two >&2; exit 7",)),
        "could not be prepared (exit code 7): $ echo one; echo two >&2; exit 7\none\ntwo",
    ),
    "an input that is not there": (
        EnvironmentWish(prepare=("true",), inputs=("lock",)),
        "inputs: lock is not in the base",
    ),
    "no such Python": (
        EnvironmentWish(python="/nowhere/python"),
        "/nowhere/python does not exist or cannot be run",
    ),
    "accordance's own Python": (
        EnvironmentWish(python=sys.executable),
        "is the Python that accordance itself runs in",
    ),
    "no such folder": (
        EnvironmentWish(folders={"x": "/nowhere"}),
        "folders: x: /nowhere is not a folder",
    ),
    "a folder outside of the tree": (
        EnvironmentWish(folders={"../x": "/usr"}),
        "folders: ../x is no place in the tree",
    ),
}


@pytest.mark.parametrize(("wish", "text"), BROKEN.values(), ids=BROKEN)
def test_a_fault_of_the_environment_is_told(
    tmp_path: Path, wish: EnvironmentWish, text: str
) -> None:
    """In the words of what failed; nothing half-made is kept."""
    with pytest.raises(EnvironmentBroken) as caught:
        Repository(tmp_path).prepared(wish)
    assert text in str(caught.value)
    kept = tmp_path / "cache" / "accordance" / "environments"
    assert not [place for place in kept.glob("*") if place.is_dir()]


@pytest.mark.parametrize("key", ["python", "folders"])
def test_nothing_of_the_judged_tree_is_trusted(tmp_path: Path, key: str) -> None:
    """An environment or a folder in the tree may be the agent's work."""
    repository = Repository(tmp_path)
    programs = environment_with(repository.root / ".venv")
    wish = EnvironmentWish(python=str(programs / "python"))
    if key == "folders":
        wish = EnvironmentWish(folders={"x": str(programs)})
    with pytest.raises(EnvironmentBroken, match="where the agent can change it"):
        repository.prepared(wish)


def test_a_copy_of_the_project_in_its_environment_is_refused(tmp_path: Path) -> None:
    """Tests would import the copy, and any change would pass."""
    project = {"pyproject.toml": b'[project]\nname = "demo"\n', **a_wheel("demo")}
    with pytest.raises(EnvironmentBroken, match="holds a copy of demo"):
        Repository(tmp_path, project).prepared(EnvironmentWish(prepare=(INSTALL,)))


def test_a_cache_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    """Else another user could decide what tests import."""
    shared = tmp_path / "cache" / "accordance" / "environments"
    shared.mkdir(parents=True)
    shared.chmod(0o777)
    with pytest.raises(EnvironmentBroken, match="can be changed by other users"):
        Repository(tmp_path).prepared(EnvironmentWish(prepare=("true",)))


def test_the_tree_comes_first_where_it_cannot_be_moved(tmp_path: Path) -> None:
    """Editable installs lead to the repository's own place; Landlock cannot show the copy there."""
    room = Room(tmp_path / "room", appears_at=tmp_path)
    made = TestEnvironment(source_roots=("src", ""), variables={"PYTHONPATH": "lib"})
    moved = made.furnished(room, IsolationLevel.BWRAP)
    assert moved.environment["PYTHONPATH"] == "lib"
    stays = made.furnished(room, IsolationLevel.LANDLOCK)
    assert stays.environment["PYTHONPATH"] == f"{room.work}/src:{room.work}:lib"
    assert OWN.interpreter == PYTHON
