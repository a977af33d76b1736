"""Pages run: every command, in its order, with the output that the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.pages import ROOT, Page, compared

PAGES = (
    "README.md",
    "docs/executor-protocol.md",
    "docs/research.md",
    "docs/tutorials/first-contract.md",
    "docs/tutorials/first-plan.md",
    "docs/tutorials/gate-a-pull-request.md",
)


@pytest.mark.parametrize("name", PAGES)
def test_the_page_shows_what_happens(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """`pytest tests/acceptance/test_walkthrough.py --update-examples` writes it anew."""
    page = ROOT / name
    text = page.read_text(encoding="utf-8")
    real = Page(tmp_path).run(text)
    if request.config.getoption("--update-examples"):
        page.write_text(real, encoding="utf-8")
    else:
        assert text == real


PROGRAM = """\
```python title="agents/hello.py"
print("hello")
```
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("$ echo now\nthen\n", "$ echo now\nnow\n", id="is shown anew"),
        pytest.param(
            "$ echo 9.1 s\n8 s\n", "$ echo 9.1 s\n8 s\n", id="keeps its times"
        ),
        pytest.param("$ false\n$ echo $?\n", "$ false\n$ echo $?\n1\n", id="exit code"),
        pytest.param(
            "$ cd agents\n$ python hello.py\n",
            "$ cd agents\n$ python hello.py\nhello\n",
            id="goes on in the folder where the last command ended, with the page's files",
        ),
        pytest.param("$ pwd\n", "$ pwd\n/home/ann\n", id="shows no temporary folder"),
    ],
)
def test_a_command_of_a_page(tmp_path: Path, before: str, after: str) -> None:
    """Its output is the real one, unless only what differs from run to run differs."""
    shown = Page(tmp_path).run(f"{PROGRAM}```console\n{before}```\n")
    assert shown == f"{PROGRAM}```console\n{after}```\n"


def test_what_differs_from_run_to_run() -> None:
    """Durations, times and hashes are not compared; counts and words are."""
    first = compared("3 of 5 tasks done, 2.4 s, at 09:15, 4ba1c9d2e7f0")
    assert first == compared("3 of 5 tasks done, 11 s, at 17:02, 0123456789ab")
    assert first != compared("4 of 5 tasks done, 2.4 s, at 09:15, 4ba1c9d2e7f0")
