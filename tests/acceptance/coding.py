"""A project whose plan changes a repository, with a program as its agent: everything is real."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accordance.service.project import open_project
from tests.acceptance.cli import ROOT, Ran, accordance
from tests.hostile.stage import FILES, TEST, git
from tests.limits import LIMIT
from tests.messages import Message, edge, node, plan

FIRST = "72c84e9c-0975-4c1a-b9a5-864c2725dc8a"
SECOND = "72c84e9c-0975-4c1a-b9a5-864c2725dc8b"
BRANCH = "accordance/9a4f6f64-7a0b-4a53-8a6e-2f0b6d1c0001"

# What every agent begins with: the helpers of the quickstart, and words for what is right and wrong.
HEAD = """
from pathlib import Path
from desk import change, git, read_assignment, say
told = read_assignment()
app = Path("src/app.py")
RIGHT = "def last(items):\\n    return items[-1]\\n"
WRONG = "def last(items):\\n    return items[0]\\n"
"""
SETTINGS = """
[workspace]
repo = "repository"

[executors.agent]
kind = "command"
command = ["python3", "agents/agent.py"]
{executor}

[executors.reviewer]
kind = "command"
command = ["python3", "agents/reviewer.py"]

[[routes]]
kind = "review"
executor = "reviewer"

[[routes]]
executor = "agent"
"""


def a_task(**more: Any) -> Message:
    """What may be changed, and what must pass."""
    pins = {"allowed_paths": ["src/**"]}
    return {"role": "engineer", "pins": pins, "allowedTests": [TEST], **more}


def coding_node(
    task_id: str = FIRST, title: str = "Mend last()", task: object = None, **more: Any
) -> Message:
    """A node that changes the repository."""
    made = node(
        task_id,
        "ACTION",
        title=title,
        tags=["code"],
        goal_statement="last() returns the last item.",
    )
    return {**made, "task": a_task() if task is None else task, **more}


def coding_plan(*nodes: Message, edges: tuple[Message, ...] = ()) -> Message:
    """A plan of these nodes, all below the root."""
    parts = nodes or (coding_node(),)
    below = [edge("root", one["task_id"], and_or="AND") for one in parts]
    return plan([node("root", "GOAL"), *parts], [*below, *edges])


@dataclass
class CodingProject:
    """A project folder."""

    home: Path
    executor: str = ""  # further settings of the agent
    plan: Message = field(default_factory=coding_plan)
    ran: Ran | None = None  # how it was carried out

    @property
    def repository(self) -> Path:
        """The user's repository."""
        return self.home / "repository"

    def build(self) -> None:
        """Settings, agents' helpers, and a repository with one commit."""
        for path, text in FILES.items():
            place = self.repository / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        git(self.repository, "init", "--quiet", "--initial-branch=main")
        git(self.repository, "add", "--all")
        git(self.repository, "commit", "--quiet", "--message=base")
        shutil.copytree(
            ROOT / "examples" / "quickstart" / "agents", self.home / "agents"
        )
        (self.home / "accordance.toml").write_text(
            SETTINGS.format(executor=self.executor), "utf-8"
        )

    def agent(self, text: str, name: str = "agent") -> None:
        """Who does the work."""
        (self.home / "agents" / f"{name}.py").write_text(HEAD + text, "utf-8")

    def imports(self, *options: str) -> Ran:
        """Bring the plan in; it may begin at once."""
        (self.home / "plan.json").write_text(json.dumps(self.plan), "utf-8")
        return self("plan", "import", self.home / "plan.json", "--no-review", *options)

    def runs(self, *options: str) -> Ran:
        """Carry the plan out, until it rests."""
        return self("run", "--json", *options)

    def __call__(self, *command: str | Path, stdin: bytes = b"") -> Ran:
        return accordance(*command, "--home", self.home, cwd=self.home, stdin=stdin)

    def task(self, task_id: str = FIRST) -> Any:
        """A task, as the ledger knows it."""
        return self("task", "show", task_id, "--json").json

    def state(self, task_id: str = FIRST) -> tuple[str, str | None]:
        """Where a task stands, and what it waits for."""
        shown = self.task(task_id)
        return shown["state"], shown["waiting"]

    def awaits(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds, looking again after each change of the ledger."""
        end = time.monotonic() + LIMIT
        seen = 0
        with open_project(self.home) as watched:
            while not holds():
                assert time.monotonic() < end, "it did not happen"
                seen = watched.ledger.wait_for_change(after=seen, seconds=1)

    def bundle(self, attempt: int = 1, task_id: str = FIRST) -> Path:
        """The evidence of an attempt."""
        return self.home / "artifacts" / task_id / f"attempt-{attempt}"

    def shown(self, path: str, revision: str = BRANCH) -> str:
        """A file on the plan's branch."""
        return git(self.repository, "show", f"{revision}:{path}")

    def verdicts(self) -> list[tuple[str, str]]:
        """What was decided, in its order."""
        return [
            (one["outcome"], one["reason_code"]) for one in self.runs().json["verdicts"]
        ]
