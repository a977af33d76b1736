"""Agents whose tests are green and prove nothing, each beside its honest twin."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.judged_changes import BASE, FIXED, codes, judged

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run by accordance itself",
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param(BASE, [], id="honest: a test fails without the change"),
        pytest.param(
            {**BASE, "tests/test_app.py": "def test_other(): assert [] == []\n"},
            ["TESTS_DO_NOT_TELL"],
            id="hostile: each test passes without it",
        ),
    ],
)
def test_a_change_that_no_test_tells(
    before: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    judgement = judged(
        tmp_path,
        {"src/app.py": FIXED},
        base=before,
        settings='[judge]\ntests_that_do_not_tell = "refuse"\n',
    )

    assert codes(judgement) == expected
