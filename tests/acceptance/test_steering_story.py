"""The story of examples/steering: a person steers a plan from `init` to the summary."""

from __future__ import annotations

import json
import os
import re
import subprocess
from itertools import groupby
from pathlib import Path

import pytest

from tests.acceptance.cli import ROOT, accordance, path_with_accordance

STORY = ROOT / "examples/steering"
README = STORY / "README.md"
FENCE = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no agent could be run",
)

WHAT_VARIES = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "2026-03-02 09:00:00"),
    (r"\b(\d+ (d|h|min) )*\d+(\.\d)? s\b", "4.2 s"),
    (r"(just now|\d+ \w+ ago)", "just now"),
    (r"\d+ events, (\d+ messages, \d+ verdicts, )?\d+ blobs", "all events and blobs"),
)
"""Times, and how many events and blobs there are: a busy machine needs more."""


def normalised(transcript: str) -> str:
    """A transcript as the README shows it."""
    for pattern, text in WHAT_VARIES:
        transcript = re.sub(pattern, text, transcript)
    lines = transcript.strip().splitlines()
    return "\n".join(line for line in lines if not is_pace(line)) + "\n"


def is_pace(line: str) -> bool:
    """Whether a line only says how far a run is; it comes every ten seconds."""
    return re.match(r"\d+ of \d+ tasks? done", line) is not None


def in_any_order(transcript: str) -> list[list[str]]:
    """Its lines; neighbouring attempts are reported in the order in which they end."""
    lines = transcript.splitlines()
    pieces = groupby(lines, key=lambda line: line.startswith(("✓ ", "✗ ", "! ", "· ")))
    return [sorted(piece) if attempts else list(piece) for attempts, piece in pieces]


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_the_story(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Every command ends as the script expects, and prints what the README shows.

    `--update-examples` writes the README's transcript.
    """
    env = {**os.environ, "PATH": path_with_accordance()}
    if database == "postgresql":
        env["ACCORDANCE_LEDGER"] = request.getfixturevalue("postgresql_url")
    done = subprocess.run(
        ("sh", STORY / "story.sh", "shop"),
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout

    page = README.read_text()
    transcript = normalised(done.stdout)
    if request.config.getoption("update_examples"):
        README.write_text(FENCE.sub(lambda _: transcript, page, count=1))
        return
    (shown,) = FENCE.findall(page)
    assert in_any_order(transcript) == in_any_order(shown)

    home = tmp_path / "shop"
    summary = (home / "summary.md").read_text()
    assert summary.startswith("## Spring prices: 7 of 7 tasks done\n")
    assert "spring-prices, FINISHED" in summary
    if database == "sqlite":
        (plan,) = accordance("plan", "list", "--json", cwd=home).json["items"]
        assert (plan["state"], plan["root"]) == ("FINISHED", "DONE"), json.dumps(plan)


def test_a_folder_that_is_there(tmp_path: Path) -> None:
    """The script touches nothing that it did not make."""
    (tmp_path / "mine").write_text("mine")
    done = subprocess.run(
        ("sh", STORY / "story.sh", "."), cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, b". exists; name a new folder\n")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
