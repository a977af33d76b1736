"""Which paths are tests, and which are source."""

from __future__ import annotations

import pytest

from accordance.domain.test_files import is_source_file, is_test_file


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_app.py",
        "app_test.py",
        "src/pkg/tests.py",
        "tests/helpers.py",
        "src/app.test.ts",
        "src/__tests__/app.js",
        "app.spec.mjs",
        "pkg/app_test.go",
        "tests/it.rs",
        "src/test/java/AppTest.java",
        "spec/app_spec.rb",
    ],
)
def test_a_test_is_known_by_its_name_or_its_folder(path: str) -> None:
    assert is_test_file(path)
    assert not is_source_file(path)


@pytest.mark.parametrize(
    "path", ["src/app.py", "lib/latest.py", "app.go", "src/contest.ts", "a/Main.java"]
)
def test_source_is_what_is_a_program_and_no_test(path: str) -> None:
    assert is_source_file(path)
    assert not is_test_file(path)


@pytest.mark.parametrize("path", ["README.md", "tests/data.json", ".py", "LICENSE"])
def test_neither_is_what_is_no_program(path: str) -> None:
    assert not is_source_file(path)
    assert not is_test_file(path)
