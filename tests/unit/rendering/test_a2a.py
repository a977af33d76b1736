"""A task as A2A's JSON."""

from __future__ import annotations

import pytest

from accordance.domain.client_tasks import (
    ClientArtifact,
    ClientTask,
    Stage,
    Utterance,
)
from accordance.rendering.a2a import artifact_json, task_json

TALK = (
    Utterance(text="Which prices?", is_ours=True),
    Utterance(text="Those of May.", is_ours=False),
)
TASK = ClientTask(
    name="a~2",
    plan_id="P",
    stage=Stage.WORKING,
    at="2026-03-01T00:00:00.000000Z",
    status=Utterance(text="in work", is_ours=True),
    talk=TALK,
    refers_to="a",
)


@pytest.mark.parametrize(("most", "shown"), [(None, 2), (1, 1), (0, 0)])
def test_as_much_history_as_is_wanted(most: int | None, shown: int) -> None:
    content = task_json(TASK, history=most)
    assert len(content.get("history", ())) == shown


def test_a_task_that_goes_on_after_its_end_names_the_task_before() -> None:
    assert task_json(TASK)["metadata"]["refersTo"] == "a"


def test_an_artifact_without_a_title_has_no_file_name() -> None:
    plain = artifact_json(ClientArtifact(name="n", about="", text="x"))
    titled = artifact_json(ClientArtifact(name="n", about="", title="t.md", text="x"))
    assert "filename" not in plain["parts"][0]
    assert titled["parts"][0]["filename"] == "t.md"
