"""A project whose changes are made by hand, in lent clones: two workers and a reviewer, without any process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from accordance.service import tasks, verification
from accordance.service.project import Project, open_project
from accordance.service.tasks import Assigned, WorkRequest
from accordance.service.views.tasks import NothingView
from tests.acceptance.coding import BRANCH, FIRST, SECOND
from tests.hostile.stage import git
from tests.messages import Message, edge, node, plan
from tests.reviews import node_review
from tests.service.conftest import brings

Answer: TypeAlias = dict[str, Any]
"""The answer to a message."""

THIRD = f"{FIRST[:-1]}c"
FILES: Mapping[str, str] = {
    "prices.py": "def rate():\n    return 5\n\n\n# --\n# --\n# --\n\n\ndef name():\n    return 'price'\n",
    "total.py": "from prices import rate\n\n\ndef total(count):\n    return count\n",
    "check_rate.py": "from prices import rate\nassert rate() in (5, 7), rate()\n",
    "check_total.py": "from total import total\nassert total(2) in (2, 10), total(2)\n",
    "check_name.py": "from prices import name\nassert name()\n",
    "README.md": "Prices.\n",
}
RATE = FILES["prices.py"].replace("return 5", "return 7")
OTHER_RATE = FILES["prices.py"].replace("return 5", "return 3 + 4")
NAME = FILES["prices.py"].replace("'price'", "'cost'")
TOTAL = FILES["total.py"].replace("return count", "return count * rate()")


def change(
    task_id: str, title: str, test: str, paths: tuple[str, ...] = ("*.py",)
) -> Message:
    """A node that changes the repository, and what must pass."""
    task = {
        "role": "engineer",
        "pins": {"allowed_paths": list(paths)},
        "allowedTests": [f"python3 -B {test}"],
    }
    made = node(task_id, "ACTION", title=title, tags=["code"], goal_statement=title)
    return {**made, "task": task}


def a_plan(*changes: Message, checked: tuple[str, ...] = ()) -> Message:
    """A plan of changes that could all begin at once; a CHECK reviews some."""
    checks = [node(f"check-{task_id[-1]}", "CHECK") for task_id in checked]
    edges = [
        edge("root", part["task_id"], and_or="AND") for part in (*changes, *checks)
    ]
    edges += [
        edge(task_id, f"check-{task_id[-1]}", "DEPENDS_ON") for task_id in checked
    ]
    return plan([node("root", "GOAL"), *changes, *checks], edges)


@dataclass
class LandingStage:
    """The project, open."""

    project: Project

    @property
    def repository(self) -> Path:
        """The user's repository."""
        return self.project.home.root / "repository"

    def take(self, worker: str, task_id: str | None = None) -> Assigned:
        """Take up the next change, as a worker."""
        taken = tasks.take_task(self.project, WorkRequest(holder=worker))
        assert not isinstance(taken, NothingView), taken
        assert task_id in (None, taken.taken.task.task_id)
        return taken

    def why_nothing(self, worker: str) -> str:
        """Why there is nothing to take up."""
        taken = tasks.take_task(self.project, WorkRequest(holder=worker))
        assert isinstance(taken, NothingView), taken
        return taken.why

    def write(self, assigned: Assigned, **files: str) -> None:
        """Write files in a clone; `prices` is prices.py."""
        work = Path(str(assigned.view.workspace))
        for name, text in files.items():
            (work / f"{name}.py").write_text(text, "utf-8")

    def hand_in(self, assigned: Assigned) -> Answer:
        """Hand a clone in; accordance makes the submission."""
        task = assigned.taken.task
        answer = tasks.submit(
            self.project, None, task_id=task.task_id, attempt=assigned.taken.attempt
        )
        return answer.model_dump()

    def make(self, worker: str, task_id: str, **files: str) -> Answer:
        """Take a change up, make it, and hand it in."""
        assigned = self.take(worker, task_id)
        self.write(assigned, **files)
        return self.hand_in(assigned)

    def review(self, task_id: str, score: int = 95) -> Answer:
        """Take the review up and hand it in."""
        assigned = self.take("reviewer", f"check-{task_id[-1]}")
        message = self.review_message(task_id, score)
        check_id = assigned.taken.task.task_id
        return tasks.review(self.project, message, task_id=check_id).model_dump()

    def review_message(
        self, task_id: str, score: int = 95, action: str | None = None
    ) -> bytes:
        """The words of a review."""
        return json.dumps(node_review(task_id, score, action)).encode()

    def state(self, task_id: str) -> str:
        """Where a task stands."""
        with self.project.ledger.read() as tx:
            return tx.progress(task_id).state

    def failures(self, task_id: str) -> int:
        """The attempts that count as failed."""
        with self.project.ledger.read() as tx:
            counters = tx.progress(task_id).standing.counters
        return counters.failures + counters.parse_failures

    def landed(self) -> list[str]:
        """The titles on the plan's branch, the first first, without the base."""
        log = git(self.repository, "log", "--reverse", "--format=%s", BRANCH)
        return log.splitlines()[1:]

    def shown(self, path: str) -> str:
        """A file on the plan's branch."""
        return git(self.repository, "show", f"{BRANCH}:{path}")

    def commit(self, **files: str) -> str:
        """Commit to the user's own branch; return the commit."""
        for name, text in files.items():
            (self.repository / f"{name}.py").write_text(text, "utf-8")
        git(self.repository, "add", "--all")
        git(self.repository, "commit", "--quiet", "--message=own work")
        return git(self.repository, "rev-parse", "HEAD").strip()

    def holds(self) -> None:
        """Everything that the ledger says can be recomputed."""
        verified = verification.verify(self.project)
        for findings in verified.findings:
            assert findings.holds, findings


@contextmanager
def staged(
    folder: Path, message: Message, ledger: str | None = None, settings: str = ""
) -> Iterator[LandingStage]:
    """Open a project with a plan and a repository of one commit."""
    repository = folder / "repository"
    repository.mkdir(parents=True)
    for path, text in FILES.items():
        (repository / path).write_text(text, "utf-8")
    git(repository, "init", "--quiet", "--initial-branch=main")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=base")
    (folder / "accordance.toml").write_text(
        f'[workspace]\nrepo = "repository"\nbase = "main"\n{settings}', "utf-8"
    )
    with open_project(folder, ledger, create=True) as project:
        brings(project, message)
        yield LandingStage(project)


TWO = a_plan(
    change(FIRST, "Raise the rate", "check_rate.py"),
    change(SECOND, "Rename it", "check_name.py"),
)
