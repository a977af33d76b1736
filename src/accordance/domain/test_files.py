"""Which files of a repository are tests, and which are the source that they test.

Only names decide: the same rule holds for both versions of a file, and for files that
no agent may open.
"""

from __future__ import annotations

import re
from typing import Final

_TEST_NAME: Final = re.compile(
    r"""
    test_.*\.py | .*_test\.py | tests?\.py    # pytest, unittest
    | .*[._-](?:test|spec)\.[cm]?[jt]sx?      # JavaScript and TypeScript
    | .*_test\.(?:go|rs|rb|exs|cc|cpp|c)
    | test_.*\.(?:c|cc|cpp|rs|rb|sh|jl)
    | .*_spec\.rb
    | .*(?:Test|Tests|IT|Spec)\.(?:java|kt|scala|cs|groovy|swift|php)
    """,
    re.VERBOSE,
)
_TEST_FOLDERS: Final = frozenset(("test", "tests", "testing", "__tests__", "spec"))
_SOURCE_NAME: Final = re.compile(
    r"""
    .+\.(?:
        [chmr] | cc | cxx | cpp | hpp | mm | cs | fs | go | rs | zig | nim | swift | dart
        | py | pyi | pyx | rb | pl | pm | php | lua | jl | sh | sql
        | [cm]?[jt]s | [jt]sx | vue | svelte
        | java | kts? | scala | groovy | clj | exs? | hs | ml
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)


def is_test_file(path: str) -> bool:
    """Whether a path is that of a test, or of code that lies among tests."""
    *folders, name = path.split("/")
    if _TEST_NAME.fullmatch(name):
        return True
    is_among_tests = not _TEST_FOLDERS.isdisjoint(folders)
    return is_among_tests and _is_code(name)


def is_source_file(path: str) -> bool:
    """Whether a path is that of a program, and of no test."""
    name = path.rpartition("/")[2]
    return _is_code(name) and not is_test_file(path)


def _is_code(name: str) -> bool:
    return _SOURCE_NAME.fullmatch(name) is not None
