"""Where a judgement is kept, and what is kept of the agent's own evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accordance.domain.facts import ArtifactFact, ArtifactName, EvidenceFacts
from accordance.errors import AttemptJudged
from accordance.judging.bundles import free_place, links_to
from accordance.workspace.errors import WorkspaceError
from tests.unit.cases import TASK_ID

FOLDER = f"artifacts/{TASK_ID}"


def test_a_bundle_goes_to_the_folder_of_its_task(tmp_path: Path) -> None:
    """One of several runs writes beside it, under its own name."""
    place = tmp_path / FOLDER / "attempt-2"
    assert free_place(tmp_path, TASK_ID, 2) == place
    owned = free_place(tmp_path, TASK_ID, 2, "w1")
    assert owned == place.with_name("attempt-2-run-w1")


def test_a_bundle_is_written_once(tmp_path: Path) -> None:
    """The bundle of an attempt is in the way of another with its number."""
    (tmp_path / FOLDER / "attempt-2").mkdir(parents=True)
    with pytest.raises(AttemptJudged, match="attempt 2 was judged before"):
        free_place(tmp_path, TASK_ID, 2)
    assert free_place(tmp_path, TASK_ID, 1).name == "attempt-1"
    assert free_place(tmp_path, TASK_ID, 2, "w1").name == "attempt-2-run-w1"


@pytest.mark.parametrize("name", ["artifacts", FOLDER, f"{FOLDER}/attempt-1"])
@pytest.mark.parametrize("kind", ["file", "link", "link to nowhere"])
def test_a_bundle_is_led_nowhere_else(tmp_path: Path, name: str, kind: str) -> None:
    """No file and no link stands in the place of a folder."""
    obstacle = tmp_path / "tree" / name
    obstacle.parent.mkdir(parents=True)
    if kind == "file":
        obstacle.write_text("")
    else:
        target = tmp_path / "target"
        obstacle.symlink_to(target)
        if kind == "link":
            target.mkdir()
    with pytest.raises(WorkspaceError, match="is a link or a file, not a folder"):
        free_place(tmp_path / "tree", TASK_ID, 1)


@pytest.mark.parametrize(
    ("name", "facts", "is_kept"),
    [
        pytest.param("report_md", {"size": 1}, True, id="a file with content"),
        pytest.param("report_md", {"size": 0}, False, id="an empty file"),
        pytest.param("report_md", {"size": 1, "exists": False}, False, id="no file"),
        pytest.param(
            "report_md", {"size": 1, "inside": False}, False, id="a file elsewhere"
        ),
        pytest.param("evidence_dir", {"size": 0}, True, id="an empty folder"),
        pytest.param(
            "evidence_dir", {"size": 0, "readable": False}, False, id="a closed folder"
        ),
    ],
)
def test_a_link_leads_into_the_bundle_where_the_artifact_is_kept(
    tmp_path: Path, name: str, facts: dict[str, Any], is_kept: bool
) -> None:
    """Otherwise it is what the submission says."""
    path = f"{FOLDER}/own/it"
    known = {"exists": True, "readable": True, **facts}
    artifact = ArtifactFact(ArtifactName(name), path, **known)
    evidence = EvidenceFacts(FOLDER, (artifact,))

    kept = f"{FOLDER}/attempt-1/agent/own/it"
    bundle = tmp_path / FOLDER / "attempt-1"
    assert links_to(evidence, bundle) == {name: kept if is_kept else path}
    assert links_to(evidence, None) == {name: path}
