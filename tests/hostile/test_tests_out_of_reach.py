"""Tests that an agent cannot touch, or cannot see: given tests and hidden tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accordance.changes.provisional import opinion_on
from accordance.judging.judgement import Judgement
from accordance.judging.rejudging import rejudge
from accordance.judging.task_input import PreflightFailed
from accordance.workspace.errors import WorkspaceError
from tests.hostile.conftest import Score
from tests.hostile.judged_changes import (
    BASE,
    BROKEN,
    FIXED,
    TESTS,
    codes,
    judged,
    write,
)

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)
SETTINGS = '[judge]\nhidden_tests = "../hidden"\n'
SECRET = "chrysanthemum"
HIDDEN_TEST = f"""
    from app import last

    def test_{SECRET}():
        assert last([1, 2, 3]) == 3, "{SECRET}"
"""
GIVEN = {"given_tests": ["tests/**"]}
HIDDEN = {"hidden_tests": {"folder": "issue-17"}}


@pytest.fixture(autouse=True)
def own_cache(
    tmp_path: Path, active_pytest: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each test has a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


# -- given tests


def test_given_tests_run_as_the_base_has_them(tmp_path: Path, score: Score) -> None:
    """Hostile: the test that fails is made to pass, and one that helps is planted."""
    green = TESTS.replace("last([1, 2]) == 2", "True")
    planted = "import app\napp.last = lambda items: 2\n"
    change = {
        "src/app.py": BROKEN + "# mended\n",
        "tests/test_app.py": green,
        "tests/test_aaa.py": planted,
    }

    judgement = judged(tmp_path, change, task=GIVEN)

    score(False, bool(judgement))
    assert "CI_FAILED" in codes(judgement)
    assert judgement.facts.given_tests == ("tests/test_aaa.py", "tests/test_app.py")


def test_an_honest_change_passes_the_given_tests(tmp_path: Path, score: Score) -> None:
    judgement = judged(tmp_path, {"src/app.py": FIXED}, task=GIVEN)

    score(True, bool(judgement))
    assert codes(judgement) == []
    assert judgement.facts.given_tests == ()


def test_a_link_in_place_of_given_tests_leads_nowhere(tmp_path: Path) -> None:
    """Nothing is written through it, and the tests are there all the same."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    repository = tmp_path / "repository"

    def replace_by_link() -> None:
        (repository / "tests/test_app.py").unlink()
        (repository / "tests").rmdir()
        (repository / "tests").symlink_to(elsewhere)

    judgement = judged(
        tmp_path,
        {"src/app.py": FIXED},
        then=replace_by_link,
        task=GIVEN,
    )

    assert judgement.facts.runs[0].passed
    assert list(elsewhere.iterdir()) == []


# -- hidden tests


def with_hidden_tests(place: Path, source: str) -> Judgement:
    """Judge a change of the source by hidden tests."""
    write(place / "hidden/issue-17", {"tests/test_hidden.py": HIDDEN_TEST})
    return judged(place, {"src/app.py": source}, settings=SETTINGS, task=HIDDEN)


def test_hidden_tests_accept_an_honest_change(tmp_path: Path, score: Score) -> None:
    judgement = with_hidden_tests(tmp_path, FIXED)

    score(True, bool(judgement))
    assert codes(judgement) == []
    hidden = judgement.facts.hidden
    assert hidden is not None
    assert hidden.files == ("tests/test_hidden.py",)
    assert judgement.bundle is not None
    assert rejudge(judgement.bundle).faults == ()


PASSES_WHAT_IT_SEES = "def last(items):\n    return 2\n"
TELLS_WHAT_IT_FINDS = (
    """
import pathlib
found = [text for file in pathlib.Path("tests").rglob("*") if file.is_file()
         for text in [str(file), file.read_text()]]
print(found)
"""
    + PASSES_WHAT_IT_SEES
    + "    raise ValueError(found)\n"
)


@pytest.mark.parametrize("source", [PASSES_WHAT_IT_SEES, TELLS_WHAT_IT_FINDS])
def test_hidden_tests_refuse_what_only_passes_the_tests_it_sees(
    source: str, tmp_path: Path, score: Score
) -> None:
    """The agent learns how many failed, and nothing else."""
    judgement = with_hidden_tests(tmp_path, source)

    score(False, bool(judgement))
    assert "CI_FAILED" in codes(judgement)
    messages = [finding.message for finding in judgement.verdict.findings]
    assert "1 of 1 hidden tests failed" in messages
    assert judgement.retry is not None
    given_back = (
        judgement.retry.tell,
        opinion_on(judgement).text,
        json.dumps(judgement.to_json()),
    )
    for text in given_back:
        assert SECRET not in text
        assert "test_hidden" not in text


def test_nothing_hidden_is_left_in_the_repository(tmp_path: Path) -> None:
    with_hidden_tests(tmp_path, FIXED)

    left = [path.name for path in (tmp_path / "repository").rglob("*")]
    assert "test_hidden.py" not in left


def a_link(folder: Path) -> None:
    """A link among the hidden tests."""
    folder.mkdir(parents=True)
    (folder / "test_hidden.py").symlink_to("/etc/passwd")


def nothing(folder: Path) -> None:
    """An empty folder."""
    folder.mkdir(parents=True)


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (a_link, SETTINGS, "hidden tests are plain files"),
        (nothing, SETTINGS, "there are no hidden tests"),
        (Path.exists, SETTINGS, "there are no hidden tests"),
        (Path.exists, "", "names no folder"),
        (Path.exists, '[judge]\nhidden_tests = "."\n', "not hidden"),
        (Path.exists, '[judge]\nhidden_tests = "/usr/share"\n', "not hidden"),
    ],
)
def test_hidden_tests_that_cannot_be_used_are_refused_at_the_beginning(
    make: object, settings: str, message: str, tmp_path: Path
) -> None:
    assert callable(make)
    make(tmp_path / "hidden/issue-17")

    with pytest.raises(PreflightFailed, match=message):
        judged(tmp_path, {"src/app.py": FIXED}, settings=settings, task=HIDDEN)


def test_evidence_of_hidden_tests_is_not_kept_in_the_repository(
    tmp_path: Path,
) -> None:
    write(tmp_path / "hidden/issue-17", {"tests/test_hidden.py": HIDDEN_TEST})

    with pytest.raises(WorkspaceError, match="keep it in a folder outside"):
        judged(
            tmp_path,
            {"src/app.py": FIXED},
            base=BASE,
            settings=SETTINGS,
            kept="repository",
            task=HIDDEN,
        )
