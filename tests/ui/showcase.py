"""A project that has everything to show: the quickstart's run, a plan to be approved, answers of research."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from accordance.service.project import open_project
from tests.acceptance.cli import ROOT, accordance
from tests.messages import ANSWER, REQUEST, Message, edge, node, plan
from tests.service.conftest import brings

CODED: Final = "3f1c9a52-7d0e-4b7a-9d55-1f6a0c2e8b0"
"""What the numbers of the quickstart's coding tasks begin with."""
RUN: Final = "parcels-in-april"
_SECONDS: Final = 900
_OPTIONS: Final = (
    ("Technology Acceptance Model", 0.92, "Everybody uses it."),
    ("Self-Determination Theory", 0.61, "It explains motivation, not timing."),
    ("Control-Value Theory", 0.45, "It explains anxiety and control."),
    ("Process Model of Emotion Regulation", 0.33, "It says when feedback helps."),
    ("Broaden-and-Build Theory", 0.18, "Hardly anybody has used it here."),
)

_CRITIQUE: Final = {
    "strengths": ["It says when feedback helps.", "It can be tested in one term."],
    "weaknesses": ["It was made for exams.", "It says little about groups."],
    "improvement_suggestions": ["A pilot with thirty learners."],
    "alternative_perspectives": ["A teacher would ask about effort first."],
}


def build(folder: Path) -> None:
    """Make the project in a folder."""
    if not (folder / ".accordance").exists():
        _carry_out_the_quickstart(folder)
    _record_research(folder)
    with open_project(folder) as project:
        brings(project, _newsletter(), waived_by=None)


def _carry_out_the_quickstart(folder: Path) -> None:
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    script = ROOT / "examples" / "quickstart" / "run.sh"
    subprocess.run(
        ["sh", str(script), str(folder)],
        env=environment,
        stdout=subprocess.DEVNULL,
        timeout=_SECONDS,
        check=True,
    )


def _record_research(folder: Path) -> None:
    """Keep four answers of an agent; three of them select the same."""
    request = folder / "request.json"
    request.write_text(json.dumps(REQUEST))
    for number, chosen in enumerate((2, 2, 3, 2)):
        answer = folder / f"answer-{number}.json"
        answer.write_text(json.dumps(_answer(number, chosen)))
        options = ("--request", request, answer, "--home", folder)
        recorded = accordance("research", "record", *options)
        assert recorded.code == 0, recorded


def _answer(number: int, chosen: int) -> Message:
    answer = copy.deepcopy(ANSWER)
    answer["execution_timestamp"] = f"2026-03-0{number + 1}T09:15:00Z"
    metadata = answer["vs_metadata"]
    metadata["modal_identified"] = [_OPTIONS[0][0]]
    metadata["t_scores"] = [
        {"option": option, "score": score, "rationale": why}
        for option, score, why in _OPTIONS
    ]
    answer["self_critique"] = _CRITIQUE
    option, score, why = _OPTIONS[chosen]
    metadata["final_selection"] = {
        "option": option,
        "t_score": score,
        "justification": why,
    }
    return answer


def _newsletter() -> Message:
    """Return a plan that waits for a person's approval."""
    titles = {
        "draft": ("ACTION", "Draft the newsletter"),
        "facts": ("ACTION", "Collect the numbers of the quarter"),
        "check": ("CHECK", "Review of the draft"),
    }
    nodes = [node(name, kind, title=title) for name, (kind, title) in titles.items()]
    edges = [edge("letter", name) for name in titles]
    edges += [
        edge("draft", "facts", "DEPENDS_ON"),
        edge("draft", "check", "DEPENDS_ON"),
    ]
    root = node("letter", "GOAL", title="The spring newsletter is out")
    message = plan([root, *nodes], edges, root="letter")
    for part in (message["plan"], *message["nodes"], *message["edges"]):
        part["plan_id"] = "newsletter"
    message["plan"]["title"] = "Spring newsletter"
    return message
