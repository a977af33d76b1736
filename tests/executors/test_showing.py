"""A repository as a model is shown it: what it may change, whole; what it must pass; the names of all."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from accordance.executors import code_map as mapping
from accordance.executors.code_map import code_map
from accordance.executors.shown_files import LARGEST_FILE, show

FILES: Mapping[str, bytes] = {
    "src/app.py": b"def last(items): ...\n",
    "src/picture.png": b"\x89PNG\0\0",
    "src/latin.txt": "Zürich".encode("latin-1"),
    "src/large.txt": b"x" * (LARGEST_FILE + 1),
    "src/secret/key.txt": b"hunter2\n",
    'src/a"b.txt': b"odd\n",
    "tests/test_app.py": b"assert True\n",
    "tests/helper.py": b"help\n",
    "build/out.txt": b"ignored\n",
    ".gitignore": b"build/\n",
}
CHANGE: dict[str, Any] = {
    "pins": {
        "allowed_paths": ["src/**", "tests/helper.py"],
        "forbidden_paths": ["src/secret/**"],
    },
    "allowedTests": [
        "python -m unittest tests.test_app",
        'python tests/helper.py "open',
    ],
}
PINNED, TESTS, NAMES = (
    "file you may change: ",
    "file you may not change: ",
    "the names of all files",
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A clone: committed files, a new one, a link."""
    for path, content in FILES.items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    (tmp_path / "src/link.py").symlink_to("app.py")
    for words in (("init", "-q"), ("add", "-A")):
        subprocess.run(("git", *words), cwd=tmp_path, check=True)
    (tmp_path / "src/new.py").write_text("new\n")  # laid in by an earlier attempt
    return tmp_path


@pytest.mark.seed("003-10")
def test_what_is_shown(work: Path) -> None:
    """Texts that may be changed and the tests' own files, whole and as data; of everything else the name."""
    pieces = show(work, CHANGE)
    assert [piece.name for piece in pieces[:-1]] == [
        f"{PINNED}src/app.py",
        f"{PINNED}src/new.py",
        f"{PINNED}tests/helper.py",
        f"{TESTS}tests/test_app.py",
    ]
    assert all(piece.is_whole and piece.is_data for piece in pieces[:-1])
    assert pieces[0].text == FILES["src/app.py"].decode()
    names = pieces[-1].text.splitlines()
    assert pieces[-1].name.startswith(NAMES)
    assert names == sorted({*FILES, "src/new.py"} - {"build/out.txt"})


def test_an_empty_repository(tmp_path: Path) -> None:
    """There is nothing to show."""
    subprocess.run(("git", "init", "-q"), cwd=tmp_path, check=True)
    assert show(tmp_path, {"pins": {"allowed_paths": ["**"]}}) == ()


@pytest.mark.seed("003-12", "004-12")
def test_the_map_of_the_code(work: Path) -> None:
    """What may be changed, with what Python files define; nothing of what is forbidden or ignored."""
    (work / "src/more.py").write_text(
        "class Shop:\n    def open(self): ...\nasync def sell(item, price): ...\nx = 1\n"
    )
    (work / "src/broken.py").write_text("def (:\n")
    files = code_map(work, CHANGE)["files"]
    assert files["src/app.py"] == ["def last(items)"]
    assert files["src/more.py"] == ["class Shop", "def sell(item, price)"]
    assert files["src/broken.py"] == files["src/latin.txt"] == []
    assert (
        not {"src/secret/key.txt", "tests/test_app.py", "build/out.txt", "src/link.py"}
        & files.keys()
    )


def test_a_large_tree_is_mapped_as_far_as_there_is_room(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And how much is left out is told."""
    monkeypatch.setattr(mapping, "MOST_FILES", 2)
    whole = code_map(work, CHANGE)
    assert len(whole["files"]) == 2
    assert whole["left_out"] > 0
